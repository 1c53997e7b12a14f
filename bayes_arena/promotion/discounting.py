"""Votes that count by what they say beyond one competitor: the gate, the weights of votes, and the fit on these.

Where the gate of a competitor opens (:mod:`bayes_arena.promotion.mixture`), a vote on it counts

    rho_c u_kc (1 - P(k's view of c is in a slab)) V_kc / s^2,

V_kc the variance of k's view, given its votes, of prior variance s^2: with information I in its votes on c that is
1 / (1 + s^2 I), since votes by one annotator share its taste. rho_c makes the variance of the
fit's r that of the mixture. So the fit of these votes says of c what the mixture does. A vote on two such competitors
counts the product. The model is fitted again, offsets and positions follow from the new fit,
and so on until no further gate opens, at most three times. Where none opens, the first fit is the result.

Who promotes one competitor votes against those that it meets. So the clearest gates are looked at first, and opponents
whose gate is open are where the annotator sees them: by the probability of a slab, and by how far off it is. A gate
that such votes opened closes again. Where nine votes of ten would not count, people differ in more than tastes, and
none are discounted.

Programs' votes count in full, and do not enter the mixtures: their tastes belong to the model. The same holds for
annotators who are known to vote in good faith.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.likelihood.problem import Problem
from bayes_arena.promotion.mixture import TASTES, Gate, Line, Mixture, Parts, positions
from bayes_arena.promotion.views import Views
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells

ROUNDS = 8
"""Fits on discounted votes, at most."""
LEAST, ALIKE_ENOUGH = 0.1, 0.2
"""Smallest rho, and the change of ln rho below which no further fit is needed."""
NEAR = 0.02
"""Distance in logits between a fit's r and the mixture's, below which no further fit is needed."""
FEWEST = 10
"""Annotators who voted on a competitor, below which they are no crowd that somebody could be told from."""
NONE_LEFT = 0.1
"""Share of the votes that counts, below which this is no matter of a few, and all of them count."""
CLOSE, ALIKE = 2.0, 1.5
"""Gain and size of h in the first round below which a gate is not looked at again."""
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
        Of every competitor.
    centres : dict of int to Line
        Profiles of competitors whose gate is open.
    parts : dict of int to Parts
        Of all competitors: the annotators' parts around the centre, or around the fit's r.
    judged : ndarray of bool, shape (n_annotators,)
        Whose votes may count less than they were cast.
    told : dict of int to float
        rho of these competitors.
    """

    mode: Mode
    views: Views
    gates: tuple[Gate, ...]
    centres: dict[int, Line]
    parts: dict[int, Parts]
    judged: NDArray[np.bool_]
    told: dict[int, float]

    @property
    def weight(self) -> Floats:
        """What the votes of every pair of an annotator and a competitor count, shape (C,)."""
        weight = np.ones(len(self.views.annotator))
        for competitor in self.centres:
            part, mine = self.views.pairs_of(competitor), self.parts[competitor]
            judged = self.judged[self.views.annotator[part]]
            weight[part] = np.where(
                judged, self.told[competitor] * self.views.weight[part] * (1 - mine.slab) * mine.narrowed, 1.0
            )
        return weight


def discounted(mode: Mode, again: Callable[[Problem], Mode], kept: Collection[str] = ()) -> Discounted:
    """Find competitors on which some votes cannot be those of one crowd, and fit without what these add.

    Parameters
    ----------
    mode : Mode
        Of a model of votes whose annotators are known.
    again : callable
        Fits the same votes with other counts.
    kept : collection of str
        Annotators whose votes count in full, as those of programs do.
    """
    cells, first = mode.problem.cells, mode
    judged = cells.human & ~np.isin(cells.annotators, list(kept))
    tally = mode.problem.model.tally(cells, by_annotator=True)
    with one_thread():
        views = Views.of(mode, tally)
        mixtures = [_mixture(mode, views, judged, c) for c in range(cells.n_competitors)]
        taste = float(np.median([one.likeliest_taste() for one in mixtures]))
        gates = [replace(one, taste=taste).gate() for one in mixtures]
        parts = {c: replace(one, taste=taste).parts(one.near, is_open=False) for c, one in enumerate(mixtures)}
    nothing = Discounted(first, views, tuple(gates), {}, parts, judged, {})
    people = [int(judged[views.annotator[views.pairs_of(c)]].sum()) for c in range(cells.n_competitors)]
    looked_at = [
        c for c, gate in enumerate(gates) if people[c] >= FEWEST and (gate.gain > CLOSE or abs(gate.difference) > ALIKE)
    ]
    if not any(gates[c].is_open for c in looked_at):
        return nothing
    centres, told = dict[int, Line](), dict.fromkeys(looked_at, 1.0)
    for step in range(ROUNDS):
        with one_thread():
            views = Views.of(mode, tally) if step else views
            before, centres, shift = set(centres), {}, np.zeros(len(views.annotator))
            for c in sorted(looked_at, key=lambda c: -gates[c].excess):
                mixture = _mixture(mode, views, judged, c, taste, shift)
                gate = mixture.gate()
                gates[c] = gate if gate.is_open or not step else gates[c]
                if gate.is_open:
                    centres[c] = mixture.profile()
                    parts[c] = mixture.parts(centres[c].highest, is_open=True)
                    shift[views.pairs_of(c)] = parts[c].shift
        if not centres:
            return nothing
        off, ratio = _compared(mode, centres)
        last = dict(told)
        if step:
            told |= {c: float(np.clip(told[c] * one, LEAST, 1.0)) for c, one in zip(centres, ratio, strict=True)}
        changed = max(abs(math.log(told[c] / last[c])) for c in centres)
        result = Discounted(mode, views, tuple(gates), centres, dict(parts), judged, dict(told))
        if step and set(centres) == before and off < NEAR and changed < ALIKE_ENOUGH:
            return result
        counting = counted(cells, result)
        if counting.n_votes < NONE_LEFT * cells.n_votes:
            return nothing
        mode = again(replace(first.problem, cells=counting))
    return replace(result, mode=mode)


def _compared(mode: Mode, centres: dict[int, Line]) -> tuple[float, Floats]:
    """Return how far a fit's r are from where mixtures are highest, and the ratios of variances, the fit's on top."""
    open_ones = np.array(list(centres))
    variance = mode.laplace.variance(np.eye(len(mode.point.strength))[open_ones])
    moments = [line.moments for line in centres.values()]
    off = [mode.point.strength[c] - line.highest for c, line in centres.items()]
    return float(np.abs(off).max()), variance / np.array([sd for _, sd in moments]) ** 2


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


def _mixture(
    mode: Mode,
    views: Views,
    judged: NDArray[np.bool_],
    competitor: int,
    taste: float = TASTES[0],
    shift: Floats | None = None,
) -> Mixture:
    """Return the views of a competitor around a fit's r."""
    part, near = views.pairs_of(competitor), float(mode.point.strength[competitor])
    counts = judged[views.annotator[part]].astype(float)
    seen = views.likelihood(competitor, near + positions(), shift)
    return Mixture(near, seen, counts, counts * views.weight[part], mode.problem.objective.strength_sd, taste)
