"""Mirror images of directions of disagreement, and the one that draws are brought to.

A vote depends on directions through sum_l v_kl (w_li - w_lj), and all directions have the same prior. So (-w_l, -v_l)
in place of (w_l, v_l) has the same density, and so have directions in another order with their spreads: 2^q q! images
for q directions. A chain settles on one of them. Under each draw the image is chosen that is nearest to the average of
the others, as Stephens (2000) relabels the components of mixtures: from images that are equally probable this takes
one, and leaves its distribution as it is. To constrain the sampler instead, w_i > 0 for some i say, would cut off a
part of the posterior wherever w_i is near zero, and trap chains there.

Rotations of two directions are no such images: the spreads of w differ, and set the axes.

Of the image itself, which is arbitrary, the directions come by the sum of their squared positions, the largest first,
and of every direction the largest average position is positive.

Source: Stephens, M. (2000), "Dealing with label switching in mixture models", JRSS B 62.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.objective import Objective

if TYPE_CHECKING:
    from xarray import DataTree

MOST_ROUNDS = 50
"""Rounds of averaging and choosing; few are needed where the votes show the directions."""
SIGNED, UNSIGNED = ("direction_{}", "direction_{}_unit", "loading_{}", "loading_{}_deviation"), ("direction_{}_sd",)
"""Names of the variables of a direction."""


@dataclass(frozen=True, eq=False)
class Images:
    """Which image of its directions every draw is replaced by.

    Attributes
    ----------
    order : ndarray of int, shape (n_draws, q)
        Which direction takes each place.
    sign : ndarray, shape (n_draws, q)
        The sign of what takes it.
    """

    order: Ints
    sign: Floats

    @classmethod
    def of(cls, positions: Floats, loadings: Floats) -> Images:
        """Choose the images.

        Parameters
        ----------
        positions, loadings : ndarray, shapes (n_draws, q, n) and (n_draws, q, M)
            w and v.
        """
        drawn = np.concatenate([positions, loadings], axis=2)
        found = _nearest(drawn, drawn[-1])
        for _ in range(MOST_ROUNDS):
            again = _nearest(drawn, found.taken(drawn).mean(axis=0))
            if np.array_equal(again.order, found.order) and np.array_equal(again.sign, found.sign):
                break
            found = again
        taken = found.taken(positions)
        mean = taken.mean(axis=0)
        first = np.argsort(-np.square(taken).sum(axis=2).mean(axis=0), kind="stable")
        largest = np.take_along_axis(mean, np.abs(mean).argmax(axis=1)[:, None], axis=1)[:, 0]
        sign = np.where(largest < 0, -1.0, 1.0)
        return cls(found.order[:, first], (found.sign * sign)[:, first])

    def taken(self, values: Floats, *, signed: bool = True) -> Floats:
        """Return what the images have in place of values (n_draws, q, ...) of the directions."""
        over = (..., *[None] * (values.ndim - 2))
        found = np.take_along_axis(values, self.order[over], axis=1)
        return self.sign[over] * found if signed else found


def _nearest(drawn: Floats, to: Floats) -> Images:
    """Return the images of draws (n_draws, q, m) that are nearest to a point (q, m)."""
    along = drawn @ to.T
    orders = np.array(list(permutations(range(len(to)))))
    total = np.abs(along[:, orders, np.arange(len(to))]).sum(axis=2)
    order = orders[total.argmax(axis=1)]
    sign = np.take_along_axis(along.transpose(0, 2, 1), order[:, :, None], axis=2)[:, :, 0]
    return Images(order, np.where(sign < 0, -1.0, 1.0))


def in_line(tree: DataTree, target: Objective) -> DataTree:
    """Return what a sampler returned, with one image of the directions throughout."""
    posterior, count = tree["posterior"].to_dataset(), target.predictor.dimensions
    if not count:
        return tree

    def values(name: str) -> Floats:
        """Return a variable of all directions, draws along the first axis and directions along the second."""
        each = [posterior[name.format(one)].transpose("chain", "draw", ...).to_numpy() for one in range(1, 1 + count)]
        return np.stack([one.reshape(-1, *one.shape[2:]) for one in each], axis=1)

    images = Images.of(values("direction_{}"), values("loading_{}"))
    changed = {}
    for name in (*SIGNED, *UNSIGNED):
        if name.format(1) in posterior:
            taken = images.taken(values(name), signed=name in SIGNED)
            for one in range(count):
                variable = posterior[name.format(one + 1)].transpose("chain", "draw", ...)
                changed[name.format(one + 1)] = variable.copy(data=taken[:, one].reshape(variable.shape))
    aligned = tree.copy()
    aligned["posterior"] = type(tree)(posterior.assign(changed))
    return aligned
