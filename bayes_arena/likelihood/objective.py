"""The negative log-posterior of any model of the grid.

A row of the tally has the coordinates z of :mod:`bayes_arena.likelihood.predictor`: sums of numbers times their basis,
linear in everything but the products of leads and their factors. Parameters are ordered as in
:mod:`bayes_arena.likelihood.numbering`: the head has the strengths, the common numbers and those of slices, then
come the numbers of every annotator. Strengths are in logits, values in nats summed over votes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.averaging import RowCovariances, Scatter, at_point, averaged
from bayes_arena.likelihood.numbering import Numbering, number
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA, Effect, Predictor, basis, effects, in_units, kinds, lead
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import TIME
from bayes_arena.votes.periods import periods
from bayes_arena.votes.tally import Tally

BLOCK = 16384
"""Rows that are worked on at a time: few enough for a processor's cache, many enough for threads to pay."""


@dataclass(frozen=True, eq=False)
class Objective:
    """Negative log-posterior of a model: what the optimiser minimises.

    Attributes
    ----------
    tally : Tally
        The votes, no finer than the model needs.
    counts : ndarray, shape (4, n_rows)
        Their counts as the model sees them.
    likelihood : Likelihood
        The likelihood of a row's outcomes.
    n_competitors, n_annotators : int
        n; M (0 where annotators have no numbers of their own).
    strength_sd : float
        Prior spread of r.
    common, own, slices : tuple of Effect
        Effects that annotators share, those of every annotator, and those of slices.
    numbering : Numbering
        Which number is where, and belongs to which slice of the votes that were fitted.
    sharper : float or ndarray
        What slices add to theta in hypothetical votes.
    """

    tally: Tally
    counts: Floats
    likelihood: Likelihood
    n_competitors: int
    n_annotators: int
    strength_sd: float
    common: tuple[Effect, ...]
    own: tuple[Effect, ...]
    slices: tuple[Effect, ...]
    numbering: Numbering
    sharper: Any = 0.0

    @cached_property
    def predictor(self) -> Predictor:
        """What turns the effects and hypothetical votes into coordinates."""
        return Predictor(self.likelihood.n_coordinates, self.common, self.own, self.sharper)

    def predictor_at(self, point: Point) -> Predictor:
        """Return what does so for the votes that were cast, with what slices add to theta in every row."""
        found = zip(self.slices, self.places, strict=True)
        sharper = [_taken(point.slices, at) for effect, (at, *_) in found if effect.basis == "lead"]
        return replace(self.predictor, sharper=sum(sharper)) if sharper else self.predictor

    @property
    def n_votes(self) -> float:
        """Votes that the model sees."""
        return float(self.counts.sum())

    @property
    def free_discrimination(self) -> bool:
        """Whether theta is free."""
        return self.predictor.free_discrimination

    @property
    def is_flat(self) -> bool:
        """Whether no parameter has a prior, so that the mode is the maximum-likelihood estimate."""
        return all(map(math.isinf, (self.strength_sd, *(effect.sd for effect in self.effects))))

    @property
    def is_proper(self) -> bool:
        """Whether every parameter has a prior with a finite spread, so that there is a posterior to draw from."""
        return all(map(math.isfinite, (self.strength_sd, *(effect.sd for effect in self.effects))))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """All effects, strengths apart."""
        return *self.common, *self.own, *self.slices

    @property
    def spreads(self) -> tuple[str, ...]:
        """Names of the spreads of its prior."""
        return "strength", *(effect.spread for effect in (*self.own, *self.slices))

    @property
    def units(self) -> Floats:
        """Units of the annotators' numbers, shape (q,)."""
        return np.array([effect.unit for effect in self.own])

    @property
    def spread_values(self) -> Floats:
        """The spreads, in the order of their names."""
        return np.array([self.strength_sd, *(effect.sd * effect.unit for effect in (*self.own, *self.slices))])

    def with_spreads(self, strength_sd: float, others: Sequence[float]) -> Objective:
        """Return the objective under other spreads of the strengths, the annotators' numbers and those of slices."""
        effects = [replace(one, sd=sd / one.unit) for one, sd in zip((*self.own, *self.slices), others, strict=True)]
        own, slices = tuple(effects[: len(self.own)]), tuple(effects[len(self.own) :])
        return replace(self, strength_sd=strength_sd, own=own, slices=slices)

    def start(self) -> Point:
        """Return the prior means."""
        return Point(
            np.zeros(self.n_competitors),
            np.array([effect.mean for effect in self.common]),
            np.tile([effect.mean for effect in self.own], (self.n_annotators, 1)),
            np.zeros(self.numbering.n_slices),
        )

    def discrimination(self, point: Point) -> Floats:
        """Return theta of every annotator, mean 1 after a fit, shape (M,); empty where it is fixed at 1."""
        return point.own[:, THETA] if self.free_discrimination else np.zeros(0)

    def at_best_scale(self, point: Point) -> Point:
        """Return (alpha r, theta / alpha), which predicts the same, for the alpha of the highest prior density.

        It is the point itself, unless the prior of theta is symmetric about zero.
        """
        if not self.free_discrimination or self.own[THETA].mean or self.slices:
            return point
        of_strength = np.linalg.norm(point.strength) / self.strength_sd
        of_theta = np.linalg.norm(point.own[:, THETA]) / self.own[THETA].sd
        if not of_strength or not of_theta:
            return point
        alpha, own = math.sqrt(of_theta / of_strength), point.own.copy()
        own[:, THETA] /= alpha
        return replace(point, strength=alpha * point.strength, own=own)

    def leads(self, strength: Floats) -> Floats:
        """Return r_i - r_j of every row, shape (..., n_rows), for strengths (..., n)."""
        return lead(strength, self.tally.i, self.tally.j)

    def votes(self, rows: slice) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return i, j and k of some rows, and the places of i and j among the competitors that k met.

        The last three are empty where annotators have no numbers of their own.
        """
        pair = self.tally.i[rows], self.tally.j[rows]
        if not self.own:
            return (*pair, *(np.zeros(0, dtype=np.int64),) * 3)
        met, k = self.tally.met, self.tally.k[rows]
        first = met.start[k]
        return *pair, k, met.of_i[rows] - first, met.of_j[rows] - first

    @cached_property
    def kinds(self) -> Ints:
        """Coordinate of every kind of number, and its place among common and own effects or -1, shape (U, 3)."""
        effects, of_common, of_own = kinds(self.common, self.own)
        places = ((of.index(u) if u in of else -1 for of in (of_common, of_own)) for u in range(len(effects)))
        rows = [[effect.coordinate, *place] for effect, place in zip(effects, places, strict=True)]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    def own_numbers(self, own: Floats) -> list[Floats]:
        """Return the numbers of every row's annotator, by effect, each (..., n_rows), for numbers (..., M, q)."""
        return [own[..., effect][..., self.tally.k] for effect in range(own.shape[-1])]

    def coordinates(self, point: Point) -> Floats:
        """Return the coordinates of every row, shape (n_coordinates, n_rows)."""
        leads, own = self.leads_at(point), self.own_numbers(point.own)
        z = self.predictor_at(point).coordinates(leads, point.common, own, self.tally.features)
        for effect, places in zip(self.slices, self.places, strict=True):
            if effect.basis in ("one", "sum"):
                z[effect.coordinate] += sum(_taken(point.slices, at) for at in places)
        return z

    def unseen(self, point: Point, rng: np.random.Generator) -> Floats:
        """Draw what slices not in the fitted votes add to the coordinates, shape (n_coordinates, n_rows)."""
        moves, factors_of = np.zeros((self.likelihood.n_coordinates, len(self.tally.i))), self.factors(point)
        for effect, missing in zip(self.slices, self._missing, strict=True):
            factor = factors_of[effect.dimension]
            one = self.leads_at(point)[effect.dimension] if effect.basis == "lead" else 1.0
            factors = (factor, -factor) if effect.basis == "difference" else (one, one)
            for share, factor in zip(missing, factors, strict=False):
                moves[effect.coordinate] += factor * rng.normal(0.0, effect.sd * np.sqrt(share), len(share))
        return moves

    @property
    def has_unseen(self) -> bool:
        """Whether some row has a slice that is not in the fitted votes."""
        return any(share.any() for missing in self._missing for share in missing)

    @cached_property
    def _missing(self) -> list[list[Floats]]:
        """The variance of every row's numbers that are not in the fitted votes, in squared spreads: 1, or periods."""
        gaps = self.numbering.gaps(self.tally)
        unknown = ([(at < 0).astype(np.float64) for at in places] for places in self.places)
        return [gap or missing for gap, missing in zip(gaps, unknown, strict=True)]

    def leads_at(self, point: Point) -> list[Floats]:
        """Return the leads of i over j in every row, q_i - q_j in its slices and w_i - w_j, each of shape (n_rows,).

        Slices that are not in the fitted votes count as their mean.
        """
        leads = [self.leads(point.strength), *np.zeros((self.predictor.dimensions, len(self.tally.i)))]
        for effect, places in zip(self.slices, self.places, strict=True):
            if effect.basis == "difference":
                more = _taken(point.slices, places[0]) - _taken(point.slices, places[1])
                leads[effect.dimension] = leads[effect.dimension] + more
        return leads

    @cached_property
    def places(self) -> list[list[Ints]]:
        """Where the numbers of the slices of every row are."""
        return self.numbering.places(self.tally)

    def loss(self, point: Point) -> float:
        """Return the negative log-likelihood in nats, without the prior."""
        if self.slices:
            return float(self.row_terms(point).value.sum())
        return sum(float(self.terms_of(rows, point)[2].value.sum()) for rows in self.blocks())

    def in_eta(self, point: Point) -> tuple[Floats, Floats]:
        """Return the first and second derivatives of every row's loss in eta, each of shape (n_rows,)."""
        if self.slices:
            terms = self.row_terms(point)
            return terms.gradient[ETA], terms.hessian[ETA, ETA]
        slope, curve = np.empty((2, len(self.tally.i)))
        for rows in self.blocks():
            terms = self.terms_of(rows, point)[2]
            slope[rows], curve[rows] = terms.gradient[ETA], terms.hessian[ETA, ETA]
        return slope, curve

    def blocks(self) -> Iterator[slice]:
        """Yield blocks of rows that fit a processor's cache."""
        for start in range(0, len(self.tally.i), BLOCK):
            yield slice(start, min(start + BLOCK, len(self.tally.i)))

    def terms_of(
        self, rows: slice, point: Point, around: RowCovariances | None = None
    ) -> tuple[list[Floats], Any, RowTerms, Scatter | None]:
        """Return leads and thetas (or 1) of rows without slices, their losses with derivatives, and their scatter.

        Losses are averaged over a Gaussian around the point, if one is given.
        """
        tally, predictor = self.tally, self.predictor
        leads = [lead(point.strength, tally.i[rows], tally.j[rows])]
        own = point.own[tally.k[rows]].T if self.own else np.zeros((0, len(leads[0])))
        features, counts, (theta,) = tally.features[:, rows], self.counts[:, rows], predictor.factors(own)
        z = predictor.coordinates(leads, point.common, own, features)
        if around is None:
            return leads, theta, at_point(self.likelihood, counts, z), None
        scatter = around.rows(rows, leads, [theta], features)
        return leads, theta, averaged(self.likelihood, counts, z, scatter), scatter

    def value(self, point: Point) -> float:
        """Return the negative log-posterior up to a constant."""
        return self.loss(point) + self.penalty(point)

    def penalty(self, point: Point) -> float:
        """Return the negative log-prior up to a constant."""
        value = 0.5 * float(point.strength @ point.strength) / self.strength_sd**2
        for x, effect in zip(point.common, self.common, strict=True):
            value += 0.5 * ((float(x) - effect.mean) / effect.sd) ** 2
        for column, effect in enumerate(self.own):
            value += 0.5 * float(np.sum((point.own[:, column] - effect.mean) ** 2)) / effect.sd**2
        for effect, steps in zip(self.slices, self.numbers_by_slice(self.steps_between(point.slices)), strict=True):
            value += 0.5 * float(steps @ steps) / effect.sd**2
        return value

    def steps_between(self, slices: Floats) -> Floats:
        """Return the steps between numbers of slices (..., s), which are what has their spread."""
        return self.numbering.steps.between(slices)

    @property
    def directions(self) -> list[slice]:
        """Place of the competitors' positions in every direction among the numbers of slices."""
        return [part for effect, part in zip(self.slices, self.numbering.parts, strict=True) if effect.dimension]

    def numbers_by_slice(self, slices: Floats) -> list[Floats]:
        """Split numbers of slices (..., s) by effect."""
        return [slices[..., part] for part in self.numbering.parts]

    def factors(self, point: Point) -> list[Any]:
        """Return the factors of the leads of every row: theta, or 1 where it is fixed, and the loadings."""
        return self.predictor_at(point).factors(self.own_numbers(point.own))

    @property
    def free_factors(self) -> list[int]:
        """Dimensions in which the factor of the lead is free."""
        return sorted({effect.dimension for effect in (*self.own, *self.slices) if effect.basis == "lead"})

    def bases(self, point: Point) -> tuple[list[Any], list[Any]]:
        """Return the bases of the common and the own effects in every row."""
        leads, features = self.leads_at(point), self.tally.features
        common, own = ([basis(effect, leads, features) for effect in effects] for effects in (self.common, self.own))
        return common, own

    def row_terms(self, point: Point) -> RowTerms:
        """Return the negative log-likelihood of every row, and its derivatives in the coordinates."""
        return at_point(self.likelihood, self.counts, self.coordinates(point))


