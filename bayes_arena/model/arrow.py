"""Arrow matrices: the Hessian of shared and local parameters, and its inverse.

Parameters are of two kinds.  The p *shared* ones may meet any other in a row of votes;
the *local* ones of a group (an annotator, or a level of a slice) never meet those of
another group.  So the Hessian is an arrow: D is block-diagonal over the G groups in

    H = [ A  B' ]    A (p, p),    B (K, p),    D (K, K),
        [ B  D  ]

with K local parameters in all.  Annotators have as many each, and levels as many as
competitors were seen there; groups are sorted by their number, so that those of the same
number stand together.

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
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.model.constants import GROUPS_PER_CHUNK


@dataclass(frozen=True)
class Stack:
    """Consecutive groups of the same number q of local parameters.

    ``parameters`` are theirs among the local ones, and ``cells`` those of their blocks of D.
    """

    parameters: slice
    cells: slice
    n_groups: int
    q: int

    def rows(self, matrix: Array) -> Array:
        """Return a view of the rows of local parameters, (groups, q, columns)."""
        part = matrix[self.parameters]
        return part.reshape(self.n_groups, self.q, part.shape[1])

    def blocks(self, cells: Array) -> Array:
        """Return a view of the blocks of D, (groups, q, q)."""
        return cells[self.cells].reshape(self.n_groups, self.q, self.q)


@dataclass(frozen=True)
class ParameterLayout:
    """Order of a vector of parameters: p shared ones, then the local ones of each group.

    ``n_local`` (groups,) counts these; equal numbers stand together.  ``shared_sums`` (p,
    sums) and ``local_sums`` (q, sums) are the coefficients of the sums that are held at
    zero; with sums of local parameters, all groups have q of them.
    """

    n_shared: int
    n_local: Ints
    shared_sums: Floats
    local_sums: Floats

    @cached_property
    def starts(self) -> Ints:
        """Where the local parameters of each group begin, and the end, (groups + 1,)."""
        return np.append(0, np.cumsum(self.n_local))

    @cached_property
    def block_starts(self) -> Ints:
        """Where the cells of each group's block of D begin, and the end, (groups + 1,)."""
        return np.append(0, np.cumsum(self.n_local**2))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.n_local)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_shared + int(self.starts[-1])

    @property
    def width(self) -> int:
        """Number of shared parameters and multipliers, w."""
        return self.n_shared + self.local_sums.shape[1]

    @cached_property
    def row_lengths(self) -> Ints:
        """How many cells each local parameter's row of D has, (local,)."""
        return np.repeat(self.n_local, self.n_local)

    @cached_property
    def row_starts(self) -> Ints:
        """Where the cells of each local parameter's row of D begin, and the end."""
        return np.append(0, np.cumsum(self.row_lengths))

    @cached_property
    def diagonal(self) -> Ints:
        """The cells on the diagonal of D, (local,)."""
        first = np.repeat(self.starts[:-1], self.n_local)
        return self.row_starts[:-1] + np.arange(len(first)) - first

    def shared(self, x: Array) -> Array:
        """Return a view of the shared parameters, (p, ...)."""
        return x[: self.n_shared]

    def local(self, x: Array) -> Array:
        """Return a view of the local parameters, (local, ...)."""
        return x[self.n_shared :]

    def parameters_of(self, groups: slice) -> slice:
        """Return which of the local parameters are those of consecutive groups."""
        return part_of(self.starts, groups)

    def cells_of(self, groups: slice) -> slice:
        """Return the cells of the blocks of consecutive groups."""
        return part_of(self.block_starts, groups)

    def stacks(self) -> Iterator[Stack]:
        """Yield the groups in runs of equal numbers of parameters, and not too many."""
        last = np.flatnonzero(np.diff(self.n_local)) + 1
        cuts = np.union1d(last, np.arange(0, self.n_groups, GROUPS_PER_CHUNK))
        for start, stop in pairwise([*cuts, self.n_groups]):
            groups, q = slice(start, stop), int(self.n_local[start])
            yield Stack(
                self.parameters_of(groups), self.cells_of(groups), stop - start, q
            )


def part_of(starts: Ints, groups: slice) -> slice:
    """Return the part of consecutive groups, given where each begins."""
    first, last, _ = groups.indices(len(starts) - 1)
    return slice(int(starts[first]), int(starts[last]))


@dataclass(frozen=True)
class Arrow:
    """An arrow matrix, or its part for some groups.

    ``shared`` is (w, w), ``cross`` (local, w), and ``local`` has the cells of D, block by
    block.
    """

    shared: Floats
    cross: Floats
    local: Floats

    @classmethod
    def diagonal(cls, layout: ParameterLayout, diagonal: Floats) -> Arrow:
        """Return a diagonal matrix, and in its cross part the sums that are held."""
        width = layout.width
        cross = np.zeros((int(layout.starts[-1]), width))
        if layout.local_sums.size:
            sums = np.tile(layout.local_sums, (layout.n_groups, 1))
            cross[:, layout.n_shared :] = sums
        cells = np.zeros(int(layout.block_starts[-1]))
        empty = cls(np.zeros((width, width)), cross, cells)
        return empty.plus_diagonal(layout, diagonal)

    def plus_diagonal(self, layout: ParameterLayout, diagonal: Floats) -> Arrow:
        """Return the matrix with more on its diagonal."""
        shared, local = self.shared.copy(), self.local.copy()
        p = range(layout.n_shared)
        shared[p, p] += layout.shared(diagonal)
        local[layout.diagonal] += layout.local(diagonal)
        return Arrow(shared, self.cross, local)

    def towards(self, other: Arrow, share: float) -> Arrow:
        """Return the matrix that lies a share of the way to another one."""
        return Arrow(
            (1 - share) * self.shared + share * other.shared,
            (1 - share) * self.cross + share * other.cross,
            (1 - share) * self.local + share * other.local,
        )

    def of_groups(self, layout: ParameterLayout, groups: slice) -> Arrow:
        """Return a view of the part for some groups."""
        rows, cells = layout.parameters_of(groups), layout.cells_of(groups)
        return Arrow(self.shared, self.cross[rows], self.local[cells])

    def plus_transpose(self, layout: ParameterLayout) -> Arrow:
        """Return the matrix plus its transpose; the cross part stays as it is."""
        local = self.local.copy()
        for stack in layout.stacks():
            stack.blocks(local)[:] += stack.blocks(self.local).swapaxes(1, 2)
        return Arrow(self.shared + self.shared.T, self.cross, local)


