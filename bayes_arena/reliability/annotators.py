"""The table of annotators: which are reliable, which are not, and in what way.

An annotator's votes are anomalous (:mod:`bayes_arena.reliability.anomaly`), or they promote or demote a competitor
(:mod:`bayes_arena.promotion`).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from bayes_arena.arrays import Columns, DataFrame, Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.marginal.gaussian import hardly_any_voted_twice
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.priors import EMPHASIS
from bayes_arena.ratings.intervals.clustered import Clustered
from bayes_arena.ratings.intervals.contract import Interval, equal_tailed, half_width, require_level
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.reliability.agreement import draw_agreement
from bayes_arena.reliability.anomaly import ANOMALOUS, WATCH, Tally, anomaly, remember, ways
from bayes_arena.reliability.camps import camps
from bayes_arena.reliability.kinds import kinds
from bayes_arena.votes.names import ANNOTATOR
from bayes_arena.votes.outcomes import whole_counts

SMALLEST_SD = 1e-12
"""Least sd of theta: a single annotator has theta = 1 by definition, without error."""


@held
def annotators(fit: Fit, *, level: float = 0.95, interval: Interval | IntervalName = "laplace") -> DataFrame:
    """Rate the reliability of every annotator, the least reliable first.

    Parameters
    ----------
    fit : Fit
        A model with parameters of annotators.
    level : float
        Coverage of the intervals.
    interval : Interval or str
        Which draws to use: ``"laplace"``, from the posterior, or for posterior modes those of ``"sandwich"`` or
        ``"bootstrap"`` (:class:`~bayes_arena.Bootstrap`); probabilities below are then shares of these.

    Returns
    -------
    pandas.DataFrame
        ``annotator``; ``verdict``: ``anomalous`` (more likely than not), ``watch`` (the votes leave it open, as they do
        for all annotators where the fit takes them to be alike; the estimates below then rest on that assumption) or
        ``reliable``; ``kind``, if not reliable, the likeliest: ``guesses`` (the votes say little), ``always ties``,
        ``reversed`` (largely against the ranking), ``one-sided`` (the side decides), or ``promotes NAME`` and ``demotes
        NAME`` (of a competitor on which the votes are not those of one crowd); if reliable, what is no
        anomaly: ``camp NAME`` where they surely belong to one of :func:`~bayes_arena.camps`, ``dissents`` where they
        would seem to guess or to be reversed, but vote consistently by a ranking of their own; ``anomaly_probability``,
        A_k,
        that one of these holds, from which the verdict follows; ``net_agreement``, D_k, posterior mean (median under a
        flat prior) with ``net_agreement_lower`` and ``net_agreement_upper``; ``consistency``, E_k, how much the votes
        say, be it by another ranking; ``theta`` relative to the mean annotator (1) with ``theta_lower`` and
        ``theta_upper``; ``theta_paper``, the same on the paper's scale (sum 1); ``p_negative``, the probability that
        theta < 0 (under the Gaussian approximation, unless the fit was sampled); ``tie_propensity``, nu_k (kappa_k in
        Rao and Kupper's model); ``emphasis``, x_k, how readily they call a win a clear one, where verdicts are graded;
        ``position``, b_k in logits in favour of the competitor shown first, with ``position_lower`` and
        ``position_upper``; ``one_sided_probability``, that the side decides; ``reward``, shares in proportion to net
        agreement that sum to 1, zero for disagreement; ``votes``. Columns of parameters that the model does not have
        are absent. ``attrs`` has the level, the interval and :attr:`Fit.numbers`.

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
    from bayes_arena.table import Table

    chosen = resolve_interval(interval)
    table = Table(annotator_columns(fit, chosen, level=level), copy=False)
    table.attrs.update(level=level, **chosen.about(fit), **fit.numbers)
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
    sampled, count = interval.sampled(fit), fit.cells.n_annotators
    net, position, consistency, log_tie = np.empty((3, count)), np.empty((3, count)), np.empty(count), np.empty(count)
    tally, of = Tally(count), kinds(fit)
    for part, agreement in draw_agreement(sampled, of):
        tally.add(part, agreement)
        net[:, part], consistency[part] = _summary(fit, agreement.net, level), _center(fit, agreement.consistency)
        if agreement.position is not None:
            position[:, part] = _summary(fit, agreement.position, level)
        if agreement.log_tie_propensity is not None:
            log_tie[part] = agreement.log_tie_propensity
    found, (promoting, words) = tally.anomaly(fit, of), _promoters(fit)
    if sampled is fit:
        remember(fit, found)
    consistency += found.dissents * (found.own_consistency - consistency)
    suspicion = _either(found.probability, promoting)
    untold = fit.evidence == "variational" and hardly_any_voted_twice(fit.cells)  # none is called reliable
    verdict = np.select([suspicion > ANOMALOUS, (suspicion > WATCH) | untold], ["anomalous", "watch"], "reliable")
    kind = np.where(promoting > found.probability, words, ways(fit.model, fit.cast, found))
    no_anomaly = np.where(found.dissents > ANOMALOUS, "dissents", _camp(fit))
    kind = np.where(verdict == "reliable", no_anomaly, kind)
    columns: Columns = {
        "annotator": np.array(fit.cells.annotators, dtype=object),
        "verdict": verdict.astype(object),
        "kind": np.where(untold, "", kind).astype(object),
        "anomaly_probability": suspicion,
        **dict(zip(("net_agreement", "net_agreement_lower", "net_agreement_upper"), net, strict=True)),
        "consistency": consistency,
    }
    if fit.target.free_discrimination:
        columns |= _theta_columns(posterior_theta(fit), sampled, level)
    if agreement.log_tie_propensity is not None:
        with np.errstate(over="ignore"):  # an estimate at infinity
            columns["tie_propensity"] = np.exp(log_tie)
    names_of_own = [effect.name for effect in fit.target.own]
    if EMPHASIS in names_of_own:
        common = fit.point.common[[effect.name for effect in fit.target.common].index(EMPHASIS)]
        columns[EMPHASIS] = common + fit.point.own[:, names_of_own.index(EMPHASIS)]
    if agreement.position is not None:
        names = ("position", "position_lower", "position_upper")
        columns |= dict(zip(names, position, strict=True))
        columns["one_sided_probability"] = found.one_sided
    ability = np.maximum(net[0], 0.0)
    columns["reward"] = ability / max(ability.sum(), np.finfo(float).tiny)
    columns["votes"] = whole_counts(fit.cast.votes_by_annotator())
    order = np.lexsort((net[0].round(6), -suspicion.round(6)))
    for name in columns:  # one by one: there may be a million rows
        columns[name] = columns[name][order]
    return columns


def suspicion(fit: Fit) -> Floats:
    """Return A_k, the probability of what the verdict says, shape (M,)."""
    return _either(anomaly(fit).probability, _promoters(fit)[0])


def _promoters(fit: Fit) -> tuple[Floats, np.ndarray]:
    """Return the probability that annotators promote or demote a competitor, and which, in words, each (M,)."""
    count, names = fit.cells.n_annotators, fit.cells.competitors
    probability, words = np.zeros(count), np.full(count, "", dtype=object)
    if fit.promotions is None:
        return probability, words
    who = fit.promotions.promoters
    for one in np.argsort(who.probability, kind="stable").tolist():  # the likeliest is written last
        verb = "promotes" if who.promotes[one] else "demotes"
        words[who.annotator[one]] = f"{verb} {names[who.competitor[one]]}"
        probability[who.annotator[one]] = who.probability[one]
    return probability, words


def _camp(fit: Fit) -> np.ndarray:
    """Return the camp of those who surely belong to one, in words, and nothing for the others, shape (M,)."""
    if not fit.model.dimensions or fit.evidence != "variational":
        return np.full(fit.cells.n_annotators, "", dtype=object)
    found = camps(fit)
    names = np.array([f"camp {name}" if len(found.names) > 1 else "" for name in found.names], dtype=object)
    return np.where(found.unsure, "", names[found.membership.argmax(axis=1)])


def _either(anomalous: Floats, promoting: Floats) -> Floats:
    either: Floats = 1 - (1 - anomalous) * (1 - promoting)
    return either


def require_annotators(fit: Fit) -> None:
    """Refuse a fit whose model has no parameters of annotators."""
    if not fit.target.own:
        raise ModelError(
            f"Model {fit.model.name!r} has no parameters of annotators. Use model='am-davidson' or 'am-elo' on votes "
            "that name them."
        )


def posterior_theta(fit: Fit) -> Floats:
    """Return theta, mean 1, shape (M,): the posterior mean of a sampled fit, else the mode."""
    return fit.discrimination if fit.samples is None else np.asarray(fit.samples.own[:, :, THETA].mean(axis=0))


def _theta_columns(theta: Floats, fit: Fit, level: float) -> Columns:
    """Return theta with intervals, from draws where the fit has them."""
    if fit.samples is not None:
        drawn = fit.samples.own[:, :, THETA]
        lower, upper = equal_tailed(drawn, level)
        p_negative = (drawn < 0).mean(axis=0)
    else:
        half = half_width(level) * fit.discrimination_sd
        lower, upper = theta - half, theta + half
        p_negative = ndtr(-theta / np.maximum(fit.discrimination_sd, SMALLEST_SD))
    bounds = {"theta_lower": lower, "theta_upper": upper}
    return {"theta": theta} | bounds | {"theta_paper": theta / len(theta), "p_negative": p_negative}


def _summary(fit: Fit, drawn: np.ndarray, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the center and equal-tailed interval of draws (n_draws, M)."""
    lower, upper = equal_tailed(drawn, level).astype(np.float64)
    return _center(fit, drawn), lower, upper


def _center(fit: Fit, drawn: np.ndarray) -> Floats:
    """Return means of draws (n_draws, M); under a flat prior medians, as few draws decide a mean at infinity."""
    center = drawn.mean(axis=0, dtype=np.float64) if fit.target.is_proper else np.median(drawn, axis=0)
    return np.asarray(center, dtype=np.float64)
