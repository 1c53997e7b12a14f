"""How each annotator sees each competitor: a likelihood of its position, given what they think of the others.

Annotator k sees competitor c at x_kc. In a vote on c and o, c shown first,

    eta = theta_k (x_kc - y_ko) + rest,        y_ko = r_o + v_k . w_o / theta_k,

the rest being what belongs to the vote or to k (sides, style, slices). If k's votes on c say no more than k's other
votes, x_kc is the strength r_c, plus a taste, plus the offset

    o_kc = v_k^(-c) . w_c / theta_k,        v_k^(-c) = v_k + (H_k - H_kc)^-1 g_kc,

with the loadings that k's votes on others imply: one Newton step takes out those on c, whose loss has gradient g_kc and
Hessian H_kc in k's numbers, where H_k is the Hessian of all their votes and the prior. Otherwise those who vote for one
competitor only would be explained by a direction that they made themselves. theta is the fit's, with its sign: were it
cut, annotators who are sharp, or hardly tell competitors apart, or turn the ranking round, would seem to see the
strongest and the weakest far off, which many honest votes show as clearly as a campaign.

What k may say of c depends on how much else they do. Of n_k votes n_kc are on c and n' = n_k - n_kc on others:

    u_kc = min(1, n' / 20) min(1, (2 + 2 rho_c n') / n_kc),

where rho_c, the 40 % quantile of (n_kc + 1/2) / (n_k + n/4) over annotators (each counts n' / (n' + 20)), is how often
c is met. A vote says as much of c as of its opponent: u_kc is at most the mean u of the opponents in k's votes on c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Floats, Ints, Places, grouped, sum_by
from bayes_arena.compiled import called
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.davidson import LARGEST
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import times
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.tally import Tally

LEAST = 0.01
"""Least size of theta, by which offsets are divided."""
FURTHEST = 3.0
"""Largest theta_k o_kc, in logits."""
WRONGLY = 0.05
"""Chance of naming anybody in an arena wrongly."""
EARNED = 20.0
"""Votes on others with which an annotator counts in full."""
FREE, TIMES, TYPICAL = 2.0, 2.0, 0.4
"""Votes on a competitor that always count, how many times as many as usual do, and the quantile that is usual."""


@dataclass(frozen=True, eq=False)
class Views:
    """Annotators and the competitors that they voted on: pairs, sorted by competitor, then annotator.

    Attributes
    ----------
    annotator, competitor : ndarray of int, shape (C,)
        Of every pair.
    start : ndarray of int, shape (n + 1,)
        Where the pairs of every competitor begin.
    of_i, of_j : ndarray of int, shape (n_rows,)
        Pair of a row's annotator with its i, and with its j.
    votes, weight : ndarray, shape (C,)
        n_kc and u_kc.
    offset : ndarray, shape (C,)
        o_kc.
    target : Objective
        All votes as they were cast, one row for annotator and pair of competitors.
    theta, rest, coordinates : ndarray, shapes (n_rows,), (n_rows,) and (n_coordinates, n_rows)
        Of every row.
    opponent : ndarray, shape (2, n_rows)
        y of j, and of i.
    neither : ndarray, shape (n_rows,)
        Weight of a vote for neither.
    by_pair : (ndarray of int, ndarray of int), shapes (2 n_rows,) and (C + 1,)
        The sides of all rows, those of i first, in the order of their pairs, and where those of each pair begin.
    """

    annotator: Ints
    competitor: Ints
    start: Ints
    of_i: Places
    of_j: Places
    votes: Floats
    weight: Floats
    offset: Floats
    target: Objective
    theta: Floats
    rest: Floats
    coordinates: Floats
    opponent: Floats
    neither: Floats
    by_pair: tuple[Places, Ints]

    @classmethod
    def of(cls, mode: Mode, tally: Tally) -> Views:
        """Return the views that a fit implies of the votes in a tally.

        Parameters
        ----------
        mode : Mode
            Of these votes, or of the same rows with other weights.
        tally : Tally
            The votes as they were cast, by annotator.
        """
        fitted, point, model = mode.problem.objective, mode.point, mode.problem.model
        target = replace(fitted, tally=tally, counts=model.seen_counts(tally.counts))
        n, met = mode.problem.cells.n_competitors, tally.met
        order, start = grouped(met.competitor, n)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        annotator, competitor = met.annotator[order], met.competitor[order]
        of_i, of_j = place[met.of_i], place[met.of_j]
        del order, place
        votes = sum_by(of_i, tally.votes, len(annotator)) + sum_by(of_j, tally.votes, len(annotator))
        weight = _weights(tally, (of_i, of_j), votes, annotator, start)
        factors = [np.broadcast_to(one, len(tally.k)) for one in target.factors(point)]
        theta = _bounded(factors[0])
        leads, z = target.leads_at(point), target.coordinates(point)
        position = np.array([point.strength[tally.i], point.strength[tally.j]])
        for loading, part in zip(factors[1:], target.directions, strict=True):
            w = point.slices[part]
            position += loading * np.array([w[tally.i], w[tally.j]]) / theta
        of_slices = leads[0] - target.leads(point.strength)
        rest = z[ETA] - sum(times(*one) for one in zip(factors, leads, strict=True)) + theta * of_slices
        return cls(
            annotator=annotator,
            competitor=competitor,
            start=start,
            of_i=of_i,
            of_j=of_j,
            votes=votes,
            weight=weight,
            offset=_offsets(fitted, point, (of_i, of_j), annotator, competitor),
            target=target,
            theta=theta,
            rest=rest,
            coordinates=z,
            opponent=position[::-1],
            neither=np.exp(np.minimum(z[T:], LARGEST)).sum(axis=0),
            by_pair=grouped(np.concatenate([of_i, of_j]), len(annotator)),
        )

    @property
    def strict(self) -> float:
        """Log Bayes factor beyond which views are named: in all C of them together, a chance of ``WRONGLY`` to err."""
        return math.log(max(len(self.annotator), 1) / WRONGLY)

    def pairs_of(self, competitor: int) -> slice:
        """Return the pairs of a competitor."""
        return slice(int(self.start[competitor]), int(self.start[competitor + 1]))

    def sides(self, competitor: int) -> tuple[Places, Floats, Ints]:
        """Return the rows of votes on a competitor, pair by pair; 1 as i, -1 as j; and their pairs."""
        order, begin = self.by_pair
        part = self.pairs_of(competitor)
        side = order[begin[part.start] : begin[part.stop]]
        pair = np.repeat(np.arange(part.start, part.stop), np.diff(begin[part.start : part.stop + 1]))
        second = side >= len(self.of_i)
        return np.where(second, side - len(self.of_i), side), np.where(second, -1.0, 1.0), pair

    def leads(self, competitor: int, shift: Floats | None = None) -> tuple[Places, Floats, Floats, Ints]:
        """Return the rows of votes on a competitor, slope and constant of eta in its centre, and where pairs begin.

        ``shift`` (C,) is added to where annotators see opponents.
        """
        row, sign, pair = self.sides(competitor)
        slope = sign * self.theta[row]
        opponent = self.opponent[(sign < 0).astype(int), row]
        if shift is not None:
            opponent = opponent + shift[np.where(sign > 0, self.of_j[row], self.of_i[row])]
        constant = slope * (self.offset[pair] - opponent) + self.rest[row]
        return row, slope, constant, np.flatnonzero(np.diff(pair, prepend=-1))

    def likelihood(self, competitor: int, at: Floats, shift: Floats | None = None) -> Floats:
        """Return the likelihood of positions, less the offset, to the annotators who voted on a competitor.

        Parameters
        ----------
        competitor : int
        at : ndarray, shape (G,)
            Positions.
        shift : ndarray, shape (C,), optional
            Added to where annotators see opponents.

        Returns
        -------
        ndarray, shape (m, G)
            For each of its pairs, relative to the largest.
        """
        row, slope, constant, starts = self.leads(competitor, shift)
        likelihood = self.target.likelihood
        if likelihood.is_exponential:
            from bayes_arena.likelihood import loops  # numba is slow to import

            given = self.target.counts, self.neither, row, slope, constant, at, np.append(starts, len(row))
            likelihoods: Floats = called(loops.along_positions, *given)
            return likelihoods
        counts, z = self.target.counts[:, row], self.coordinates[:, row]
        there = np.repeat(z[:, :, None], len(at), axis=2)
        there[ETA] = slope[:, None] * at + constant[:, None]
        value = np.add.reduceat(likelihood.log_likelihood(counts[..., None], there), starts)
        return np.asarray(np.exp(value - value.max(axis=1, keepdims=True)), dtype=np.float64)

    def for_and_against(self, competitor: int, centre: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the votes for and against a competitor, and the same as expected at its centre, each (m,)."""
        row, slope, constant, starts = self.leads(competitor)
        first = self.sides(competitor)[1] > 0
        counts, likelihood = self.target.counts[:, row], self.target.likelihood
        log_p = likelihood.log_probabilities(np.vstack([slope * centre + constant, self.coordinates[1:, row]]))
        (won, lost, _), (p_won, p_lost, _) = wins_losses_ties(counts.T), wins_losses_ties(np.exp(log_p).T)
        cast = counts.sum(axis=0) if likelihood.has_tie_outcome else won + lost
        seen = (won, lost), (cast * p_won, cast * p_lost)
        sums = [
            np.add.reduceat(np.where(first, one, other), starts)
            for as_i, as_j in seen
            for one, other in ((as_i, as_j), (as_j, as_i))
        ]
        return sums[0], sums[1], sums[2], sums[3]


