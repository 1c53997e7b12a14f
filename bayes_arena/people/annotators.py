"""The table of annotators: who votes how, and a verdict on each.

One rule decides in every place: *anomalous* at a probability of .8 and ten votes or more,
*has a favourite*, *suspect* at .5, *ordinary*, and *too few votes* below ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.people.anomaly import Agreement, agreement_of
from bayes_arena.people.favourites import Favourites, find_favourites
from bayes_arena.people.table import votes_of
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

if TYPE_CHECKING:
    import pandas as pd

ANOMALOUS, SUSPECT = 0.8, 0.5  # probabilities of an anomaly
FEWEST_VOTES = 10  # of an annotator who is judged
MOSTLY_TIES = 0.9  # share of ties above which somebody always ties
SURE_SIDE = 1.96  # standard deviations from which a side is preferred


def annotators(
    votes: object,
    *,
    makers: Mapping[str, str] | str | Path | None = None,
    seed: int = 0,
    **columns: Any,
) -> pd.DataFrame:
    """Return who votes how, the most suspect first.

    Parameters
    ----------
    votes : Fit, or votes
        A fit without discrimination, or votes, are fitted by am-Davidson.
    makers : mapping of str to str, or path, optional
        The maker of each competitor, or a CSV of the two: adds each annotator's
        preference for competitors of its own maker.
    seed : int
        Of the draws.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    DataFrame
        annotator, verdict, why, p_anomaly, agreement (0 by chance, 1 always with the
        others) with lower and upper bounds, theta, ties (share), side (share of the
        decided votes for the first), votes.

    Raises
    ------
    ModelError
        If annotators are unknown.
    """
    from bayes_arena.people.judges import maker_columns

    fit = discriminating(votes, **columns)
    found = find_favourites(fit.votes)
    table = dict(annotator_columns(fit, found, seed))
    if makers is not None:
        table |= maker_columns(fit.votes, makers, table["annotator"])
    return dataframe(table)


def discriminating(votes: object, **columns: Any) -> Fit:
    """Return a fit with discrimination as it is; else fit am-Davidson."""
    if isinstance(votes, Fit) and votes.model.discrimination != "none":
        return votes
    return fit_model(votes_of(votes, **columns), model="am-davidson")


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
    lower, upper = agreement.bounds()
    counts = counts_by_annotator(votes)
    cast = counts.sum(axis=1)
    decided = np.maximum(counts[:, FIRST] + counts[:, SECOND], 1e-12)
    side = counts[:, FIRST] / decided if votes.sided else np.full(len(cast), np.nan)
    favourite = describe_favourites(votes, favourites)
    p = agreement.p_anomaly
    verdict = verdicts(p, cast, favourite)
    why = reasons(fit, agreement, counts, verdict, favourite)
    columns: dict[str, Any] = {
        "annotator": np.array(votes.annotators, dtype=object),
        "verdict": verdict,
        "why": why,
        "p_anomaly": p,
        "agreement": agreement.mean,
        "lower": lower,
        "upper": upper,
        "theta": fit.discrimination,
        "ties": counts[:, TIE] / np.maximum(cast, 1e-12),
        "side": side,
        "votes": cast,
    }
    if fit.model.name == "am-elo":
        # The paper's theta sums to one, and is not positive for the anomalous.
        columns["theta_of_sum_one"] = fit.discrimination / len(cast)
        columns["flagged_by_theta"] = fit.discrimination <= 0
    order = np.lexsort([-cast, -p, verdict == "too few votes"])
    return {name: values[order] for name, values in columns.items()}


def counts_by_annotator(votes: Votes) -> Floats:
    """Return wins of the first, of the second and ties of each annotator, (annotators, 3)."""
    counts = np.zeros((votes.n_annotators, 3))
    for outcome in (FIRST, SECOND, TIE):
        column = votes.folded[:, outcome]
        counts[:, outcome] = np.bincount(votes.annotator, column, votes.n_annotators)
    return counts


def verdicts(p: Floats, cast: Floats, favourite: Mapping[int, str]) -> Array:
    """Return the verdict on each annotator, (annotators,)."""
    if len(p) == 1:
        return np.array(["only annotator"], dtype=object)
    verdict = np.full(len(p), "ordinary", dtype=object)
    verdict[p >= SUSPECT] = "suspect"
    verdict[cast < FEWEST_VOTES] = "too few votes"
    verdict[list(favourite)] = "has a favourite"
    verdict[(p >= ANOMALOUS) & (cast >= FEWEST_VOTES)] = "anomalous"
    return verdict


def describe_favourites(votes: Votes, found: Favourites | None) -> dict[int, str]:
    """Return by annotator whom they favour, with the counts."""
    if found is None:
        return {}
    table = found.table
    sentences: dict[int, str] = {}
    named = np.flatnonzero(found.is_for | found.is_against)
    for pair in named[np.argsort(found.p_value[named], kind="stable")]:
        verb = "favours" if found.is_for[pair] else "votes against"
        cast = table.votes[pair]
        wins = table.wins[pair]
        expected = found.expected[pair] * cast
        name = votes.competitors[table.competitor[pair]]
        text = f"{verb} {name}: {wins:,.0f} of {cast:,.0f}, {expected:,.0f} expected"
        sentences.setdefault(int(table.annotator[pair]), text)
    return sentences


def reasons(
    fit: Fit,
    agreement: Agreement,
    counts: Floats,
    verdict: Array,
    favourite: Mapping[int, str],
) -> Array:
    """Return why annotators have their verdict, (annotators,); "" for ordinary ones."""
    mean = agreement.mean
    lower, upper = agreement.bounds()
    cast = counts.sum(axis=1)
    prefers_side = side_preference(fit)
    why = np.full(len(mean), "", dtype=object)
    for k in np.flatnonzero(np.isin(verdict, ["anomalous", "suspect"])):
        interval = f"{mean[k]:.2f} ({lower[k]:.2f} … {upper[k]:.2f})"
        if upper[k] < 0:
            why[k] = f"reversed: agreement {interval}"
        elif counts[k, TIE] > MOSTLY_TIES * cast[k]:
            why[k] = f"always ties: {counts[k, TIE]:,.0f} of {cast[k]:,.0f}"
        elif prefers_side[k] and lower[k] < 0 < upper[k]:
            side = "first" if counts[k, FIRST] > counts[k, SECOND] else "second"
            most = max(counts[k, FIRST], counts[k, SECOND])
            why[k] = f"one side: the {side} in {most:,.0f} of {cast[k]:,.0f}"
        else:
            why[k] = f"guesses: agreement {interval}"
    for k, text in favourite.items():
        why[k] = text
    return why


def side_preference(fit: Fit) -> Array:
    """Return whose preference for a side is clear, (annotators,)."""
    n = fit.votes.n_annotators
    if fit.model.position != "annotator":
        return np.zeros(n, bool)
    posterior = fit.posterior
    b = posterior.mean_of("position") + posterior.mean_of("position_by_annotator")
    return np.abs(b) > SURE_SIDE * posterior.sd_of("position_by_annotator")
