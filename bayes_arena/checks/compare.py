"""``compare``: which of several fits of the same votes predicts votes best.

Models are compared by leave-one-out densities, vote by vote.  Stacking weights w (Yao
et al., 2018, Bayesian Analysis 13) are those of the mixture that predicts best: they
maximise sum_v ln sum_m w_m p_m(v).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.checks.loo import LeaveOneOut, leave_one_out, se_of_sum
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit, require_fit, seen_votes
from bayes_arena.said import Call
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import TIE, Votes

if TYPE_CHECKING:
    import pandas as pd


def compare(fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Compare fits of the same votes by leave-one-out cross-validation.

    It tells which model predicts further votes by the same annotators on the same
    prompts; for new annotators or prompts there is :func:`~bayes_arena.held_out`.

    Parameters
    ----------
    fits : mapping of str to Fit
        At least two.

    Returns
    -------
    pandas.DataFrame
        Best first: ``model``, ``rank``; ``elpd``, the log predictive density summed
        over votes, in nats; ``elpd_diff`` against the best; ``se`` and ``dse``, their
        standard errors; ``weight``, the share in the best mixture of predictions;
        ``pareto_k``, the largest (above 0.7 the estimate is unreliable).

    Raises
    ------
    ModelError
        If the fits are of different votes, treat ties differently, or have a flat
        prior.
    """
    if not isinstance(fits, Mapping) or len(fits) < 2:
        raise ModelError(
            "There must be two fits or more, by name, such as "
            "{'alike': fit, 'by annotator': other}."
        )
    require_comparable(fits)
    return dataframe(comparison_columns({k: leave_one_out(v) for k, v in fits.items()}))


def comparison_columns(estimates: Mapping[str, LeaveOneOut]) -> Columns:
    """Return the table of a comparison, the best model first."""
    names = sorted(estimates, key=lambda name: -estimates[name].total)
    ordered = [estimates[name] for name in names]
    best = ordered[0]
    return {
        "model": names,
        "rank": np.arange(1, len(names) + 1),
        "elpd": [loo.total for loo in ordered],
        "elpd_diff": [loo.total - best.total for loo in ordered],
        "se": [loo.se for loo in ordered],
        "dse": [se_of_sum(loo.elpd - best.elpd, best.votes) for loo in ordered],
        "weight": stacking_weights(np.array([loo.elpd for loo in ordered]), best.votes),
        "pareto_k": [float(loo.pareto_k.max()) for loo in ordered],
    }


def stacking_weights(elpd: Floats, votes: Floats) -> Floats:
    """Return the weights of the best mixture of models, (models,).

    Parameters
    ----------
    elpd : ndarray, shape (models, columns)
    votes : ndarray, shape (columns,)
    """
    from scipy.optimize import LinearConstraint, minimize

    n = len(elpd)
    # Relative to the best model of each vote: the weights are the same, and nothing is 0.
    density = np.exp(elpd - elpd.max(axis=0))
    share = votes / votes.sum()

    def loss(weights: Floats) -> float:
        return -float(share @ np.log(weights @ density))

    def gradient(weights: Floats) -> Floats:
        return -np.asarray((density / (weights @ density)) @ share)

    weights: Floats = minimize(
        loss,
        np.full(n, 1 / n),
        jac=gradient,
        bounds=[(0, 1)] * n,
        constraints=LinearConstraint(np.ones(n), 1, 1),
        method="SLSQP",
        tol=1e-12,
    ).x
    return np.asarray(weights / weights.sum())


def require_comparable(fits: Mapping[str, Fit]) -> None:
    """Refuse fits of different votes, or of likelihoods of different outcomes."""
    for fit in fits.values():
        require_fit(fit)
    (name, reference), *others = fits.items()
    for other_name, other in others:
        seen = outcomes_in_words(reference)
        other_seen = outcomes_in_words(other)
        if seen != other_seen:
            raise ModelError(
                f"{name!r} predicts {seen}, and {other_name!r} {other_seen}: their "
                "densities are of different things. Compare models that treat ties "
                "alike, such as 'davidson' and 'am-davidson'.",
                Call("held_out", over="vote"),
            )
        if not same_votes(seen_votes(reference), seen_votes(other)):
            raise ModelError(
                f"{name!r} and {other_name!r} are fits of different votes "
                f"({reference.votes.n_votes:,.0f} and {other.votes.n_votes:,.0f}). Fit "
                "both to the same Votes; those with a known annotator are "
                "votes.known('annotator')."
            )


def outcomes_in_words(fit: Fit) -> str:
    """Describe the outcomes that a likelihood is a density of."""
    model = fit.model
    if not fit.votes.counts[:, TIE].any() and not model.grades:
        return "wins and losses"
    if model.ties == "half":
        return "wins and losses, with ties as half of each"
    if model.ties == "drop":
        return "wins and losses without the ties"
    return "wins, ties and losses" + (", clear wins apart" if model.grades else "")


def same_votes(left: Votes, right: Votes) -> bool:
    """Whether two Votes have the same rows."""
    if left is right:
        return True
    if left.competitors != right.competitors or len(left) != len(right):
        return False
    same_pairs = np.array_equal(left.i, right.i) and np.array_equal(left.j, right.j)
    if not same_pairs or not np.array_equal(left.folded, right.folded):
        return False
    if not (left.n_annotators and right.n_annotators):
        return left.n_annotators == right.n_annotators
    # Annotators by name: codes may differ where one of the two has further annotators.
    return names_by_row(left) == names_by_row(right)


def names_by_row(votes: Votes) -> list[str | None]:
    """Return the annotator of each row; None where nobody knows who voted."""
    names = [*votes.annotators, None]
    return [names[code] for code in votes.annotator]
