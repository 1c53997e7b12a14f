"""Votes that count by what they say beyond one competitor: the gate, the weights of votes, and the fit on these.

Where the gate of a competitor opens (:mod:`bayes_arena.promotion.mixture`), a vote on it counts

    rho_c u_kc (1 - lambda_c P_kc) V_kc / s^2,

P_kc the probability that k's view of c is in a slab, and V_kc the variance of k's view, given its votes, of prior
variance s^2: with information I in its votes on c that is 1 / (1 + s^2 I), since votes by one annotator share its
taste. rho_c makes the variance of the fit's r that of the mixture, and lambda_c its place. Slabs move with r, so that
views in them say something of r, too, and honest views that look bought are all on one side. Without both c would be
too low where votes for it were bought. Views within a taste of r pull it by S_kc = (E[x_k] - r) / s^2 each, so that the
votes agree with the mixture where its profile is highest if

    lambda_c = (sum_k u_kc S_kc + (ln prior)'(r)) / sum_k u_kc P_kc S_kc,    between 0 and 1.

So the fit of these votes says of c what the mixture does. A vote on two such competitors counts the product. The model
is fitted again, views follow from the new fit, and so on until the same gates are open, the mixture stays where it was,
and the fit agrees. Where a step in the logarithms of what votes count undoes much of the one before, the next are half
as long. Rounds end, too, when nothing moves any more, or there were many: where votes are noise, or weigh too
differently for the model, fit and mixture may never agree, and the reader is told. Where no gate opens, the first fit
is the result.

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

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.errors import printable
from bayes_arena.inference.change import POINTS
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.pace import length_of_step
from bayes_arena.likelihood.problem import Problem
from bayes_arena.promotion.mixture import GAIN, TASTES, Gate, Line, Mixture, Parts, positions
from bayes_arena.promotion.views import Views
from bayes_arena.threads import each, one_thread
from bayes_arena.votes.cells import Cells

ROUNDS = 8
"""Fits on discounted votes, at most."""
LEAST, ALIKE_ENOUGH = 0.1, 0.2
"""Smallest rho, and the change of ln rho below which no further fit is needed."""
NEAR = 0.03
"""Distance in logits between a fit's r and the mixture's, below which no further fit is needed."""
STEADY = 0.05
"""Change of the mixture's r, in logits, below which no further fit is needed."""
STILL = 0.01
"""Largest change of the logarithm of a weight below which a further fit says the same."""
FEWEST = 10
"""Annotators who voted on a competitor, below which they are no crowd that somebody could be told from."""
NONE_LEFT = 0.1
"""Share of the votes that counts, below which this is no matter of a few, and all of them count."""
MANY = 100_000
"""Views from which threads pay."""
NARROW = 1.1
"""Ratio of standard errors from which it is said that votes by the same annotator repeat each other."""
FASTER = 1.2
"""Factor by which steps grow where they do not undo the one before."""
NEVER_NOTHING = 1e-4
"""Least weight of a vote, so that no competitor or annotator is lost."""
DIGITS = 9
"""Of a vote's weight: the last bits depend on names, and where votes are noise the next fit blows that up."""


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
        The annotators' parts around the centre where the gate is open, or around the fit's r where somebody's votes are
        strict evidence of a view far from it.
    judged : ndarray of bool, shape (n_annotators,)
        Whose votes may count less than they were cast.
    rho : dict of int to float
        Of competitors whose gate was looked at again.
    off : dict of int to float
        Of competitors whose gate is open, how far the fit's r is from where the mixture is highest, in logits; empty
        where they agree.
    taste, taste_gain : float
        s, and what it gains over the smallest, in nats: medians over competitors.
    """

    mode: Mode
    views: Views
    gates: tuple[Gate, ...]
    centres: dict[int, Line]
    parts: dict[int, Parts]
    judged: NDArray[np.bool_]
    rho: dict[int, float]
    off: dict[int, float]
    taste: float = TASTES[0]
    taste_gain: float = 0.0

    @property
    def weight(self) -> Floats:
        """What the votes of every pair of an annotator and a competitor count, shape (C,)."""
        weight = np.ones(len(self.views.annotator))
        for competitor in self.centres:
            part, mine = self.views.pairs_of(competitor), self.parts[competitor]
            judged = self.judged[self.views.annotator[part]]
            weight[part] = np.where(judged, self.rho[competitor] * self.views.weight[part] * mine.counts, 1.0)
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
    cells, problem = mode.problem.cells, mode.problem
    judged = cells.human & ~np.isin(cells.annotators, list(kept))
    with one_thread():
        nothing = _as_cast(mode, judged)
    looked_at = _worth_a_look(nothing)
    if not any(nothing.gates[c].is_open for c in looked_at):
        return nothing
    found = replace(nothing, rho=dict.fromkeys(looked_at, 1.0))
    length, logarithm, move, is_steady = 1.0, *np.zeros((2, len(nothing.views.annotator))), False
    for step in range(ROUNDS):
        last = found
        with one_thread():
            views = Views.of(mode, found.views.target.tally) if step else found.views
            found = _looked(replace(found, mode=mode, views=views), looked_at)
        if not found.centres:
            return nothing
        if step:
            off, ratio = _compared(found)
            rho = {c: float(np.clip(found.rho[c] * ratio[c], LEAST, 1.0)) for c in found.centres}
            found = replace(found, rho=found.rho | rho)
            changed = max(abs(math.log(one / last.rho[c])) for c, one in rho.items())
            is_steady = found.centres.keys() == last.centres.keys() and all(
                abs(line.highest - last.centres[c].highest) < STEADY for c, line in found.centres.items()
            )
            if is_steady and max(off.values()) < NEAR and changed < ALIKE_ENOUGH:
                return replace(found, off={})
            found = replace(found, off=off)
        move, before = np.log(np.maximum(found.weight, NEVER_NOTHING)) - logarithm, move
        if is_steady and np.abs(move).max() < STILL:
            break
        length = length_of_step(length, FASTER, move, before)
        logarithm = logarithm + length * move
        counting = counted(cells, found.views, np.exp(logarithm))
        if counting.n_votes < NONE_LEFT * cells.n_votes:
            return nothing
        mode = again(replace(problem, cells=counting))
    return replace(found, mode=mode)


def unsettled(found: Discounted) -> tuple[str, ...]:
    """Say where fit and mixture did not come to agree."""
    if not found.off:
        return ()
    c = max(found.off, key=lambda c: found.off[c])
    return (
        f"How much the votes on {printable(found.mode.problem.cells.competitors[c])!r} count is not settled: its score "
        f"is {found.off[c] * POINTS:,.0f} Elo points from where those who vote on it see it, and further fits did not "
        "bring both together. Compare the ranking by all votes alike: robust=False (--robust off).",
    )


def dispersed(found: Discounted) -> tuple[str, ...]:
    """Say where annotators differ on single competitors by more than the model says, so that intervals are too narrow.

    With information I_kc about k's view in its votes on c these say sum_k I_kc (1 + s^2 I_kc) / sum_k I_kc times less
    of the strength of c than as many independent votes, if the model's weights of annotators are as they are.
    """
    views, n = found.views, len(found.gates)
    if n * found.taste_gain <= GAIN:
        return ()
    by_row = views.theta**2 * views.target.in_eta(found.mode.point)[1]
    told = sum_by(views.of_i, by_row, len(views.annotator)) + sum_by(views.of_j, by_row, len(views.annotator))
    sums = (sum_by(views.competitor, one, n) for one in (told, told**2))
    once, twice = (one[views.start[1:] > views.start[:-1]] for one in sums)
    ratio = float(np.sqrt(1 + found.taste**2 * np.median(twice / once)))
    if ratio <= NARROW:
        return ()
    return (
        f"Annotators differ on single competitors by more than the model says (by {found.taste * POINTS:,.0f} Elo "
        "points, standard deviation). Votes by the same annotator on a competitor repeat each other, so that for "
        "others like them standard errors are larger. Compare interval='clustered' (--interval clustered) of a fit "
        "with dimensions=0, answers=False.",
    )


def _as_cast(mode: Mode, judged: NDArray[np.bool_]) -> Discounted:
    """Return what a fit of all votes says where none is discounted."""
    views = Views.of(mode, mode.problem.model.tally(mode.problem.cells, by_annotator=True))
    found, n = Discounted(mode, views, (), {}, {}, judged, {}, {}), mode.problem.cells.n_competitors

    def looked(taste: float) -> list[tuple[Gate, Parts | None, tuple[float, float]]]:
        def look(c: int) -> tuple[Gate, Parts | None, tuple[float, float]]:
            mixture = _mixture(found, c, taste)
            is_told = (mixture.log_bayes(mixture.near) > views.strict).any()
            parts = mixture.parts(mixture.near, is_open=False) if is_told else None
            return mixture.gate(), parts, mixture.likeliest_taste()

        return list((each if len(views.annotator) > MANY else map)(look, range(n)))

    first = looked(TASTES[0])  # likelihoods of all views at once would take too much memory, and most end here
    taste, gain = np.median([likeliest for *_, likeliest in first], axis=0).tolist()
    gates, parts, _ = zip(*(first if taste == TASTES[0] else looked(taste)), strict=True)
    told = {c: one for c, one in enumerate(parts) if one is not None}
    return replace(found, gates=gates, parts=told, taste=taste, taste_gain=gain)


def _worth_a_look(found: Discounted) -> list[int]:
    """Return the competitors with a crowd, and a gate that is open or not far from it."""
    people = [int(found.judged[found.views.annotator[found.views.pairs_of(c)]].sum()) for c in range(len(found.gates))]
    return [c for c, gate in enumerate(found.gates) if people[c] >= FEWEST and gate.is_close]


def _looked(found: Discounted, looked_at: list[int]) -> Discounted:
    """Look at gates again, the clearest first: opponents whose gate is open are where annotators see them."""
    gates, parts, centres = list(found.gates), dict(found.parts), dict[int, Line]()
    shift = np.zeros(len(found.views.annotator))
    for c in sorted(looked_at, key=lambda c: -found.gates[c].excess):
        mixture = _mixture(found, c, found.taste, shift)
        gate = mixture.gate()
        if gate.is_open or not found.centres:  # what opened a gate that closes again is kept
            gates[c] = gate
        if gate.is_open:
            centres[c] = mixture.profile()
            parts[c] = mixture.parts(centres[c].highest, is_open=True)
            shift[found.views.pairs_of(c)] = parts[c].shift
    return replace(found, gates=tuple(gates), parts=parts, centres=centres)


def _compared(found: Discounted) -> tuple[dict[int, float], dict[int, float]]:
    """Return how far a fit's r are from where mixtures are highest, and the ratios of variances, the fit's on top."""
    mode, open_ones = found.mode, np.array(list(found.centres))
    variance = mode.laplace.variance(np.eye(len(mode.point.strength))[open_ones])
    off = {c: abs(float(mode.point.strength[c]) - line.highest) for c, line in found.centres.items()}
    ratio = {c: float(v) / line.moments[1] ** 2 for v, (c, line) in zip(variance, found.centres.items(), strict=True)}
    return off, ratio


def counted(cells: Cells, pairs: Views, weight: Floats) -> Cells:
    """Return the votes as they count, given the weight of every pair of an annotator and a competitor."""
    key = pairs.competitor * max(cells.n_annotators, 1) + pairs.annotator
    of_a, of_b = (
        np.searchsorted(key, competitor * max(cells.n_annotators, 1) + cells.annotator)
        for competitor in (cells.a, cells.b)
    )
    of_cell = np.maximum(weight[of_a] * weight[of_b], NEVER_NOTHING).round(DIGITS)
    return replace(cells, counts=cells.counts * of_cell[:, None])


def _mixture(found: Discounted, competitor: int, taste: float, shift: Floats | None = None) -> Mixture:
    """Return the views of a competitor around a fit's r."""
    views, part = found.views, found.views.pairs_of(competitor)
    near = float(found.mode.point.strength[competitor])
    counts = found.judged[views.annotator[part]].astype(float)
    seen = views.likelihood(competitor, near + positions(), shift)
    prior_sd = found.mode.problem.objective.strength_sd
    return Mixture(near, seen, counts, counts * views.weight[part], views.votes[part], prior_sd, taste)