def _weights(tally: Tally, of: tuple[Places, Places], votes: Floats, annotator: Ints, start: Ints) -> Floats:
    """Return u of every pair."""
    of_i, of_j = of
    total = sum_by(tally.k, tally.votes, int(tally.k.max(initial=0)) + 1)
    cast = total[annotator]
    n, elsewhere = len(start) - 1, cast - votes
    crowd = float((total / (total + EARNED)).sum())
    share, heard = (votes + 0.5) / (cast + n / 4), elsewhere / (elsewhere + EARNED)
    usual = np.zeros(len(votes))
    for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        part = slice(first, last)
        never_met = max(crowd - float((cast[part] / (cast[part] + EARNED)).sum()), 0.0)
        values, weights = np.append(share[part], 1 / n), np.append(heard[part], never_met)
        order = np.argsort(values, kind="stable")
        upto = np.cumsum(weights[order])
        usual[part] = values[order][min(np.searchsorted(upto, TYPICAL * upto[-1]), len(order) - 1)]
    weight = np.minimum(1.0, elsewhere / EARNED) * np.minimum(1.0, (FREE + TIMES * usual * elsewhere) / votes)
    size = len(votes)
    opponents = sum_by(of_i, tally.votes * weight[of_j], size) + sum_by(of_j, tally.votes * weight[of_i], size)
    return np.asarray(np.minimum(weight, opponents / votes))


