"""The numbers of those whose votes do not count: given the strengths of the others, and with their favour.

They have no part in the fit, but tables list them, and their votes can be predicted: by their own theta, tie propensity
and position effect, and the pull w at the competitor that they favour or hate (:mod:`bayes_arena.trust.classes`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA, Effect
from bayes_arena.trust import classes
from bayes_arena.trust.judgement import Judgement


@dataclass(frozen=True, eq=False)
class Suspects:
    """Annotators whose votes do not count.

    Attributes
    ----------
    names : tuple of str
    index : ndarray of int, shape (S,)
        Their place among all annotators (``Judgement.cells``).
    mean, covariance : ndarray, shapes (S, q) and (S, q, q)
        Their numbers, as those of the model's annotators.
    competitor : ndarray of int, shape (S,)
        Whom their votes are pulled at.
    pull : ndarray, shape (S,)
        By how much, in logits.
    """

    names: tuple[str, ...]
    index: Ints
    mean: Floats
    covariance: Floats
    competitor: Ints
    pull: Floats

    def draw(self, size: int, seed: int) -> Floats:
        """Draw their numbers, shape (size, S, q)."""
        rng = np.random.default_rng([seed, 5])
        lower = np.linalg.cholesky(self.covariance + classes.EXACTLY**2 * np.eye(self.mean.shape[1]))
        noise = rng.normal(size=(size, *self.mean.shape))
        return np.asarray(self.mean + np.einsum("spq,dsq->dsp", lower, noise))


def suspects(trust: Judgement | None, target: Objective, point: Point) -> Suspects:
    """Return the annotators whose votes do not count, none where everybody's do.

    Parameters
    ----------
    trust : Judgement or None
        Whose votes count.
    target : Objective
        Of the votes that do.
    point : Point
        The numbers that annotators have in common.
    """
    q = len(target.own)
    kinds = None if trust is None else trust.kinds
    if trust is None or kinds is None or not trust.left_out.any():
        return Suspects((), np.zeros(0, int), np.zeros((0, q)), np.zeros((0, q, q)), np.zeros(0, int), np.zeros(0))
    index = np.flatnonzero(trust.left_out)
    columns = [_number(effect, place) for place, effect in enumerate(target.own)]
    used = np.array([place for place, number in enumerate(columns) if number is not None], dtype=np.int64)
    numbers = np.array([number for number in columns if number is not None], dtype=np.int64)
    mean, covariance = np.zeros((len(index), q)), np.zeros((len(index), q, q))
    mean[:, used] = kinds.numbers[np.ix_(index, numbers)]
    everyone = np.arange(len(index))
    covariance[np.ix_(everyone, used, used)] = kinds.covariance[np.ix_(index, numbers, numbers)]
    for place, effect in enumerate(target.own):
        for shared, value in zip(target.common, point.common, strict=True):
            if columns[place] is not None and (shared.coordinate, shared.basis) == (effect.coordinate, effect.basis):
                mean[:, place] -= value
    names = tuple(trust.cells.annotators[k] for k in index)
    return Suspects(names, index, mean, covariance, kinds.competitor[index], kinds.numbers[index, classes.PULL])


def _number(effect: Effect, place: int) -> int | None:
    """Return which of a suspect's numbers an effect of the annotators is."""
    if effect.basis == "lead" and place == THETA:
        return classes.THETA
    if effect.basis == "one":
        return {ETA: classes.POSITION, T: classes.TIE}.get(effect.coordinate)
    return None
