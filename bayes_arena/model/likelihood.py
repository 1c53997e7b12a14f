"""The loss of rows of votes: at a point, and averaged over a Gaussian.

Outcome o of a vote with coordinates z, (C,), has the probability

    p_o = exp(phi_o . z - A(z)),    A(z) = log sum_o exp(phi_o . z).

A row has n votes, n_o of them with outcome o.  With s = sum_o n_o phi_o, its negative
log-likelihood, or loss, has the gradient g and the curvature W in z:

    loss = n A(z) - s . z,    g = n E[phi] - s,    W = n cov[phi].

The coordinates depend on C + 2 predictors u = (offsets, lead, theta):

    z_0 = offset_0 + theta lead,    z_c = offset_c.

With T = dz/du, the gradient in u is T'g.  The Hessian in u is T'WT, the expected one,
plus g_0 between lead and theta, its *residual*.

The last axis of all arrays is the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.model.effects import ETA, LEAD, THETA
from bayes_arena.model.quadrature import nodes_and_weights, partial_cholesky


@dataclass(frozen=True)
class Loss:
    """The sum of the losses of some rows, and each row's derivatives in its predictors.

    ``gradient`` is T'g (C + 2, rows) and ``hessian`` is T'WT (C + 2, C + 2, rows).
    """

    total: float
    gradient: Floats
    hessian: Floats


def loss_at(u: Floats, n: Floats, s: Floats, phi: Floats) -> Loss:
    """Return the loss of rows at their predictors.

    Parameters
    ----------
    u : ndarray, shape (C + 2, rows)
    n : ndarray, shape (rows,)
    s : ndarray, shape (C, rows)
    phi : ndarray, shape (outcomes, C)
    """
    z = coordinates(u)
    A, mean, covariance = cumulants(phi, z)
    g = n * mean - s
    W = n * covariance
    lead, theta = u[LEAD], u[THETA]
    return Loss(
        total=float(n @ A - np.sum(s * z)),
        gradient=pull_back(g, lead, theta),
        hessian=pull_back_twice(W, lead, theta),
    )


def average_loss(u: Floats, S: Floats, n: Floats, s: Floats, phi: Floats) -> Loss:
    """Return the loss of rows, averaged over predictors ~ N(u, S).

    Take v = (z, lead, theta) as Gaussian, with its exact mean and covariance K.
    Averages over z are sums over quadrature nodes.  In the gradient, by Stein's lemma,

        E[theta g_0] = theta E[g_0] + sum_c cov(theta, z_c) E[W_c0].

    In the Hessian, lead and theta have their conditional mean and covariance given z.
    (Without the latter, sweeps diverge where votes hardly tell the scale of the leads
    from that of theta.)
    """
    C, n_rows = s.shape
    mean, K = moments_with_coordinates(u, S)
    root, conditional = partial_cholesky(K, C)
    A = np.zeros(n_rows)
    mean_phi = np.zeros((C, n_rows))
    cov_phi = np.zeros((C, C, n_rows))
    hessian = np.zeros((C + 2, C + 2, n_rows))
    for node, weight in zip(*nodes_and_weights(C), strict=True):
        v = mean + np.tensordot(node, root, 1)
        A_node, mean_node, cov_node = cumulants(phi, v[:C])
        cov_node *= weight
        A += weight * A_node
        mean_phi += weight * mean_node
        cov_phi += cov_node
        hessian += pull_back_twice(cov_node, v[LEAD], v[THETA])
    # T has theta in the row of lead, and lead in that of theta: so it is reversed.
    hessian[C:, C:] += cov_phi[ETA, ETA] * conditional[::-1, ::-1]

    g = n * mean_phi - s
    W = n * cov_phi
    gradient = pull_back(g, u[LEAD], u[THETA])
    gradient[LEAD] += np.sum(K[THETA, :C] * W[ETA], axis=0)
    gradient[THETA] += np.sum(K[LEAD, :C] * W[ETA], axis=0)
    return Loss(float(n @ A - np.sum(s * mean[:C])), gradient, n * hessian)


def outcome_probabilities(phi: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return p (outcomes, rows) and A(z) (rows,)."""
    logits = phi @ z
    largest = logits.max(axis=0)
    p = np.exp(logits - largest)
    total = p.sum(axis=0)
    p /= total
    return p, np.log(total) + largest


def cumulants(phi: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return A(z) (rows,), E[phi] (C, rows) and cov[phi] (C, C, rows)."""
    p, A = outcome_probabilities(phi, z)
    mean = phi.T @ p
    covariance = np.empty((len(z), *z.shape))
    for c in range(len(z)):
        for d in range(c + 1):
            second_moment = (phi[:, c] * phi[:, d]) @ p
            covariance[c, d] = second_moment - mean[c] * mean[d]
            covariance[d, c] = covariance[c, d]
    return A, mean, covariance


def coordinates(u: Floats) -> Floats:
    """Return the coordinates z at predictors u, (C, rows)."""
    z = u[:LEAD].copy()
    z[ETA] += u[THETA] * u[LEAD]
    return z


def pull_back(g: Floats, lead: Floats, theta: Floats) -> Floats:
    """Return T'g, (C + 2, rows)."""
    return np.vstack([g, theta * g[ETA], lead * g[ETA]])


def pull_back_twice(W: Floats, lead: Floats, theta: Floats) -> Floats:
    """Return T'WT, (C + 2, C + 2, rows)."""
    C = len(W)
    hessian = np.empty((C + 2, C + 2, W.shape[-1]))
    hessian[:C, :C] = W
    hessian[LEAD, :C] = theta * W[ETA]
    hessian[THETA, :C] = lead * W[ETA]
    hessian[:, LEAD] = theta * hessian[:, ETA]
    hessian[:, THETA] = lead * hessian[:, ETA]
    return hessian


def moments_with_coordinates(u: Floats, S: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of (z, lead, theta), for predictors ~ N(u, S).

    They are exact, though the product in z_0 = offset_0 + theta lead is not Gaussian.
    """
    lead, theta = u[LEAD], u[THETA]
    mean = u.copy()
    mean[ETA] += theta * lead + S[LEAD, THETA]
    # Linear part of z_0: the offset, theta times the lead, and the lead times theta.
    K = S.copy()
    K[ETA] += theta * K[LEAD] + lead * K[THETA]
    K[:, ETA] += theta * K[:, LEAD] + lead * K[:, THETA]
    # The product of the deviations of theta and the lead correlates with nothing else.
    K[ETA, ETA] += S[LEAD, LEAD] * S[THETA, THETA] + S[LEAD, THETA] ** 2
    return mean, K
