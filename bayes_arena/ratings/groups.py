"""Groups of voters, and criteria: who is the best in which, how alike they rank, and how much they explain."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from bayes_arena.arrays import DataFrame, Floats, table_of
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths, joint_strengths
from bayes_arena.ratings.intervals.contract import equal_tailed, require_level
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, ITEM, PROGRAM, PROMPT

LOGISTIC = math.pi**2 / 3
"""Variance of the logistic distribution: of what a vote with given lead adds."""
OF_VOTES = (ANNOTATOR, COMPETITOR, ITEM, PROGRAM)


@held
def best_by_group(fit: Fit, kind: str) -> DataFrame:
    """Give the probability of being the best in every group, in all of them, and where its group is the worst.

    Parameters
    ----------
    fit : Fit
        A fit with ``groups=[kind]``.
    kind : str
        Kind of groups, such as ``"age"``.

    Returns
    -------
    pandas.DataFrame
        ``competitor``; a column for each group, the probability that the competitor is the best there; ``everywhere``,
        that it is the best in all groups at once; ``at_worst``, that its worst group is the highest of all
        competitors' worst (scores in a group relative to the mean there). The most probable ``at_worst`` first.

    Raises
    ------
    ModelError
        If the model has no strengths by such groups.
    NotIdentifiedError
        If there is no finite estimate.
    """
    _require_groups(fit, kind)
    names = fit.cells.slice_names[kind]
    ranked = [fit.on(slice=(kind, name)) for name in names]
    drawn = joint_strengths(ranked)
    best = drawn.argmax(axis=2)
    everywhere = np.bincount(best[0][(best == best[0]).all(axis=0)], minlength=drawn.shape[2]) / drawn.shape[1]
    columns = {name: best_probabilities(decision_strengths(there)) for name, there in zip(names, ranked, strict=True)}
    columns |= {"everywhere": everywhere, "at_worst": best_probabilities(drawn.min(axis=0))}
    table = table_of({"competitor": np.array(fit.cells.competitors, dtype=object), **columns})
    return table.sort_values(["at_worst", "everywhere"], ascending=False, kind="stable", ignore_index=True)


@held
def slice_similarity(fit: Fit, kind: str, *, level: float = 0.95) -> DataFrame:
    """Say how alike slices rank: groups of voters, criteria, categories.

    Parameters
    ----------
    fit : Fit
        A model with ``strength_by=(kind,)``.
    kind : str
        Kind of slices, such as ``"criterion"``.
    level : float
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        ``slice``; ``other``, another slice, or ``"overall"``; ``correlation`` of the competitors' scores in the two,
        the mean over draws, with ``lower`` and ``upper``. The least alike first.

    Raises
    ------
    ModelError
        If the model has no strengths by such slices, or the level is invalid.
    NotIdentifiedError
        If there is no finite estimate.
    """
    _require_groups(fit, kind)
    require_level(level)
    names = fit.cells.slice_names[kind]
    together = joint_strengths([*(fit.on(slice=(kind, name)) for name in names), fit])
    drawn = dict(zip((*names, "overall"), map(_standardised, together), strict=True))
    rows = []
    for name, other in combinations(drawn, 2):
        alike = (drawn[name] * drawn[other]).mean(axis=1)
        rows.append((name, other, float(alike.mean()), *equal_tailed(alike[:, None], level)[:, 0]))
    table = table_of(rows, ["slice", "other", "correlation", "lower", "upper"], level=level)
    return table.sort_values("correlation", kind="stable", ignore_index=True)


@held
def disagreement(fit: Fit) -> DataFrame:
    """Say what makes votes on a pair of competitors differ: what all share, groups, individuals, or chance.

    The variance of the lead of one competitor over another, on the scale of logits, over pairs, groups and annotators:

        what all share    2 var(r)
        a kind of slice   2 s_f^2,  s_f the spread of strengths in its slices
        a direction       2 var(w_l) var(v_l)
        discrimination    2 var(r) var(theta)
        chance            pi^2 / 3, the variance of the logistic distribution

    Parameters
    ----------
    fit : Fit
        A fitted model. What it does not tell apart counts as chance.

    Returns
    -------
    pandas.DataFrame
        ``source, variance, share``, of the whole.

    Raises
    ------
    ModelError
        If annotators differ and the prior is flat: it has no variance of theta.
    """
    if fit.target.free_discrimination and fit.prior.is_flat:
        raise ModelError("Under a flat prior nothing says how much annotators differ. Use prior='default'.")
    target, shared = fit.target, 2 * float(np.var(fit.strength, ddof=1))
    variance = {"what all share": shared}
    for effect in target.slices:
        if effect.basis == "difference":
            name = f"direction {effect.dimension}" if effect.dimension else f"by {effect.by}"
            variance[name] = 2 * effect.sd**2
    if target.free_discrimination:
        variance["discrimination"] = shared * float(target.own[THETA].sd) ** 2
    variance["chance"] = LOGISTIC
    total = sum(variance.values())
    rows = [(source, value, value / total) for source, value in variance.items()]
    return table_of(rows, ["source", "variance", "share"])


def _standardised(strength: Floats) -> Floats:
    """Return draws (n_draws, n) with mean zero and standard deviation one over competitors."""
    centered = strength - strength.mean(axis=1, keepdims=True)
    return np.asarray(centered / centered.std(axis=1, keepdims=True))


def _require_groups(fit: Fit, kind: str) -> None:
    known = [one for one in fit.model.strength_by if one not in (*OF_VOTES, PROMPT)]
    if kind not in known:
        raise ModelError(
            f"The model has no strengths by {kind!r} (its slices: {listing(map(repr, known)) or 'none'}). Fit with "
            f"groups=[{kind!r}] (--groups {kind}), or, for slices of the votes, a Model with strength_by=({kind!r},)."
        )
