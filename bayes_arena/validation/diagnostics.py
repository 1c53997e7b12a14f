"""Can a fit be trusted? One table of all checks, each with a status and a remedy.

Votes: the graph of comparisons, and separation (:mod:`bayes_arena.votes.reading.checks`). Optimiser: the gradient.
Sampler: r-hat, effective sample sizes, divergences and the energy. Prediction: Pareto k of leave-one-out.
"""

from __future__ import annotations

import warnings
from typing import Any

from bayes_arena.arrays import DataFrame, table_of
from bayes_arena.errors import SampledVotesWarning
from bayes_arena.extras import require
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.marginal.gaussian import LEVEL
from bayes_arena.inference.mode.newton import GRADIENT_PER_VOTE
from bayes_arena.validation.leave_one_out import PARETO_K, leave_one_out
from bayes_arena.votes.reading.checks import check_row, check_rows

RHAT = 1.01
"""Above this the chains disagree (Vehtari et al., 2021)."""
ESS = 400.0
"""Fewest effective draws from four chains (same source)."""
BFMI = 0.3
"""Below this the energy is explored too slowly (Betancourt, 2016)."""
GRADIENT = {None: GRADIENT_PER_VOTE, "laplace": GRADIENT_PER_VOTE, "variational": LEVEL}
VOTE_CHECKS = ("invalid votes", "connected comparisons", "finite estimate (Ford)")


@held
def diagnose(fit: Fit) -> DataFrame:
    """Check a fit: comparison graph, optimiser, sampler and prediction, each with a status and a remedy.

    Parameters
    ----------
    fit : Fit
        A fitted model.

    Returns
    -------
    pandas.DataFrame
        One row per check: ``check``, ``status`` (``ok`` or ``warning``), ``found`` and ``remedy``.

    References
    ----------
    Betancourt, M. (2016), "Diagnosing suboptimal cotangent disintegrations in Hamiltonian Monte Carlo",
    arXiv:1604.00695.
    Vehtari, A. et al. (2021), "Rank-normalization, folding, and localization: an improved R-hat", Bayesian Analysis 16.
    Vehtari, A. et al. (2024), "Pareto smoothed importance sampling", JMLR 25.
    """
    return table_of(diagnosis(fit))


def diagnosis(fit: Fit) -> list[dict[str, str]]:
    """Rows of :func:`diagnose`."""
    rows = [row for row in check_rows(fit.cells) if row["check"] in VOTE_CHECKS]
    if not fit.prior.is_flat and rows[-1]["status"] != "ok":  # a prior keeps the estimate finite
        rows[-1] = rows[-1] | {"status": "ok", "found": "only by the prior", "remedy": ""}

    def add(name: str, found: str, good: bool, remedy: str) -> None:
        rows.append(check_row(name, found, not good, remedy))

    if fit.tree is None:  # draws have checks of their own
        add(
            "gradient at the mode",
            f"{fit.mode.gradient:.1e} per vote after {fit.mode.iterations} Newton steps",
            fit.mode.gradient <= GRADIENT[fit.evidence],
            "use a proper prior, or see the warnings of the fit",
        )
    add("warnings of the fit", " ".join(fit.warnings) or "none", not fit.warnings, "read them: each ends with a remedy")
    if fit.tree is not None:
        _add_sampler_checks(add, fit.tree)
    if fit.target.is_proper and fit.target.n_votes > 1:
        with warnings.catch_warnings(action="ignore", category=SampledVotesWarning):
            loo = leave_one_out(fit)
        bad, left_out = loo.votes[loo.pareto_k > PARETO_K].sum(), loo.votes[... if loo.sampled is None else loo.sampled]
        add(
            "Pareto k, leave-one-vote-out",
            f"largest {loo.pareto_k.max():.2f}; {bad:,.0f} of {left_out.sum():,.0f} votes above {PARETO_K}",
            not bad,
            ("" if fit.tree is not None else "use method='nuts'; ")
            + "votes that stay above it are outliers under the model: compare with kfold or held_out",
        )
    return rows


def _add_sampler_checks(add: Any, tree: Any) -> None:
    require("Checks of a sampler", "arviz")
    import arviz as az

    found, stats = az.summary(tree, kind="diagnostics", round_to="none"), tree.get("sample_stats", {})
    more, rhat = "sample longer (draws=..., tune=...)", found["r_hat"]
    add("r-hat", f"largest {rhat.max():.3f} ({rhat.idxmax()})", rhat.max() < RHAT, more)
    for kind in ("bulk", "tail"):
        ess = found[f"ess_{kind}"]
        add(f"{kind} effective sample size", f"smallest {ess.min():.0f} ({ess.idxmin()})", ess.min() > ESS, more)
    if "diverging" in stats:
        diverging = int(stats["diverging"].sum())
        said = f"{diverging} of {stats['diverging'].size} draws"
        add("divergences", said, diverging == 0, "tune longer; if they persist, tighten the prior of the spreads")
    if "energy" in stats:
        bfmi = float(az.bfmi(tree)["energy"].min())
        add("energy (BFMI)", f"smallest {bfmi:.2f} of the chains", bfmi > BFMI, "tune longer, or tighten the prior")