def objective(cells: Cells, model: Model, prior: Prior, *, by_annotator: bool | None = None) -> Objective:
    """Return the negative log-posterior of a model given votes.

    Parameters
    ----------
    cells : Cells
    model : Model
    prior : Prior
    by_annotator : bool, optional
        Whether rows are kept apart by annotator; by default where the model tells annotators apart.

    Raises
    ------
    ModelError
        If the votes do not carry a feature of the model's style.
    """
    tally = model.tally(cells, by_annotator=by_annotator)
    found = tuple(in_units(effect, tally) for effect in effects(model, prior))
    levels = ("common", "annotator", "slice")
    common, own, slices = (tuple(effect for effect in found if effect.level == level) for level in levels)
    n_annotators = cells.n_annotators if model.needs_annotators else 0
    times = periods(cells.slice_names[TIME]) if model.drift else np.zeros(0, dtype=np.int64)
    numbering = number(tally, cells.n_competitors, n_annotators, (common, own, slices), times)
    return Objective(
        tally=tally,
        counts=model.seen_counts(tally.counts),
        likelihood=model.likelihood,
        n_competitors=cells.n_competitors,
        n_annotators=n_annotators,
        strength_sd=prior.strength,
        common=common,
        own=own,
        slices=slices,
        numbering=numbering,
    )


def _taken(numbers: Floats, places: Ints) -> Floats:
    """Return numbers by place, zero where there is none."""
    return np.where(places < 0, 0.0, numbers[places]) if len(numbers) else np.zeros(len(places))
