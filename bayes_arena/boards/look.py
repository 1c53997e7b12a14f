"""How a board is looked at: its intervals, and who has a rank."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

from bayes_arena.errors import ModelError, require_level, require_seed
from bayes_arena.said import Use
from bayes_arena.votes.votes import MIN_VOTES

type Interval = Literal["posterior", "clustered", "sandwich", "bootstrap"]
INTERVALS: tuple[Interval, ...] = get_args(Interval.__value__)


@dataclass(frozen=True)
class Look:
    """How a board is looked at.

    Attributes
    ----------
    interval : {"posterior", "clustered", "sandwich", "bootstrap"}, optional
        By default "clustered" by prompt where prompts repeat, else "posterior".
    cluster : str, optional
        What votes of a cluster share: "prompt", "annotator" or another slice.
    level : float
        Coverage of intervals and rank ranges.
    min_votes : float
        Votes from which a competitor has a rank.
    seed : int
        Of the draws that ranks come from, and of the bootstrap.

    Raises
    ------
    ModelError
        If a choice makes no sense.
    """

    interval: Interval | None = None
    cluster: str | None = None
    level: float = 0.95
    min_votes: float = MIN_VOTES
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse choices that make no sense."""
        require_interval(self.interval)
        if self.cluster is not None and self.interval in ("posterior", "sandwich"):
            kinds = (Use(interval="clustered"), " or ", Use(interval="bootstrap"))
            rest = (", not ", Use(interval=self.interval), ".")
            raise ModelError((Use(cluster=self.cluster), " goes with ", *kinds, rest))
        require_level(self.level)
        require_seed(self.seed)
        if not isinstance(self.min_votes, Real) or not self.min_votes >= 0:
            raise ModelError(
                (Use(min_votes=self.min_votes), " must be a number of 0 or more.")
            )


def require_interval(interval: str | None) -> None:
    """Refuse an interval that boards do not have."""
    if interval is None or interval in INTERVALS:
        return
    text = (Use(interval=interval), f" must be one of {', '.join(INTERVALS)}.")
    if interval == "profile":
        also = " Profile intervals are for strengths of a Bradley-Terry fit."
        raise ModelError((text, also))
    raise ModelError(text)


LOOK = Look()
