"""Annotators made anomalous on purpose (Liu et al., 2025, section 5.5).

=======  =====================================================================================================
random   a win becomes a tie or a win of the other competitor, each with probability 1/2; ties stay
equal    every vote becomes a tie
flip     a win becomes a win of the other competitor; ties stay
mixed    each vote is treated by one of the three, each with probability 1/3
=======  =====================================================================================================

The paper has three outcomes. A both-bad vote is not a win: random and flip leave it as it is, as they leave a tie;
equal makes it a tie. Counts of cells are drawn as if each vote had been drawn: whole votes, none lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal, get_args

import numpy as np

from bayes_arena.arrays import Ints
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.progress import report
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import TIE, by_result, turned, whole_votes

Kind = Literal["random", "equal", "flip", "mixed"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def perturb(cells: Cells, kind: Kind, share: float, seed: int) -> tuple[Cells, tuple[str, ...]]:
    """Perturb a random share of the annotators.

    Parameters
    ----------
    cells : Cells
        Unweighted votes with annotators.
    kind : {"random", "equal", "flip", "mixed"}
        What happens to every vote of a perturbed annotator.
    share : float
        Share of the annotators to perturb, between 0 and 1, rounded to a whole number of them (halves up). The paper
        stays below 0.5, where most annotate normally.
    seed : int
        The same seed gives the same annotators whatever the kind, and the same votes.

    Returns
    -------
    perturbed : Cells
        The same cells with other counts; those of the other annotators are unchanged, bit for bit.
    who : tuple of str
        The perturbed annotators, by name.

    Raises
    ------
    ModelError
        If the annotators are unknown, votes have fractional weights, or an argument is invalid.
    """
    require_choice("kind", kind, KINDS)
    if not 0 <= share <= 1 or seed < 0:
        raise ModelError(f"Give a share between 0 and 1, and a seed that is not negative, not {share!r} and {seed!r}.")
    if not cells.n_annotators:
        raise ModelError("The votes carry no annotators, so none can be perturbed.")
    votes = whole_votes(cells.counts)
    rng = np.random.default_rng(seed)
    size = math.floor(share * cells.n_annotators + 0.5)
    chosen = np.sort(rng.choice(cells.n_annotators, size, replace=False))
    rows = np.isin(cells.annotator, chosen)
    counts = cells.counts.copy()
    counts[rows] = _changed(votes[rows], kind, rng)
    return replace(cells, counts=counts), tuple(cells.annotators[index] for index in chosen)


def perturbations(
    cells: Cells, kinds: Sequence[Kind], shares: Sequence[float], seeds: Sequence[int]
) -> Iterator[tuple[Kind, float, int, Cells, tuple[str, ...]]]:
    """Yield every combination, with what :func:`perturb` returns: the cells, and the perturbed annotators."""
    combinations = list(product(kinds, shares, seeds))
    for number, (kind, share, seed) in enumerate(combinations):
        report("perturbations", number, len(combinations))
        yield kind, share, seed, *perturb(cells, kind, share, seed)
    report("")


def _changed(counts: Ints, kind: Kind, rng: np.random.Generator) -> Ints:
    """Return perturbed counts of cells, shape (n_cells, K)."""
    if kind == "mixed":
        parts = rng.multinomial(counts, [1 / 3] * 3)
        kinds: tuple[Kind, ...] = ("random", "equal", "flip")
        return np.asarray(sum(_changed(parts[..., index], each, rng) for index, each in enumerate(kinds)))
    if kind == "equal":
        changed = np.zeros_like(counts)
        changed[:, TIE] = counts.sum(axis=1)
        return changed
    wins, losses, _ = by_result(counts.shape[1])
    tied = np.zeros_like(counts)
    if kind == "random":
        tied[:, wins + losses] = rng.binomial(counts[:, wins + losses], 0.5)
    changed = (counts - tied)[:, turned(counts.shape[1])]
    changed[:, TIE] += tied.sum(axis=1)
    return np.asarray(changed)
