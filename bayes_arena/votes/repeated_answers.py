"""Whether answers (prompt x competitor) were voted on often enough to be distinguished from noise.

A vote on prompt p compares two answers, which adds u_{p,i} - u_{p,j} to r_i - r_j. If no answer to a prompt has
a second vote, its u cannot be separated from the noise of the single vote. Let N_rep be the votes on prompts where some
answer has at least two votes. Answers are modelled by default if at least ``FEWEST`` answers have two votes and N_rep
is at least half of the votes; both thresholds are judgement calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import sum_by
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROMPT

FEWEST = 100
"""Least number of answers with two votes from which their spread can be estimated."""
SHARE = 0.5
"""Least share of the votes that are on prompts with a repeated answer."""


@dataclass(frozen=True)
class RepeatedAnswers:
    """How often answers received repeated votes.

    Attributes
    ----------
    prompts : int
        Prompts.
    votes : float
        Votes (summed weights).
    answers : int
        Answers that were voted on.
    with_two : int
        Of these, those with at least two votes.
    repeated_votes : float
        N_rep: votes on prompts where some answer has at least two votes.
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
    """Count the answers that received more than one vote.

    Parameters
    ----------
    cells : Cells
        Votes that carry prompts.

    Raises
    ------
    ModelError
        If the votes carry no prompts.
    """
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
