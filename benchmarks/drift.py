"""Strengths that move: forecasts of football matches, false alarms and power of the test for change, and coverage.

    uv run python benchmarks/drift.py [--football] [--test 200] [--cover 100]

Football: national teams (``football_internationals.csv`` in ``BAYES_ARENA_DATA``). Every year from 2012 to 2025 is
forecast from the matches since 1980 before it, between teams that played before: win, draw or loss, with an
advantage of the home side where the ground is not neutral. The score is the mean log-probability of a match. Elo is
online, a match after the other through the forecast years too, with its K and its home advantage; its win, draw and
loss are Davidson's, whose slope and tie propensity are fitted to the years before. CPU seconds are of one thread.

The test: arenas of ten competitors whose strengths stay over eight months, 3,000 votes, without annotators and of the
sixty annotators of an honest crowd; and half of the competitors moved up or down midway.

Coverage: arenas of ten competitors over twelve months, 6,000 votes, whose strengths take steps of N(0, .15) a month, or
of whom half changed by 100 Elo midway. Counted are strengths of now in 95 % intervals, of a fit that moves and one that
stays.
"""

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
from crowds import Crowd, honest_arena
from measuring import DATA, RESULTS
from scipy.optimize import minimize

import bayes_arena as ba
from bayes_arena.inference.change import POINTS
from bayes_arena.validation.prediction import predict
from bayes_arena.votes.cells import single_votes

YEARS = range(2012, 2026)
MODEL = ba.Model("football", ties="davidson", style=("home",), drift=True)
MOVING = ba.Model("moving", ties="davidson", drift=True)
ELOS = ((20.0, 80.0), (30.0, 80.0), (40.0, 80.0), (40.0, 100.0))
"""K and home advantage of Elo, in points."""


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


def read(table: pl.DataFrame) -> ba.Cells:
    """Read matches by year."""
    return ba.read_votes(table, features=["home"], time="date", period="year")


def elo_scores(table: pl.DataFrame, known: dict[int, set[str]], k: float, advantage: float) -> dict[int, float]:
    """Return the summed log-probability of every year's matches between teams known before, by online Elo."""
    rating: dict[str, float] = {}
    year = table["date"].str.slice(0, 4).cast(pl.Int64).to_list()
    rows = list(zip(table["model_a"], table["model_b"], table["winner"], table["home"], strict=True))
    lead = np.empty(len(rows))
    for row, (a, b, winner, home) in enumerate(rows):
        gap = rating.get(a, 1500.0) - rating.get(b, 1500.0) + home * advantage
        lead[row] = gap / POINTS
        score = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}[winner]
        step = k * (score - 1 / (1 + np.exp(-lead[row])))
        rating[a], rating[b] = rating.get(a, 1500.0) + step, rating.get(b, 1500.0) - step
    outcome = np.array([("model_a", "model_b", "tie").index(winner) for _, _, winner, _ in rows])
    found, years = {}, np.array(year)

    def log_p(x: np.ndarray, at: np.ndarray) -> np.ndarray:
        logits = np.array([x[0] * lead[at] / 2, -x[0] * lead[at] / 2, np.full(at.sum(), x[1])])
        return (logits - np.logaddexp.reduce(logits))[outcome[at], np.arange(at.sum())]

    for one in YEARS:
        past = years < one
        fitted = minimize(lambda x, past=past: -log_p(x, past).mean(), [1.0, -0.5]).x
        both = np.array([a in known[one] and b in known[one] for a, b, _, _ in rows])
        found[one] = float(log_p(fitted, (years == one) & both).sum())
    return found


def football() -> list[str]:
    """Forecast the years, and return the lines of a page."""
    table, known, rows = matches(), dict[int, set[str]](), []
    for year in YEARS:
        past = table.filter(pl.col("date") < f"{year}-01-01")
        known[year] = {*past["model_a"], *past["model_b"]}
        both = pl.col("model_a").is_in(list(known[year])) & pl.col("model_b").is_in(list(known[year]))
        cells, ahead = read(past), read(table.filter(pl.col("date").str.starts_with(str(year)) & both))
        line = [float(year), ahead.n_votes]
        for model in (MODEL, replace(MODEL, drift=False)):
            start = time.process_time()
            fit = ba.fit(cells, model=model)
            line.append(time.process_time() - start)
            line.append(float((ahead.counts[:, :3] * predict(fit, ahead).log_p.T).sum()))
            if model.drift:
                line.append(fit.spreads.spread("drift"))
        rows.append(line)
    found = np.array(rows)
    votes = found[:, 1]
    scores = {"strengths that move": found[:, 3], "strengths that stay": found[:, 6]}
    for k, advantage in ELOS:
        of_year = elo_scores(table, known, k, advantage)
        scores[f"Elo, K {k:.0f}, home {advantage:.0f}"] = np.array([of_year[year] for year in YEARS])
    start = time.process_time()
    whole = ba.fit(read(table), model=MODEL)
    seconds = time.process_time() - start
    lines = ["## Football", "", "| forecast by | log score a match |", "| --- | ---: |"]
    lines += [f"| {name} | {one.sum() / votes.sum():.4f} |" for name, one in scores.items()]
    lines += [
        "",
        f"{votes.sum():,.0f} matches. Yearly steps have a spread of {found[:, 4].min():.3f} to {found[:, 4].max():.3f} "
        f"logits, estimated; a fit takes {found[:, 2].mean():.1f} CPU seconds, that of all 46 years "
        f"({whole.cells.n_votes:,.0f} matches, {whole.cells.n_competitors} teams, "
        f"{whole.target.numbering.n_slices:,} numbers) {seconds:.1f}.",
        "",
    ]
    return lines


