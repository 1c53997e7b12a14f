"""Votes cast to move one competitor, among honest ones whose truth is known.

Min et al., "Improving Your Model Ranking on Chatbot Arena by Vote Rigging", ICML 2025 (arXiv 2501.17858): a rigger
recognises the target among two anonymous answers and votes for it; what they do in other battles names the strategy.

===========  ===========================================================================================
t-random     elsewhere an outcome at random (win, loss, tie alike)
t-tie        elsewhere a tie
t-abstain    no vote elsewhere: every vote is on the target. With three votes an account, a slow drip
t-normal     honest elsewhere; the target comes as often as to everybody
t-normal50   honest elsewhere; the target is in half of the battles
omni-bt      every vote goes to whom it helps the target to overtake the ten ranked above it: by the sign of
             the vote's influence on Bradley-Terry strengths
hate         every vote is on the target, and against it
two-targets  as t-abstain, for the target and the competitor ranked next to it; a tie where they meet
copycat      honest votes of another annotator, copied; three of ten are for the target
===========  ===========================================================================================

The first five and omni-bt are theirs, the rest are not. Battles come as the arena offers them: drawn from those of the
honest votes, with all that these carry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import polars as pl
from crowds import Crowd, draw_habits, draw_outcomes

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.fits.fitting import fit
from bayes_arena.likelihood.predictor import lead
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells, single_votes
from bayes_arena.votes.names import FEATURE, SLICE
from bayes_arena.votes.outcomes import LOSS, TIE, WIN
from bayes_arena.votes.summing import sum_cells

Strategy = Literal[
    "t-random", "t-tie", "t-abstain", "t-normal", "t-normal50", "omni-bt", "hate", "two-targets", "copycat"
]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
ABOVE = 10
"""Competitors ranked above the target that omni-bt wants overtaken."""
SLIPPED_IN = 0.3
"""Share of a copycat's votes that are for the target."""
DAVIDSON = Model("davidson", ties="davidson")
"""By which riggers vote where they vote honestly: strengths of the honest votes, habits of their own."""


