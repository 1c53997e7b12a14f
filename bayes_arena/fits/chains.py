"""What is wrong with chains: they disagree, diverge, or stand still."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import listing
from bayes_arena.fits.options import OWN
from bayes_arena.model.constants import TINY
from bayes_arena.said import Note, Said, Use

LEAST_DRAWS = 4  # of a chain, for which r-hat exists
LARGEST_R_HAT = 1.01  # Vehtari et al., 2021, Bayesian Analysis 16
MOST_REPEATED = (
    0.9  # share of draws equal to the one before; more, and a chain stands still
)
# What helps against chains that disagree or diverge, by the method of a fit.
SAMPLE_LONGER: Mapping[str, tuple[Said, ...]] = {
    "nuts": ("Sample longer", (", with ", Use("draws"), " and ", Use("tune")), "."),
    OWN: ("Sample your program longer.",),
}


def faults(
    samples: Mapping[str, Floats], stats: Mapping[str, Array], method: str = "nuts"
) -> list[Note]:
    """Return what is wrong with chains.

    Parameters
    ----------
    samples : mapping of str to ndarray
        By effect, (chains, draws, size).
    stats : mapping of str to ndarray
        What the sampler said of each draw, such as "diverging", (chains, draws).
    method : str
        Of the fit, which decides what helps.
    """
    notes = []
    still = standing_chains(samples)
    if len(still):
        text = (
            f"Chains that stand still: {listing(still)} (counted from 0). Leave them out, "
            "or sample again."
        )
        notes.append(Note("sampling", text))
    largest = {name: largest_r_hat(values) for name, values in samples.items()}
    worst = max(largest, key=lambda name: largest[name])
    if largest[worst] > LARGEST_R_HAT:
        text = (
            f"The chains disagree: r-hat of {worst} is {largest[worst]:.3f}, above "
            f"{LARGEST_R_HAT}. "
        )
        notes.append(Note("sampling", (text, *SAMPLE_LONGER[method])))
    n_divergent = int(np.sum(stats.get("diverging", 0)))
    if n_divergent:
        text = (
            f"Divergent draws: {n_divergent:,}. Parts of the posterior may be missing. "
        )
        notes.append(Note("sampling", (text, *SAMPLE_LONGER[method])))
    return notes


def standing_chains(samples: Mapping[str, Floats]) -> Ints:
    """Return the numbers of chains nearly all of whose draws repeat the one before."""
    moves = [np.diff(values, axis=1).any(axis=2) for values in samples.values()]
    repeated = 1 - np.any(moves, axis=0).mean(axis=1)
    return np.flatnonzero(repeated > MOST_REPEATED)


def largest_r_hat(values: Floats) -> float:
    """Return the largest r-hat of the parameters that vary; 1 where none does.

    Of a single chain it is that of its halves.
    """
    from arviz_stats.base.array import array_stats

    draws = varying(values)
    if not draws.size:
        return 1.0
    if len(draws) == 1:
        n = draws.shape[1] // 2
        draws = np.concatenate([draws[:, :n], draws[:, -n:]])
    return float(np.max(array_stats.rhat(draws, chain_axis=0, draw_axis=1)))


def varying(values: Floats) -> Floats:
    """Return the draws of the parameters that vary, (chains, draws, size)."""
    return values[:, :, np.ptp(values, axis=(0, 1)) > TINY]
