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

from bayes_arena.arrays import Array, Ints
from bayes_arena.errors import ModelError
from bayes_arena.fits.fit import fit as fit_model, refuse_options
from bayes_arena.fits.result import Fit
from bayes_arena.people.evidence import Evidence, evidence_of
from bayes_arena.people.favourites import Favourites, find_favourites
from bayes_arena.people.reasons import reasons
from bayes_arena.reading.options import NAMES
from bayes_arena.reading.read import votes_from
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import Votes

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
ODD = ("anomalous", "has a favourite")  # verdicts that are marked
UNJUDGED = ("too few votes", "only annotator")
ANOMALOUS, SUSPECT = 0.8, 0.5  # probabilities of an anomaly
FEWEST_VOTES = 10  # of an annotator who is judged
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
        annotator; verdict; why, what speaks for it, and reason, its kind; p_anomaly, the
        probability that the agreement is below .4 of the median annotator's; agreement (0
        by chance, 1 always with the others)
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
    evidence = evidence_of(fit, favourites, seed)
    agreement = evidence.agreement
    verdict = verdicts(evidence)
    why = reasons(fit, evidence, verdict)
    columns: dict[str, Any] = {
        "annotator": np.array(fit.votes.annotators, dtype=object),
        "verdict": verdict,
        "why": np.array([reason.text for reason in why], dtype=object),
        "reason": np.array([reason.kind for reason in why], dtype=object),
        "p_anomaly": agreement.p_anomaly,
        "agreement": agreement.mean,
        "lower": agreement.lower,
        "upper": agreement.upper,
        "theta": fit.discrimination,
        "ties": evidence.tie_share,
        "side": evidence.side_share,
        "votes": evidence.n_votes,
    }
    columns |= {**unknown_columns(fit.votes), **paper_columns(fit)}
    order = table_order(verdict, evidence)
    return {name: values[order] for name, values in columns.items()}


def unknown_columns(votes: Votes) -> Columns:
    """Return columns of nan for what votes do not tell."""
    n = votes.n_annotators
    unknown = [] if votes.sided else ["side"]
    if n == 1:  # there is nobody to agree with
        unknown += ["p_anomaly", "agreement", "lower", "upper"]
    return {name: np.full(n, np.nan) for name in unknown}


def paper_columns(fit: Fit) -> Columns:
    """Return the columns of am-ELO: theta of sum one, and who is at most 0."""
    if fit.model.name != "am-elo":
        return {}
    theta = fit.discrimination / fit.votes.n_annotators
    return {"theta_of_sum_one": theta, "flagged_by_theta": is_low_theta(fit)}


def is_low_theta(fit: Fit, epsilon: float = 0.0) -> Array:
    """Return whose theta, of sum one, is at most epsilon (Liu et al., 2025)."""
    return fit.discrimination / fit.votes.n_annotators <= epsilon + THETA_ACCURACY


def verdicts(evidence: Evidence) -> Array:
    """Return the verdict on each annotator, (annotators,)."""
    p, n_votes = evidence.agreement.p_anomaly, evidence.n_votes
    if len(p) == 1:
        return np.array(["only annotator"], dtype=object)
    verdict = np.full(len(p), "ordinary", dtype=object)
    # Of an open direction, who is anomalous under one of the two is suspect.
    suspect_from = ANOMALOUS / 2 if evidence.agreement.is_open else SUSPECT
    verdict[p >= suspect_from] = "suspect"
    verdict[n_votes < FEWEST_VOTES] = "too few votes"
    verdict[list(evidence.clearest_pair)] = "has a favourite"
    verdict[(p >= ANOMALOUS) & (n_votes >= FEWEST_VOTES)] = "anomalous"
    return verdict


def table_order(verdict: Array, evidence: Evidence) -> Ints:
    """Return the order of the table: by verdict, favourites first, then the surest."""
    place = np.array([VERDICTS.index(name) for name in verdict])
    has_favourite = np.isin(np.arange(len(verdict)), list(evidence.clearest_pair))
    p_anomaly = evidence.agreement.p_anomaly
    return np.lexsort((-evidence.n_votes, -p_anomaly, ~has_favourite, place))
