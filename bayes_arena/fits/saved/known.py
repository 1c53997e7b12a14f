"""What a fit knows and every question asks: kept in its file, so that only the fit takes long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.arrays import Floats
from bayes_arena.fits.result import WHOLE, Fit
from bayes_arena.inference.change import Change
from bayes_arena.inference.projected import Projection


@dataclass(frozen=True, eq=False)
class Known:
    """The board of a fit with its covariance, and the tests that were made; ``change`` is None if none was.

    Attributes
    ----------
    strength, by_head, by_mean, own
        As in :class:`~bayes_arena.inference.projected.Projection`, in full.
    covariance : ndarray, shape (n, n)
        Of the board.
    discrimination_sd : ndarray, shape (M,)
        Of theta; empty if it is fixed.
    said_of_middle : tuple of str
        On whom the middle of the votes disagrees.
    """

    strength: Floats
    by_head: Floats
    by_mean: Floats
    own: Floats
    covariance: Floats
    discrimination_sd: Floats
    said_of_middle: tuple[str, ...]
    change: Change | None

    @classmethod
    def of(cls, fit: Fit) -> Self | None:
        """Return what a fit knows; None for one that draws say, without a posterior, or of more than is kept."""
        if fit.samples is not None or not fit.target.is_proper:
            return None
        board = fit.projection
        n, count, width = board.own.shape
        if not isinstance(board.by_head, np.ndarray) or not isinstance(board.by_mean, np.ndarray):
            return None
        if n * count * width > WHOLE or fit.board_covariance is None:
            return None
        parts = board.strength, board.by_head, board.by_mean, np.asarray(board.own), fit.board_covariance
        return cls(*parts, fit.discrimination_sd, fit.said_of_middle, fit.change)

    def told(self, fit: Fit) -> Fit:
        """Return the fit that knows it."""
        own = OwnJacobian(self.own.shape, lambda part: self.own[:, part])
        return fit.with_known(
            {
                "projection": Projection(self.strength, self.by_head, own, self.by_mean),
                "board_covariance": self.covariance,
                "discrimination_sd": self.discrimination_sd,
                "said_of_middle": self.said_of_middle,
                "change": self.change,
            }
        )
