"""Competitors that some annotators promote or demote: what their votes move, who they are, and the ranking without.

The votes on a competitor are those of one crowd, or the gate of :mod:`bayes_arena.promotion.mixture` opens. Then they
count by what their annotators do besides (:mod:`bayes_arena.promotion.discounting`), and the competitor's place is that
of its robust centre: the mean of its profile, put on the scale of the board by a line through all others.

Nobody is named for what many would do. An annotator promotes (or demotes) a competitor only if the log Bayes factor of
that exceeds ln(C / .05), C the number of annotators' views, which bounds the chance of naming anybody wrongly in a
whole arena by .05; if its probability exceeds .95; and if ten or more votes on the competitor were decided, more of
them that way than expected. Why they do so the votes do not say.

What it does not see: votes pushed by less than tastes differ and spread over many annotators who vote on the competitor
as often as others do; several competitors promoted at once by the same many, and a camp with a ranking and a favourite
of its own, which are directions in which annotators disagree. These count as votes do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, printable
from bayes_arena.fits.fitting import solve
from bayes_arena.fits.plan import Plan
from bayes_arena.fits.result import Fit
from bayes_arena.inference.marginal.directions import MOST
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.likelihood.presets import in_dimensions
from bayes_arena.likelihood.problem import Problem
from bayes_arena.promotion.discounting import Discounted, discounted
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.laplace import Laplace
from bayes_arena.ratings.leaderboard import leaderboard_columns, ranks
from bayes_arena.votes.names import PROMPT
from bayes_arena.votes.outcomes import whole_counts
from bayes_arena.votes.records import records

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
"""Of intervals."""
WRONGLY, SURE, DECIDED = 0.05, 0.95, 10
"""Chance of naming anybody wrongly; least probability; fewest decided votes."""


@dataclass(frozen=True, eq=False)
class Promoters:
    """Annotators who voted on competitors whose gate is open: pairs of both.

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


