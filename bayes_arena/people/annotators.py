"""The table of annotators: who votes how, and a verdict on each.

One rule decides in every place: *anomalous* at a probability of .8 and ten votes or more,
*has a favourite*, *suspect* at .5, *ordinary*, and *too few votes* below ten.  Somebody
alone is the *only annotator*: there is nobody to agree with.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.fit import fit as fit_model, refuse_options
from bayes_arena.fits.result import Fit
from bayes_arena.people.anomaly import Agreement, agreement_of
from bayes_arena.people.favourites import (
    Favourites,
    divergence,
    find_favourites,
)
from bayes_arena.people.table import score_moments
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.options import NAMES
from bayes_arena.votes.read import votes_from
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

if TYPE_CHECKING:
    import pandas as pd

# In the order of the table.
VERDICTS = (
    "anomalous",
    "has a favourite",
    "suspect",
    "ordinary",
    "too few votes",
    "only annotator",
)
ANOMALOUS, SUSPECT = 0.8, 0.5  # probabilities of an anomaly
FEWEST_VOTES = 10  # of an annotator who is judged
SURPRISING = (
    3.0  # nats by which a score is beyond what is expected: a chance of 1 in 20
)
MOSTLY_TIES = 0.9  # share of ties above which somebody always ties
THETA_ACCURACY = 1e-9  # to which theta is solved: that of one who always ties is 0


def annotators(
    votes: object,
    *,
    makers: Mapping[str, str] | str | Path | None = None,
    seed: int = 0,
    **options: Any,
) -> pd.DataFrame:
    """Return who votes how, with a verdict on each; the anomalous come first.

    Parameters
    ----------
    votes : Fit, or votes
        A fit without discrimination, or votes, are fitted by am-Davidson.
    makers : mapping of str to str, or path, optional
        The maker of each competitor, or a CSV of the two: adds each annotator's
        preference for competitors of its own maker.
    seed : int
        Of the draws.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    DataFrame
        annotator; verdict; why; p_anomaly, the probability that the agreement is below
        .4 of the median annotator's; agreement (0 by chance, 1 always with the others)
        with its lower and upper bound at .95; theta; ties, their share of the votes;
        side, the share of the decided votes that went to the competitor shown first;
        votes.  For am-ELO also theta_of_sum_one, the paper's, and flagged_by_theta, its
        rule at epsilon 0.  With ``makers`` also own_maker, the preference in logits, with
        own_lower and own_upper.

    Raises
    ------
    VotesError
        If annotators are unknown.
    """
    from bayes_arena.people.judges import maker_columns

    fit = discriminating(votes, **options)
    pairs = find_favourites(fit.votes)
    table = dict(annotator_columns(fit, pairs, seed))
    if makers is not None:
        table |= maker_columns(fit.votes, makers, table["annotator"])
    return dataframe(table)


def discriminating(votes: object, **options: Any) -> Fit:
    """Return a fit with discrimination as it is; else fit am-Davidson."""
    if isinstance(votes, Fit):
        refuse_options(options)
        if votes.model.discrimination != "none":
            return votes
        votes = votes.votes
    columns = {name: options.pop(name) for name in NAMES if name in options}
    source = votes_from(votes, **columns)
    source.require_annotators()
    fit = fit_model(source, **{"model": "am-davidson", **options})
    require_discrimination(fit, "am-davidson")
    return fit


def require_discrimination(fit: Fit, model: str) -> None:
    """Raise an error for a fit in which annotators do not differ; name a model to use."""
    if fit.model.discrimination == "none":
        raise ModelError(
            f"Model {fit.model.name!r} has no discrimination. Use model={model!r}."
        )


def annotator_columns(
    fit: Fit, favourites: Favourites | None = None, seed: int = 0
) -> Columns:
    """Return the columns of :func:`annotators`.

    Parameters
    ----------
    fit : Fit
        Of a model with discrimination.
    favourites : Favourites, optional
    seed : int
    """
    votes = fit.votes
    agreement = agreement_of(fit, seed)
    counts = counts_by_annotator(votes)
    cast = counts.sum(axis=1)
    favourite = clearest_pairs(favourites)
    verdict = verdicts(agreement.p_anomaly, cast, favourite)
    columns: dict[str, Any] = {
        "annotator": np.array(votes.annotators, dtype=object),
        "verdict": verdict,
        "why": reasons(fit, agreement, verdict, favourites, favourite),
        "p_anomaly": agreement.p_anomaly,
        "agreement": agreement.mean,
        "lower": agreement.lower,
        "upper": agreement.upper,
        "theta": fit.discrimination,
        "ties": share(counts[:, TIE], cast),
        "side": share(counts[:, FIRST], counts[:, FIRST] + counts[:, SECOND]),
        "votes": cast,
    }
    if not votes.sided:
        columns["side"] = np.full(len(cast), np.nan)
    if len(cast) == 1:
        for name in ("p_anomaly", "agreement", "lower", "upper"):
            columns[name] = np.full(1, np.nan)
    if fit.model.name == "am-elo":
        columns["theta_of_sum_one"] = fit.discrimination / len(cast)
        columns["flagged_by_theta"] = is_low_theta(fit)
    order_of_verdict = [VERDICTS.index(name) for name in verdict]
    has_none = [k not in favourite for k in range(len(cast))]
    order = np.lexsort([-cast, -agreement.p_anomaly, has_none, order_of_verdict])
    return {name: values[order] for name, values in columns.items()}


def share(part: Floats, total: Floats) -> Floats:
    """Return shares, nan of nothing."""
    return np.divide(part, total, out=np.full(len(part), np.nan), where=total > 0)


def is_low_theta(fit: Fit, epsilon: float = 0.0) -> Array:
    """Return whose theta, of sum one, is at most epsilon (Liu et al., 2025)."""
    return fit.discrimination / fit.votes.n_annotators <= epsilon + THETA_ACCURACY


def counts_by_annotator(votes: Votes) -> Floats:
    """Return wins of the first, of the second and ties of each annotator, (annotators, 3)."""
    counts = np.zeros((votes.n_annotators, 3))
    for outcome in (FIRST, SECOND, TIE):
        column = votes.folded[:, outcome]
        counts[:, outcome] = np.bincount(votes.annotator, column, votes.n_annotators)
    return counts


def verdicts(p: Floats, cast: Floats, favourite: Mapping[int, int]) -> Array:
    """Return the verdict on each annotator, (annotators,)."""
    if len(p) == 1:
        return np.array(["only annotator"], dtype=object)
    verdict = np.full(len(p), "ordinary", dtype=object)
    verdict[p >= SUSPECT] = "suspect"
    verdict[cast < FEWEST_VOTES] = "too few votes"
    verdict[list(favourite)] = "has a favourite"
    verdict[(p >= ANOMALOUS) & (cast >= FEWEST_VOTES)] = "anomalous"
    return verdict


def clearest_pairs(pairs: Favourites | None) -> dict[int, int]:
    """Return the clearest favourite of each annotator who has one: a row of the pairs."""
    clearest: dict[int, int] = {}
    if pairs is not None:
        named = np.flatnonzero(pairs.is_for | pairs.is_against)
        for pair in named[np.argsort(pairs.p_value[named], kind="stable")]:
            clearest.setdefault(int(pairs.table.annotator[pair]), int(pair))
    return clearest


def describe_favourite(votes: Votes, pairs: Favourites, pair: int) -> str:
    """Return whom somebody favours, or votes against, with the counts."""
    table = pairs.table
    verb = "favours" if pairs.is_for[pair] else "votes against"
    name = votes.competitors[table.competitor[pair]]
    expected = pairs.expected[pair] * table.votes[pair]
    return (
        f"{verb} {name}: {table.wins[pair]:,.0f} of {table.votes[pair]:,.0f}, "
        f"{expected:,.0f} expected"
    )


def is_mere_reversal(fit: Fit, pairs: Favourites, pair: int) -> bool:
    """Whether a favourite is what votes against the ranking make of a weak competitor."""
    table = pairs.table
    expected = score_by_own_theta(fit, table.annotator[pair], table.competitor[pair])
    surprise = table.votes[pair] * divergence(table.score[pair], np.asarray(expected))
    return bool(surprise < SURPRISING)


def score_by_own_theta(fit: Fit, k: int, c: int) -> float:
    """Return the score that annotator k, as fitted, is expected to give competitor c."""
    votes, posterior = fit.votes, fit.posterior
    rows = (votes.annotator == k) & ((votes.i == c) | (votes.j == c))
    first, second = votes.i[rows], votes.j[rows]
    eta = fit.discrimination[k] * (fit.strength[first] - fit.strength[second])
    offset = dict.fromkeys(("position", "tie"), 0.0)
    for name in offset:
        for effect in (name, f"{name}_by_annotator"):
            if posterior.design.has(effect):
                values = posterior.mean_of(effect)
                offset[name] += float(values[k if len(values) > 1 else 0])
    lead = np.where(first == c, 1, -1) * (eta + offset["position"])
    score, _ = score_moments(lead, posterior.design.outcomes, offset["tie"])
    return float(np.average(score, weights=votes.counts[rows].sum(axis=1)))


def reasons(
    fit: Fit,
    agreement: Agreement,
    verdict: Array,
    pairs: Favourites | None,
    favourite: Mapping[int, int],
) -> Array:
    """Return why annotators have their verdict, (annotators,); "" for ordinary ones."""
    why = np.full(len(verdict), "", dtype=object)
    counts = counts_by_annotator(fit.votes)
    for k in np.flatnonzero(np.isin(verdict, ["anomalous", "suspect"])):
        why[k] = reason(agreement, counts, k)
    if pairs is not None:
        for k, pair in favourite.items():
            if agreement.upper[k] >= 0 or not is_mere_reversal(fit, pairs, pair):
                why[k] = describe_favourite(fit.votes, pairs, pair)
    return why


def reason(agreement: Agreement, counts: Floats, k: int) -> str:
    """Return in what way annotator k does not vote with the others."""
    mean, lower, upper = agreement.mean[k], agreement.lower[k], agreement.upper[k]
    if upper < 0:
        return f"reversed: agreement {mean:.2f} ({lower:.2f} … {upper:.2f})"
    cast = counts[k].sum()
    if counts[k, TIE] > MOSTLY_TIES * cast:
        return f"always ties: {counts[k, TIE]:,.0f} of {cast:,.0f}"
    if agreement.side[k] and lower < 0:
        side = "first" if agreement.side[k] > 0 else "second"
        chosen = counts[k, FIRST if agreement.side[k] > 0 else SECOND]
        decided = cast - counts[k, TIE]
        return f"one side: the {side} in {chosen:,.0f} of {decided:,.0f} decided votes"
    return f"guesses: agreement {mean:.2f} ({lower:.2f} … {upper:.2f})"
