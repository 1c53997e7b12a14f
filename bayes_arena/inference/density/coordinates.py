"""The coordinates in which NUTS samples, and the model's parameters at each point.

For the strengths, the annotators' parameters effect by effect and those of slices, a point x has the logarithm of their
spread sigma where it is sampled, and coordinates w of unit scale; then what annotators share. With I the information of
the votes on one such parameter (:func:`~bayes_arena.inference.marginal.spreads.information`), the parameters are

    Z w sigma / s,      w ~ Normal(0, s),      s^2 = 1 + I sigma^2.

Given sigma, votes and prior determine a parameter to within 1 / sqrt(I + 1 / sigma^2), so that the posterior's width in
w is 1 whatever the spread: centred where the votes are informative (I sigma^2 >> 1), non-centred where they are not,
with a smooth transition. The columns of Z are orthonormal and of zero sum: n - 1 coordinates for n parameters. For
slices Z is the identity, except for what they add to theta; where numbers walk the parameters are the steps between
them (:mod:`bayes_arena.likelihood.steps`).

Where annotators also have their own parameters, what they share is sampled as its sum with the mean deviation of a
vote. The votes determine this sum, whereas the mean over annotators moves with those who cast few votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.likelihood import loops
from bayes_arena.likelihood.numbering import label_of
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.predictor import Effect
from bayes_arena.likelihood.priors import degrees, spread_label
from bayes_arena.likelihood.problem import Problem


@dataclass(frozen=True)
class Vector:
    """Parameters with the same spread.

    Attributes
    ----------
    name : str
        Of the variable in the PyMC program of the model.
    dim : str
        Its dimension.
    size : int
    spread : str
        Name of the spread; empty where it is fixed.
    sd : float
        The spread, or the scale of its hyperprior where it is sampled.
    information : float
        I of the module docstring.
    degrees : int
        Degrees of freedom of the hyperprior; 0 where the spread is not sampled.
    unit : float
        Unit of the parameters: the spread is in these units.
    zero_sum : bool
    """

    name: str
    dim: str
    size: int
    spread: str
    sd: float
    information: float = 0.0
    degrees: int = 0
    unit: float = 1.0
    zero_sum: bool = True


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The sampler's coordinates of a model.

    Attributes
    ----------
    target : Objective
    vectors : tuple of Vector
        Strengths, the annotators' parameters and those of slices.
    pooled : bool
        Whether the spreads are sampled.
    """

    target: Objective
    vectors: tuple[Vector, ...]
    pooled: bool

    @classmethod
    def of(cls, problem: Problem, known: Mapping[str, float] | None) -> Coordinates:
        """Return those of a problem, given the information on each kind of parameter; None fixes the spreads."""
        target, prior, hyper = problem.objective, problem.prior, problem.prior.hyper

        def vector(one: Vector) -> Vector:
            """Return the same with its spread sampled, if it is."""
            if known is None or hyper is None or not prior.estimates(one.spread):
                return one
            sd, information = hyper.spread(one.spread), known[one.spread]
            return replace(one, sd=sd, information=information, degrees=degrees(one.spread))

        vectors = [vector(Vector("strength", "competitor", target.n_competitors, "strength", target.strength_sd))]
        for effect in target.own:
            name, sd = f"{effect.name}_deviation", effect.sd * effect.unit
            own = Vector(name, "annotator", target.n_annotators, effect.spread, sd, unit=1 / effect.unit)
            vectors.append(vector(own))
        for effect, keys in zip(target.slices, target.numbering.keys, strict=True):
            size, held = len(keys), effect.is_held
            vectors.append(vector(Vector(effect.name, label_of(effect), size, effect.spread, effect.sd, zero_sum=held)))
        return cls(target, tuple(vectors), known is not None and hyper is not None)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum(bool(one.degrees) + one.size - int(one.zero_sum) for one in self.vectors) + len(self.target.common)

    @cached_property
    def starts(self) -> Ints:
        """Where each vector starts, and at the end what annotators share."""
        return np.cumsum([0, *(one.size for one in self.vectors)])

    @cached_property
    def prior(self) -> tuple[Ints, Floats, Floats, Floats]:
        """The tables for :func:`loops.place`: vectors, scales, levels and weights."""
        vectors, at = [], 0
        for start, one in zip(self.starts[:-1], self.vectors, strict=True):
            vectors.append((start, one.size, at, one.zero_sum, one.degrees))
            at += bool(one.degrees) + one.size - int(one.zero_sum)
        scales = [(one.sd, one.information, one.unit) for one in self.vectors]
        levels = [(effect.mean, effect.sd, self._beside(effect)) for effect in self.target.common]
        votes = sum_by(self.target.tally.k, self.target.counts.sum(axis=0), max(self.target.n_annotators, 1))
        shape = (len(levels), 3)
        return (
            np.array(vectors, dtype=np.int64),
            np.array(scales, dtype=np.float64),
            np.array(levels, dtype=np.float64).reshape(shape),
            votes / votes.sum(),
        )

    def _beside(self, effect: Effect) -> int:
        """Return where the annotators' deviations start if what they share is sampled as a level, else -1."""
        names = [one.name for one in self.target.own]
        return int(self.starts[1 + names.index(effect.name)]) if self.pooled and effect.name in names else -1

    @property
    def start(self) -> Floats:
        """Return the middle of the prior, shape (size,)."""
        vectors, scales, *_ = self.prior
        x = np.zeros(self.size)
        sampled = vectors[:, 4] > 0
        x[vectors[sampled, 2]] = np.log(scales[sampled, 0])
        x[self.size - len(self.target.common) :] = [effect.mean for effect in self.target.common]
        return x

    def named(self, points: Floats) -> dict[str, Floats]:
        """Return the variables of the PyMC program at points (n_points, size), each of shape (n_points, ...)."""
        vectors, scales, levels, weights = self.prior
        numbers, unused = np.empty((len(points), self.starts[-1] + len(levels))), np.empty(self.size)
        for row, x in zip(numbers, np.ascontiguousarray(points), strict=True):
            row[:] = loops.place(x, vectors, scales, levels, weights, unused)[1]
        named: dict[str, Floats] = {}
        for one, start, at in zip(self.vectors, self.starts, vectors[:, 2], strict=False):
            own = numbers[:, start : start + one.size] / one.unit
            if one.degrees:
                sd = np.exp(points[:, at])
                named[spread_label(one.spread)] = sd
                named[f"{one.name}_unit"] = own * (np.sqrt(1 + one.information * sd**2) / sd)[:, None]
        target, first = self.target, int(self.starts[-1])
        shared = {effect.name: numbers[:, first + row] for row, effect in enumerate(target.common)}
        for row, effect in enumerate(target.common):
            named[effect.common_label] = shared[effect.name]
            if self._beside(effect) >= 0:
                named[f"{effect.name}_level"] = points[:, self.size - len(target.common) + row]
        named["strength"] = numbers[:, : target.n_competitors]
        for effect, start in zip(target.own, self.starts[1:], strict=False):
            base = shared[effect.name][:, None] if effect.name in shared else effect.mean
            named[effect.label] = base + numbers[:, start : start + target.n_annotators]
        own_names = [effect.name for effect in target.own]
        named |= {effect.label: shared[effect.name] for effect in target.common if effect.name not in own_names}
        for effect, start, one in zip(
            target.slices, self.starts[1 + len(target.own) :], self.vectors[1 + len(target.own) :], strict=False
        ):
            named[effect.label] = numbers[:, start : start + one.size]
        if target.slices:
            steps = np.concatenate([named[effect.label] for effect in target.slices], axis=1)
            whole = target.numbering.steps.summed(steps)
            named |= {e.label: whole[:, part] for e, part in zip(target.slices, target.numbering.parts, strict=True)}
        return named

    @property
    def dims(self) -> dict[str, str]:
        """Return the dimension of each of these variables that is not a scalar."""
        dims = {f"{one.name}_unit": one.dim for one in self.vectors} | {"strength": "competitor"}
        dims |= {effect.label: "annotator" for effect in self.target.own}
        return dims | {effect.label: label_of(effect) for effect in self.target.slices}
