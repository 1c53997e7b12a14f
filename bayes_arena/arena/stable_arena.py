"""The Stable Arena (Liu et al., 2025, Algorithm 3): votes come in, rounds go out.

With S the stored votes, and delta_k the number of votes of annotator k, a round

1. takes the votes S' of annotators who are not excluded and have delta_k > delta; the
   others wait for more votes;
2. fits am-ELO to S' by maximum likelihood, and publishes the scores;
3. excludes annotators whose theta, on the scale where theta sums to one, is at or below
   epsilon.  Their votes stay stored, but do not count until they are readmitted.

The theta of a round may be what an annotator is paid by: it is a share of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack

import numpy as np

from bayes_arena.arena.boards import board_before, keep_board, last_annotators
from bayes_arena.arena.records import (
    ID,
    STATUS,
    add_by_content,
    add_by_id,
    counted_votes,
    decide,
    last_round,
    names_by_status,
    require_storable,
    settle_ids,
    store_round,
)
from bayes_arena.arena.store import (
    columns_of,
    create_file,
    reading,
    require_intact,
    writing,
)
from bayes_arena.arrays import Floats
from bayes_arena.boards.look import LOOK
from bayes_arena.boards.uncertainty import half_width
from bayes_arena.errors import (
    FitError,
    ModelError,
    StoreError,
    VotesError,
    did_you_mean,
    require_choice,
    require_finite,
    require_level,
    warn,
)
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.people.flag import flag_by_theta
from bayes_arena.rating.rating import Rating, rating_of
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Note, Use
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

type Kept = Literal["competitors", "boards", "annotators", "rounds", "decisions"]
# What ``history`` shows, and how it is read.
HISTORY = {
    "rounds": (
        "select round.*, date, since from round left join board using (round) "
        "order by round"
    ),
    "competitors": (
        "select round, rank, name as competitor, elo, sd, votes from rating "
        "join competitor on code = competitor order by round, rank, name"
    ),
    "annotators": (
        "select round, name as annotator, theta, ability.votes, "
        "theta <= epsilon as excluded from ability join round using (round) "
        "join annotator on code = annotator order by round, theta, name"
    ),
    "boards": (
        "select round, date, rank, name as competitor, elo, lower, upper, rank_before, "
        "elo_change, change_lower, change_upper, changed from standing "
        "join board using (round) join competitor on code = competitor "
        "order by round, rank is null, rank, name"
    ),
    "decisions": (
        "select name as annotator, decision, round, time, reason from decision "
        "join annotator on code = annotator order by number"
    ),
}
FLAGS = {"excluded", "changed"}  # columns that are true or false
LAST_BOARD = """
select rank, name as competitor, elo, sd, votes from rating
join competitor on code = competitor
where round = (select max(round) from round) order by rank, name
"""


@dataclass(frozen=True)
class Added:
    """What an addition did.

    Attributes
    ----------
    new, known : int
        Votes that are new, and votes that were stored already.
    """

    new: int
    known: int


@dataclass(frozen=True, eq=False)
class Round:
    """A round of Algorithm 3.

    Attributes
    ----------
    number : int
        1 for the first.
    fit : Fit
        am-ELO by maximum likelihood.
    excluded : tuple of str
        Annotators whom this round excludes, theta at or below epsilon; lowest first.
    waiting : tuple of str
        Annotators with delta votes or fewer, who did not count.
    left_out : tuple of str
        Annotators whom earlier rounds excluded.
    theta
    """

    number: int
    fit: Fit
    excluded: tuple[str, ...]
    waiting: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def theta(self) -> Floats:
        """Theta on the paper's scale, where it sums to one, (annotators,)."""
        return self.fit.discrimination / self.fit.votes.n_annotators