def simulated(truth: np.ndarray, votes: int, seed: int) -> ba.Cells:
    """Return votes by Davidson's model over months, with strengths (months, competitors)."""
    rng = np.random.default_rng(seed)
    months, n = truth.shape
    time_of, a = rng.integers(months, size=votes), rng.integers(n, size=votes)
    b = (a + rng.integers(1, n, size=votes)) % n
    eta = truth[time_of, a] - truth[time_of, b]
    chances = np.exp([eta / 2, -eta / 2, np.full(votes, -0.5)])
    outcome = (rng.random(votes) > np.cumsum(chances / chances.sum(axis=0), axis=0)[:-1]).sum(axis=0)
    names = [f"{2024 + month // 12}-{month % 12 + 1:02}" for month in range(months)]
    return ba.Cells(
        tuple(f"c{index}" for index in range(n)), (), a, b, np.zeros_like(a), np.eye(4)[outcome],
        slices={"time": time_of}, slice_names={"time": tuple(names)},
    )  # fmt: skip


def timed(cells: ba.Cells, months: int, seed: int) -> ba.Cells:
    """Return votes one by one, each in a month at random."""
    row, outcome = single_votes(cells)
    when = np.random.default_rng(seed).integers(months, size=len(row))
    names = tuple(f"2024-{month + 1:02}" for month in range(months))
    return replace(cells.take(row, counts=np.eye(4)[outcome]), slices={"time": when}, slice_names={"time": names})


def alarms(arenas: int) -> list[str]:
    """Return how often the test says that strengths changed."""

    def moved(points: float, seed: int) -> ba.Cells:
        rng = np.random.default_rng([seed, 1])
        truth = np.tile(rng.normal(0, 0.7, 10), (8, 1))
        truth[4:, :5] += rng.choice([-1, 1], 5) * points / POINTS
        return simulated(truth, 3000, seed)

    def crowd(seed: int) -> ba.Cells:
        return timed(honest_arena(Crowd(annotators=60), competitors=10, votes=3000, seed=seed).cells, 8, seed)

    lines = ["## The test for change", "", "| arenas | it says so |", "| --- | ---: |"]
    kinds = {"nobody changes": lambda seed: moved(0.0, seed), "nobody changes, a crowd of 60": crowd}
    kinds |= {f"half by {points:.0f} Elo": lambda seed, p=points: moved(p, seed) for points in (50.0, 100.0)}
    for name, make in kinds.items():
        clear = [ba.fit(make(seed), robust=False, dimensions=0).change.is_clear for seed in range(arenas)]
        lines.append(f"| {name} | {np.mean(clear):.1%} |")
    return [*lines, "", f"{arenas} arenas each.", ""]


def coverage(arenas: int) -> list[str]:
    """Return how often intervals of now have the truth."""
    lines = ["## Coverage of now", "", "| arenas | strengths move | strengths stay |", "| --- | ---: | ---: |"]
    for name in ("steps of .15 a month", "half by 100 Elo midway"):
        inside = np.zeros((2, arenas))
        for seed in range(arenas):
            rng = np.random.default_rng([seed, 2])
            truth = np.tile(rng.normal(0, 0.7, 10), (12, 1))
            if name.startswith("half"):
                truth[6:, :5] += rng.choice([-1, 1], 5) * 100 / POINTS
            else:
                truth += np.cumsum(np.vstack([np.zeros(10), rng.normal(0, 0.15, (11, 10))]), axis=0)
            cells, now = simulated(truth, 6000, seed), truth[-1] - truth[-1].mean()
            for place, model in enumerate((MOVING, replace(MOVING, drift=False))):
                found = ba.strengths(ba.fit(cells, model=model, method="marginal")).sort_values("competitor")
                inside[place, seed] = np.mean((found["lower"] <= now) & (now <= found["upper"]))
        lines.append(f"| {name} | {inside[0].mean():.3f} | {inside[1].mean():.3f} |")
    return [*lines, "", f"{arenas} arenas of ten competitors each.", ""]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--football", action="store_true")
    parser.add_argument("--test", type=int, default=0)
    parser.add_argument("--cover", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    lines = ["# Strengths that move", ""]
    if asked.test:
        lines += alarms(asked.test)
    if asked.cover:
        lines += coverage(asked.cover)
    if asked.football:
        lines += football()
    (RESULTS / "drift.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
