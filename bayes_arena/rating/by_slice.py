"""The boards of a rating by slice: those that ``boards --by`` prints, for a page."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayes_arena.boards.leaderboard import stacked_columns
from bayes_arena.boards.slices import slice_gap_columns, standings_by
from bayes_arena.boards.standing import Standing
from bayes_arena.errors import ArenaWarning, ModelError
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.many import require_slice_of
from bayes_arena.fits.result import Fit
from bayes_arena.page.slices import Sliced, sliced
from bayes_arena.said import Call, Use
from bayes_arena.tables import Columns, Row, records

if TYPE_CHECKING:
    from bayes_arena.rating.rating import Rating

MOST_LEVELS = 30  # of a slice on a page


@dataclass(frozen=True, eq=False)
class BySlice:
    """The boards of the levels of a slice, and where they differ from all votes.

    Attributes
    ----------
    rating : Rating
        Of all votes.
    by : str
        The slice.
    fit : Fit
        With strengths by the slice.
    """

    rating: Rating
    by: str
    fit: Fit

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """Where competitors stand, by level."""
        return standings_by(self.fit, self.by, self.rating.standing.look)

    @cached_property
    def gaps(self) -> Columns:
        """The columns of :func:`~bayes_arena.slice_gaps`."""
        look = self.rating.standing.look
        return slice_gap_columns(self.fit, self.by, look, self.rating.elo)

    @property
    def rows(self) -> list[Row]:
        """The boards, one below the other."""
        elo = self.rating.elo
        return records(
            stacked_columns(self.by, self.standings, elo=elo, rank_spread=False)
        )

    @property
    def shown(self) -> Sliced:
        """What a page shows."""
        return sliced(self.by, self.standings, self.gaps, self.rating.elo)


def by_slices(rating: Rating, names: Sequence[str]) -> list[BySlice]:
    """Return the boards by some slices.

    Raises
    ------
    ModelError
        If the votes lack a slice, it has too many levels, or the board is combined.
    """
    if names and rating.share is not None:
        raise ModelError(
            "A combined board has no boards by slice: these give all votes equal weight.",
            Use(combined=False),
        )
    for by in names:
        require_few_levels(rating, by)
    return [BySlice(rating, by, fit_by(rating.fit, by)) for by in names]


def require_few_levels(rating: Rating, by: str) -> None:
    """Refuse a slice that is unknown, or has too many levels for a page."""
    require_slice_of(rating.votes, by)
    n_levels = len(rating.votes.levels[by])
    if n_levels > MOST_LEVELS:
        raise ModelError(
            f"{by!r} has {n_levels:,} levels, and a page shows {MOST_LEVELS} at most.",
            Call("leaderboard", by=by),
        )


def fit_by(fit: Fit, by: str) -> Fit:
    """Return the fit of the same votes with strengths by a slice."""
    if by in fit.model.strength_by:
        return fit
    name = f"{fit.model.name} by {by}"
    model = replace(fit.model, name=name, strength_by=(*fit.model.strength_by, by))
    options: dict[str, Any] = {"prior": fit.prior, "method": fit.method}
    with warnings.catch_warnings():  # they were given for the whole board
        warnings.simplefilter("ignore", ArenaWarning)
        return fit_model(fit.votes, model=model, seed=fit.seed, **options)