@dataclass(frozen=True, eq=False)
class Rigged:
    """Votes with those of riggers among them.

    Attributes
    ----------
    cells : Cells
        All votes; the riggers' names begin with ``rigger-``.
    riggers : tuple of str
        Names of the riggers.
    targets : tuple of str
        Whom they vote for (``hate``: against).
    """

    cells: Cells
    riggers: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of the votes that are rigged."""
        mine = np.isin(self.cells.annotators, self.riggers)
        return float(self.cells.votes_by_annotator()[mine].sum() / self.cells.n_votes)


def rig(
    cells: Cells,
    strategy: Strategy,
    target: str,
    *,
    accounts: int = 10,
    votes: int = 100,
    crowd: Crowd | None = None,
    seed: int = 0,
) -> Rigged:
    """Add the votes of riggers.

    Parameters
    ----------
    cells : Cells
        Votes with annotators.
    strategy : {"t-random", "t-tie", "t-abstain", "t-normal", "t-normal50", "omni-bt", "hate", "two-targets", "copycat"}
        What riggers do, as above.
    target : str
        The competitor they favour (``hate``: want to fall).
    accounts, votes : int
        Riggers, and votes of each.
    crowd : Crowd, optional
        Whose habits riggers share where they vote honestly; by default those of an honest arena.
    seed : int
        The same seed gives the same votes.

    Returns
    -------
    Rigged

    Raises
    ------
    ModelError
        If the votes carry no annotators, nobody is called like the target, or an argument is not possible.

    References
    ----------
    Min, R. et al. (2025), "Improving Your Model Ranking on Chatbot Arena by Vote Rigging", ICML.
    """
    require_choice("strategy", strategy, STRATEGIES)
    if target not in cells.competitors:
        raise ModelError(f"No competitor is called {target!r}; name one that the votes are on, whole.")
    if not cells.n_annotators:
        raise ModelError("The votes carry no annotators, so that riggers would not be among others.")
    if min(accounts, votes) < 1 or seed < 0:
        raise ModelError(f"Riggers are one or more, with a vote or more each: not {accounts} x {votes}, seed {seed}.")
    rng = np.random.default_rng(seed)
    aims = [cells.competitors.index(target)]
    if strategy == "two-targets":
        aims.append(_next_to(cells, aims[0]))
    account = np.repeat(np.arange(accounts), votes)
    honest = fit(cells, model=DAVIDSON, method="map", answers=False)
    ties = float(np.exp(honest.point.common[0]))
    habits = draw_habits(replace(crowd or Crowd(), tie_propensity=ties), accounts, rng)
    if strategy == "copycat":
        row, outcome = _copied(cells, accounts, votes, rng)
        slips = rng.random(len(row)) < SLIPPED_IN
        row[slips] = offered(cells, int(slips.sum()), rng, aims)
    else:
        row = _battles(cells, strategy, aims, len(account), rng)
        if strategy in ("t-normal", "t-normal50"):
            outcome = draw_outcomes(lead(honest.strength, cells.a[row], cells.b[row]), habits, account, rng)
        else:
            outcome = _elsewhere(cells, strategy, aims[0], row, rng)
    a, b = np.isin(cells.a[row], aims), np.isin(cells.b[row], aims)
    if strategy == "copycat":  # what was copied stays, even where the target takes part
        a, b = a & slips, b & slips
    for_a, for_b = (LOSS, WIN) if strategy == "hate" else (WIN, LOSS)
    outcome = np.select([a & b, a, b], [TIE, for_a, for_b], outcome)
    everybody, riggers = with_votes(cells, row, account, outcome)
    names = tuple(cells.competitors[aim] for aim in aims)
    return Rigged(everybody, riggers, names)


def offered(cells: Cells, size: int, rng: np.random.Generator, aims: list[int] | None = None) -> Ints:
    """Draw cells whose battles come up, in proportion to their votes; given aims, of battles with one of those."""
    weight = cells.counts.sum(axis=1)
    if aims is not None:
        weight = np.where(np.isin(cells.a, aims) | np.isin(cells.b, aims), weight, 0.0)
    upto = np.cumsum(weight)
    return np.asarray(np.searchsorted(upto, rng.random(size) * upto[-1], side="right"))


def _battles(cells: Cells, strategy: Strategy, aims: list[int], size: int, rng: np.random.Generator) -> Ints:
    """Cell of every vote of the riggers, of which they take the battle."""
    if strategy in ("t-abstain", "hate", "two-targets"):
        return offered(cells, size, rng, aims)
    row = offered(cells, size, rng)
    if strategy == "t-normal50":
        sought = rng.random(size) < 0.5
        row[sought] = offered(cells, int(sought.sum()), rng, aims)
    return row


def _elsewhere(cells: Cells, strategy: Strategy, target: int, row: Ints, rng: np.random.Generator) -> Ints:
    """Outcome of every vote of riggers who do not vote honestly, were the target not there."""
    if strategy == "omni-bt":
        return np.where(lead(influence(cells, target), cells.a[row], cells.b[row]) > 0, WIN, LOSS)
    if strategy == "t-random":
        return rng.choice([WIN, LOSS, TIE], size=len(row))
    return np.full(len(row), TIE)


def influence(cells: Cells, target: int) -> Floats:
    """How much votes for each competitor help the target to overtake those ranked above it, shape (n_competitors,).

    A vote on (a, b) moves the strengths by H^-1 (e_a - e_b) (W - p), H the Hessian of Bradley-Terry's likelihood. The
    lead c' r, c = e_target - mean of e_above, moves by (g_a - g_b) (W - p) with g = H^-1 c: to the side of the larger
    g wherever W exceeds what was expected.
    """
    board = fit(cells, model="bradley-terry", method="map", answers=False)
    size = cells.n_competitors
    tally = cells.tally(by_annotator=False)
    p = 1 / (1 + np.exp(-lead(board.strength, tally.i, tally.j)))
    information = np.zeros((size, size))
    np.add.at(information, (tally.i, tally.j), -tally.votes * p * (1 - p))
    information += information.T
    np.fill_diagonal(information, -information.sum(axis=1))
    order = np.argsort(-board.strength)
    rank = int(np.flatnonzero(order == target)[0])
    rivals = order[max(rank - ABOVE, 0) : rank] if rank else order[1:]
    lead_over = np.zeros(size)
    lead_over[rivals] = -1 / len(rivals)
    lead_over[target] = 1.0
    return np.asarray(np.linalg.pinv(information) @ lead_over)


def _next_to(cells: Cells, target: int) -> int:
    """Return the competitor ranked next below by Bradley-Terry; of the last one next above."""
    order = np.argsort(-fit(cells, model="bradley-terry", method="map", answers=False).strength)
    rank = int(np.flatnonzero(order == target)[0])
    return int(order[rank + 1 if rank + 1 < len(order) else rank - 1])


def _copied(cells: Cells, accounts: int, votes: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Cell and outcome of honest votes, drawn for every account from those of one annotator."""
    row, outcome = single_votes(cells)
    order = np.argsort(cells.annotator[row], kind="stable")
    row, outcome = row[order], outcome[order]
    owner = cells.annotator[row]
    model = owner[rng.integers(len(owner), size=accounts)]
    first, last = np.searchsorted(owner, model, "left"), np.searchsorted(owner, model, "right")
    taken = rng.integers(np.repeat(first, votes), np.repeat(last, votes))
    return row[taken], outcome[taken]


def with_votes(cells: Cells, row: Ints, account: Ints, outcome: Ints) -> tuple[Cells, tuple[str, ...]]:
    """Cells with votes added, each on the battle of a cell, by accounts of their own; and the names of those."""
    known = sum(name.startswith("rigger-") for name in cells.annotators)
    size = int(account[-1]) + 1
    riggers = tuple(f"rigger-{known + number:05d}" for number in range(1, size + 1))
    names = sorted({*cells.annotators, *riggers})
    place = {name: index for index, name in enumerate(names)}
    code = np.array([place[name] for name in (*cells.annotators, *riggers)])
    old, said = np.nonzero(cells.counts)
    where = np.concatenate([old, row])
    votes = {
        "a": cells.a[where],
        "b": cells.b[where],
        "annotator": code[np.concatenate([cells.annotator[old], cells.n_annotators + account])],
        "outcome": np.concatenate([said, outcome]),
        "weight": np.concatenate([cells.counts[old, said], np.ones(len(row))]),
        "n": np.ones(len(where), dtype=np.int64),
    }
    votes |= {SLICE + name: codes[where] for name, codes in cells.slices.items()}
    votes |= {FEATURE + name: values[where] for name, values in cells.features.items()}
    together = sum_cells(
        pl.DataFrame(votes), cells.competitors, names, cells.slice_names, dropped=cells.dropped, sided=cells.sided
    )
    return together, riggers
