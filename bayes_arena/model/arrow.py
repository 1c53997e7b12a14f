"""Arrow matrices: the Hessian of shared and local parameters, and its inverse.

Parameters are of two kinds.  The p *shared* ones may meet any other in a row of votes;
the q *local* ones of a group (an annotator, or a level of a slice) never meet those of
another group.  So the Hessian is an arrow: D is block-diagonal over the G groups in

    H = [ A  B' ]    A (p, p),    B (G q, p),    D (G q, G q).
        [ B  D  ]

Its inverse is the covariance of a Gaussian in which the local parameters follow a
regression on the shared ones, with coefficients R = -D^-1 B and conditional covariance
D^-1, and the shared ones have the marginal covariance V = (A + B'R)^-1:

    H^-1 = [ V    V R'          ]
           [ R V  D^-1 + R V R' ].

Some sums of parameters are held at zero.  A sum over local parameters (theta over the
annotators) has a Lagrange multiplier, which is one more column of B, R and V, and no
formula changes.  For a sum over shared parameters (the strengths), V is the inverse on
the plane where the sum is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import bsr_array, csr_array

from bayes_arena.arrays import Array, Floats
from bayes_arena.model.constants import GROUPS_PER_CHUNK


@dataclass(frozen=True)
class ParameterLayout:
    """Order of a vector of parameters: p shared ones, then q local ones in each group.

    ``shared_sums`` (p, sums) and ``local_sums`` (q, sums) are the coefficients of the
    sums that are held at zero.
    """

    n_shared: int
    n_groups: int
    n_local: int
    shared_sums: Floats
    local_sums: Floats

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_shared + self.n_groups * self.n_local

    @property
    def width(self) -> int:
        """Number of shared parameters and multipliers, w."""
        return self.n_shared + self.local_sums.shape[1]

    def shared(self, x: Array) -> Array:
        """Return a view of the shared parameters, (p, ...)."""
        return x[: self.n_shared]

    def local(self, x: Array) -> Array:
        """Return a view of the local parameters, (G, q, ...)."""
        return x[self.n_shared :].reshape(self.n_groups, self.n_local, *x.shape[1:])


@dataclass(frozen=True)
class Arrow:
    """An arrow matrix, or its part for some groups.

    ``shared`` is (w, w), ``cross`` (G, q, w) and ``local`` (G, q, q).
    """

    shared: Floats
    cross: Floats
    local: Floats

    @classmethod
    def diagonal(cls, layout: ParameterLayout, diagonal: Floats) -> Arrow:
        """Return a diagonal matrix, and in its cross part the sums that are held."""
        p, q, width = layout.n_shared, layout.n_local, layout.width
        cross = np.zeros((layout.n_groups, q, width))
        cross[:, :, p:] = layout.local_sums
        empty = cls(np.zeros((width, width)), cross, np.zeros((layout.n_groups, q, q)))
        return empty.plus_diagonal(layout, diagonal)

    def plus_diagonal(self, layout: ParameterLayout, diagonal: Floats) -> Arrow:
        """Return the matrix with more on its diagonal."""
        shared = self.shared.copy()
        p = range(layout.n_shared)
        shared[p, p] += layout.shared(diagonal)
        local = self.local + layout.local(diagonal)[:, :, None] * np.eye(layout.n_local)
        return Arrow(shared, self.cross, local)

    def towards(self, other: Arrow, share: float) -> Arrow:
        """Return the matrix that lies a share of the way to another one."""
        return Arrow(
            (1 - share) * self.shared + share * other.shared,
            (1 - share) * self.cross + share * other.cross,
            (1 - share) * self.local + share * other.local,
        )

    def of_groups(self, groups: slice) -> Arrow:
        """Return a view of the part for some groups."""
        return Arrow(self.shared, self.cross[groups], self.local[groups])

    def plus_transpose(self) -> Arrow:
        """Return the matrix plus its transpose; the cross part stays as it is."""
        local = self.local + self.local.swapaxes(1, 2)
        return Arrow(self.shared + self.shared.T, self.cross, local)


@dataclass(frozen=True)
class Covariance:
    """The inverse of an arrow matrix.

    ``shared`` (w, w) is V, ``regression`` (G, q, w) is R and ``conditional`` (G, q, q)
    is D^-1.  ``log_determinant`` is that of the matrix where the sums are zero, up to a
    constant of the sums.
    """

    layout: ParameterLayout
    shared: Floats
    regression: Floats
    conditional: Floats
    log_determinant: float

    def of_groups(self, groups: slice) -> Arrow:
        """Return the covariances of the shared parameters and some groups."""
        R = self.regression[groups]
        cross = (stacked_blocks(R) @ self.shared).reshape(R.shape)
        local = self.conditional[groups] + np.matmul(cross, R.swapaxes(1, 2))
        return Arrow(self.shared, cross, local)

    def variances(self) -> Floats:
        """Return the variances of all parameters, (parameters,)."""
        variances = self.conditional_variances()
        local = self.layout.local(variances)
        for groups in chunks_of(self.layout.n_groups):
            local[groups] = np.einsum("gqq->gq", self.of_groups(groups).local)
        return variances

    def conditional_variances(self) -> Floats:
        """Return the variances, of the local parameters given the shared ones."""
        variances = np.empty(self.layout.size)
        self.layout.shared(variances)[:] = np.diag(self.shared)[: self.layout.n_shared]
        self.layout.local(variances)[:] = np.einsum("gqq->gq", self.conditional)
        return variances

    def solve(self, right: Floats) -> Floats:
        """Return the covariance times a vector of parameters, or times several columns.

        For shared a and local b, the product is V (a + R'b) and D^-1 b + R V (a + R'b).
        """
        p = self.layout.n_shared
        columns = right.reshape(self.layout.size, -1)
        R = stacked_blocks(self.regression)
        onto_shared = R.T @ columns[p:]
        onto_shared[:p] += columns[:p]
        shared = self.shared @ onto_shared
        local = stacked_blocks(np.matmul(self.conditional, self.layout.local(columns)))
        return np.concatenate([shared[:p], local + R @ shared]).reshape(right.shape)

    def draws(self, count: int, seed: int) -> Floats:
        """Return draws from N(0, covariance), (parameters, count)."""
        rng = np.random.default_rng(seed)
        layout = self.layout
        p = layout.n_shared
        # V is singular where a sum is held, so its root comes from the spectrum.
        values, vectors = np.linalg.eigh(self.shared[:p, :p])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        shared = root @ rng.normal(size=(p, count))

        root = np.linalg.cholesky(self.conditional)
        normal = rng.normal(size=(layout.n_groups, layout.n_local, count))
        local = np.matmul(root, normal) + np.matmul(self.regression[:, :, :p], shared)
        # Hold the sums: take off the excess, in proportion to the variances.
        weights = np.matmul(self.conditional, layout.local_sums)
        excess = layout.local_sums.T @ local.sum(axis=0)
        total = layout.local_sums.T @ weights.sum(axis=0)
        local -= np.matmul(weights, np.linalg.solve(total, excess))
        return np.concatenate([shared, stacked_blocks(local)])


def invert(matrix: Arrow, layout: ParameterLayout) -> Covariance:
    """Return the inverse of an arrow matrix, whose ``cross`` is overwritten.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite where the sums are zero.
    """
    roots = np.linalg.cholesky(matrix.local)
    log_of_local = 2 * np.log(np.einsum("gqq->gq", roots)).sum()
    conditional = np.linalg.inv(matrix.local)
    schur = matrix.shared.copy()
    for groups in chunks_of(layout.n_groups):
        B = matrix.cross[groups]
        R = np.matmul(-conditional[groups], B)
        schur += stacked_blocks(B).T @ stacked_blocks(R)
        B[:] = R
    shared, log_of_shared = invert_shared(schur, layout)
    log_determinant = float(log_of_local + log_of_shared)
    return Covariance(layout, shared, matrix.cross, conditional, log_determinant)


def invert_shared(schur: Floats, layout: ParameterLayout) -> tuple[Floats, float]:
    """Return the inverse of A + B'R, (w, w), and its log-determinant.

    The multipliers are eliminated as if they were local parameters of one group.
    """
    p = layout.n_shared
    conditional = np.linalg.inv(schur[p:, p:])
    R = -conditional @ schur[p:, :p]
    reduced = schur[:p, :p] + schur[:p, p:] @ R
    V, log_determinant = invert_on_plane(reduced, layout.shared_sums)
    inverse = np.block([[V, V @ R.T], [R @ V, conditional + R @ V @ R.T]])
    return inverse, log_determinant + np.linalg.slogdet(schur[p:, p:])[1]


def invert_on_plane(matrix: Floats, sums: Floats) -> tuple[Floats, float]:
    """Return the inverse of a matrix where sums'x = 0, and its log-determinant.

    The matrix may be singular across this plane.  So it is stiffened there, which
    changes nothing on the plane, and the inverse is conditioned on the sums.
    """
    stiffness = np.diag(matrix).mean() / np.maximum(sums.sum(axis=0), 1.0)
    stiff = matrix + (stiffness * sums) @ sums.T
    inverse, log_determinant = invert_definite(stiff)
    cross_covariance = inverse @ sums
    sum_covariance = sums.T @ cross_covariance
    inverse -= cross_covariance @ np.linalg.solve(sum_covariance, cross_covariance.T)
    return inverse, log_determinant + np.linalg.slogdet(sum_covariance)[1]


def invert_definite(matrix: Floats) -> tuple[Floats, float]:
    """Return the inverse of a positive definite matrix, and its log-determinant."""
    root, failed = dpotrf(np.asarray(matrix, float), lower=True)
    if failed:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    log_determinant = 2 * float(np.log(np.diag(root)).sum())
    half, _ = dpotri(root, lower=True, overwrite_c=True)  # zero above the diagonal
    inverse = half + half.T
    np.fill_diagonal(inverse, np.diag(half))
    return inverse, log_determinant


def stacked_blocks(blocks: Floats) -> Floats:
    """Return the blocks of the groups, (G, q, columns), as one matrix."""
    return blocks.reshape(-1, blocks.shape[-1])


def block_diagonal(blocks: Array) -> csr_array:
    """Return blocks (G, q, q) as a sparse matrix (G q, G q)."""
    n_groups, size, _ = blocks.shape
    index = np.arange(n_groups)
    pointer = np.arange(n_groups + 1)
    shape = (n_groups * size, n_groups * size)
    if size == 0:
        return csr_array(shape)
    return csr_array(bsr_array((blocks, index, pointer), shape=shape))


def chunks_of(n_groups: int) -> Iterator[slice]:
    """Yield slices of the groups."""
    for start in range(0, n_groups, GROUPS_PER_CHUNK):
        yield slice(start, start + GROUPS_PER_CHUNK)
