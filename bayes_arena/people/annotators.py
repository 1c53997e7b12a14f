"""The table of annotators: who votes how, and a verdict on each (judgement.py)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayes_arena.arrays import Array, Ints
from bayes_arena.errors import ArenaError, ArenaWarning, warn
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.fits.result import Fit
from bayes_arena.people.doors import judging
from bayes_arena.people.evidence import (
    Evidence,
    evidence_of,
    evidence_without_fit,
    with_favourites,
)
from bayes_arena.people.favourites import Favourites, find_favourites
from bayes_arena.people.groups import find_groups
from bayes_arena.people.judgement import VERDICTS, Judgement, verdict_on
from bayes_arena.people.makers import maker_columns
from bayes_arena.people.own_ranking import chance_of_own_ranking
from bayes_arena.people.table import without_pairs
from bayes_arena.said import Note
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

FEWEST_OTHERS = 5  # annotators without whom the votes of the others judge nobody
THETA_ACCURACY = 1e-9  # to which theta is solved: that of one who always ties is 0


def annotators(
    votes: object,
    *,
    makers: Mapping[str, str] | str | Path | None = None,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
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
        by chance, 1 always with the others) with its lower and upper bound at .95; theta;
        ties, their share of the votes; side, the share of the decided votes that went to
        the competitor shown first; votes.  For am-ELO also theta_of_sum_one, the paper's,
        and flagged_by_theta, its rule at epsilon 0.  Where there are two groups (see
        :func:`~bayes_arena.groups`) also annotator_group, "smaller" or "larger".  With
        ``makers`` also own_maker, the preference in logits, with own_lower and own_upper.

    Raises
    ------
    VotesError
        If annotators are unknown.

    Warns
    -----
    ArenaWarning
        If am-Davidson has no answer, so that nobody is judged but by favourites.
    """
    source, judge = judging(votes, **options)
    table = dict(annotator_columns(source, judge, find_favourites(source), seed))
    if isinstance(judge, Note):
        warn(judge)
    else:
        table |= find_groups(judge, seed).columns_of(table["annotator"])
    if makers is not None:
        table |= maker_columns(source, makers, table["annotator"])
    return dataframe(table)


def annotator_columns(
    votes: Votes, judge: Fit | Note, favourites: Favourites, seed: int = 0
) -> Columns:
    """Return the columns of :func:`annotators`.

    Parameters
    ----------
    votes : Votes
        Of known annotators.
    judge : Fit or Note
        Their fit with discrimination; or why there is none.
    favourites : Favourites
    seed : int
    """
    evidence, judgements = judged(votes, judge, favourites, seed)
    columns: dict[str, Any] = {
        "annotator": words(votes.annotators),
        "verdict": words([row.verdict for row in judgements]),
        "why": words([row.reason.text for row in judgements]),
        "reason": words([row.reason.kind for row in judgements]),
        "p_anomaly": np.array([row.p_anomaly for row in evidence]),
        "agreement": np.array([row.agreement for row in evidence]),
        "lower": np.array([row.lower for row in evidence]),
        "upper": np.array([row.upper for row in evidence]),
        "theta": np.full(len(evidence), np.nan),
        "ties": np.array([row.tie_share for row in evidence]),
        "side": np.array([row.side_share for row in evidence]),
        "votes": votes.votes_by_annotator,
    }
    columns |= unknown_columns(votes)
    if isinstance(judge, Fit):
        columns |= {"theta": judge.discrimination, **paper_columns(judge)}
    order = table_order(judgements, evidence)
    return {name: values[order] for name, values in columns.items()}


def judged(
    votes: Votes, judge: Fit | Note, favourites: Favourites, seed: int
) -> tuple[list[Evidence], list[Judgement]]:
    """Return what is known of each annotator, and the verdict, in the order of codes."""
    if isinstance(judge, Note):
        evidence = evidence_without_fit(votes, favourites)
        return evidence, [verdict_on(row) for row in evidence]
    evidence = with_favourites(evidence_of(judge, seed), judge, favourites)
    if len(evidence) == 1:  # there is nobody to agree with
        return evidence, [Judgement("only annotator")]
    fits = [judge] * len(evidence)
    others = without_favourites(judge, favourites)
    if others is not None:
        row_of = dict(
            zip(others.votes.annotators, evidence_of(others, seed), strict=True)
        )
        for k, name in enumerate(judge.votes.annotators):
            if k not in favourites.clearest:
                evidence[k], fits[k] = row_of[name], others
    return evidence, [
        verdict_on(row, partial(own_ranking_of, fit, name, seed))
        for row, fit, name in zip(evidence, fits, judge.votes.annotators, strict=True)
    ]


def without_favourites(judge: Fit, favourites: Favourites) -> Fit | None:
    """Return the fit without the votes that make favourites; None where there are none.

    The others are judged by it: accounts that raise one competitor together would else
    make those look wrong who do not.
    """
    votes = votes_apart(judge, favourites)
    if votes is None:
        return None
    options: Any = {"prior": judge.prior, "method": judge.method}
    try:
        with warnings.catch_warnings():  # they are not about the votes at hand
            warnings.simplefilter("ignore", ArenaWarning)
            return fit_model(votes, model=judge.model, **options)
    except ArenaError:  # where these votes alone have no answer all of them judge
        return None


def votes_apart(judge: Fit, favourites: Favourites) -> Votes | None:
    """Return the votes that make no favourite; None if all do, or too few people cast them.

    A fit that was sampled judges as it is.
    """
    if not len(favourites.named) or judge.samples is not None:
        return None
    votes = without_pairs(judge.votes, favourites.named).used()
    return votes if votes.n_annotators >= FEWEST_OTHERS else None


def own_ranking_of(fit: Fit, name: str, seed: int) -> float:
    """Return the p-value of a ranking of an annotator's own."""
    k = fit.votes.annotators.index(name)
    votes = fit.votes.take(np.flatnonzero(fit.votes.annotator == k))
    return chance_of_own_ranking(votes, np.nan_to_num(fit.strength), seed)


def words(values: Sequence[str]) -> Array:
    """Return a column of words."""
    return np.array(values, dtype=object)


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


def table_order(judgements: Sequence[Judgement], evidence: Sequence[Evidence]) -> Ints:
    """Return the order of the table: by verdict, favourites first, then the surest."""
    keys = [
        (
            VERDICTS.index(judgement.verdict),
            row.favourite is None,
            -np.nan_to_num(row.p_anomaly),
            -row.votes,
        )
        for judgement, row in zip(judgements, evidence, strict=True)
    ]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__))
