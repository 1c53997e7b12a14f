"""Annotators made anomalous on purpose (Liu et al., 2025, section 5.5).

=======  ===========================================================================
random   a win becomes a tie or a win of the other side, each with probability 1/2
equal    every vote becomes a tie
flip     a win becomes a win of the other side
mixed    each vote is treated by one of these three, each with probability 1/3
=======  ===========================================================================

Ties stay ties.  Counts of votes are drawn as if each vote had been drawn: whole votes,
none lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Ints
from bayes_arena.errors import ModelError, VotesError, require_choice, require_seed
from bayes_arena.said import Use
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

KINDS = ("random", "equal", "flip", "mixed")


@dataclass(frozen=True)
class Perturbed:
    """Votes of which a share of the annotators was perturbed, and who they are.

    Attributes
    ----------
    kind : str
    share : float
    seed : int
    votes : Votes
        With those of the perturbed annotators.
    annotators : tuple of str
        Who was perturbed.
    """

    kind: str
    share: float
    seed: int
    votes: Votes
    annotators: tuple[str, ...]


def perturb(votes: Votes, kind: str, share: float, seed: int = 0) -> Perturbed:
    """Perturb a random share of the annotators.

    Parameters
    ----------
    votes : Votes
        With annotators, and without fractional weights; grades are put together.
    kind : {"random", "equal", "flip", "mixed"}
        "random": a win becomes a tie or a win of the other side, each with probability
        1/2.  "equal": every vote becomes a tie.  "flip": a win becomes a win of the
        other side.  "mixed": each vote is treated by one of these three, each with
        probability 1/3.  Ties stay ties.
    share : float
        Of the annotators, rounded to a whole number of them (halves up).  The paper
        stays below 1/2, where most vote normally.
    seed : int
        The same seed gives the same annotators whatever the kind, and the same votes.

    Returns
    -------
    Perturbed
        The votes of the other annotators are unchanged.

    Raises
    ------
    ModelError
        If the kind, the share or the seed is impossible.
    VotesError
        If the votes have no annotators, or have fractional weights.
    """
    require_choice("kind", kind, KINDS)
    require_seed(seed)
    if not 0 <= share <= 1:
        raise ModelError((Use(share=share), " must lie between 0 and 1."))
    votes.require_annotators()
    if votes.has_fractions:
        raise VotesError(
            "Votes with fractional weights cannot be perturbed one by one."
        )
    # Annotators are drawn first, and so are the same whatever the kind.
    rng = np.random.default_rng(seed)
    size = math.floor(share * votes.n_annotators + 0.5)
    chosen = np.sort(rng.choice(votes.n_annotators, size, replace=False))
    is_chosen = np.isin(votes.annotator, chosen)
    counts = votes.folded.copy()
    whole = counts[is_chosen].astype(np.int64)
    counts[is_chosen] = perturbed_counts(whole, kind, rng)
    return Perturbed(
        kind=kind,
        share=share,
        seed=seed,
        votes=replace(votes, counts=counts),
        annotators=tuple(votes.annotators[k] for k in chosen),
    )


def perturbed_counts(counts: Ints, kind: str, rng: np.random.Generator) -> Ints:
    """Return perturbed counts of wins, losses and ties, (rows, 3)."""
    if kind == "mixed":
        parts = rng.multinomial(counts, [1 / 3] * 3)
        mixed = np.zeros_like(counts)
        for part, treatment in enumerate(("random", "equal", "flip")):
            mixed += perturbed_counts(parts[..., part], treatment, rng)
        return mixed
    # Wins and losses that become ties; all others become those of the other side.
    tied = np.zeros_like(counts)
    if kind == "equal":
        tied[:, [FIRST, SECOND]] = counts[:, [FIRST, SECOND]]
    if kind == "random":
        tied[:, [FIRST, SECOND]] = rng.binomial(counts[:, [FIRST, SECOND]], 0.5)
    turned = (counts - tied)[:, [SECOND, FIRST, TIE]]
    turned[:, TIE] += tied.sum(axis=1)
    return turned


def perturbations(
    votes: Votes, shares: Sequence[float], seeds: Sequence[int]
) -> Iterator[Perturbed]:
    """Yield the votes perturbed by every kind, share and seed."""
    cases = list(product(KINDS, shares, seeds))
    for number, (kind, share, seed) in enumerate(cases):
        progress.show(f"Perturbation {number + 1} of {len(cases)}")
        yield perturb(votes, kind, share, seed)
    progress.clear()