@dataclass(frozen=True, eq=False)
class Promotions:
    """What some annotators' votes move, and the ranking without.

    Attributes
    ----------
    cast, fit : Fit
        Of the votes as they were cast, and as they count; the same object where no gate is open.
    alike, weighted, difference : ndarray, shape (n,)
        The statistics g1, g2 and h of every competitor's gate.
    is_open : ndarray of bool, shape (n,)
        Whether it is open.
    votes, discounted : ndarray, shape (n,)
        Votes cast on every competitor, and how many of these do not count.
    place, robust_place : ndarray of int, shape (n,)
        By everybody's average, and with every competitor whose gate is open at its robust centre.
    elo, lower, upper : ndarray, shape (n,)
        Robust centre with its interval (.95), over every basin; of competitors whose gate is closed those of the board.
    contested : ndarray, shape (n,)
        A second centre within reach, in Elo points; NaN where there is none.
    promoters : Promoters
        Who voted on competitors whose gate is open.
    """

    cast: Fit
    fit: Fit
    alike: Floats
    weighted: Floats
    difference: Floats
    is_open: NDArray[np.bool_]
    votes: Floats
    discounted: Floats
    place: Ints
    robust_place: Ints
    elo: Floats
    lower: Floats
    upper: Floats
    contested: Floats
    promoters: Promoters

    @property
    def said(self) -> tuple[str, ...]:
        """What a reader of the ranking has to know."""
        names, said = self.fit.cells.competitors, []
        for c in np.flatnonzero(self.is_open).tolist():
            text = (
                f"The votes on {printable(names[c])!r} are not those of one crowd: "
                f"{self.discounted[c]:,.0f} of {self.votes[c]:,.0f} votes on it do not count, cast by annotators whose "
                f"other votes say too little, or who see it far from where others do. "
                f"Its place is {self.robust_place[c]}; by all votes alike it is {self.place[c]}."
            )
            if not math.isnan(self.contested[c]):
                text += f" This is contested: {self.contested[c]:,.0f} Elo is nearly as likely as {self.elo[c]:,.0f}."
            said.append(text)
        return tuple(said)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Who promotes or demotes whom, in words, by the annotators who are named."""
        cells, who, said = self.fit.cells, self.promoters, []
        for one in np.flatnonzero(who.named).tolist():
            verb, way = ("promotes", "for") if who.promotes[one] else ("demotes", "against")
            said.append(
                f"{printable(cells.annotators[who.annotator[one]])} {verb} "
                f"{printable(cells.competitors[who.competitor[one]])}: votes {way} it in {who.meant[one]:,.12g} of "
                f"{who.votes[one]:,.12g} battles, where {who.expected[one]:,.0f} are expected"
            )
        return tuple(said)

    def table(self) -> pd.DataFrame:
        """Tabulate the competitors, the most doubtful first.

        Returns
        -------
        pandas.DataFrame
            ``competitor, is_open, place, robust_place, elo, lower, upper, contested, votes, discounted, alike,
            weighted, difference``, as in :class:`Promotions`.
        """
        import pandas as pd

        order = np.lexsort((-np.maximum(self.alike, self.weighted), -self.discounted))
        columns = {
            "competitor": np.array(self.fit.cells.competitors, dtype=object),
            **{name: getattr(self, name) for name in ("is_open", "place", "robust_place", "elo", "lower", "upper")},
            **{name: getattr(self, name) for name in ("contested", "votes", "discounted")},
            **{name: getattr(self, name) for name in ("alike", "weighted", "difference")},
        }
        return pd.DataFrame({name: column[order] for name, column in columns.items()})

    def annotators(self) -> pd.DataFrame:
        """Tabulate who voted on competitors whose gate is open, the clearest evidence first.

        Returns
        -------
        pandas.DataFrame
            ``annotator, competitor, promotes, log_bayes, probability, votes, meant, expected, named``, as in
            :class:`Promoters`.
        """
        import pandas as pd

        who, cells = self.promoters, self.fit.cells
        order = np.argsort(-who.log_bayes, kind="stable")
        columns = {
            "annotator": np.array(cells.annotators, dtype=object)[who.annotator],
            "competitor": np.array(cells.competitors, dtype=object)[who.competitor],
            **{name: getattr(who, name) for name in ("promotes", "log_bayes", "probability")},
            **{name: whole_counts(getattr(who, name)) for name in ("votes", "meant")},
            "expected": who.expected,
            "named": who.named,
        }
        return pd.DataFrame({name: column[order] for name, column in columns.items()})


@held
def promotions(fit: Fit, *, elo: EloScale | None = None) -> Promotions:
    """Find competitors that some annotators promote or demote, and rank without what that moves.

    Parameters
    ----------
    fit : Fit
        A fit of votes whose annotators are known. One with directions (``Model.dimensions``) is fitted again with as
        many as raise the evidence, others with the same model.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.

    Returns
    -------
    Promotions
        Its ``fit`` is of the votes as they count; where no gate opens the same object as ``fit``.

    Raises
    ------
    ModelError
        If the votes carry no annotators, the fit is sampled, its model tells prompts apart, or the anchor is not a
        competitor.
    ConvergenceError
        If a fit of discounted votes is not found.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> arena = ba.simulate(competitors=8, annotators=40, votes=1500, seed=1)
    >>> found = ba.promotions(ba.fit(arena.votes, guard=False))
    >>> bool(found.is_open.any()), found.fit is found.cast
    (False, True)
    """
    if not fit.cells.n_annotators:
        raise ModelError(
            "The votes carry no annotators, so nobody's votes can be told from others'. Name the column "
            "(annotator=..., --annotator)."
        )
    if fit.samples is not None or PROMPT in fit.model.slices:
        what = "of draws" if fit.samples is not None else "that tells prompts apart"
        raise ModelError(f"Promotions are not looked for in a fit {what}. Use method='marginal' with answers=False.")
    fits = {id(fit.mode): fit}

    def again(problem: Problem) -> Mode:
        given, most = replace(problem, prior=fit.prior), MOST if problem.model.dimensions else 0
        given = replace(given, model=in_dimensions(given.model, 0))
        result = solve(Plan(given, fit.method, fit.trust, most_directions=most))
        fits[id(result.mode)] = result
        return result.mode

    found = discounted(fit.mode, again)
    counts = fits[id(found.mode)]
    board, robust = (leaderboard_by_name(one, elo) for one in (fit, counts))
    gates, size = found.gates, fit.cells.n_competitors
    is_open = np.isin(np.arange(size), list(found.centres))
    contested = np.full(size, np.nan)
    points, mean = _to_board(counts, robust["elo"], is_open)
    for c, centre in found.centres.items():
        robust["elo"][c] = mean + points * centre.line.moments[0]
        robust["lower"][c], robust["upper"][c] = (
            mean + points * r for r in centre.line.quantiles((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        )
        second = centre.line.second
        contested[c] = np.nan if second is None else mean + points * second
    return Promotions(
        cast=fit,
        fit=counts,
        alike=np.array([gate.alike for gate in gates]),
        weighted=np.array([gate.weighted for gate in gates]),
        difference=np.array([gate.difference for gate in gates]),
        is_open=is_open,
        votes=np.sum(records(fit.cells), axis=0),
        discounted=np.sum(records(fit.cells), axis=0) - np.sum(records(counts.cells), axis=0),
        place=board["rank"].astype(np.int64),
        robust_place=ranks(robust["elo"]),
        elo=robust["elo"],
        lower=robust["lower"],
        upper=robust["upper"],
        contested=contested,
        promoters=_promoters(found),
    )


def leaderboard_by_name(fit: Fit, elo: EloScale | None) -> dict[str, Floats]:
    """Return rank, elo and bounds in the order of the competitors' names."""
    columns = leaderboard_columns(fit, Laplace(), level=LEVEL, elo=elo)
    place = {name: row for row, name in enumerate(columns["competitor"])}
    order = [place[name] for name in fit.cells.competitors]
    return {name: columns[name][order] for name in ("rank", "elo", "lower", "upper")}


