"""Forecasts of football matches by strengths that move, and by other packages that rate over time.

    uv run --with whr --with trueskillthroughtime --with glicko2-py python benchmarks/football.py [NAME ...]

All forecasts without names (``ours``, ``Glicko-2``, ``"TrueSkill Through Time"``); the others are kept as they were.

National teams (``football_internationals.csv`` in ``BAYES_ARENA_DATA``). Every year from 2012 to 2025 is forecast from
the matches since 1980 before it, between teams that played before: win, draw or loss, with an advantage of the home
side where the ground is not neutral. The score is the mean log-probability of a match.

What the others give is a rating of every team. Win, draw and loss follow from the differences by Davidson's model: its
slope, its advantage of the home side and its tie propensity are fitted to how the same package forecast the years from
2010 to the one before. Each is run as its authors set it and, of some settings, with the one that forecasts 2010 and
2011 best:

- Elo, a match after the other, through the forecast years too. It has no usual K; all that were tried are shown.
- Glicko-2 (``glicko2-py``), by rating periods, through the forecast years too; usually of a year, in which teams play
  the ten matches that Glickman asks for.
- Whole-History Rating (``whr``), by days, with 80 points for the home side; its own iterations, 200 for the first year
  and 50 for each further one. Usually w^2 is 300 a day.
- TrueSkill Through Time (``trueskillthroughtime``), by days, with the home side as a member of the team, the share of
  draws until then, and two of its iterations a year. Usually gamma is .03.

CPU seconds are of one thread, for the forecasts of all fourteen years.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from measuring import DATA, RESULTS, digits, markdown
from scipy.optimize import minimize

import bayes_arena as ba
from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.change import POINTS
from bayes_arena.validation.prediction import predict_cells

TUNED, YEARS = range(2010, 2012), range(2012, 2026)
"""Years by which settings are chosen, and years that are scored."""
MODEL = ba.Model("football", ties="davidson", style=("home",), drift=True)
OURS = "ours"
Row = dict[str, Any]
"""Who forecasts, in general and with which setting, ``score`` and ``cpu_s``."""
RESULT = {"model_a": 0, "model_b": 1, "tie": 2}
HOME = 80.0
"""Points of the home side."""
FIRST, FURTHER, ITERATIONS = 200, 50, 2
"""Iterations of Whole-History Rating for the first and for further years, and of TrueSkill Through Time."""


@dataclass(frozen=True)
class Matches:
    """Matches in order, as columns.

    Attributes
    ----------
    a, b : list of str
    outcome : ndarray of int
        0 where a won, 1 where b did, 2 for a draw.
    home : ndarray
        1 where a played at home.
    day, year : ndarray of int
    """

    a: list[str]
    b: list[str]
    outcome: Ints
    home: Floats
    day: Ints
    year: Ints

    def among(self, rows: Ints) -> Iterable[tuple[str, str, int, float, int]]:
        """Return teams, outcome, home side and day of some rows."""
        return (
            (self.a[row], self.b[row], int(self.outcome[row]), float(self.home[row]), int(self.day[row]))
            for row in rows
        )


@dataclass(frozen=True)
class Rival:
    """Another way to rate over time.

    Attributes
    ----------
    name : str
    package : str
        As pip knows it; empty for Elo.
    leads : callable
        From the matches, the years to forecast and a setting to how far a is ahead of b in matches of these years.
    usual : mapping
        The setting of its authors.
    settings : tuple of mapping
        Others, among which one is chosen.
    """

    name: str
    package: str
    leads: Callable[..., Floats]
    usual: Mapping[str, float]
    settings: tuple[Mapping[str, float], ...]


def matches() -> pl.DataFrame:
    """Return the matches since 1980, with columns that ``read_votes`` knows, in order."""
    table = pl.read_csv(DATA / "football_internationals.csv", null_values=["NA"]).drop_nulls(
        ["home_score", "away_score"]
    )
    lead = pl.col("home_score") - pl.col("away_score")
    winner = pl.when(lead > 0).then(pl.lit("model_a")).when(lead < 0).then(pl.lit("model_b")).otherwise(pl.lit("tie"))
    home = 1.0 - (pl.col("neutral").cast(pl.String).str.to_lowercase() == "true").cast(pl.Float64)
    names = {"home_team": "model_a", "away_team": "model_b"}
    table = table.rename(names).select("model_a", "model_b", winner.alias("winner"), home.alias("home"), "date")
    return table.filter(pl.col("date").is_between(pl.lit("1980-01-01"), pl.lit("2025-12-31"))).sort("date")


def columns(table: pl.DataFrame) -> Matches:
    """Return the same matches as columns."""
    date = table["date"].str.to_date()
    return Matches(
        table["model_a"].to_list(),
        table["model_b"].to_list(),
        np.array([RESULT[winner] for winner in table["winner"]]),
        table["home"].to_numpy(),
        (date - date[0]).dt.total_days().to_numpy(),
        date.dt.year().to_numpy(),
    )


def elo(games: Matches, years: Iterable[int], k: float, home: float) -> Floats:
    """Return leads by Elo, a match after the other."""
    rating, lead = dict[str, float](), np.empty(len(games.a))
    for row, (a, b, outcome, at_home, _) in enumerate(games.among(np.arange(len(games.a)))):
        lead[row] = rating.get(a, 0.0) - rating.get(b, 0.0)
        won = (1.0, 0.0, 0.5)[outcome]
        step = k * (won - 1 / (1 + np.exp(-(lead[row] + home * at_home) / POINTS)))
        rating[a], rating[b] = rating.get(a, 0.0) + step, rating.get(b, 0.0) - step
    return np.where(np.isin(games.year, list(years)), lead, np.nan)


def glicko(games: Matches, years: Iterable[int], days: float, tau: float) -> Floats:
    """Return leads by Glicko-2 with rating periods of so many days; 365.25 are a year."""
    from glicko2 import MatchResult, RatingEngine, RatingPeriod

    engine, lead = RatingEngine(tau=tau), np.full(len(games.a), np.nan)
    period = games.year if days == 365.25 else (games.day // days).astype(int)
    for one in np.unique(period):
        rows, played = np.flatnonzero(period == one), RatingPeriod(id=str(one))
        rating = {name: engine.pool.get(name).mu for name in engine.pool.ids()}
        _fill(lead, games, rows, rating)
        for a, b, outcome, _, _ in games.among(rows):
            played.add_match(MatchResult(a, b, (1.0, 0.0, 0.5)[outcome]))
        engine.process_period(played)
    return np.where(np.isin(games.year, list(years)), lead, np.nan)


def whole_history(games: Matches, years: Iterable[int], w2: float) -> Floats:
    """Return leads by Whole-History Rating, whose base takes the matches of a year after those before it."""
    import whr

    base, lead, since = whr.Base(w2=w2), np.full(len(games.a), np.nan), 0
    for year in years:
        before = np.flatnonzero((games.year >= since) & (games.year < year))
        base.create_games([[a, b, "BWD"[how], day, HOME * home] for a, b, how, home, day in games.among(before)])
        base.iterate(FURTHER if since else FIRST)
        rating = {name: days[-1][1] for name, days in base.get_ordered_ratings()}
        _fill(lead, games, np.flatnonzero(games.year == year), rating)
        since = year
    return lead


def through_time(games: Matches, years: Iterable[int], gamma: float) -> Floats:
    """Return leads by TrueSkill Through Time."""
    from trueskillthroughtime import History

    lead = np.full(len(games.a), np.nan)
    for year in years:
        before = np.flatnonzero(games.year < year)
        drawn = float(np.mean(games.outcome[before] == 2))
        teams = [[[a, "home"] if home else [a], [b]] for a, b, _, home, _ in games.among(before)]
        scores = [([1, 0], [0, 1], [0, 0])[how] for how in games.outcome[before]]
        history = History(teams, scores, games.day[before].tolist(), gamma=gamma, p_draw=drawn)
        history.convergence(iterations=ITERATIONS, verbose=False)
        rating = {name: curve[-1][1].mu for name, curve in history.learning_curves().items()}
        _fill(lead, games, np.flatnonzero(games.year == year), rating)
    return lead


def _fill(lead: Floats, games: Matches, rows: Ints, rating: Mapping[str, float]) -> None:
    """Write the leads of some matches between teams that have a rating."""
    for row in rows:
        a, b = games.a[row], games.b[row]
        lead[row] = rating[a] - rating[b] if a in rating and b in rating else np.nan


RIVALS = (
    *(
        Rival(f"Elo, K {k:.0f}, home {home:.0f}", "", elo, {"k": k, "home": home}, ())
        for k, home in ((20.0, 80.0), (30.0, 80.0), (40.0, 80.0), (40.0, 100.0), (60.0, 100.0))
    ),
    Rival(
        "Glicko-2",
        "glicko2-py",
        glicko,
        {"days": 365.25, "tau": 0.5},
        tuple({"days": days, "tau": tau} for days, tau in product((30.0, 90.0, 180.0, 365.25), (0.2, 0.5, 1.2))),
    ),
    Rival(
        "Whole-History Rating", "whr", whole_history, {"w2": 300.0}, tuple({"w2": w2} for w2 in (0.5, 1.5, 5.0, 15.0))
    ),
    Rival(
        "TrueSkill Through Time",
        "trueskillthroughtime",
        through_time,
        {"gamma": 0.03},
        tuple({"gamma": gamma} for gamma in (0.005, 0.01, 0.03)),
    ),
)


def log_p(x: Floats, games: Matches, lead: Floats, rows: Ints) -> Floats:
    """Return log-probabilities of what happened, by slope, advantage of the home side and tie propensity."""
    half = (x[0] * lead[rows] + x[1] * games.home[rows]) / 2
    logits = np.array([half, -half, np.full(len(rows), x[2])])
    return (logits - np.logaddexp.reduce(logits))[games.outcome[rows], np.arange(len(rows))]


def fitted(games: Matches, lead: Floats, rows: Ints) -> tuple[Floats, float]:
    """Return the curve that makes some matches most probable, and their mean log-probability by it."""
    unit = 1 / np.std(lead[rows])
    found = minimize(lambda x: -log_p(x * [unit, 1, 1], games, lead, rows).mean(), [1.0, 0.3, -0.5])
    return found.x * [unit, 1, 1], -float(found.fun)


def score(games: Matches, lead: Floats, known: np.ndarray) -> float:
    """Return the mean log-probability of the matches that are scored, by curves fitted to the years before each."""
    total = 0.0
    for year in YEARS:
        curve, _ = fitted(games, lead, np.flatnonzero(~np.isnan(lead) & (games.year < year)))
        total += log_p(curve, games, lead, np.flatnonzero(known & (games.year == year))).sum()
    return total / known.sum()


def of_rival(rival: Rival, games: Matches, known: np.ndarray) -> Iterable[Row]:
    """Yield forecasts by another package, as its authors set it and as it forecast earlier years best."""
    trials = (rival.usual, *rival.settings)
    tuning = {tuple(one.items()): rival.leads(games, TUNED, **one) for one in trials}
    kept = {key: fitted(games, lead, np.flatnonzero(~np.isnan(lead)))[1] for key, lead in tuning.items()}
    usual, best = tuple(trials[0].items()), max(kept, key=kept.__getitem__)
    told = f" ({rival.package} {version(rival.package)})" if rival.package else ""
    for key in dict.fromkeys((usual, best)):
        start = time.process_time()
        ahead = rival.leads(games, YEARS, **dict(key))
        seconds = time.process_time() - start
        lead = np.where(np.isnan(ahead), tuning[key], ahead)
        how = "usual and chosen" if usual == best else "usual" if key == usual else "chosen"
        setting = f", {how}: {', '.join(f'{name} {value:g}' for name, value in key)}" if rival.settings else ""
        yield {
            "name": rival.name,
            "by": rival.name + told + setting,
            "score": score(games, lead, known),
            "cpu_s": seconds,
        }


def ours(table: pl.DataFrame, games: Matches, known: np.ndarray) -> Iterable[Row]:
    """Yield forecasts by strengths that move and that stay, as they are and by the curve of the others."""

    def read(rows: np.ndarray) -> ba.Cells:
        return ba.read_votes(table.filter(pl.Series(rows)), features=["home"], period="year")

    for name, model in {"strengths that move": MODEL, "strengths that stay": replace(MODEL, drift=False)}.items():
        total, seconds, spreads, lead = 0.0, 0.0, list[float](), np.full(len(games.a), np.nan)
        for year in (*TUNED, *YEARS):
            start = time.process_time()
            fit = ba.fit(read(games.year < year), model=model)
            rating = dict(zip(fit.cells.competitors, fit.strength, strict=True))
            _fill(lead, games, np.flatnonzero(games.year == year), rating)
            if year in TUNED:
                continue
            seconds += time.process_time() - start
            ahead = read(known & (games.year == year))
            total += float((ahead.counts[:, :3] * predict_cells(fit, ahead).log_p.T).sum())
            spreads += [fit.spreads.spread("drift")] if model.drift else []
        steps = f", by {min(spreads):.3f} to {max(spreads):.3f} logits a year" if spreads else ""
        row = {"name": OURS, "by": name + steps, "score": total / known.sum(), "cpu_s": seconds}
        yield from (row, row | {"by": f"{name}, by the curve of the others", "score": score(games, lead, known)})


def main() -> None:
    """Forecast, and write the page."""
    warnings.simplefilter("ignore", ba.ArenaWarning)
    table = matches()
    games = columns(table)
    first = {name: row for row, pair in reversed([*enumerate(zip(games.a, games.b, strict=True))]) for name in pair}
    since = np.array([max(games.year[first[a]], games.year[first[b]]) for a, b in zip(games.a, games.b, strict=True)])
    known = (since < games.year) & np.isin(games.year, list(YEARS))
    forecasters: dict[str, Callable[[], Iterable[Row]]] = {OURS: partial(ours, table, games, known)}
    forecasters |= {rival.name: partial(of_rival, rival, games, known) for rival in RIVALS}
    file = RESULTS / "football.csv"
    before = pl.read_csv(file).rows(named=True) if file.is_file() else []
    rows = {name: [row for row in before if row["name"] == name] for name in forecasters}
    for name in sys.argv[1:] or forecasters:
        rows[name] = [*forecasters[name]()]
        print(rows[name], file=sys.stderr)
        found = [row for each in rows.values() for row in each]
        pl.DataFrame(found).write_csv(file)
        shown = [[row["by"], f"{row['score']:.4f}", digits(row["cpu_s"])] for row in found]
        page = ["# Football", "", "## Football", "", markdown(["forecast by", "log score a match", "CPU s"], shown), ""]
        (RESULTS / "football.md").write_text("\n".join([*page, f"{known.sum():,} matches.", ""]))


if __name__ == "__main__":
    main()