@dataclass(frozen=True)
class StableArena:
    """An arena whose votes and history are in one file.

    Make one with :meth:`create` or :meth:`open`.  Nothing is held open between calls,
    so threads and processes may share the file: many may read it while one writes.

    Attributes
    ----------
    path : Path
        The file, an SQLite database.
    delta : float
        Annotators with this many votes or fewer wait.
    epsilon : float
        Annotators whose theta, of sum one, is at or below this are excluded.

    Methods
    -------
    create
    open
    add
    round
    publish
    rate
    history
    annotators
    readmit

    Examples
    --------
    >>> import bayes_arena as ba
    >>> arena = ba.StableArena.create("arena.db")
    >>> arena.add(ba.example_arena().votes)
    Added(new=4321, known=0)
    >>> arena.round().excluded
    ('annotator-41', 'annotator-16', 'annotator-12', 'annotator-24')
    """

    path: Path
    delta: float = 50
    epsilon: float = 0

    @classmethod
    def create(cls, path: str | Path, *, delta: float = 50, epsilon: float = 0) -> Self:
        """Create the file of an empty arena.

        Parameters
        ----------
        path : str or Path
        delta, epsilon : float
            As in the paper; the file keeps them.

        Raises
        ------
        ModelError
            If delta or epsilon is not a finite number.
        StoreError
            If the file exists, or cannot be written.
        """
        require_finite(delta=delta, epsilon=epsilon)
        create_file(Path(path), delta=delta, epsilon=epsilon)
        return cls(Path(path), delta, epsilon)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the file of an arena, after its contents have been checked.

        Raises
        ------
        StoreError
            If there is no file, if it is damaged, of another version, or anything but
            an arena.
        """
        with reading(Path(path)) as connection:
            require_intact(connection, Path(path))
            settings = connection.execute("select delta, epsilon from arena").fetchall()
        if len(settings) != 1:
            raise StoreError(f"{str(path)!r} is damaged: it has no settings.")
        return cls(Path(path), *settings[0])

    def add(
        self, source: object, *, id: str | None = None, **columns: Unpack[ReadOptions]
    ) -> Added:
        """Add votes, all of them or none; those that are stored already are not added.

        Parameters
        ----------
        source : Votes, path, dataframe or list of records
            What :func:`~bayes_arena.read_votes` reads, or has read.
        id : str, optional
            Column of the ids of votes.  Without ids, the n-th of equal votes (same
            competitors, annotator and outcome) in an addition is taken for the n-th
            such vote of the others: right for the same file grown longer, wrong for a
            batch of new votes.
        **columns
            Options of :func:`~bayes_arena.read_votes`.

        Returns
        -------
        Added

        Raises
        ------
        VotesError
            If the votes cannot be read, have no annotators or fractional weights; if
            different votes share an id; or if stored votes have ids and these have not.
        StoreError
            If the file cannot be written.

        Warns
        -----
        ArenaWarning
            If votes have no ids, and some of them, but not all, equal stored votes.
        """
        if id is not None:
            columns["slices"] = {ID: id}
        if not isinstance(source, Votes) or columns:
            columns.setdefault("prompt", False)
            source = votes_from(source, **columns)
        require_storable(source)
        with writing(self.path) as connection:
            settle_ids(connection, id is not None)
            if id is not None:
                new = add_by_id(connection, source)
            else:
                new = add_by_content(connection, source)
        known = int(source.n_votes) - new
        if id is None and new and known:
            text = (
                f"{known:,} of {new + known:,} votes equal stored votes, and were "
                "taken for the same.",
                (" If they are new, name a column of ids with ", Use("id"), "."),
            )
            warn(Note("known_votes", text))
        return Added(new, known)

    def round(self) -> Round:
        """Hold a round: fit, publish, and exclude the annotators who do not help.

        Returns
        -------
        Round

        Raises
        ------
        VotesError
            If no annotator has more than delta votes.
        FitError
            If am-ELO has no finite maximum; nothing is published then.
        StoreError
            If the file cannot be written, or another process published a round
            meanwhile.
        """
        # Nothing is locked while the fit runs: another round meanwhile is noticed after it.
        with reading(self.path) as connection:
            last = last_round(connection)
            annotators = names_by_status(connection)
            if not annotators["active"]:
                raise VotesError(
                    f"No annotator in {str(self.path)!r} has more than {self.delta:g} "
                    "votes and is not excluded. Add votes; or a new arena with a smaller "
                    "delta counts more of them."
                )
            if len(annotators["active"]) == 1 and annotators["waiting"]:
                (name,) = annotators["active"]
                raise VotesError(
                    f"Only {name!r} has more than {self.delta:g} votes and is not excluded: "
                    "a round of one annotator would be that one's ranking. A new arena "
                    "with a smaller delta counts more of them."
                )
            votes = counted_votes(connection, annotators["active"])
        try:
            result = fit(votes, model="am-elo", prior="flat")
        except FitError as error:
            text = (
                error.text,
                " A new arena with a larger delta leaves out who has few votes. To leave "
                "out who has many, add the others' votes to a new arena.",
            )
            raise FitError(text) from error
        round = Round(
            number=last + 1,
            fit=result,
            excluded=flag_by_theta(result, epsilon=self.epsilon),
            waiting=tuple(annotators["waiting"]),
            left_out=tuple(annotators["excluded"]),
        )
        store_outcome(self, round)
        return round

    def publish(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return the board of the last round.

        Parameters
        ----------
        level : float
            Of the intervals, which are the likelihood's own.

        Returns
        -------
        pandas.DataFrame
            ``rank, competitor, elo, lower, upper, votes``, best first.

        Raises
        ------
        StoreError
            If there was no round yet.
        """
        require_level(level)
        with reading(self.path) as connection:
            board = columns_of(connection, LAST_BOARD)
        if not board["rank"]:
            raise no_round(self.path)
        elo = np.array(board["elo"])
        width = half_width(level) * np.array(board["sd"])
        columns: Columns = {
            "rank": board["rank"],
            "competitor": board["competitor"],
            "elo": elo,
            "lower": elo - width,
            "upper": elo + width,
            "votes": board["votes"],
        }
        return dataframe(columns)

    def rate(self) -> Rating:
        """Rate the votes of those who counted in the last round, by the default board.

        The board is kept as that of the round, and says what changed since the board of
        an earlier round, if one was kept: see ``since`` of :func:`~bayes_arena.rate`.

        Returns
        -------
        Rating

        Raises
        ------
        StoreError
            If there was no round yet, or the file cannot be written.
        """
        with reading(self.path) as connection:
            number = last_round(connection)
            if not number:
                raise no_round(self.path)
            annotators, left_out = last_annotators(connection)
            votes = counted_votes(connection, annotators)
            former = board_before(connection, number)
        rating = rating_of(fit(votes), LOOK, former=former, source=self.path.name)
        rating = replace(rating, left_out=left_out)
        with writing(self.path) as connection:
            keep_board(connection, number, rating)
        return rating

    def history(self, of: Kept = "competitors") -> pd.DataFrame:
        """Return what all rounds published.

        Parameters
        ----------
        of : {"competitors", "boards", "annotators", "rounds", "decisions"}
            "competitors": ``round, rank, competitor, elo, sd, votes``.  "boards": the
            default boards that :meth:`rate` kept, ``round, date, rank, competitor, elo,
            lower, upper``, and what changed since the one before.  "annotators":
            ``round, annotator, theta, votes, excluded``, with theta of sum one in each
            round: the shares by which annotators may be rewarded.  "rounds": a row for
            each, with the sentence on what changed.  "decisions": ``annotator, decision,
            round, time, reason``.

        Returns
        -------
        pandas.DataFrame
        """
        require_choice("of", of, HISTORY)
        with reading(self.path) as connection:
            columns = columns_of(connection, HISTORY[of])
        for name in FLAGS.intersection(columns):
            columns[name] = [bool(flag) for flag in columns[name]]
        return dataframe(columns)

    def annotators(self) -> pd.DataFrame:
        """Return where every annotator stands.

        Returns
        -------
        pandas.DataFrame
            ``annotator``; ``status``: "active" (counts in the next round), "waiting"
            (has delta votes or fewer) or "excluded"; ``votes``; ``round``, the last in
            which they counted, and their ``theta`` in it, of sum one.
        """
        with reading(self.path) as connection:
            return dataframe(columns_of(connection, STATUS))

    def readmit(self, name: str) -> None:
        """Let an excluded annotator count again; the next round judges them anew.

        Raises
        ------
        ModelError
            If no annotator of this name is excluded.
        """
        with writing(self.path) as connection:
            excluded = names_by_status(connection)["excluded"]
            if name not in excluded:
                hint = did_you_mean(name, excluded)
                raise ModelError(f"No annotator {name!r} is excluded.{hint}")
            decide(connection, "readmitted", [name], "on request")


def no_round(path: Path) -> StoreError:
    """Return the error for an arena without a round."""
    return StoreError(f"No round was held in {str(path)!r} yet. Hold one.")


def store_outcome(arena: StableArena, round: Round) -> None:
    """Store what a round published and decided, in one transaction."""
    with writing(arena.path) as connection:
        if last_round(connection) != round.number - 1:
            raise StoreError(
                f"Another process published round {round.number} first. Hold a new one."
            )
        store_round(
            connection,
            round.number,
            round.fit,
            delta=arena.delta,
            epsilon=arena.epsilon,
            n_waiting=len(round.waiting),
            n_left_out=len(round.left_out),
        )
        reason = f"theta at or below {arena.epsilon:g}"
        decide(connection, "excluded", round.excluded, reason)
