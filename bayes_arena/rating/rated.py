"""What ``rate`` finds: the board, who votes how, and the verdict, each found once.

The board is Davidson's: all votes have equal weight.  Where annotators are known they are
judged by am-Davidson, and the two boards are compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena import columns as catalogue, tables
from bayes_arena.arrays import Array
from bayes_arena.boards.elo import ELO, EloScale
from bayes_arena.boards.former import FormerBoard
from bayes_arena.boards.frontier import Frontier, frontier_columns, frontier_of
from bayes_arena.boards.leaderboard import leaderboard_columns, with_notes
from bayes_arena.boards.since import Changes
from bayes_arena.boards.standing import Standing
from bayes_arena.boards.verdict import verdict_of
from bayes_arena.columns import Table
from bayes_arena.errors import ArenaWarning
from bayes_arena.fits.fit import MOST_WITH_ANNOTATORS, fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.inference.direction import direction_is_open
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.priors import PRIORS
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.contested import contested_columns, find_contested
from bayes_arena.people.doors import judging
from bayes_arena.people.favourites import (
    Favourites,
    favourite_columns,
    find_favourites,
    named_favourites,
)
from bayes_arena.people.groups import Groups, find_groups
from bayes_arena.people.shared import SharedRanking, compare_boards
from bayes_arena.people.table import PairTable, davidson_posterior, table_at
from bayes_arena.reading.facts import Facts, prices_of
from bayes_arena.said import Note
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

MOST_JUDGED = 5_000  # annotators that `rate` judges


@dataclass(frozen=True, eq=False)
class Rated:
    """The data of a :class:`~bayes_arena.rating.rating.Rating`."""

    fit: Fit
    standing: Standing
    elo: EloScale = ELO
    source: str = "votes"
    rank_spread: bool = False
    warnings: tuple[Note, ...] = ()
    without: str | Collection[str] | None = None
    left_out: tuple[str, ...] = ()
    before: Rated | None = None
    former: FormerBoard | None = None
    share: float | None = None
    weighted: Fit | None = None
    about: Facts | None = None

    @property
    def votes(self) -> Votes:
        """The votes that were rated."""
        return self.fit.votes

    @property
    def is_full(self) -> bool:
        """Whether annotators are judged: beside Davidson's board, or by am-Davidson's."""
        return self.fit.model.name in ("davidson", "am-davidson")

    @property
    def judges_annotators(self) -> bool:
        """Whether annotators are judged."""
        is_small = self.votes.n_competitors <= MOST_WITH_ANNOTATORS
        is_known = 1 < self.votes.n_annotators <= MOST_JUDGED
        return self.is_full and is_small and is_known

    @cached_property
    def known_votes(self) -> Votes:
        """The votes of known annotators, which are judged by them."""
        return self.votes.known("annotator")

    @cached_property
    def judge(self) -> Fit | Note | None:
        """The fit that judges annotators, or why there is none; None if none is asked."""
        if self.weighted is not None or not self.judges_annotators:
            return self.weighted
        if self.fit.model.discrimination != "none":
            return self.fit
        with warnings.catch_warnings():  # they are not about the board
            warnings.simplefilter("ignore", ArenaWarning)
            return judging(self.known_votes)[1]

    @property
    def annotator_fit(self) -> Fit | None:
        """The fit that judges annotators; None where there is none."""
        return self.judge if isinstance(self.judge, Fit) else None

    @cached_property
    def shared(self) -> SharedRanking | None:
        """Whether annotators share one ranking; None where that is not asked."""
        weighed, plain = self.annotator_fit, self.fit
        if weighed is None or weighed is plain or not np.isfinite(plain.strength).all():
            return None
        if self.known_votes is not self.votes:
            plain = fit_model(self.known_votes, prior=plain.prior)
        return compare_boards(plain, weighed, self.standing.look.min_votes)

    @cached_property
    def groups(self) -> Groups:
        """The two groups of annotators, if they fall into two."""
        if self.annotator_fit is None:
            return Groups(reason="Annotators were not judged.")
        return find_groups(self.annotator_fit, self.standing.look.seed)

    @cached_property
    def found_favourites(self) -> Favourites | None:
        """Whom annotators favour; None where they are not judged."""
        if not self.judges_annotators:
            return None
        return find_favourites(self.known_votes, self.davidson)

    @cached_property
    def davidson(self) -> Posterior:
        """Davidson's posterior of the votes of known annotators, under the default prior.

        It is the board's, where this has all of these votes and none other.
        """
        fit = self.fit
        is_default = fit.prior == PRIORS["default"] and fit.method == "gaussian"
        if is_default and self.known_votes is fit.votes:
            return fit.posterior
        return davidson_posterior(self.known_votes)

    @cached_property
    def pair_table(self) -> PairTable:
        """What each annotator's votes did for each competitor."""
        votes = self.known_votes.collapse(annotators=True)
        return table_at(self.davidson, votes)

    @cached_property
    def disagreement(self) -> Array | None:
        """How contested each competitor is; None where annotators are not judged."""
        return find_contested(self.pair_table) if self.judges_annotators else None

    @cached_property
    def changes(self) -> Changes | None:
        """What changed since a former board."""
        if self.former is None:
            return None
        return Changes(self.former, self.standing, self.elo, self.left_out)

    @cached_property
    def board_columns(self) -> Columns:
        """The board's columns, those of the board before, and facts about competitors."""
        spread = self.rank_spread
        board = leaderboard_columns(self.standing, elo=self.elo, rank_spread=spread)
        columns = dict(board)
        if self.changes is not None:
            columns |= self.changes.columns_of(board)
        elif self.before is not None:
            former = self.before.board_columns
            row_of = {name: row for row, name in enumerate(former["competitor"])}
            rows = [row_of[name] for name in columns["competitor"]]
            columns["rank_before"] = np.asarray(former["rank"])[rows]
            columns["elo_before"] = np.asarray(former["elo"])[rows]
        if self.about is not None:
            columns |= self.about.of(columns["competitor"])
        return columns

    @property
    def board_table(self) -> Table:
        """What the board's columns are."""
        names = [] if self.about is None else [*self.about.columns]
        return (*catalogue.BOARD, *catalogue.of_facts(names))

    @cached_property
    def annotator_columns(self) -> Columns:
        """The columns of the annotators; none where they are not judged."""
        if self.judge is None or self.found_favourites is None:
            return {}
        seed = self.standing.look.seed
        return annotator_columns(
            self.known_votes, self.judge, self.found_favourites, seed
        )

    @cached_property
    def favourite_columns(self) -> Columns:
        """The columns of the favourites; none where annotators are not judged."""
        if self.found_favourites is None:
            return {}
        return favourite_columns(self.known_votes, self.found_favourites)

    @cached_property
    def named_favourites(self) -> Columns:
        """The clearest favourite of each annotator for whom that is what is odd."""
        if not self.annotator_columns:
            return {}
        return named_favourites(self.favourite_columns, self.annotator_columns)

    @cached_property
    def contested_columns(self) -> Columns:
        """The columns of contested competitors; none where annotators are not judged."""
        if self.disagreement is None:
            return {}
        return contested_columns(self.known_votes, self.disagreement)

    @cached_property
    def price_frontier(self) -> Frontier | None:
        """Score against price; None where no prices are known."""
        if self.about is None:
            return None
        prices = prices_of(self.about, self.votes.competitors)
        return None if prices is None else frontier_of(self.standing, prices)

    @property
    def frontier_columns(self) -> Columns:
        """The columns of the frontier; none where no prices are known."""
        frontier = self.price_frontier
        return {} if frontier is None else frontier_columns(frontier, self.elo)

    @property
    def leaderboard(self) -> pd.DataFrame:
        """The board: see :func:`~bayes_arena.leaderboard`."""
        return with_notes(self.board_columns, {"": self.standing}, {"": self.warnings})

    @property
    def grouped_columns(self) -> Columns:
        """The columns of the annotators, and their group where there are two."""
        if not self.annotator_columns:
            return {}
        names = self.annotator_columns["annotator"]
        return {**self.annotator_columns, **self.groups.columns_of(names)}

    @property
    def annotators(self) -> pd.DataFrame:
        """Who votes how: see :func:`~bayes_arena.annotators`."""
        return table_of(self.grouped_columns, catalogue.ANNOTATORS)

    @property
    def favourites(self) -> pd.DataFrame:
        """Whom annotators favour: see :func:`~bayes_arena.favourites`."""
        return table_of(self.favourite_columns, catalogue.FAVOURITES)

    @property
    def contested(self) -> pd.DataFrame:
        """About whom annotators disagree: see :func:`~bayes_arena.contested`."""
        return table_of(self.contested_columns, catalogue.CONTESTED)

    @property
    def frontier(self) -> pd.DataFrame:
        """Score against price, the cheapest first, and who is on the frontier.

        Columns ``competitor, price, elo, lower, upper, p_frontier``, of the competitors
        that have a rank and a price; ``p_frontier`` is the probability that nobody
        cheaper, or equally cheap, is better, from the draws of the board.
        """
        return table_of(self.frontier_columns, catalogue.FRONTIER)

    @property
    def is_divided(self) -> bool:
        """Whether about half of the annotators vote against the others."""
        fit = self.annotator_fit
        return fit is not None and direction_is_open(fit.posterior)

    @cached_property
    def verdict(self) -> str:
        """Who is the best, in a sentence or two."""
        return verdict_of(self.standing, is_divided=self.is_divided)


def table_of(columns: Columns, table: Table) -> pd.DataFrame:
    """Return a dataframe; one without rows where there are no columns."""
    return tables.dataframe(columns or catalogue.empty(table))
