"""The short names of intervals, each of which stands for the object with default fields."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

from bayes_arena.errors import ModelError
from bayes_arena.votes.names import ITEM

if TYPE_CHECKING:
    from bayes_arena.fits.draws import Draws
    from bayes_arena.fits.result import Fit
    from bayes_arena.ratings.intervals.contract import Interval

IntervalName = Literal["laplace", "profile", "sandwich", "clustered", "bootstrap"]


def short_forms() -> dict[str, type[Interval]]:
    """Return the class of each short form; imported here, as the command line needs only the names."""
    from bayes_arena.ratings.intervals.bootstrap import Bootstrap
    from bayes_arena.ratings.intervals.clustered import Clustered
    from bayes_arena.ratings.intervals.laplace import Laplace
    from bayes_arena.ratings.intervals.profile import Profile
    from bayes_arena.ratings.intervals.robust import Sandwich

    return {one.name: one for one in (Laplace, Profile, Sandwich, Clustered, Bootstrap)}


def resolve_interval(interval: Interval | str | None, fit: Fit | None = None, **fields_given: Any) -> Interval:
    """Return the interval that a short form stands for, or the one given.

    None is the default: ``"laplace"``, but for a finite mode clustered by item where votes stem from scores of items.
    ``fields_given`` are values for the interval's fields of these names; names that it lacks are ignored.
    """
    from bayes_arena.ratings.intervals.contract import Interval

    known = short_forms()
    if interval is None:
        interval = "laplace" if fit is None else _usual(fit)
    if isinstance(interval, str) and interval in known:
        interval = known[interval]()
    if not isinstance(interval, Interval):
        raise ModelError(
            f"Unknown interval {interval!r}. Use one of {', '.join(known)}, or an object such as Bootstrap()."
        )
    own = {field.name for field in fields(interval)}
    return replace(interval, **{name: value for name, value in fields_given.items() if name in own})


def _usual(fit: Fit) -> Interval | str:
    from bayes_arena.ratings.intervals.clustered import Clustered

    if fit.samples is not None or fit.mode.at_infinity:
        return "laplace"
    if len(fit.cells.slice_names.get(ITEM, ())) > 1 and not fit.model.is_crossed:
        return Clustered(by=ITEM)
    return "laplace"


def drawn_by(
    interval: Interval | str | None, fit: Fit, draws: Draws | None, *, annotators: bool = True
) -> tuple[Draws, dict[str, Any]]:
    """Return the given draws, else those of the interval, and the ``attrs`` of a table made from them.

    Tables about the average annotator need neither draws of the ``annotators`` nor r*.
    """
    from bayes_arena.fits.posterior_draws import draw, draw_without_annotators

    if draws is not None:
        chosen = resolve_interval(interval)
        if chosen.name != "laplace":
            raise ModelError(f"Both draws=... and interval={chosen} were given. Use only one of them.")
        return fit.seen(draws), {"interval": "draws", **fit.about}
    chosen = resolve_interval(interval, fit)
    made = draw if annotators else draw_without_annotators
    return made(chosen.sampled(fit)), {**chosen.about(fit), **fit.about}
