"""The Stable Arena: votes come in, rounds go out by the rules of :mod:`bayes_arena.arena.rounds`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from bayes_arena.arena import rounds
from bayes_arena.arena.rounds import DECISIONS, Policy, Round
from bayes_arena.arena.store import Store, create_file
from bayes_arena.arena.votes import Addition, add_votes, identify, settled_prompt, stored_cells
from bayes_arena.arrays import DataFrame
from bayes_arena.decisions.next_pairs import Goal, next_pairs
from bayes_arena.errors import ColumnError, ModelError, RepeatedVotesWarning, did_you_mean, require_choice, warn
from bayes_arena.fits.fitting import fit
from bayes_arena.fits.plan import Asked, Robust
from bayes_arena.inference.methods import Method
from bayes_arena.likelihood.presets import Answers, Dimensions
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.specification import Model
from bayes_arena.memory import enough_memory
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.reading.opening import ReadOptions
from bayes_arena.votes.reading.validity import valid_votes

UNKEPT = (
    "The file of an arena stores votes with one outcome each, and weights that are counts. "
    "Rate these votes with read_votes and fit (bayes-arena rank)."
)


class StableArena:
    """An arena that keeps its votes and its history in one file.

    Threads may share it: every table shows one committed state of the file, even while another thread writes, and
    writers wait for one another. One process may have the file open for writing, or any number for reading; others get
    an error that names the process.

    Parameters
    ----------
    path : str or Path
        A file that :meth:`create` made.
    read_only : bool
        Open it only for reading, as other processes may at the same time.

    Raises
    ------
    StoreError
        If the file is absent, in use by another process, or not an arena.
    MissingPackageError
        If DuckDB is not installed.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with StableArena.create(folder.name + "/arena.duckdb") as arena:
    ...     added = arena.add(example_arena().votes)
    ...     published = arena.rate()
    >>> added.new, published.number
    (4321, 1)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self._store = Store(Path(path), read_only=read_only)

    @classmethod
    def create(cls, path: str | Path) -> Self:
        """Create the file of an empty arena, and open it.

        Raises
        ------
        StoreError
            If the file exists already, or cannot be written.
        MissingPackageError
            If DuckDB is not installed.
        """
        create_file(Path(path))
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._store.close()

    def add(self, source: object, *, id: str | None = None, **reading: Unpack[ReadOptions]) -> Addition:
        """Add votes, all of them or none; votes that are stored already are ignored.

        Parameters
        ----------
        source
            Votes, as for :func:`~bayes_arena.read_votes`.
        id : str, optional
            Column of the ids of votes. Without ids, the n-th of several equal votes (same competitors, annotator,
            outcome, weight, slices and features) in one addition is taken for the n-th such vote of every other
            addition: right for the same file or a longer version of it, wrong for a batch of new votes.
        **reading
            The other options of :func:`~bayes_arena.read_votes`. The first votes determine the columns of prompts;
            unless ``prompt`` is given, later votes are read with the same ones. Times are read only if ``time`` or
            ``period`` is given, as additions have to have them all, by the same periods.

        Returns
        -------
        Addition

        Warns
        -----
        RepeatedVotesWarning
            If votes come without ids, and some of them, but not all, equal stored votes.

        Raises
        ------
        VotesError
            As for :func:`~bayes_arena.read_votes`, or if different votes share an id.
        ColumnError
            If earlier votes carried annotators, ids, slices or features and these do not, or the reverse.
        StoreError
            If the file cannot be written.
        """
        if reading.get("score") or reading.get("weights", "frequency") != "frequency":
            raise ColumnError(UNKEPT)
        if reading.get("programs"):
            raise ColumnError(
                "The file of an arena does not store which annotators are programs. Rate these with read_votes and fit "
                "(bayes-arena rank)."
            )
        with self._store.read() as session:
            settled = settled_prompt(session)
        if settled is not None and reading.get("prompt") is None:
            reading["prompt"] = settled or False
        if reading.get("period") is None:  # a week's votes may be of one period, and the next one's of several
            reading.setdefault("time", False)
        valid = valid_votes(source, in_order=False, id=id, **reading)
        if "score" in valid.rows.columns or valid.weights not in (None, "frequency"):
            raise ColumnError(UNKEPT)
        if not valid.sided:
            raise ColumnError(
                "The file of an arena stores who was shown first, which these votes do not record. "
                "Rate them with read_votes and fit (bayes-arena rank)."
            )
        with enough_memory("adding votes"):
            votes, total = identify(valid.rows), int(valid.rows["n"].sum())
            new = add_votes(self._store, votes, ids=id is not None, prompt=valid.prompt)
        if id is None and 0 < new < total:
            warn(
                f"{total - new:,} of {total:,} votes equal stored votes, and were taken for the same. If they are new "
                "votes, give every vote an id (id=..., --id).",
                RepeatedVotesWarning,
            )
        return Addition(new=new, known=total - new, dropped=valid.dropped)

    def cells(self) -> Cells:
        """Return all stored votes as cells, as if :func:`~bayes_arena.read_votes` had read them at once.

        Raises
        ------
        NoVotesError
            If there is no vote yet.
        """
        with self._store.read() as session:
            return stored_cells(session)

    def rate(
        self,
        *,
        delta: float = 0,
        epsilon: float = 0.0,
        fdr: float | None = None,
        exclude: Policy = "warn",
        model: str | Model | None = None,
        prior: str | Prior = "default",
        method: Method | None = None,
        answers: Answers = "auto",
        dimensions: Dimensions = "auto",
        drift: bool = False,
        groups: Sequence[str] = (),
        robust: Robust = "auto",
        keep: Sequence[str] = (),
        drop: Sequence[str] = (),
        seed: int = 0,
        level: float = 0.95,
        elo: EloScale | None = None,
    ) -> Round:
        """Hold a round: fit, publish, and judge the annotators.

        Parameters
        ----------
        delta : float
            Annotators with this many votes or fewer wait; 50 in the paper.
        epsilon : float
            Annotators whose theta, on the scale of sum 1, does not exceed this are warned or excluded. A model without
            discriminations flags nobody.
        fdr : float, optional
            Flag at this Bayesian false discovery rate (:func:`~bayes_arena.flag`) instead of by epsilon.
        exclude : {"warn", "exclude"}
            Whether flagged annotators stay in later rounds or not.
        model, prior, method, answers, dimensions, drift, groups, robust, keep, drop, seed
            As for :func:`~bayes_arena.fit`.
        level : float
            Coverage of the published intervals.
        elo : EloScale, optional
            Scale of the published scores.

        Returns
        -------
        Round

        Raises
        ------
        NoVotesError
            If no vote is left to rate.
        ModelError
            If an option is unknown or does not apply to these votes.
        FitError
            If the fit has no trustworthy answer; nothing is published then.
        StoreError
            If the file cannot be written, or another thread has published a round meanwhile.
        """
        require_choice("exclude", exclude, DECISIONS)
        if not math.isfinite(epsilon):
            raise ModelError(f"epsilon must be a finite number, not {epsilon!r}.")
        elo = elo or EloScale()
        with self._store.read() as session:
            whole, last = stored_cells(session), rounds.last_round(session)
            excluded = rounds.excluded_annotators(session)
        cells = rounds.taking_part(whole, excluded, delta)
        counting: Asked = {"robust": robust, "keep": keep, "drop": drop}
        parts: Asked = {"answers": answers, "dimensions": dimensions, "drift": drift, "groups": groups}
        asked: Asked = {"method": method, **parts, **counting}
        result = fit(cells, model=model, prior=prior, seed=seed, **asked)
        abilities = rounds.ability_columns(result, level=level)
        low = rounds.flagged_by_theta(result, epsilon) if fdr is None else rounds.flagged_at_fdr(result, abilities, fdr)
        round = Round(
            number=last + 1,
            fit=result,
            ratings=leaderboard_columns(result, resolve_interval(None, result), level=level, elo=elo),
            flagged=low,
            decision=DECISIONS[exclude],
            waiting=tuple(sorted(set(whole.annotators) - set(cells.annotators) - set(excluded))),
            excluded=excluded,
        )
        counted = {"robust": robust, "keep": result.kept, "drop": result.dropped}
        settings = {"delta": delta, "epsilon": epsilon, "fdr": fdr, "exclude": exclude, **counted, "seed": seed}
        rounds.publish(self._store, round, abilities, level=level, elo=elo, settings=settings)
        return round

    def next_pairs(self, n: int = 20, *, goal: Goal = "best", seed: int = 0) -> DataFrame:
        """Choose the pairs to vote on next, from the default fit to the votes of all annotators not excluded.

        Parameters
        ----------
        n, goal, seed
            As for :func:`~bayes_arena.next_pairs`.

        Returns
        -------
        pandas.DataFrame
            As from :func:`~bayes_arena.next_pairs`.

        Raises
        ------
        NoVotesError
            If no vote is left to fit.
        ModelError
            If n is not positive, the goal is unknown or the seed is negative.
        FitError
            If the fit has no trustworthy answer.
        """
        with self._store.read() as session:
            whole, excluded = stored_cells(session), rounds.excluded_annotators(session)
        return next_pairs(fit(rounds.taking_part(whole, excluded, delta=0)), n, goal=goal, seed=seed)

    def readmit(self, name: str) -> None:
        """Readmit an excluded annotator to later rounds, which judge them again.

        Raises
        ------
        ModelError
            If no annotator of that name is excluded.
        """
        with self._store.transaction() as session:
            excluded = rounds.excluded_annotators(session)
            if name not in excluded:
                raise ModelError(f"No annotator {name!r} is excluded.{did_you_mean(name, excluded)}")
            rounds.decide(session, {name: "on request"}, "readmitted", rounds.last_round(session))

    def annotators(self) -> DataFrame:
        """Return the status of every annotator, least discriminating first.

        Returns
        -------
        pandas.DataFrame
            ``annotator``; ``votes`` stored; ``status``: ``excluded``, ``warned`` (by the last round),
            ``active`` (in the last round, neither), or ``waiting`` for the next (with too few votes
            for the last round, with none that counted, or newer than it); ``round``, the last that rated their votes,
            and its ``theta, theta_paper, p_negative`` as in :func:`~bayes_arena.annotators`, after ``verdict, kind,
            anomaly_probability, net_agreement``.
        """
        with self._store.read() as session:
            return rounds.status_table(session)

    def history(self) -> DataFrame:
        """Return the ratings of all rounds: ``round, competitor, elo, lower, upper, rank``, best first within a round.

        ``attrs`` has the level of the intervals if all rounds have the same.
        """
        with self._store.read() as session:
            return rounds.rating_table(session)

    def rounds(self) -> DataFrame:
        """Return a summary of every round.

        Returns
        -------
        pandas.DataFrame
            ``round``; ``time`` (UTC); ``version`` of the package; ``votes, competitors, annotators`` rated; the numbers
            of annotators left out as ``waiting`` or ``excluded``, and of those ``flagged``, that is warned or excluded
            by the round; ``model, prior, method, evidence, mean_loss, warnings``; ``settings``, all of them as JSON.
        """
        with self._store.read() as session:
            return rounds.round_table(session)

    def decisions(self) -> DataFrame:
        """Return all decisions about annotators: ``annotator, decision, round, time`` (UTC), ``reason``."""
        with self._store.read() as session:
            return rounds.decision_table(session)