@dataclass(frozen=True)
class Covariance:
    """The inverse of an arrow matrix.

    ``shared`` (w, w) is V, ``regression`` (local, w) is R, and ``conditional`` has the
    cells of D^-1, block by block.  ``log_determinant`` is that of the matrix where the sums
    are zero, up to a constant of the sums.
    """

    layout: ParameterLayout
    shared: Floats
    regression: Floats
    conditional: Floats
    log_determinant: float

    def of_groups(self, groups: slice) -> Arrow:
        """Return the covariances of the shared parameters and some groups."""
        rows = self.layout.parameters_of(groups)
        cells = self.layout.cells_of(groups)
        cross = self.regression[rows] @ self.shared
        local = self.conditional[cells].copy()
        part = replace(self.layout, n_local=self.layout.n_local[groups])
        for stack in part.stacks():
            R = stack.rows(self.regression[rows])
            stack.blocks(local)[:] += np.matmul(stack.rows(cross), R.swapaxes(1, 2))
        return Arrow(self.shared, cross, local)

    def variances(self) -> Floats:
        """Return the variances of all parameters, (parameters,)."""
        variances = self.conditional_variances()
        local = self.layout.local(variances)
        for stack in self.layout.stacks():
            R = self.regression[stack.parameters]
            local[stack.parameters] += np.einsum("kw,kw->k", R @ self.shared, R)
        return variances

    def conditional_variances(self) -> Floats:
        """Return the variances, of the local parameters given the shared ones."""
        shared = np.diag(self.shared)[: self.layout.n_shared]
        return np.concatenate([shared, self.conditional[self.layout.diagonal]])

    def solve(self, right: Floats) -> Floats:
        """Return the covariance times a vector of parameters, or times several columns.

        For shared a and local b, the product is V (a + R'b) and D^-1 b + R V (a + R'b).
        """
        p = self.layout.n_shared
        columns = right.reshape(self.layout.size, -1)
        R = self.regression
        onto_shared = R.T @ columns[p:]
        onto_shared[:p] += columns[:p]
        shared = self.shared @ onto_shared
        local = blockwise(self.layout, self.conditional, columns[p:])
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

        local = self.regression[:, :p] @ shared
        for stack in layout.stacks():
            root = np.linalg.cholesky(stack.blocks(self.conditional))
            normal = rng.normal(size=(stack.n_groups, stack.q, count))
            stack.rows(local)[:] += np.matmul(root, normal)
        return np.concatenate([shared, self.without_excess(local)])

    def without_excess(self, local: Floats) -> Floats:
        """Return draws of local parameters with the sums held, (local, count).

        The excess is taken off in proportion to the variances.
        """
        sums = self.layout.local_sums
        if not sums.size:
            return local
        sums = np.tile(sums, (self.layout.n_groups, 1))
        weights = blockwise(self.layout, self.conditional, sums)
        return local - weights @ np.linalg.solve(sums.T @ weights, sums.T @ local)


def invert(matrix: Arrow, layout: ParameterLayout) -> Covariance:
    """Return the inverse of an arrow matrix, whose ``cross`` is overwritten.

    With D the blocks of local parameters, B their rows of ``cross`` and A what is shared:

        R = -D^-1 B,    shared = (A + B'R)^-1,    conditional = D^-1.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite where the sums are zero.
    """
    log_of_local = 0.0
    conditional = np.empty_like(matrix.local)
    schur = matrix.shared.copy()
    for stack in layout.stacks():
        D, B = stack.blocks(matrix.local), stack.rows(matrix.cross)
        roots = np.linalg.cholesky(D)
        log_of_local += 2 * np.log(np.einsum("gqq->gq", roots)).sum()
        inverse = stack.blocks(conditional)
        inverse[:] = np.linalg.inv(D)
        R = np.matmul(-inverse, B)
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


def blockwise(layout: ParameterLayout, cells: Floats, rows: Floats) -> Floats:
    """Return blocks, given by their cells, times rows of local parameters, (local, n)."""
    product = np.empty_like(rows)
    for stack in layout.stacks():
        stack.rows(product)[:] = np.matmul(stack.blocks(cells), stack.rows(rows))
    return product


def stacked_blocks(blocks: Floats) -> Floats:
    """Return the blocks of the groups, (G, q, columns), as one matrix."""
    return blocks.reshape(-1, blocks.shape[-1])


def block_diagonal(layout: ParameterLayout, cells: Floats) -> csr_array:
    """Return blocks, given by their cells, as a sparse matrix (local, local)."""
    lengths, starts = layout.row_lengths, layout.row_starts
    first = np.repeat(layout.starts[:-1], layout.n_local)
    column = np.arange(len(cells)) - np.repeat(starts[:-1] - first, lengths)
    return csr_array((cells, column, starts), shape=(len(lengths), len(lengths)))
