"""Votes that count by what they say beyond one competitor: the gate, the weights of votes, and the fit on these.

Where the gate of a competitor opens (:mod:`bayes_arena.promotion.mixture`), a vote on it counts

    u_kc (1 - P(k's view of c is in a slab)),

and a vote on two such competitors the product. The model is fitted again, offsets and positions follow from the new
fit, and so on until no further gate opens, at most three times. Where none opens, the first fit is the result.

Programs' votes count in full, and do not enter the mixtures: their tastes belong to the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.likelihood.problem import Problem
from bayes_arena.promotion.mixture import Centre, Gate, Mixture, positions
from bayes_arena.promotion.views import Views
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells

ROUNDS = 3
"""Fits on discounted votes, at most."""
CLOSE, UNLIKE = 2.0, 1.5
"""g and h in the first round below which a gate is not looked at again."""
NEVER_NOTHING = 1e-4
"""Least weight of a vote, so that no competitor or annotator is lost."""


@dataclass(frozen=True, eq=False)
class Discounted:
    """What a fit, and the votes as they were cast, say of each competitor.

    Attributes
    ----------
    mode : Mode
        Of the votes as they count; where no gate is open the mode that was given.
    views : Views
        The annotators' views, by that fit.
    gates : tuple of Gate
        Of every competitor: of the first round, or the one in which it opened.
    centres : dict of int to Centre
        Of competitors whose gate is open.
    """

    mode: Mode
    views: Views
    gates: tuple[Gate, ...]
    centres: dict[int, Centre]

    @property
    def weight(self) -> Floats:
        """What the votes of every pair of an annotator and a competitor count, shape (C,)."""
        weight = np.ones(len(self.views.annotator))
        for competitor, centre in self.centres.items():
            part = self.views.pairs_of(competitor)
            people = self.mode.problem.cells.human[self.views.annotator[part]]
            weight[part] = np.where(people, self.views.weight[part] * (1 - centre.slab), 1.0)
        return weight


def discounted(mode: Mode, again: Callable[[Problem], Mode]) -> Discounted:
    """Find competitors on which some votes cannot be those of one crowd, and fit without what these add.

    Parameters
    ----------
    mode : Mode
        Of a model of votes whose annotators are known.
    again : callable
        Fits the same votes with other counts.
    """
    cells, first = mode.problem.cells, mode
    tally = mode.problem.model.tally(cells, by_annotator=True)
    gates, centres = list[Gate](), dict[int, Centre]()
    looked_at = list(range(cells.n_competitors))
    for step in range(ROUNDS):
        with one_thread():
            views = Views.of(mode, tally)
            found = {c: _mixture(mode, views, c).gate() for c in looked_at}
        if not step:
            gates = [found[c] for c in looked_at]
            looked_at = [c for c in looked_at if _near(found[c])]
        opened = {c for c, gate in found.items() if gate.is_open and c not in centres}
        for c in opened:
            gates[c] = found[c]
        if not opened and not centres:
            return Discounted(first, views, tuple(gates), {})
        with one_thread():
            centres = {c: _mixture(mode, views, c).centre() for c in sorted(opened | set(centres))}
        result = Discounted(mode, views, tuple(gates), centres)
        mode = again(replace(mode.problem, cells=counted(cells, result)))
        if step and not opened:
            break
    return replace(result, mode=mode)


def counted(cells: Cells, found: Discounted) -> Cells:
    """Return the votes as they count."""
    pairs, weight = found.views, found.weight
    key = pairs.competitor * max(cells.n_annotators, 1) + pairs.annotator
    of_a, of_b = (
        np.searchsorted(key, competitor * max(cells.n_annotators, 1) + cells.annotator)
        for competitor in (cells.a, cells.b)
    )
    of_cell = np.maximum(weight[of_a] * weight[of_b], NEVER_NOTHING)
    return replace(cells, counts=cells.counts * of_cell[:, None])


def _mixture(mode: Mode, views: Views, competitor: int) -> Mixture:
    """Return the views of a competitor around a fit's r."""
    part, near = views.pairs_of(competitor), float(mode.point.strength[competitor])
    people = mode.problem.cells.human[views.annotator[part]].astype(float)
    seen = views.likelihood(competitor, near + positions())
    return Mixture(near, seen, people, people * views.weight[part], mode.problem.objective.strength_sd)


def _near(gate: Gate) -> bool:
    return max(gate.alike, gate.weighted) > CLOSE or abs(gate.difference) > UNLIKE