def _to_board(fit: Fit, elo: Floats, is_open: NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and intercept of the line from r to Elo points through competitors whose gate is closed."""
    some = ~is_open if (~is_open).sum() > 1 else np.ones_like(is_open)
    slope, constant = np.polyfit(fit.strength[some], elo[some], 1)
    return float(slope), float(constant)


def _promoters(found: Discounted) -> Promoters:
    """Return who voted on competitors whose gate is open."""
    views, strict = found.views, math.log(len(found.views.annotator) / WRONGLY)
    columns: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in Promoters.__annotations__}
    for c, centre in found.centres.items():
        part = views.pairs_of(c)
        promotes = 2 * centre.above > centre.slab
        won, lost, to_win, to_lose = views.for_and_against(c, centre.line.highest)
        meant, expected = np.where(promotes, won, lost), np.where(promotes, to_win, to_lose)
        probability = np.where(promotes, centre.above, centre.slab - centre.above)
        people = found.mode.problem.cells.human[views.annotator[part]]
        named = people & (centre.log_bayes > strict) & (probability > SURE)
        named &= (won + lost >= DECIDED) & (meant > expected)
        for name, column in {
            "annotator": views.annotator[part],
            "competitor": views.competitor[part],
            "log_bayes": centre.log_bayes,
            "probability": probability,
            "promotes": promotes,
            "votes": views.votes[part],
            "meant": meant,
            "expected": expected,
            "named": named,
        }.items():
            columns[name].append(column)
    kinds = {"annotator": np.int64, "competitor": np.int64, "promotes": np.bool_, "named": np.bool_}
    return Promoters(
        **{name: np.concatenate(some).astype(kinds.get(name, np.float64)) for name, some in columns.items()}
    )
