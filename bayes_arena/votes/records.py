"""Records: how often competitors won, lost and tied, who was never beaten, and which answers have several votes.

An answer is a competitor's to a prompt. A vote on prompt p compares two of them, which adds u_{p,i} - u_{p,j} to
r_i - r_j. If no answer to a prompt has a second vote, its u cannot be separated from the noise of the single vote. Let
N_rep be the votes on prompts where some answer has at least two votes. Answers are modelled by default if at least
``FEWEST`` answers have two votes and N_rep is at least half of the votes; both thresholds are judgement calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROMPT
from bayes_arena.votes.outcomes import LOSS, TIE, WIN, wins_losses_ties
from bayes_arena.votes.tally import AT_ONCE

FEWEST = 100
"""Least number of answers with two votes from which their spread can be estimated."""
SHARE = 0.5
"""Least share of the votes that are on prompts with a repeated answer."""


def records(cells: Cells) -> tuple[Floats, Floats, Floats]:
    """Return the wins, losses and ties (both-bad included) of every competitor, each of shape (n_competitors,)."""
    shown = np.zeros((2, cells.n_competitors, cells.counts.shape[1]))
    for start in range(0, len(cells.a), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        for sums, competitor in zip(shown, (cells.a[part], cells.b[part]), strict=True):
            for outcome, counts in enumerate(cells.counts[part].T):
                sums[:, outcome] += sum_by(competitor, counts, cells.n_competitors)
    as_a, as_b = map(wins_losses_ties, shown)
    return as_a[WIN] + as_b[LOSS], as_a[LOSS] + as_b[WIN], as_a[TIE] + as_b[TIE]


def never_beaten_groups(cells: Cells, *, count_ties: bool = True) -> list[list[str]]:
    """Return the groups of competitors, by name, that met others and never lost a point to them.

    A finite maximum-likelihood estimate of Bradley-Terry exists only if there are none (Ford, 1957): the directed graph
    with an arrow from i to j where i won a point against j must be strongly connected. ``count_ties`` says whether a
    tie is a point for both sides.
    """
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    tally = cells.tally(by_annotator=False)
    i_wins, j_wins, ties = wins_losses_ties(tally.counts)
    i_scored, j_scored = i_wins + count_ties * ties > 0, j_wins + count_ties * ties > 0
    scorer = np.concatenate([tally.i[i_scored], tally.j[j_scored]])
    conceder = np.concatenate([tally.j[i_scored], tally.i[j_scored]])
    arrows = coo_array((np.ones(len(scorer)), (scorer, conceder)), shape=(cells.n_competitors, cells.n_competitors))
    group = connected_components(arrows.tocsr(), connection="strong")[1]
    outside = group[scorer] != group[conceder]
    beaten, met = set(group[conceder][outside]), set(group[scorer][outside])
    return [
        [name for name, label in zip(cells.competitors, group, strict=True) if label == winner]
        for winner in sorted(met - beaten)
    ]


@dataclass(frozen=True)
class RepeatedAnswers:
    """How often answers received repeated votes: the prompts, the votes (summed weights), and the answers voted on.

    ``with_two`` of these have at least two votes, and ``repeated_votes`` is N_rep.
    """

    prompts: int
    votes: float
    answers: int
    with_two: int
    repeated_votes: float

    @property
    def share(self) -> float:
        """Share of the votes that are on prompts with a repeated answer."""
        return self.repeated_votes / self.votes

    @property
    def enough(self) -> bool:
        """Whether answers are modelled by default; with a single prompt, answers and competitors coincide."""
        return self.prompts > 1 and self.with_two >= FEWEST and self.share >= SHARE


def repeated_answers(cells: Cells) -> RepeatedAnswers:
    """Count the answers that received more than one vote."""
    (prompt,) = cells.slice_rows([PROMPT])
    votes, size = cells.counts.sum(axis=1), cells.n_competitors
    answers, row = np.unique(np.concatenate([prompt * size + cells.a, prompt * size + cells.b]), return_inverse=True)
    votes_on = sum_by(row, np.concatenate([votes, votes]), len(answers))
    repeats = np.zeros(len(cells.slice_names[PROMPT]), dtype=bool)
    repeats[answers[votes_on >= 2] // size] = True
    return RepeatedAnswers(
        prompts=len(np.unique(prompt)),
        votes=cells.n_votes,
        answers=len(answers),
        with_two=int((votes_on >= 2).sum()),
        repeated_votes=float(votes[repeats[prompt]].sum()),
    )
