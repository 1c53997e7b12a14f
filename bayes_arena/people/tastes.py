"""The direction in which annotators differ most, and how far each goes in it.

At a fit with discrimination, where skill, guessing and reversal leave nothing, let

    S_kc  be the sum of the residuals of annotator k's votes on competitor c,
    V_kc  the sum of their variances, and V_k = sum_c V_kc, D_c = sum_k V_kc / V_k.

The table S_kc / sqrt(V_k D_c) times its transpose is near the identity if votes are as
expected.  A taste that some annotators share raises its largest eigenvalue, whose
eigenvector u over the competitors is the direction.  Chance has the same residuals with
random signs, one for each cluster of rows (a wild bootstrap; Wu, 1986, Annals of
Statistics 14).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.scores import ScoreSums
from bayes_arena.model.constants import TINY
from bayes_arena.votes.votes import Votes, sums

BOARDS = 199  # by chance
LARGEST_DENSE = 500  # rows of a matrix of which all eigenvalues are found


@dataclass(frozen=True, eq=False)
class Tastes:
    """Rows of votes, and their scores at a fit with discrimination."""

    votes: Votes
    scores: ScoreSums

    @cached_property
    def V(self) -> Floats:
        """V_k, (annotators,)."""
        V = self.by_annotator(2 * self.scores.variance)
        return np.maximum(V, TINY)

    @cached_property
    def D(self) -> Floats:
        """D_c, (competitors,)."""
        votes, share = self.votes, self.scores.variance / self.V[self.votes.annotator]
        n = votes.n_competitors
        return np.maximum(sums(votes.i, share, n) + sums(votes.j, share, n), TINY)

    def by_annotator(self, values: Floats) -> Floats:
        """Return sums over the rows of each annotator, (annotators,)."""
        return sums(self.votes.annotator, values, self.votes.n_annotators)

    def slopes(self, direction: Floats) -> tuple[Floats, Floats]:
        """Return how far each annotator goes in a direction, and the standard error.

        Parameters
        ----------
        direction : ndarray, shape (competitors,)
            In logits for each unit of a slope.
        """
        lead = direction[self.votes.i] - direction[self.votes.j]
        information = self.by_annotator(self.scores.variance * lead**2)
        information = np.maximum(information, TINY)
        slope = self.by_annotator(self.scores.residual * lead) / information
        return slope, 1 / np.sqrt(information)


@dataclass(frozen=True, eq=False)
class SignedTable:
    """The table of tastes, as a sum over the clusters whose residuals may change sign.

    Attributes
    ----------
    parts : csr_array, shape (cells, clusters)
        What each cluster adds to the cells: the annotators and competitors that met.
    code : ndarray of int, shape (cells,)
        Annotator times competitors plus competitor, sorted.
    shape : tuple of int
        Annotators and competitors.
    """

    parts: csr_array
    code: Ints
    shape: tuple[int, int]

    def at(self, signs: Floats) -> csr_array:
        """Return the table with some signs, (clusters,) of 1 and -1."""
        m, n = self.shape
        start = np.searchsorted(self.code, np.arange(m + 1) * n)
        return csr_array((self.parts @ signs, self.code % n, start), shape=self.shape)

    @property
    def as_cast(self) -> csr_array:
        """The table of the votes as they were cast."""
        return self.at(np.ones(self.parts.shape[1]))


def signed_table(tastes: Tastes, clusters: Ints) -> SignedTable:
    """Return the table of tastes, given the cluster of each row."""
    votes = tastes.votes
    shape = votes.n_annotators, votes.n_competitors
    annotator = np.tile(votes.annotator, 2)
    competitor = np.concatenate([votes.i, votes.j])
    residual = np.concatenate([tastes.scores.residual, -tastes.scores.residual])
    value = residual / np.sqrt(tastes.V[annotator] * tastes.D[competitor])
    code, cell = np.unique(annotator * shape[1] + competitor, return_inverse=True)
    entries = (cell, np.tile(clusters, 2))
    size = (len(code), int(clusters.max()) + 1)
    return SignedTable(csr_array((value, entries), shape=size), code, shape)


def largest_eigenvalue(table: csr_array) -> float:
    """Return the largest eigenvalue of a table's square."""
    if min(table.shape) > LARGEST_DENSE:
        return float(leading_pair(table)[0])
    wide = table if table.shape[0] >= table.shape[1] else table.T
    return float(np.linalg.eigvalsh((wide.T @ wide).toarray())[-1])


def leading_pair(table: csr_array) -> tuple[float, Floats]:
    """Return the largest eigenvalue of a table's square, and its vector (columns,)."""
    start = np.random.default_rng(0).standard_normal(min(table.shape))
    _, root, vectors = svds(table, k=1, v0=start)
    return float(root[0] ** 2), vectors[0]


def chance_of_tastes(table: SignedTable, seed: int) -> float:
    """Return the probability of such an eigenvalue by chance."""
    rng = np.random.default_rng(seed)
    largest = largest_eigenvalue(table.as_cast)
    n_as_large = 0
    for _ in range(BOARDS):
        signs = rng.choice([-1.0, 1.0], table.parts.shape[1])
        n_as_large += largest_eigenvalue(table.at(signs)) >= largest
    return (1 + n_as_large) / (1 + BOARDS)


def direction_of(table: SignedTable, tastes: Tastes) -> tuple[Floats, Floats]:
    """Return u, how clear a preference is, and the direction in logits; (competitors,).

    The mean square of the direction is 1, over the competitors weighted by D.  Of the two
    signs u has the one of a positive third moment, whatever the order of the names.
    """
    _, u = leading_pair(table.as_cast)
    u = u if np.sum(u**3) >= 0 else -u
    return u, u * np.sqrt(tastes.D.sum() / tastes.D)
