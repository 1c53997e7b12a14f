"""``diagnose``: whether a fit can be trusted, and what follows where it cannot.

A *problem* touches the ranking: the search or the chains did not converge, competitors
were never compared, the direction of the ranking is open.  A *note* says what the model
predicts worse than chance allows, by how much, and what that means for the board.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.checks.loo import arviz_arrays
from bayes_arena.checks.predictive import (
    REPLICATIONS,
    check_columns,
    require_replicable,
)
from bayes_arena.checks.statistics import statistics_of
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.chains import (
    LARGEST_R_HAT,
    SAMPLE_LONGER,
    largest_r_hat,
    varying,
)
from bayes_arena.fits.result import Fit, estimable, require_fit
from bayes_arena.inference.direction import direction_is_open
from bayes_arena.model.spec import visible_votes
from bayes_arena.said import PYTHON, Remedy, Said, Surface, Use, sentence
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.components import count_components

if TYPE_CHECKING:
    import pandas as pd

OK, NOTE, PROBLEM = "ok", "note", "problem"
LEAST_ESS = 400  # Vehtari et al., 2021, Bayesian Analysis 16
TAILS = (0.05, 0.95)  # quantiles that the draws in the tails are for
LEAST_BFMI = 0.3  # below, the energy is explored too slowly (Betancourt, 2016)
SURPRISING = 0.01  # a predictive p below this is noted


@dataclass(frozen=True)
class Finding:
    """A row of the table."""

    check: str
    status: str
    finding: str
    advice: Said = ""
    remedies: tuple[Remedy, ...] = ()

    def spelled(self, surface: Surface) -> str:
        """Return the advice in the words of a surface."""
        return sentence(self.advice, self.remedies, surface)


def diagnose(fit: Fit) -> pd.DataFrame:
    """Check a fit: convergence, what the votes can tell, and prediction.

    Parameters
    ----------
    fit : Fit

    Returns
    -------
    pandas.DataFrame
        One row for each ``check``: its ``status``, "ok", "note" or "problem"; the
        ``finding``; and ``advice``, what follows for the board.  Only a problem touches
        the ranking.
    """
    require_fit(fit)
    return dataframe(diagnosis_columns(fit))


def diagnosis_columns(fit: Fit, surface: Surface = PYTHON) -> Columns:
    """Return the table of findings, the advice in the words of a surface."""
    findings = list(all_findings(fit))
    return {
        "check": [finding.check for finding in findings],
        "status": [finding.status for finding in findings],
        "finding": [finding.finding for finding in findings],
        "advice": [finding.spelled(surface) for finding in findings],
    }


def all_findings(fit: Fit) -> Iterator[Finding]:
    """Yield what is found about a fit."""
    yield comparisons(fit)
    yield estimates(fit)
    yield direction(fit)
    if fit.samples is not None:
        yield from sampling(fit.samples, fit.marginals.statistics, fit.method)
    else:
        yield search(fit)
    yield from prediction(fit)


def search(fit: Fit) -> Finding:
    """Say how long the search for the estimate took: one without an end is an error."""
    return Finding("search", OK, f"converged in {fit.posterior.n_iterations} steps")


def comparisons(fit: Fit) -> Finding:
    """Say whether all competitors were compared, through others at least."""
    n = count_components(visible_votes(fit.model, fit.votes))
    if n == 1:
        return Finding("comparisons", OK, "all competitors, through others at least")
    return Finding(
        "comparisons",
        PROBLEM,
        f"{n} groups of competitors that were never compared",
        "Scores of different groups are not comparable: rank each group apart.",
    )


def estimates(fit: Fit) -> Finding:
    """Say whether every competitor has a finite estimate."""
    mask = estimable(fit)
    if mask.all():
        return Finding("estimates", OK, "finite for all competitors")
    names = [repr(fit.votes.competitors[c]) for c in np.flatnonzero(~mask)]
    return Finding(
        "estimates",
        PROBLEM,
        f"none for {listing(names)}",
        "A flat prior has estimates only for those who each scored against each, "
        "directly or through others.",
        (Use(prior="default"),),
    )


def direction(fit: Fit) -> Finding:
    """Say whether the reverse of the ranking fits about as well."""
    if fit.model.discrimination == "none":
        return Finding("direction", OK, "all votes count towards it alike")
    if not direction_is_open(fit.posterior):
        return Finding("direction", OK, "most votes follow the ranking")
    return Finding(
        "direction",
        PROBLEM,
        "about as many votes follow the reverse of the ranking",
        "Find out who votes reversed, by a few votes whose outcome is known.",
    )


def sampling(
    samples: Mapping[str, Floats], stats: Mapping[str, Array], method: str
) -> Iterator[Finding]:
    """Yield the checks of a sampler."""
    of_sampler = partial(check_of_sampler, SAMPLE_LONGER[method])
    arrays = arviz_arrays()
    chains, draws = next(iter(samples.values())).shape[:2]
    flat = [values.reshape(chains, draws, -1) for values in samples.values()]
    parameters = varying(np.concatenate(flat, axis=2))
    axes = {"chain_axis": 0, "draw_axis": 1}
    r_hat = largest_r_hat(parameters)
    yield of_sampler("r-hat", r_hat <= LARGEST_R_HAT, f"largest {r_hat:.3f}")
    for kind, options in (("bulk", {}), ("tail", {"prob": TAILS})):
        ess = np.min(arrays.ess(parameters, **axes, method=kind, **options))
        check = f"effective draws, {kind}"
        yield of_sampler(check, ess >= LEAST_ESS, f"least {ess:,.0f}")
    if "diverging" in stats:
        n = int(np.sum(stats["diverging"]))
        finding = f"{n:,} of {np.size(stats['diverging']):,} draws"
        yield of_sampler("divergences", n == 0, finding)
    if "energy" in stats:
        bfmi = np.min(arrays.bfmi(stats["energy"]))
        yield of_sampler("energy (BFMI)", bfmi > LEAST_BFMI, f"least {bfmi:.2f}")


def check_of_sampler(remedy: Said, check: str, is_fine: bool, finding: str) -> Finding:
    """Return a check of a sampler, with the remedy if it is a problem."""
    if is_fine:
        return Finding(check, OK, finding)
    return Finding(check, PROBLEM, finding, remedy)


def prediction(fit: Fit) -> Iterator[Finding]:
    """Yield what the model predicts, and what it predicts worse than chance allows."""
    try:
        require_replicable(fit)
    except ModelError as error:
        yield Finding("prediction", NOTE, "not checked", error.text, error.remedies)
        return
    statistics = statistics_of(fit)
    columns = check_columns(fit, statistics, 0.95, REPLICATIONS, fit.seed)
    for row, statistic in enumerate(statistics):
        checked = {name: values[row] for name, values in columns.items()}
        interval = f"{checked['lower']:.3f} to {checked['upper']:.3f}"
        predicted = f"predicted {checked['predicted']:.3f} ({interval})"
        finding = f"{checked['observed']:.3f}, {predicted}"
        if checked["p"] < SURPRISING:
            yield Finding(statistic.name, NOTE, finding, statistic.about)
        else:
            yield Finding(statistic.name, OK, finding)