def _offsets(target: Objective, point: Point, of: tuple[Places, Places], annotator: Ints, competitor: Ints) -> Floats:
    """Return o of every pair, by the votes that were fitted."""
    size, width = len(annotator), len(target.own)
    offset = np.zeros(size)
    loadings = target.predictor.loadings
    if not loadings:
        return offset
    terms, (_, bases) = target.row_terms(point), target.bases(point)
    gradient, hessian = np.zeros((size, width)), np.zeros((size, width, width))
    of_all = np.zeros((target.n_annotators, width, width))
    for u, one in enumerate(target.own):
        by_number = times(bases[u], terms.gradient[one.coordinate])
        gradient[:, u] = sum(sum_by(at, by_number, size) for at in of)
        for v, other in enumerate(target.own[: u + 1]):
            both = times(bases[u], times(bases[v], terms.hessian[one.coordinate, other.coordinate]))
            hessian[:, u, v] = hessian[:, v, u] = sum(sum_by(at, both, size) for at in of)
            of_all[:, u, v] = of_all[:, v, u] = sum_by(target.tally.k, both, target.n_annotators)
        of_all[:, u, u] += one.sd**-2
    left = of_all[annotator] - hessian
    without = point.own[annotator] + np.linalg.solve(left, gradient[..., None])[..., 0]
    theta = _bounded(point.own[annotator, 0]) if target.free_discrimination else 1.0
    for column, part in zip(loadings, target.directions, strict=True):
        offset += without[:, column] * point.slices[part][competitor] / theta
    return np.asarray(np.clip(theta * offset, -FURTHEST, FURTHEST) / theta)


def _bounded(theta: Floats) -> Floats:
    """Return theta, its size bounded below."""
    return np.asarray(np.where(theta < 0, -1.0, 1.0) * np.maximum(np.abs(theta), LEAST))
