"""The Stable Arena: votes come in, rounds go out (Algorithm 3 of the am-ELO paper).

One round, with S the stored votes and delta_k the number of votes of annotator k:

1. S' = votes of the annotators who are not excluded and have delta_k > delta; the others wait for more votes.
2. Strengths R and discriminations theta are fitted to S' and published.
3. Annotators with theta_k < epsilon, on the paper's scale (sum_k theta_k = 1), are warned, or excluded from the rounds
   that follow. Their votes stay stored, so that they can be readmitted; the next round then judges them anew.

With ``prior="flat", delta=50, exclude="exclude"`` this is the paper's algorithm. By default nobody has to wait, since
the pooled model copes with annotators of few votes, and annotators are warned only.

Source: Liu et al., "am-ELO", ICML 2025, section 4.3.
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, Unpack

import numpy as np

from bayes_arena.cells import Cells
from bayes_arena.elo import EloScale
from bayes_arena.errors import ModelError, RepeatedVotesWarning
from bayes_arena.fitting import Method, fit
from bayes_arena.flagging import discoveries, flag_by_theta
from bayes_arena.priors import Prior
from bayes_arena.ranking import Columns
from bayes_arena.result import Fit
from bayes_arena.selection import keep_annotators, select_annotators
from bayes_arena.specification import Model
from bayes_arena.store import Store, create_file
from bayes_arena.stored_rounds import (
    Decision,
    Round,
    ability_columns,
    decide,
    decision_table,
    excluded_annotators,
    last_round,
    publish,
    rating_table,
    round_table,
    status_table,
)
from bayes_arena.stored_votes import add_votes, identify, stored_cells
from bayes_arena.votes import Reading, valid_votes

if TYPE_CHECKING:
    import pandas as pd

Policy = Literal["warn", "exclude"]
DECISIONS: Mapping[Policy, Decision] = {"warn": "warned", "exclude": "excluded"}


@dataclass(frozen=True)
class Addition:
    """What an addition of votes did.

    Attributes
    ----------
    new : int
        Votes stored.
    known : int
        Votes that were stored already, or came twice.
    dropped : mapping of str to int
        Invalid votes left out on request, by problem.
    """

    new: int
    known: int
    dropped: Mapping[str, int]


class StableArena:
    """An arena that keeps its votes and its history in one file.

    Parameters
    ----------
    path : str or Path
        A file that :meth:`create` made.

    Raises
    ------
    StoreError
        If the file is absent, in use by another process, or no arena.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with StableArena.create(folder.name + "/arena.duckdb") as arena:
    ...     added = arena.add(example_arena().votes)
    ...     published = arena.rate()
    >>> added.new, published.number
    (4321, 1)
    """

    def __init__(self, path: str | Path) -> None:
        self._store = Store(Path(path))

    @classmethod
    def create(cls, path: str | Path) -> Self:
        """Create the file of an empty arena, and open it.

        Raises
        ------
        StoreError
            If there is a file already, or it cannot be written.
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

    def add(self, source: object, *, id: str | None = None, **reading: Unpack[Reading]) -> Addition:
        """Add votes, all of them or none; those that are stored already change nothing.

        Parameters
        ----------
        source
            Votes, as for :func:`~bayes_arena.read_votes`.
        id : str, optional
            Column of the votes' ids. Without one the n-th of several votes alike (same competitors, annotator, outcome
            and weight) in one addition is taken for the n-th such vote of every other addition: right for the same
            file again or a longer version of it, wrong for a batch of further votes.
        **reading
            The other options of :func:`~bayes_arena.read_votes`.

        Returns
        -------
        Addition

        Warns
        -----
        RepeatedVotesWarning
            If some of the votes, but not all, came without ids and are like stored ones.

        Raises
        ------
        VotesError
            As :func:`~bayes_arena.read_votes` does, or if an id stands for votes of different contents.
        ColumnError
            If earlier votes carried annotators or ids and these do not, or the reverse.
        StoreError
            If the file cannot be written.
        """
        groups, dropped = valid_votes(source, in_order=False, id=id, **reading)
        votes, total = identify(groups), int(groups["n"].sum())
        new = add_votes(self._store, votes, ids=id is not None)
        if id is None and 0 < new < total:
            warnings.warn(
                f"{total - new} of {total} votes are like votes stored before, and were taken for those. If they are "
                "further votes, give every vote an id (id=..., --id).",
                RepeatedVotesWarning,
                stacklevel=2,
            )
        return Addition(new=new, known=total - new, dropped=dropped)

    def cells(self) -> Cells:
        """All stored votes, as :func:`~bayes_arena.read_votes` would read them at once.

        Raises
        ------
        NoVotesError
            If there is no vote yet.
        """
        return stored_cells(self._store)

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
            Annotators with theta below this, on the scale of sum 1, are warned or excluded. A model without
            discriminations judges nobody.
        fdr : float, optional
            Judge at this Bayesian false discovery rate (:func:`~bayes_arena.flag`) instead of by epsilon.
        exclude : {"warn", "exclude"}
            Whether they stay in the rounds that follow, or not.
        model, prior, method, seed
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
            If an option is unknown or has no meaning for these votes.
        FitError
            If the fit has no trustworthy answer; then nothing is published.
        StoreError
            If the file cannot be written.
        """
        if exclude not in DECISIONS:
            raise ModelError(f"exclude is 'warn' or 'exclude', not {exclude!r}.")
        if not math.isfinite(epsilon):
            raise ModelError(f"epsilon is a finite number, not {epsilon!r}.")
        elo = elo or EloScale()
        whole, excluded = self.cells(), excluded_annotators(self._store)
        cells = whole
        if excluded:
            cells = select_annotators(cells, ~np.isin(cells.annotators, excluded))
        if delta > 0:
            cells = keep_annotators(cells, more_than=delta)
        result = fit(cells, model=model, prior=prior, method=method, seed=seed)
        abilities = ability_columns(result, level=level)
        left_out = set(whole.annotators) - set(cells.annotators)
        round = Round(
            number=last_round(self._store) + 1,
            fit=result,
            flagged=below(result, epsilon) if fdr is None else discovered(result, abilities, fdr),
            decision=DECISIONS[exclude],
            waiting=tuple(sorted(left_out - set(excluded))),
            excluded=excluded,
        )
        settings = {"delta": delta, "epsilon": epsilon, "fdr": fdr, "exclude": exclude, "seed": seed}
        publish(self._store, round, abilities, level=level, elo=elo, settings=settings)
        return round

    def readmit(self, name: str) -> None:
        """Let an excluded annotator take part in the next rounds, which judge them anew.

        Raises
        ------
        ModelError
            If nobody of that name is excluded.
        """
        excluded = excluded_annotators(self._store)
        if name not in excluded:
            close = difflib.get_close_matches(name, excluded, n=3, cutoff=0.4)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise ModelError(f"No annotator {name!r} is excluded.{hint}")
        with self._store.transaction():
            decide(self._store, {name: "on request"}, "readmitted", last_round(self._store))

    def annotators(self) -> pd.DataFrame:
        """Where every annotator stands, least discriminating first.

        Returns
        -------
        pandas.DataFrame
            ``annotator``; ``votes`` stored; ``status``: ``excluded``, ``warned`` (by the last round), ``active`` (in
            the last round, not warned), or ``waiting`` for the next (too few votes for the last, or newer than it);
            ``round``, the last that rated their votes, and its ``theta, theta_paper, p_negative`` as in
            :func:`~bayes_arena.annotators`, after ``verdict, kind, anomaly_probability, net_agreement``.
        """
        return status_table(self._store)

    def history(self) -> pd.DataFrame:
        """Ratings of all rounds: ``round, competitor, elo, lower, upper, rank``, best first within a round."""
        return rating_table(self._store)

    def rounds(self) -> pd.DataFrame:
        """Summaries of all rounds.

        Returns
        -------
        pandas.DataFrame
            ``round``; ``time`` (UTC); ``version`` of the package; ``votes, competitors, annotators`` rated; the numbers
            of annotators left out as ``waiting`` or ``excluded``, and of those ``flagged``, whom the round warned or
            excluded; ``model, prior, method, evidence, mean_loss, warnings``; ``settings``, all of them as JSON.
        """
        return round_table(self._store)

    def decisions(self) -> pd.DataFrame:
        """Who was warned, excluded or readmitted: ``annotator, decision, round, time`` (UTC) and ``reason``."""
        return decision_table(self._store)


def below(fit: Fit, epsilon: float) -> dict[str, str]:
    """Find the annotators of too little discrimination, and say why; nobody if the model has none."""
    if not fit.target.free_discrimination:
        return {}
    return dict.fromkeys(flag_by_theta(fit, epsilon=epsilon), f"theta (sum 1) below {epsilon:g}")


def discovered(fit: Fit, abilities: Columns, fdr: float) -> dict[str, str]:
    """Find the annotators flagged at a false discovery rate, as :func:`~bayes_arena.flag` does, and say why."""
    if not fit.target.own:
        return {}
    by_name = dict(zip(abilities["annotator"], abilities["anomaly_probability"], strict=True))
    names = fit.cells.annotators
    found = discoveries(np.array([by_name[name] for name in names]), fdr)
    reason = "anomaly probability {:.3f}, false discovery rate {:g}"
    return {names[k]: reason.format(by_name[names[k]], fdr) for k in found}
