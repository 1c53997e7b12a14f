"""The table of annotators: which are reliable, which are not, and in what way.

Annotators are suspect if they are anomalous, if the side decides their votes
(:mod:`bayes_arena.reliability.anomaly`), or if they favour or hate a competitor (:mod:`bayes_arena.trust`). The votes
of the last do not count in the fit; their estimates here are conditional on the strengths from the other votes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from bayes_arena.arguments import held
from bayes_arena.arrays import Columns, Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.inference.marginal.gaussian import hardly_any_voted_twice
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.ratings.intervals.clustered import Clustered
from bayes_arena.ratings.intervals.contract import Interval, equal_tailed, half_width, require_level
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.reliability.agreement import draw_agreement
from bayes_arena.reliability.anomaly import (
    ANOMALOUS,
    WATCH,
    anomaly_probability,
    by_kinds,
    one_sided_probability,
    votes_as_cast,
    ways,
)
from bayes_arena.reliability.favours import sentences
from bayes_arena.trust.mixture.shares import ADVERSARY, GUESSER
from bayes_arena.votes.names import ANNOTATOR
from bayes_arena.votes.outcomes import whole_counts

SMALLEST_SD = 1e-12
"""Least sd of theta: a single annotator has theta = 1 by definition, without error."""

if TYPE_CHECKING:
    import pandas as pd


@held
def annotators(fit: Fit, *, level: float = 0.95, interval: Interval | IntervalName = "laplace") -> pd.DataFrame:
    """Rate the reliability of every annotator, the most suspect first.

    Parameters
    ----------
    fit : Fit
        A model with parameters of annotators.
    level : float
        Coverage of the intervals.
    interval : Interval or str
        Which draws to use: those of :class:`~bayes_arena.Laplace`, from the posterior, or for posterior modes those of
        :class:`~bayes_arena.Sandwich` or :class:`~bayes_arena.Bootstrap`; probabilities below are then shares of these.

    Returns
    -------
    pandas.DataFrame
        ``annotator``; ``verdict``: ``anomalous`` (more likely than not), ``watch`` (the votes leave it open, as they do
        for all annotators where the fit takes them to be alike; the estimates below then rest on that assumption) or
        ``reliable``; ``kind``, if not reliable: ``adversarial`` (against the ranking beyond doubt),
        ``one-sided`` (the side decides), ``always ties``, ``uninformative`` (net agreement around zero), ``favours
        NAME`` or ``hates NAME`` (a competitor); ``anomaly_probability``, A_k, from the mixture of kinds where the fit
        is guarded, whatever the interval; ``net_agreement``, D_k, posterior mean (median under a flat prior) with
        ``net_agreement_lower`` and ``net_agreement_upper``; ``theta`` relative to the mean annotator (1) with ``lower``
        and ``upper``; ``theta_paper``, the same on the paper's scale (sum 1); ``p_negative``, the probability that
        theta < 0 (under the Gaussian approximation, unless the fit was sampled); ``tie_propensity``, nu_k (kappa_k in
        Rao and Kupper's model); ``position``, b_k in logits in favour of the competitor shown first, with
        ``position_lower`` and ``position_upper``; ``one_sided_probability``, that the side decides;
        ``favour_probability``, that the annotator favours or hates one competitor, alone or in a campaign; ``favours``,
        which competitor (after ``hates`` or ``favours``; empty below ``WATCH``), and ``how``: their votes on it, how
        much more often than others they meet it (which is not evidence), and their ties elsewhere;
        ``guesser_probability`` and ``adversary_probability``, that theta is zero, or negative, from the mixture of
        kinds; ``reward``, shares in proportion to net agreement that sum to 1, zero for disagreement and where votes do
        not count; ``votes``, as cast. Columns of parameters that the model does not have are absent. ``attrs`` has the
        level and the interval.

    Raises
    ------
    ModelError
        If the model has no parameters of annotators, or the level or interval is invalid.
    NotIdentifiedError
        If the estimate has no finite robust interval.

    References
    ----------
    Liu et al. (2025), section 4.2: theta < 0 marks an anomalous annotator; section 4.3: rewards in proportion to
    ability. Ability is net agreement here: theta of am-Davidson does not identify an annotator who always calls a tie.
    """
    import pandas as pd

    chosen = resolve_interval(interval)
    table = pd.DataFrame(annotator_columns(fit, chosen, level=level), copy=False)
    table.attrs.update(level=level, **chosen.about(fit))
    return table


def annotator_columns(fit: Fit, interval: Interval, *, level: float = 0.95) -> Columns:
    """Columns of :func:`annotators` (the command line prints them without importing pandas)."""
    require_level(level)
    require_annotators(fit)
    if isinstance(interval, Clustered) and interval.by == ANNOTATOR:
        raise ModelError(
            "The interval 'clustered' does not apply to annotators: each is a single cluster, so how their parameters "
            "vary between clusters is unknown. Use 'laplace', 'sandwich' or 'bootstrap'."
        )
    sampled = interval.sampled(fit)
    cast, place = votes_as_cast(fit)
    favour, favours = _favours(fit, place)
    known, drawn = by_kinds(fit, place), np.empty((0, len(place)), dtype=np.float32)
    net, position = np.empty((3, len(place))), np.empty((3, len(place)))
    against, one_sided, log_tie = np.empty(len(place)), np.empty(len(place)), np.empty(len(place))
    for part, agreement in draw_agreement(sampled):
        net[:, part], against[part] = _summary(fit, agreement.net, level), (agreement.net < 0).mean(axis=0)
        one_sided[part] = one_sided_probability(agreement)
        if agreement.position is not None:
            position[:, part] = _summary(fit, agreement.position, level)
        if agreement.log_tie_propensity is not None:
            log_tie[part] = agreement.log_tie_propensity
        if known is None:
            drawn = drawn if len(drawn) else np.empty((len(agreement.net), len(place)), dtype=np.float32)
            drawn[:, part] = agreement.net
    anomaly, suspicion = known or (anomaly_probability(drawn),) * 2
    suspicion = np.maximum(suspicion, one_sided)
    untold = fit.evidence == "variational" and hardly_any_voted_twice(fit.cells)  # none is called reliable
    verdict = np.select([suspicion > ANOMALOUS, (suspicion > WATCH) | untold], ["anomalous", "watch"], "reliable")
    kinds = ways(fit.model, cast, against, anomaly, one_sided)
    kinds = np.where(favour > np.minimum(np.maximum(anomaly, one_sided), ANOMALOUS), favours, kinds)
    kinds = np.where((verdict == "reliable") | untold, "", kinds)
    columns: Columns = {
        "annotator": np.array(cast.annotators, dtype=object),
        "verdict": verdict.astype(object),
        "kind": kinds.astype(object),
        "anomaly_probability": anomaly,
        **dict(zip(("net_agreement", "net_agreement_lower", "net_agreement_upper"), net, strict=True)),
    }
    if fit.target.free_discrimination:
        columns |= _theta_columns(posterior_theta(fit), sampled, level)
    if agreement.log_tie_propensity is not None:
        with np.errstate(over="ignore"):  # an estimate at infinity
            columns["tie_propensity"] = np.exp(log_tie)
    if agreement.position is not None:
        names = ("position", "position_lower", "position_upper")
        columns |= dict(zip(names, position, strict=True))
        columns["one_sided_probability"] = one_sided
    if fit.trust is not None and fit.trust.kinds is not None:
        columns["favours"] = np.where(favour > WATCH, favours, "").astype(object)
        columns["how"] = np.array(sentences(fit.trust, WATCH), dtype=object)[place]
        columns["favour_probability"] = favour
        columns["guesser_probability"] = fit.trust.kinds.probability[GUESSER, place]
        columns["adversary_probability"] = fit.trust.kinds.probability[ADVERSARY, place]
    ability = np.where(np.arange(len(place)) < fit.cells.n_annotators, np.maximum(net[0], 0.0), 0.0)
    columns["reward"] = ability / max(ability.sum(), np.finfo(float).tiny)
    columns["votes"] = whole_counts(cast.votes_by_annotator())
    order = np.lexsort((net[0], -suspicion))
    for name in columns:  # one by one: there may be a million rows
        columns[name] = columns[name][order]
    return columns


def _favours(fit: Fit, place: Ints) -> tuple[Floats, np.ndarray]:
    """Return the probability that annotators favour or hate one competitor, and which, in words."""
    if fit.trust is None:
        return np.zeros(len(place)), np.full(len(place), "", dtype=object)
    return fit.trust.favour[place], fit.trust.words[place]


def require_annotators(fit: Fit) -> None:
    """Refuse a fit whose model has no parameters of annotators."""
    if fit.trust is not None and fit.trust.unjudged:
        raise ModelError(f"{fit.trust.unjudged} To judge them anyway, use guard=False (--no-guard).")
    if not fit.target.own:
        raise ModelError(
            f"Model {fit.model.name!r} has no parameters of annotators. Use model='am-davidson' or 'am-elo' on votes "
            "that name them."
        )


def posterior_theta(fit: Fit) -> Floats:
    """Return theta, mean 1, shape (M,): the posterior mean of a sampled fit, else the mode."""
    return fit.discrimination if fit.samples is None else np.asarray(fit.samples.own[:, :, THETA].mean(axis=0))


def _theta_columns(theta: Floats, fit: Fit, level: float) -> Columns:
    """Return theta with intervals, from draws where the fit has them; annotators left out of the fit come last."""
    left_out = fit.suspects
    if fit.samples is not None:
        drawn = np.hstack([fit.samples.own, left_out.draw(len(fit.samples.own), 0)])[:, :, THETA]
        lower, upper = equal_tailed(drawn, level)
        p_negative = (drawn < 0).mean(axis=0)
        theta = np.append(theta, left_out.mean[:, THETA])
    else:
        sd = np.append(fit.discrimination_sd, np.sqrt(left_out.covariance[:, THETA, THETA]))
        theta = np.append(theta, left_out.mean[:, THETA])
        half = half_width(level) * sd
        lower, upper = theta - half, theta + half
        p_negative = ndtr(-theta / np.maximum(sd, SMALLEST_SD))
    return {
        "theta": theta,
        "lower": lower,
        "upper": upper,
        "theta_paper": theta / len(theta),
        "p_negative": p_negative,
    }


def _summary(fit: Fit, drawn: np.ndarray, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the center and equal-tailed interval of draws (n_draws, M).

    The center is the posterior mean; under a flat prior it is the median, since with an estimate at infinity a few
    draws would decide the mean.
    """
    lower, upper = equal_tailed(drawn, level).astype(np.float64)
    center = drawn.mean(axis=0, dtype=np.float64) if fit.target.is_proper else np.median(drawn, axis=0)
    return center.astype(np.float64), lower, upper
