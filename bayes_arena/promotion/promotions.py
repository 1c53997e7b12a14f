"""What is found of votes that promote or demote a competitor: which competitors, whose votes, and how many count.

Nobody is named for what many would do. An annotator promotes (or demotes) a competitor only if the log Bayes factor of
that exceeds ln(C / .05), C the number of annotators' views, which bounds the chance of naming anybody wrongly in a
whole arena by .05; if its probability exceeds .95; and if ten or more votes on the competitor were decided, more of
them that way than expected. Why they do so the votes do not say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.promotion.discounting import Discounted

SURE, DECIDED = 0.95, 10
"""Least probability, and fewest decided votes, with which anybody is named."""


@dataclass(frozen=True, eq=False)
class Promoters:
    """Annotators who voted on competitors whose gate is open, and who is named besides: pairs of both.

    Attributes
    ----------
    annotator, competitor : ndarray of int, shape (m,)
    log_bayes : ndarray, shape (m,)
        Log Bayes factor of a view far from the competitor's centre, in nats.
    probability : ndarray, shape (m,)
        Of such a view, given how common they are.
    promotes : ndarray of bool, shape (m,)
        Whether it is more likely above the centre than below.
    votes, meant, expected : ndarray, shape (m,)
        Votes on the competitor; those for it (against it, if not ``promotes``); how many are expected at its centre.
    named : ndarray of bool, shape (m,)
        Whether the evidence is strict enough to name the annotator.
    """

    annotator: Ints
    competitor: Ints
    log_bayes: Floats
    probability: Floats
    promotes: NDArray[np.bool_]
    votes: Floats
    meant: Floats
    expected: Floats
    named: NDArray[np.bool_]

    @classmethod
    def of(cls, found: Discounted) -> Promoters:
        """Return who voted on competitors whose gate is open, and of the others those who are named."""
        views = found.views
        columns: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in cls.__annotations__}
        for c, mine in sorted(found.parts.items()):
            part = views.pairs_of(c)
            promotes = 2 * mine.above > mine.slab
            won, lost, to_win, to_lose = views.for_and_against(c, mine.centre)
            meant, expected = np.where(promotes, won, lost), np.where(promotes, to_win, to_lose)
            probability = np.where(promotes, mine.above, mine.slab - mine.above)
            named = found.judged[views.annotator[part]] & (mine.log_bayes > views.strict) & (probability > SURE)
            named &= (won + lost >= DECIDED) & (meant > expected)
            told = named | (c in found.centres)
            for name, column in {
                "annotator": views.annotator[part],
                "competitor": views.competitor[part],
                "log_bayes": mine.log_bayes,
                "probability": probability,
                "promotes": promotes,
                "votes": views.votes[part],
                "meant": meant,
                "expected": expected,
                "named": named,
            }.items():
                columns[name].append(column[told])
        kinds = {"annotator": np.int64, "competitor": np.int64, "promotes": np.bool_, "named": np.bool_}
        return cls(**{name: np.concatenate(some).astype(kinds.get(name, np.float64)) for name, some in columns.items()})


@dataclass(frozen=True, eq=False)
class Cast:
    """The votes as they were cast, where not all of them count.

    Attributes
    ----------
    counts : ndarray, shape (n_cells, 4)
        Of the cells.
    board : ndarray, shape (n,)
        Strengths on the scale of the leaderboard in logits, by all votes alike.
    """

    counts: Floats
    board: Floats


@dataclass(frozen=True, eq=False)
class Promotions:
    """Competitors on which the votes are not those of one crowd.

    Attributes
    ----------
    alike, weighted, difference : ndarray, shape (n,)
        The statistics g1, g2 and h of every competitor's gate (:mod:`bayes_arena.promotion.mixture`).
    is_far, is_open : ndarray of bool, shape (n,)
        Whether the votes on it are far from those of one crowd, and whether its gate is open.
    apart : ndarray, shape (n,)
        How far a second centre within reach lies above the first, in logits; 0 where there is none.
    promoters : Promoters
        Who voted on competitors whose gate is open.
    cast : Cast or None
        The votes as they were cast; None where no gate is open, so that all of them count.
    """

    alike: Floats
    weighted: Floats
    difference: Floats
    is_far: NDArray[np.bool_]
    is_open: NDArray[np.bool_]
    apart: Floats
    promoters: Promoters
    cast: Cast | None

    @classmethod
    def of(cls, found: Discounted, cast: Cast | None) -> Promotions:
        """Return what is found, given the votes as they were cast."""
        size = len(found.gates)
        apart = np.zeros(size)
        for c, line in found.centres.items():
            apart[c] = 0.0 if line.second is None else line.second - line.highest
        return cls(
            alike=np.array([gate.alike for gate in found.gates]),
            weighted=np.array([gate.weighted for gate in found.gates]),
            difference=np.array([gate.difference for gate in found.gates]),
            is_far=np.array([gate.is_open for gate in found.gates], dtype=bool),
            is_open=np.isin(np.arange(size), list(found.centres)),
            apart=apart,
            promoters=Promoters.of(found),
            cast=cast,
        )
