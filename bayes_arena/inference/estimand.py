"""What a ranking is about: the prompts that were voted on or new ones, of all categories or one; and whose votes.

One fit gives several leaderboards. With u^f_{g,i} the deviation of competitor i in slice g of kind f,

    new prompts:     m_i = r_i + sum_f sum_g share_g u^f_{g,i}        kinds f other than prompt, annotator, program
    these prompts:   the same + (1 / P) sum_p u^prompt_{p,i}          over the P prompts voted on

share_g being the share of the prompts (or of the votes, where prompts are unknown) in slice g: new prompts come from
the same categories and languages. Annotators are always new ones: m excludes their tastes, and those of programs, since
a ranking is what people see. For one slice, such as a category, both are taken over its own prompts, with share 1 for
it. What slices add to theta is averaged alike. A deviation without votes keeps its prior, and adds share_g^2 s_f^2 to
the variance of m_i. Of a population share_g is that of the group in it (:mod:`bayes_arena.inference.population`).

Where strengths move, m_i is that of the last period, or of another, at which d_{t,i} is added: between two periods with
votes on i its mean is in line with these, and it varies as a walk between them does; after the votes, or before those
on i, as a walk away from them.

Whose votes they are, and how much each annotator counts, says :mod:`bayes_arena.inference.crowd`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.inference.crowd import Crowd
from bayes_arena.inference.population import Population
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM, PROMPT, TIME, Period
from bayes_arena.votes.periods import moments, name_of, period_of, periods

Over = Literal["new prompts", "these prompts"]


@dataclass(frozen=True)
class Estimand:
    """What a ranking is about.

    Attributes
    ----------
    over : {"new prompts", "these prompts"}
        Whether the ranking is for further prompts like these, or for these prompts only.
    slice : (str, str) or None
        Kind and name of a slice, such as ``("category", "coding")``; None for all slices.
    population : Population or None
        Whom the ranking is to speak for; None for those who voted.
    at : str or None
        The period that it is about, by its name; None for the last, now.
    """

    over: Over = "new prompts"
    slice: tuple[str, str] | None = None
    population: Population | None = None
    at: str | None = None

    def __str__(self) -> str:
        at = f", {self.at}" if self.at else ""
        return self.over + (f", {self.slice[0]} {self.slice[1]}" if self.slice else "") + at

    def rows(self, cells: Cells) -> NDArray[np.bool_]:
        """Return which cells have votes in its slice, shape (n_cells,); all cells where it has none."""
        if self.slice is None:
            return np.ones(len(cells.a), dtype=bool)
        kind, name = self.slice
        return cast("NDArray[np.bool_]", cells.slices[kind] == cells.slice_names[kind].index(name))


@dataclass(frozen=True, eq=False)
class View:
    """The slices over which strengths are averaged.

    Attributes
    ----------
    slices : sparse array, shape (n, s), or ndarray where there are none
        What the parameters of slices add to the strengths: m = r + slices @ u.
    given : tuple of str
        Kinds of which one slice is selected; over all other kinds strengths are averaged.
    unseen : ndarray, shape (n,)
        Variance of m due to parameters without votes.
    ties : ndarray, shape (s,), or None
        What the parameters of slices of the given kinds add to ln nu: ties @ u.
    sharper : ndarray, shape (s,), or None
        What they add to theta, on average over slices.
    annotators : ndarray, shape (M, q, q), or None
        Covariances of the annotators' parameters, given all others, where the fit has their posterior means: expected
        votes are averaged over these parameters, too.
    crowd : Crowd
        Whose votes the ranking is about, and how they are averaged.
    """

    slices: Any
    given: tuple[str, ...]
    unseen: Floats
    ties: Floats | None = None
    sharper: Floats | None = None
    annotators: Floats | None = None
    crowd: Crowd = field(default_factory=Crowd)

    def of(self, target: Objective, slices: Floats) -> Objective:
        """Return the objective whose hypothetical votes are those of the view, for numbers of slices (..., s)."""
        if self.sharper is None:
            return target
        sharper = slices @ self.sharper
        return replace(target, sharper=sharper[:, None] if np.ndim(sharper) else float(sharper))

    def scatter(self, target: Objective) -> tuple[float, float]:
        """Return the standard deviations of leads and ln nu from slice to slice."""
        others = (effect for effect in target.slices if not effect.walks)
        scattered = [effect for effect in others if effect.by not in (*self.given, COMPETITOR, PROGRAM)]
        leads = sum(2 * effect.sd**2 for effect in scattered if effect.basis == "difference")
        ties = sum(effect.sd**2 for effect in scattered if effect.basis == "one")
        return math.sqrt(leads), math.sqrt(ties)


def require_estimand(
    problem: Problem, over: Over | None, slice: tuple[str, str] | None, at: str | None = None
) -> Estimand:
    """Return the estimand; refuse one that the model and the votes cannot give.

    Raises
    ------
    ModelError
        If the choice is invalid, the model has no effects of such slices, there is no slice of that name, or strengths
        do not move, or the time is none, or before the votes.
    """
    model, cells = problem.model, problem.cells
    if over is not None and over not in get_args(Over):
        raise ModelError(f"over must be 'new prompts' or 'these prompts', not {over!r}.")
    if over == "these prompts" and PROMPT not in model.strength_by:
        raise ModelError(
            f"Model {model.name!r} does not distinguish prompts: its strengths hold for these prompts and for new "
            "ones alike. Read prompts (prompt=..., --prompt) and fit with answers=True (--answers on)."
        )
    if slice is not None:
        if not isinstance(slice, tuple) or len(slice) != 2:
            raise ModelError(f"slice must be a kind and a name, such as ('category', 'coding'), not {slice!r}.")
        kind, name = slice = str(slice[0]), str(slice[1])  # a numeric name was read as text
        if kind in (ANNOTATOR, COMPETITOR, PROGRAM):
            raise ModelError(f"There is no ranking for one {kind}. Leave slice out, or name a category, for instance.")
        if kind not in model.strength_by:
            others = [one for one in model.strength_by if one not in (ANNOTATOR, PROGRAM)]
            raise ModelError(
                f"The model has no strengths by {kind!r} (its slices: {listing(map(repr, others)) or 'none'}). "
                f"Use a Model with strength_by=({kind!r},) (--strength-by {kind})."
            )
        if name not in cells.slice_names[kind]:
            known = cells.slice_names[kind]
            hint = did_you_mean(name, known) or f" Use one of {listing(map(repr, known))}."
            raise ModelError(f"There is no {kind} {name!r}.{hint}")
    return Estimand(over or "new prompts", slice, at=None if at is None else _period_at(problem, at))


def view(problem: Problem, estimand: Estimand) -> View:
    """Return the slices over which strengths are averaged for an estimand."""
    cells, target, n = problem.cells, problem.objective, problem.cells.n_competitors
    numbering = target.numbering
    if not target.slices or not (problem.model.strength_by or estimand.at):
        return on_new_slices(target)
    rows, given = estimand.rows(cells), [] if estimand.slice is None else [estimand.slice[0]]
    people = estimand.population
    given += people.alone() if people else []
    places, weights, unseen, ties, sharper = [], [], np.zeros(n), None, None
    for effect, keys, part in zip(target.slices, numbering.keys, numbering.parts, strict=True):
        if effect.walks and estimand.at:
            competitor, place, weight, spare = numbering.at(int(periods([estimand.at])[0]))
            places.append((competitor, place))
            weights.append(weight)
            unseen += effect.sd**2 * spare
        if effect.basis == "one" and effect.by in given:
            ties = np.zeros(numbering.n_slices) if ties is None else ties
            ties[part] = _shares(problem, effect.by, rows, people)[keys]
        if effect.walks or effect.dimension or effect.by in (ANNOTATOR, PROGRAM):
            continue
        if effect.by == PROMPT and estimand.over == "new prompts" and PROMPT not in given:
            continue
        if effect.basis == "lead":
            sharper = np.zeros(numbering.n_slices) if sharper is None else sharper
            sharper[part] = _shares(problem, effect.by, rows, people)[keys]
        if effect.basis != "difference":
            continue
        share, unheard = _shares(problem, effect.by, rows, people), np.zeros(0)
        if people and effect.by in people.kinds:
            unheard = np.array([*people.unheard(effect.by, cells.slice_names[effect.by]).values()])
        code, competitor = np.divmod(keys, n)
        weight = share[code]
        places.append((competitor, np.arange(part.start, part.stop)))
        weights.append(weight)
        everybody = share @ share + unheard @ unheard
        unseen += effect.sd**2 * np.maximum(everybody - sum_by(competitor, weight**2, n), 0.0)
    if not places:
        return on_new_slices(target)
    from scipy.sparse import csr_array  # slow to import

    row, column = (np.concatenate(one) for one in zip(*places, strict=True))
    matrix = csr_array((np.concatenate(weights), (row, column)), shape=(n, numbering.n_slices))
    return View(matrix, tuple(given), unseen, ties, sharper)


def _period_at(problem: Problem, at: str) -> str:
    """Return the name of the period of a time."""
    if not problem.model.drift:
        raise ModelError(
            f"Strengths do not move, so their ranking is that of all times, and not of {at!r}. Fit with drift=True "
            "(--drift)."
        )
    known = problem.cells.slice_names[TIME]
    kind = cast("Period", period_of(known))
    if period_of([at]) == kind:
        name = at
    else:
        moment = pl.select(moments(pl.lit(at)).alias("t"))
        if moment["t"].has_nulls():
            raise ModelError(f"Not a time: {at!r}. Use a date (2026-03-01), or a {kind} ({known[-1]}).")
        name = str(moment.select(name_of(pl.col("t"), kind)).item())
    if periods([name])[0] < periods(known)[0]:
        raise ModelError(f"{at!r} is before the votes, which begin in {known[0]}. Use a later time.")
    return name


def on_new_slices(target: Objective) -> View:
    """Return the view of strengths on unseen slices of every kind."""
    n = target.n_competitors
    if not target.slices:
        return View(np.zeros((n, 0)), (), np.zeros(n))
    from scipy.sparse import csr_array

    return View(csr_array((n, target.numbering.n_slices)), (), np.zeros(n))


def _shares(problem: Problem, kind: str, rows: np.ndarray, people: Population | None) -> Floats:
    """Return the share of people, or else of the prompts (or votes) of some rows, in every slice of a kind."""
    cells = problem.cells
    if people and kind in people.kinds:
        return people.of_kind(kind, cells.slice_names[kind])
    code, size = cells.slices[kind][rows], len(cells.slice_names[kind])
    votes = cells.counts.sum(axis=1)[rows]
    if PROMPT in cells.slices:
        prompt = cells.slices[PROMPT][rows]
        of_prompt = sum_by(prompt, votes, len(cells.slice_names[PROMPT]))
        votes = votes / of_prompt[prompt]
    shares = sum_by(code, votes, size)
    return cast(Floats, shares / shares.sum())
