"""Which model do the votes support? Differences in leave-one-out density, and stacking.

All models are evaluated on the same columns of votes in the same order, so differences are taken vote by vote. Votes
that the models leave out are not scored; models that leave out different ones cannot be compared.

Stacking mixes the models' predictions p_m(v) of every vote v left out with the weights pi (non-negative, summing to
one) that maximise sum_v w_v ln sum_m pi_m p_m(v).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from bayes_arena.arrays import DataFrame, Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.specification import Model
from bayes_arena.validation.cross_validation import judged
from bayes_arena.validation.leave_one_out import LeaveOneOut, leave_one_out
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.groups import warn_of_shared
from bayes_arena.votes.outcomes import whole_counts


def compare(
    fits: Mapping[str, Fit], *, over: str | None = None, sample: int | Literal["auto"] | None = "auto"
) -> DataFrame:
    """Compare models by leave-one-out cross-validation.

    Parameters
    ----------
    fits : mapping of str to Fit
        At least two fits to the same votes.
    over : str, optional
        Leave out whole groups of votes, such as ``"prompt"``: which model predicts votes on a new prompt best? By
        default single votes: which model predicts further votes on these prompts best?
    sample : int, "auto" or None
        How many kinds of single votes are left out, as for :func:`~bayes_arena.leave_one_out`; the same for all models.

    Returns
    -------
    pandas.DataFrame
        Best first: ``name, rank, elpd_loo, se, elpd_diff, dse, weight, p_loo, pareto_k, votes``. ``elpd_diff`` is
        against the best, ``dse`` its standard error over votes, or groups, ``weight`` the share in the stacked
        prediction, ``pareto_k`` the largest (above 0.7 the estimate is unreliable), ``votes`` the number scored:
        those that count (``fit.cells``) and that the models see. In nats, summed over votes. ``attrs`` has what was
        left out (``over``), the ``question`` that this answers, ``not_counted``, the number of votes that do not count,
        if any, and ``sampled``, the size of the sample, if only a sample was left out. Standard errors then include the
        sampling error, and the weights are those of the sample.

    Warns
    -----
    DependentVotesWarning
        If votes share prompts or rankings and are left out one by one.
    SampledVotesWarning
        If ``"auto"`` took a sample.

    Raises
    ------
    ModelError
        If there are fewer than two fits, the votes differ, the likelihoods are of different outcomes, or a fit cannot
        be cross-validated (:func:`~bayes_arena.leave_one_out`).

    References
    ----------
    Yao, Y. et al. (2018), "Using stacking to average Bayesian predictive distributions", Bayesian Analysis 13.
    """
    if len(fits) < 2:
        raise ModelError("Pass at least two fits to compare.")
    _require_comparable(fits)
    reference = next(iter(fits.values()))
    cells = reference.cells
    if over is None:
        warn_of_shared(cells)
    loo = {name: leave_one_out(fit, over=over, sample=sample) for name, fit in fits.items()}
    best = max(loo, key=lambda name: loo[name].total)
    top = loo[best]
    weights = _stacking_weights(loo)
    rows: list[dict[str, Any]] = []
    for name in sorted(loo, key=lambda name: -loo[name].total):
        one = loo[name]
        gap = one.elpd - top.elpd
        missed = None if one.error is None or top.error is None else one.error - top.error
        rows.append(
            {
                "name": name,
                "rank": len(rows) + 1,
                "elpd_loo": one.total,
                "se": one.se,
                "elpd_diff": one.sum_of(gap, missed),
                "dse": one.se_of_sum(gap, missed),
                "weight": weights[name],
                "p_loo": one.p,
                "pareto_k": float(one.pareto_k.max()),
                "votes": whole_counts(one.votes.sum(keepdims=True))[0],
            }
        )
    table = judged(rows, cells, over)
    if (sampled := next(iter(loo.values())).sampled) is not None:
        table.attrs["sampled"] = len(sampled)
    if reference.votes_discounted:
        table.attrs["not_counted"] = reference.votes_discounted
    return table


def _stacking_weights(loo: Mapping[str, LeaveOneOut]) -> dict[str, float]:
    """Return the weights of the models in the mixture that best predicts the votes left out."""
    from scipy.optimize import LinearConstraint, minimize  # slow to import

    first = next(iter(loo.values()))
    columns = ... if first.sampled is None else first.sampled
    log_p, votes = np.array([one.elpd[columns] for one in loo.values()]), first.votes[columns]
    density = np.exp(log_p - log_p.max(axis=0))
    share, size = votes / votes.sum(), len(log_p)

    def loss(weights: Floats) -> float:
        return -float(share @ np.log(weights @ density))

    def slope(weights: Floats) -> Floats:
        return -np.asarray((density / (weights @ density)) @ share)

    found = minimize(
        loss,
        np.full(size, 1 / size),
        jac=slope,
        bounds=[(0, 1)] * size,
        constraints=LinearConstraint(np.ones(size), 1, 1),
        method="SLSQP",
        tol=1e-12,
    ).x
    return dict(zip(loo, map(float, found / found.sum()), strict=True))


def _require_comparable(fits: Mapping[str, Fit]) -> None:
    """Refuse fits of different votes, or of likelihoods that predict different things."""
    (first, reference), *others = fits.items()
    for name, fit in others:
        if not _same_votes(reference.cells, fit.cells):
            alike = ", both with robust=False" if reference.votes_discounted or fit.votes_discounted else ""
            raise ModelError(
                f"{first!r} and {name!r} were fitted to different votes ({reference.cells.n_votes:,.12g} and "
                f"{fit.cells.n_votes:,.12g}). Fit both to the same cells{alike}."
            )
        left, right = _outcomes(reference.model), _outcomes(fit.model)
        if left != right:
            raise ModelError(
                f"{first!r} predicts {left} ({_seen(reference)}) and {name!r} {right} ({_seen(fit)}): their densities "
                "are not comparable. Compare models that treat ties and both-bad votes alike (ties='davidson' "
                "has probabilities for ties)."
            )


def _outcomes(model: Model) -> str:
    """Describe the outcomes that a likelihood is a density of."""
    if model.likelihood.drops_ties:
        return "wins and losses alone"
    half = model.likelihood.half_wins
    ties = "half wins (a likelihood that is not normalised over win, tie and loss)" if half else "wins, ties and losses"
    both_bad = {"tie": "as ties", "drop": "left out", "outcome": "as an outcome of their own"}[model.both_bad]
    grades = f", {model.grades} grades of wins apart" if model.grades > 1 else ""
    return f"{ties}, both-bad votes {both_bad}{grades}"


def _seen(fit: Fit) -> str:
    return f"{fit.target.n_votes:,.12g} of {fit.cells.n_votes:,.12g} votes"


def _same_votes(left: Cells, right: Cells) -> bool:
    votes = ("a", "b", "annotator", "counts", "slices", "features")
    names = ("competitors", "annotators", "slice_names", *votes)
    return left is right or all(_equal(getattr(left, name), getattr(right, name)) for name in names)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(_equal(left[name], right[name]) for name in left)
    return np.array_equal(left, right)
