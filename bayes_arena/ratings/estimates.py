"""Strengths, differences between them, common effects and those of style, with standard errors and tests.

Every table has an estimate, its standard error ``sd`` (of a posterior its standard deviation), an interval, and Wald's

    z = estimate / sd,      p = P(|Z| > |z|),

with Z standard normal, or Student's t with G - 1 degrees of freedom where errors are clustered in G groups. Under a
flat prior p tests whether the quantity is zero; under a proper one it is twice the posterior probability of the
opposite sign, in the Gaussian approximation. There is no correction for multiple tests. A quantity that is zero by
definition, such as the strength of the reference, has sd 0 and neither z nor p (NaN).

The slope b of a feature of the answers is what one unit of it adds to the log-odds of a win against a loss. With s the
root mean square of the feature over votes, b s is the effect of one standard deviation, and exp(b s) its odds ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from bayes_arena.algebra.thin_jacobian import Jacobian, ThinJacobian, times
from bayes_arena.arrays import DataFrame, Floats, Ints, table_of
from bayes_arena.errors import ModelError, NotIdentifiedError, TooLargeError, did_you_mean, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.derivatives import are_many
from bayes_arena.likelihood.numbering import label_of
from bayes_arena.likelihood.predictor import root_mean_square
from bayes_arena.likelihood.problem import number_labels
from bayes_arena.ratings.intervals.contract import Interval, Quantity, require_level
from bayes_arena.ratings.intervals.dependent_votes import summarise
from bayes_arena.ratings.intervals.laplace import error_of_sd
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.threads import one_thread


@held
def strengths(
    fit: Fit,
    *,
    reference: str | None = None,
    level: float = 0.95,
    interval: Interval | IntervalName | None = None,
) -> DataFrame:
    """Tabulate strengths in logits, relative to their mean or a reference competitor.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    reference : str, optional
        Competitor whose strength is 0; by default the mean strength is 0.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, strength, sd, z, p, lower, upper``, in logits, in the order of ``fit.cells.competitors``. ``sd``
        is the standard error, z and p are Wald's (:mod:`bayes_arena.ratings.estimates`), whatever the interval; the row
        of the reference has strength and sd 0 and z and p NaN. Where ``sd`` is estimated, as for many competitors,
        ``attrs["sd_error"]`` is its largest relative error (one standard error).

    Raises
    ------
    ModelError
        If the reference is not a competitor, or the level or interval is invalid.
    NotIdentifiedError
        If a reference is given although, under a flat prior, some groups were never compared, or if the estimate has no
        finite robust interval.
    ConvergenceError
        If the end of a profile-likelihood interval is not found.

    References
    ----------
    Turner, H. & Firth, D. (2012), "Bradley-Terry models in R: the BradleyTerry2 package", Journal of Statistical
    Software 48(9).
    """
    names = fit.cells.competitors
    n, many = len(names), are_many(len(names))
    jacobian: Jacobian
    if reference is None:
        on_plane = ThinJacobian(np.ones(n), -fit.laplace.shifts, fit.laplace.shifts.T)
        jacobian = on_plane if many else np.eye(n) - fit.laplace.shifts @ fit.laplace.shifts.T
    elif reference in names:
        if fit.laplace.shifts.shape[1] > 1:
            raise NotIdentifiedError(
                "Under a flat prior groups that were never compared have no common reference. Rate them separately, or "
                "use prior='default'."
            )
        unit = (np.arange(n) == names.index(reference))[None].astype(float)
        jacobian = ThinJacobian(np.ones(n), -np.ones((n, 1)), unit) if many else np.eye(n) - unit
    else:
        raise ModelError(f"The reference {reference!r} is not a competitor.")
    return linear_table(fit, {"competitor": names}, "strength", jacobian, level, interval)


@held
def contrasts(
    fit: Fit,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    level: float = 0.95,
    interval: Interval | IntervalName | None = None,
) -> DataFrame:
    """Tabulate differences in strength between pairs of competitors.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    pairs : sequence of (str, str), optional
        The pairs to compare; by default every pair, in the order of ``fit.cells.competitors``.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, opponent, difference, sd, z, p, lower, upper``: strength of the competitor minus that of its
        opponent, in logits, from their joint covariance. ``sd`` is the standard error, z and p are Wald's
        (:mod:`bayes_arena.ratings.estimates`).

    Raises
    ------
    ModelError
        If a name is not a competitor, a pair names the same competitor twice, there is no pair, or the level or
        interval is invalid.
    TooLargeError
        If every pair of 1500 competitors or more is requested.
    NotIdentifiedError
        If, under a flat prior, two competitors were never compared, not even through others, or if the estimate has no
        finite robust interval.
    ConvergenceError
        If the end of a profile-likelihood interval is not found.
    """
    names = fit.cells.competitors
    if pairs is None and are_many(len(names)):
        raise TooLargeError(f"All pairs of {len(names):,} competitors are too many. Name some: pairs=[...].")
    i, j = pair_indices(fit, pairs)
    jacobian = np.zeros((len(i), len(names)))
    row = np.arange(len(i))
    jacobian[row, i], jacobian[row, j] = 1.0, -1.0
    who = {"competitor": [names[index] for index in i], "opponent": [names[index] for index in j]}
    return linear_table(fit, who, "difference", jacobian, level, interval)


@held
def effects(fit: Fit, *, level: float = 0.95, interval: Interval | IntervalName | None = None) -> DataFrame:
    """Estimate what annotators have in common besides the strengths: position effect, tie propensity, sharpness.

    Parameters
    ----------
    fit : Fit
        A fit of a model with such parameters, for instance ``Model("order", position="common")``.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``effect, estimate, sd, z, p, lower, upper``. Effects: ``position``, b in logits in favour of the competitor
        shown first (the order effect, or home advantage); ``log_tie_propensity``, ln nu (ln kappa in Rao and Kupper's
        model); ``log_both_bad``; ``style_NAME``, the slope of a feature; ``discrimination_by_KIND: NAME``, by how much
        votes in a slice follow the strengths more closely than in the average slice, where theta is 1 on average. z and
        p test against 0, which for a propensity means 1 and is seldom of interest. Where annotators have their own
        parameters, these are the means.

    Raises
    ------
    ModelError
        If the model has none, or the level or interval is invalid.
    NotIdentifiedError
        If the estimate has no finite robust interval.
    """
    common, n, labels = fit.target.common, fit.cells.n_competitors, number_labels(fit.mode.problem)
    found = [(effect.label, n + place) for place, effect in enumerate(common)]
    parts = fit.target.numbering.parts
    for effect, part in zip(fit.target.slices, parts, strict=True):
        if effect.is_held:
            names = [f"{effect.label}: {name}" for name in labels[label_of(effect)]]
            found += zip(names, range(n + len(common) + part.start, n + len(common) + part.stop), strict=True)
    if not found:
        raise ModelError(
            f"Model {fit.model.name!r} has only strengths. Use one with position='common' or ties='davidson'."
        )
    what, places = zip(*found, strict=True)
    jacobian = np.eye(max(places) + 1)[list(places)]
    return linear_table(fit, {"effect": list(what)}, "estimate", jacobian, level, interval)


def pair_indices(fit: Fit, pairs: Sequence[tuple[str, str]] | None) -> tuple[Ints, Ints]:
    """Return the two indices of each pair, by default of all pairs; refuse pairs that cannot be compared."""
    names = fit.cells.competitors
    chosen = list(combinations(names, 2) if pairs is None else pairs)
    place = {name: index for index, name in enumerate(names)}
    unknown = list(dict.fromkeys(name for pair in chosen for name in pair if name not in place))
    if unknown:
        known = did_you_mean(str(unknown[0]), names)
        raise ModelError(f"Among the {len(names)} competitors there is no {listing(map(repr, unknown))}.{known}")
    if not chosen or any(a == b for a, b in chosen):
        raise ModelError(f"Each pair must name two different competitors, such as {names[:2]}; not {listing(chosen)}.")
    i, j = (np.array([place[name] for name in side], dtype=np.int64) for side in zip(*chosen, strict=True))
    if np.isinf(fit.target.strength_sd):
        require_compared(fit, i, j)
    return i, j


def require_compared(fit: Fit, i: Ints, j: Ints) -> None:
    """Refuse pairs whose strengths have no common origin."""
    labels = fit.cells.components
    unconnected = np.flatnonzero(labels[i] != labels[j])
    if len(unconnected):
        names = fit.cells.competitors
        pairs = dict.fromkeys(f"{names[min(i[row], j[row])]} and {names[max(i[row], j[row])]}" for row in unconnected)
        raise NotIdentifiedError(
            "Under a flat prior nothing can be said about pairs that were never compared, not even through others: "
            f"{listing(pairs)}. Use prior='default'."
        )


def require_population(fit: Fit) -> None:
    """Refuse to draw a new annotator from a flat prior."""
    if any(np.isinf(effect.sd) for effect in fit.target.own):
        raise ModelError("A flat prior describes no population to draw a new annotator from. Use prior='default'.")


def linear_table(
    fit: Fit,
    who: dict[str, Any],
    what: str,
    jacobian: Jacobian,
    level: float,
    interval: Interval | IntervalName | None,
) -> DataFrame:
    """Return a table of functions linear in the strengths, or in strengths, common parameters and those of slices.

    Its columns are those of ``who``, which identify the rows, the estimate, called ``what``, and ``sd, z, p, lower,
    upper``. ``jacobian`` has the functions' derivatives, shape (m, n), (m, n + c) or up to (m, h).
    """
    require_level(level)
    n, chosen = jacobian.shape[1], resolve_interval(interval, fit)

    def drawn(draws: Draws) -> Floats:
        slices = [draws.slices] if draws.slices.size else []
        return times(jacobian, np.column_stack([draws.strength, draws.common, *slices])[:, :n])

    with one_thread():
        quantity = Quantity(times(jacobian, fit.point.head[:n]), jacobian, None, drawn)
        columns = summarise(fit, chosen, quantity, level).columns(what)
    estimated = error_of_sd(fit, chosen) if isinstance(jacobian, ThinJacobian) else {}
    return table_of({**who, **columns}, level=level, **chosen.about(fit), **estimated)


@held
def style_effects(fit: Fit, *, level: float = 0.95, interval: Interval | IntervalName = "laplace") -> DataFrame:
    """Estimate what a feature of the answers, such as their length, adds to the odds of winning.

    Parameters
    ----------
    fit : Fit
        A fit of a model with style, such as ``Model("style", style=("length",))``.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``feature``; its slope ``estimate`` in logits per unit, ``sd``, ``z``, ``p``, ``lower``, ``upper``;
        ``feature_sd``, its root mean square over votes; ``per_sd``, the slope in logits per ``feature_sd``; and the
        ``odds_ratio`` of a win to a loss per ``feature_sd``, with ``odds_lower`` and ``odds_upper``.

    Warns
    -----
    DependentVotesWarning
        If votes share prompts and neither the model nor the interval accounts for it: all votes on an answer share its
        length, and standard errors were found to be 3 to 8 times too small.

    Raises
    ------
    ModelError
        If the model has no style, or the level or interval is invalid.
    """
    common, n = fit.target.common, fit.cells.n_competitors
    rows = [row for row, effect in enumerate(common) if effect.basis == "feature"]
    if not rows:
        raise ModelError(f"Model {fit.model.name!r} has no style. Name features of the votes: style=('length',).")
    jacobian = np.eye(n + len(common))[n:][rows]
    table = linear_table(fit, {"feature": list(fit.model.style)}, "estimate", jacobian, level, interval)
    size = np.array([root_mean_square(common[row], fit.target.tally) for row in rows])
    bounds = {"odds_ratio": "estimate", "odds_lower": "lower", "odds_upper": "upper"}
    odds = {name: np.exp(table[bound] * size) for name, bound in bounds.items()}
    return table.assign(feature_sd=size, per_sd=table["estimate"] * size, **odds)
