"""What changed since a former board, and which changes are sure.

Let e be the scores of a board and e' those of a former one, each less the mean of the
competitors that have a rank on both, V and V' their variances, and n and n' the votes on a
competitor.  A score changed by

    d = e - e',    Var(d) = max(V' - V, V (n / n' - 1))    with the former votes among the new,
                   Var(d) = V' + V                         with other votes.

More votes move an efficient estimate by V' - V (Hausman, 1978, Econometrica 46).  Estimated
from near numbers it is noisy, the more so where votes are clustered; that variances fall as
the votes grow gives the second form, and the larger counts.  A change is called one by
Benjamini and Hochberg over the competitors: its interval excludes 0, and where nobody
changed one board in twenty calls any, at the level .95.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.former import FormerBoard
from bayes_arena.boards.ranks import ranks
from bayes_arena.boards.standing import Standing, wins_losses_ties
from bayes_arena.boards.surprise import discoveries
from bayes_arena.boards.uncertainty import half_width
from bayes_arena.errors import join_words, plural
from bayes_arena.said import Note
from bayes_arena.tables import Columns

ROUNDING = 1e-9  # share of a variance, below which a difference is none
MOST_NAMED = 3  # competitors of a kind in the sentence


@dataclass(frozen=True, eq=False)
class Changes:
    """What changed since a former board.

    Attributes
    ----------
    former : FormerBoard
    standing : Standing
        Of the board at hand.
    elo : EloScale
    left_out : tuple of str
        Annotators whose votes were left out.
    """

    former: FormerBoard
    standing: Standing
    elo: EloScale
    left_out: tuple[str, ...] = ()

    @cached_property
    def place(self) -> dict[str, int]:
        """The rank of each competitor that has one now, the best first."""
        codes = self.standing.ranked
        names = [self.standing.competitors[c] for c in codes]
        return dict(
            zip(names, ranks(self.standing.strength[codes]).tolist(), strict=True)
        )

    @property
    def new(self) -> list[str]:
        """Those that had no rank, the best first."""
        return [name for name in self.place if name not in self.former.row_of]

    @property
    def gone(self) -> list[str]:
        """Those that have a rank no more, the best first."""
        return [name for name in self.former.row_of if name not in self.place]

    @cached_property
    def codes(self) -> Ints:
        """Codes of the competitors that have a rank on both boards, the best first."""
        known = self.former.row_of
        names = self.standing.competitors
        codes = [c for c in self.standing.ranked if names[c] in known]
        return np.array(codes, dtype=np.int64)

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [self.standing.competitors[c] for c in self.codes]

    @property
    def rows(self) -> list[int]:
        """Their rows on the former board."""
        return [self.former.row_of[name] for name in self.names]

    @cached_property
    def change(self) -> Floats:
        """By how many Elo points their scores changed, (codes,)."""
        now = self.elo.points_per_logit * self.standing.strength[self.codes]
        before = self.former.elo[self.rows]
        return centred(now) - centred(before)

    @cached_property
    def outcomes(self) -> Floats:
        """Their wins, losses and ties now, (codes, 3)."""
        return np.stack(wins_losses_ties(self.standing.votes), axis=1)[self.codes]

    @cached_property
    def has_former_votes(self) -> bool:
        """Whether the former votes are among those at hand, as far as counts tell."""
        grew = self.outcomes >= self.former.outcomes[self.rows]
        fell = self.gone or not self.former.left_out.issuperset(self.left_out)
        return bool(grew.all()) and not fell

    @cached_property
    def variances(self) -> tuple[Floats, Floats]:
        """V and V', (codes,) each."""
        covariance = self.standing.covariance[np.ix_(self.codes, self.codes)]
        C = centred(centred(covariance).T)
        now = self.elo.points_per_logit**2 * np.diag(C)
        return now, (self.former.half_width[self.rows] / self.width) ** 2

    @cached_property
    def variance(self) -> Floats:
        """Variance of the change of each score, (codes,), V now and V' before.

        It is V' - V where the former votes are among those at hand, but at least
        V (n / n' - 1) of the votes n and n'; and V' + V elsewhere.  It is nan where there
        is nothing by which a score could have changed.
        """
        now, before = self.variances
        if len(self.codes) < 2:
            return np.full(len(self.codes), np.nan)
        if not self.has_former_votes:
            return before + now
        n = self.outcomes.sum(axis=1)
        n_before = self.former.outcomes[self.rows].sum(axis=1)
        growth = n / np.maximum(n_before, 1) - 1
        variance = np.maximum(before - now, now * growth)
        return np.where(variance > ROUNDING * now, variance, np.nan)

    @property
    def width(self) -> float:
        """Half the width of an interval, in standard deviations."""
        return half_width(self.standing.look.level, self.standing.uncertainty.df)

    @cached_property
    def half(self) -> Floats:
        """Half of the intervals of the changes, in Elo points, (codes,)."""
        return self.width * np.sqrt(self.variance)

    @property
    def z(self) -> Floats:
        """Changes in standard deviations, (codes,)."""
        return np.abs(self.change) / np.sqrt(self.variance)

    @cached_property
    def called(self) -> Array:
        """Which changes are sure, (codes,)."""
        df = self.standing.uncertainty.df
        p = 2 * (stdtr(df, -self.z) if np.isfinite(df) else ndtr(-self.z))
        return discoveries(np.nan_to_num(p, nan=1.0), 1 - self.standing.look.level)

    def columns_of(self, board: Columns) -> Columns:
        """Return the columns that stand beside those of the board at hand."""
        values = {
            "rank_before": self.former.rank[self.rows],
            "elo_change": self.change,
            "change_lower": self.change - self.half,
            "change_upper": self.change + self.half,
            "changed": self.called,
        }
        position = {name: at for at, name in enumerate(board["competitor"])}
        at = [position[name] for name in self.names]
        columns = {}
        for name, numbers in values.items():
            column = np.full(len(position), np.nan)
            column[at] = numbers
            columns[name] = column
        columns["elo_before"] = np.asarray(board["elo"]) - columns["elo_change"]
        columns["changed"] = columns["changed"] == 1
        return columns

    @property
    def content(self) -> dict[str, Any]:
        """What JSON says of it."""
        return {
            "date": self.former.date,
            "n_votes": self.former.n_votes,
            "new": self.new,
            "gone": self.gone,
            "sentence": self.sentence,
        }

    @property
    def note(self) -> Note:
        """The sentence, for a reader of the board."""
        return Note("since", self.sentence)

    @cached_property
    def sentence(self) -> str:
        """What changed: who is new or gone, who is the first, whose score changed."""
        phrases = [*self.of_new(), *self.of_gone(), *self.of_first(), *self.of_scores()]
        text = f"Since {self.former.date} ({self.of_votes()}): {'; '.join(phrases)}."
        if any(self.called):
            n = len(self.codes)
            text += f" Changes are against the mean of the {n} that both boards rank."
        return text

    def of_votes(self) -> str:
        """Say how many votes came."""
        n, n_before = self.standing.votes.n_votes, self.former.n_votes
        if not self.has_former_votes:
            return f"{plural(n, 'vote')} in place of {n_before:,.0f}"
        return (
            f"{plural(n - n_before, 'vote')} more" if n > n_before else "no votes more"
        )

    def of_new(self) -> list[str]:
        """Say who is new, and at which rank."""
        if len(self.new) == 1:
            return [f"{self.new[0]} is new at {self.place[self.new[0]]}"]
        names = [f"{name} ({self.place[name]})" for name in self.new]
        return [f"{named(names)} are new"] if names else []

    def of_gone(self) -> list[str]:
        """Say who has no rank any more."""
        verb = "is" if len(self.gone) == 1 else "are"
        return [f"{named(self.gone)} {verb} gone"] if self.gone else []

    def of_first(self) -> list[str]:
        """Say who is the first, and who was."""
        first, former = next(iter(self.place)), next(iter(self.former.row_of), None)
        if first == former:
            return [f"{first} keeps 1"]
        return [self.moved(name) for name in (first, former) if name in self.names]

    def moved(self, name: str) -> str:
        """Say from which rank to which a competitor moved."""
        before = self.former.rank[self.former.row_of[name]]
        return f"{name} goes from {before:.0f} to {self.place[name]}"

    def of_scores(self) -> list[str]:
        """Say whose score surely changed, the surest first."""
        if len(self.codes) < 2:
            return ["fewer than two competitors have a rank on both boards"]
        order = [at for at in np.argsort(-self.z, kind="stable") if self.called[at]]
        if not order:
            return ["no score has changed beyond chance"]
        phrases = [self.of_score(at) for at in order[:MOST_NAMED]]
        n_more = len(order) - len(phrases)
        return [*phrases, f"{n_more} more changed"] if n_more else phrases

    def of_score(self, at: int) -> str:
        """Say by how much a score changed."""
        change, half = abs(self.change[at]), self.half[at]
        way = "up" if self.change[at] > 0 else "down"
        ends = f"{change - half:.0f} … {change + half:.0f}"
        return f"{self.names[at]} is {way} by {change:.0f} Elo ({ends})"


def centred(values: Floats) -> Floats:
    """Return numbers less the mean along the last axis."""
    return values - values.mean(axis=-1, keepdims=True) if values.size else values


def named(names: list[str]) -> str:
    """Return names in words; the first of many, and how many more there are."""
    if len(names) <= MOST_NAMED:
        return join_words(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
