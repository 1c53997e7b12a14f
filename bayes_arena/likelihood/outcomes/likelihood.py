"""What a likelihood is: one object, from which everything else about the outcomes of votes follows.

A row of votes has counts (wins of i, wins of j, ties, both-bad, and pairs of wins by further grades) and coordinates:
the log-odds eta; where a tie has a probability of its own, the tie coordinate t; where a both-bad vote has one, its
coordinate m; and where wins of G grades have, G - 1 more, of which the first is the emphasis x. The one primitive is

    rows(counts, z)  ->  l = -sum_o counts_o ln P(o | z),  its gradient in z, and its Hessian,

for all rows at once, in nats. With e_o the counts of one vote of outcome o, the rest is derived from it:

    ln P(o)         = -l(e_o)
    P(i) - P(j)     = sum_win exp(-l(e_win)) - sum_loss exp(-l(e_loss))           net score, over wins of all grades
    E[score of i]   = (1 + P(i) - P(j)) / 2,   d/dz = (sum_loss P l'(e_loss) - sum_win P l'(e_win)) / 2

with a win of any grade scored 1 and every tie or both-bad vote 1/2. A closed form may be added for speed; a test checks
that it agrees with the derived one.

A new likelihood is one file here, with an object ``LIKELIHOOD``, and its name in
:data:`bayes_arena.likelihood.specification.Ties`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.votes.outcomes import (
    BOTH_BAD,
    LOSS,
    OUTCOMES,
    TIE,
    WIN,
    by_result,
    grades_of,
    n_outcomes,
    with_grades,
)

ETA, T, M = 0, 1, 2
"""Coordinates of a row."""


@dataclass(frozen=True, eq=False)
class RowTerms:
    """Negative log-likelihood of every row.

    Attributes
    ----------
    value : ndarray, shape (n_rows,)
    gradient : ndarray, shape (n_coordinates, n_rows)
    hessian : ndarray, shape (n_coordinates, n_coordinates, n_rows)
    """

    value: Floats
    gradient: Floats
    hessian: Floats


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A likelihood of the outcomes of votes.

    Attributes
    ----------
    name : str
        As in ``Model.ties``.
    outcomes : tuple of int
        Those that have a probability. There is a coordinate fewer, and one for both wins by a further grade.
    rows : callable
        Maps counts (K, n_rows) and coordinates (n_coordinates, n_rows) to :class:`RowTerms`.
    graph : callable
        The same as a PyTensor graph: maps counts (n_rows, K) and a list of coordinates, each (n_rows,), to
        log-likelihoods (n_rows,).
    half_wins : bool
        Whether a tie without a probability of its own counts as half a win for each; else it is left out.
    tie_prior : (float, float) or None
        Prior mean and standard deviation of the common t.
    loop : str or None
        Name of the compiled loops that do the same, for averages and NUTS. Without them both are slower.
    with_both_bad : Likelihood or None
        The same with both-bad votes as an outcome of their own.
    with_grades : callable or None
        Maps a number of grades, at least two, to the same with wins of each as outcomes of their own. Without it,
        grades are folded.
    closed_log_probabilities, closed_expected_score, closed_net_score : callable or None
        Closed forms of the methods of these names.

    Raises
    ------
    ModelError
        If its parts are missing or contradict each other.
    """

    name: str
    outcomes: tuple[int, ...]
    rows: Callable[[Floats, Floats], RowTerms]
    graph: Callable[[Any, list[Any]], Any]
    half_wins: bool = False
    tie_prior: tuple[float, float] | None = None
    loop: str | None = None
    with_both_bad: Likelihood | None = None
    with_grades: Callable[[int], Likelihood] | None = None
    closed_log_probabilities: Callable[[Floats], Floats] | None = None
    closed_expected_score: Callable[[Floats], tuple[Floats, Floats]] | None = None
    closed_net_score: Callable[[Floats], Floats] | None = None

    def __post_init__(self) -> None:
        four, further = self.outcomes[: len(self.outcomes) - 2 * (self.grades - 1)], range(len(OUTCOMES), self.size)
        known = four in ((WIN, LOSS), (WIN, LOSS, TIE), (WIN, LOSS, TIE, BOTH_BAD))
        if not known or self.outcomes != (*four, *further) or (further and TIE not in four):
            raise ModelError(
                f"The likelihood {self.name!r} needs outcomes in order: wins, losses, ties, both-bad, wins by grade."
            )
        if self.has_tie_outcome != (self.tie_prior is not None) or (self.has_tie_outcome and self.half_wins):
            raise ModelError(f"The likelihood {self.name!r} needs a tie_prior if, and only if, ties are an outcome.")
        if not (callable(self.rows) and callable(self.graph)):
            raise ModelError(f"The likelihood {self.name!r} needs rows and a graph.")

    def __reduce__(self) -> tuple[Callable[..., Likelihood], tuple[str, bool, int]]:
        """Return what pickle keeps: its name, by which a process finds it."""
        return _named, (self.name, BOTH_BAD in self.outcomes, self.grades)

    @property
    def n_coordinates(self) -> int:
        """Coordinates of a row."""
        return len(self.outcomes) - self.grades

    @property
    def grades(self) -> int:
        """G, the number of grades of a win that it keeps apart."""
        return grades_of(max(len(OUTCOMES), max(self.outcomes) + 1))

    @property
    def size(self) -> int:
        """K, the number of columns of counts, with or without a probability."""
        return n_outcomes(self.grades)

    @property
    def emphasis(self) -> int:
        """Place of the first coordinate of further grades: behind the last where there are none."""
        return self.n_coordinates - self.grades + 1

    @property
    def has_tie_outcome(self) -> bool:
        """Whether a tie has a probability of its own."""
        return TIE in self.outcomes

    @property
    def is_exponential(self) -> bool:
        """Whether votes for i, j and neither have the odds exp(eta / 2) : exp(-eta / 2) : exp t + exp m."""
        return self.loop in ("half", "davidson", "both-bad")

    @property
    def drops_ties(self) -> bool:
        """Whether ties are left out."""
        return not (self.has_tie_outcome or self.half_wins)

    def log_probabilities(self, z: Floats) -> Floats:
        """Return the log-probabilities of the outcomes of a vote.

        Parameters
        ----------
        z : ndarray, shape (n_coordinates, ...)

        Returns
        -------
        ndarray, shape (K, ...)
            Minus infinity for an outcome without a probability.
        """
        if self.closed_log_probabilities is not None:
            return self.closed_log_probabilities(z)
        return self.derived_log_probabilities(z)

    def derived_log_probabilities(self, z: Floats) -> Floats:
        """Return what :meth:`log_probabilities` does, from the rows."""
        log_p = np.full((self.size, *z.shape[1:]), -np.inf)
        for outcome in self.outcomes:
            log_p[outcome] = -self._one_vote(outcome, z).value
        return log_p

    def log_likelihood(self, seen: Floats, z: Floats) -> Floats:
        """Return the log-likelihood of votes, shape (..., n_rows), given counts (K, n_rows) and z (C, ..., n_rows)."""
        log_p, half = self.log_probabilities(z), 0.5 * seen[TIE] if self.half_wins else 0.0
        counts = {one: seen[one] + half for one in self.outcomes}
        with np.errstate(invalid="ignore"):  # what was not seen may have no probability
            return np.asarray(sum(np.where(n > 0, n * log_p[one], 0.0) for one, n in counts.items()))

    def expected_score(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the expected score of i and its derivatives in the coordinates.

        Parameters
        ----------
        z : ndarray, shape (n_coordinates, ...)

        Returns
        -------
        score : ndarray, shape (...)
        slope : ndarray, shape (n_coordinates, ...)
        """
        if self.closed_expected_score is not None:
            return self.closed_expected_score(z)
        return self.derived_expected_score(z)

    def derived_expected_score(self, z: Floats) -> tuple[Floats, Floats]:
        """Return what :meth:`expected_score` does, from the rows."""
        net, slope = np.zeros(z.shape[1:]), np.zeros_like(z)
        for sign, outcomes in zip((1, -1), by_result(self.size), strict=False):
            for one in (self._one_vote(outcome, z) for outcome in outcomes):
                p = np.exp(-one.value)
                net += sign * p
                slope -= sign * p * one.gradient
        return 0.5 * (1 + net), 0.5 * slope

    def net_score(self, z: Floats) -> Floats:
        """Return P(i) - P(j), twice the expected score minus one, for coordinates (n_coordinates, ...)."""
        if self.closed_net_score is not None:
            return self.closed_net_score(z)
        return self.derived_net_score(z)

    def derived_net_score(self, z: Floats) -> Floats:
        """Return what :meth:`net_score` does, from the rows."""
        pairs = zip(*by_result(self.size)[:2], strict=True)
        wins = (np.exp([-self._one_vote(outcome, z).value for outcome in pair]) for pair in pairs)
        return np.asarray(sum(won - lost for won, lost in wins))

    def _one_vote(self, outcome: int, z: Floats) -> RowTerms:
        flat = z.reshape(len(z), -1)
        counts = np.zeros((self.size, flat.shape[1]))
        counts[outcome] = 1.0
        one, shape = self.rows(counts, flat), z.shape[1:]
        by_two = one.hessian.reshape(len(z), len(z), *shape)
        return RowTerms(one.value.reshape(shape), one.gradient.reshape(z.shape), by_two)

    def seen(self, counts: Floats, both_bad: str) -> Floats:
        """Return counts (K, n_rows) as the likelihood sees them.

        Parameters
        ----------
        counts : ndarray, shape (n_rows, any number of outcomes)
            Votes cast.
        both_bad : {"tie", "drop", "outcome"}
            What a both-bad vote counts as.

        Returns
        -------
        ndarray, shape (K, n_rows)
            Grades folded into those of the likelihood, both-bad votes merged into ties, outcomes left out set to zero.
        """
        counts = with_grades(counts, self.grades)
        merged = both_bad != "outcome" and counts[:, BOTH_BAD].any()
        if not merged and not (self.drops_ties and counts[:, TIE].any()):
            return np.ascontiguousarray(counts.T)
        seen = counts.T.copy()
        if both_bad == "tie":
            seen[TIE] += seen[BOTH_BAD]
        if both_bad != "outcome":
            seen[BOTH_BAD] = 0.0
        if self.drops_ties:
            seen[TIE] = 0.0
        return seen

    def sees(self, both_bad: str, outcomes: int) -> NDArray[np.bool_]:
        """Return which of so many outcomes are seen, shape (outcomes,); votes with the others are left out."""
        return np.asarray(self.seen(np.eye(outcomes), both_bad).any(axis=0))


def _named(ties: str, both_bad: bool, grades: int) -> Likelihood:
    return likelihood(ties, both_bad_outcome=both_bad, grades=grades)


@cache
def likelihood(ties: str, *, both_bad_outcome: bool = False, grades: int = 1) -> Likelihood:
    """Return a likelihood by its name.

    Parameters
    ----------
    ties : str
        As in ``Model.ties``.
    both_bad_outcome : bool
        Whether both-bad votes are an outcome of their own.
    grades : int
        Number of grades of a win that are kept apart.

    Raises
    ------
    ModelError
        If there is none.
    """
    try:
        found = import_module(f"bayes_arena.likelihood.outcomes.{ties.replace('-', '_')}").LIKELIHOOD
    except (ImportError, AttributeError):
        raise ModelError(f"No likelihood treats ties as {ties!r}.") from None
    chosen = found.with_both_bad if both_bad_outcome else found
    if not isinstance(chosen, Likelihood):
        raise ModelError(
            f"Both-bad votes have no probability of their own under ties={ties!r}. Use ties='davidson', or "
            "both_bad='tie'."
        )
    if grades == 1:
        return chosen
    if chosen.with_grades is None:
        raise ModelError(
            f"Grades have no probabilities of their own under ties={ties!r}. Use ties='davidson' or 'rao-kupper', or "
            "grades=1."
        )
    return chosen.with_grades(grades)
