"""Strengths that move: false alarms and power of the test for change, and coverage; forecasts are in ``football.py``.

    uv run python benchmarks/drift.py [--test 200] [--cover 100]

The test: arenas of ten competitors whose strengths stay over eight months, 3,000 votes, without annotators and of the
sixty annotators of an honest crowd; and half of the competitors moved up or down midway.

Coverage: arenas of ten competitors over twelve months, 6,000 votes, whose strengths take steps of N(0, .15) a month, or
of whom half changed by 100 Elo midway. Counted are strengths of now in 95 % and 89 % intervals, of a fit that moves and
one that stays.
"""

import warnings
from dataclasses import replace

import numpy as np
from crowds import Crowd, honest_arena
from measuring import RESULTS, options_of

import bayes_arena as ba
from bayes_arena.inference.change import POINTS
from bayes_arena.markup import percent
from bayes_arena.votes.cells import single_votes

MOVING = ba.Model("moving", ties="davidson", drift=True)
TIE = -0.5
"""ln nu."""
LEVELS = (0.95, 0.89)
"""Of the intervals."""


def simulated(truth: np.ndarray, votes: int, seed: int) -> ba.Cells:
    """Return votes by Davidson's model over months, with strengths (months, competitors)."""
    rng = np.random.default_rng(seed)
    months, n = truth.shape
    time_of, a = rng.integers(months, size=votes), rng.integers(n, size=votes)
    b = (a + rng.integers(1, n, size=votes)) % n
    eta = truth[time_of, a] - truth[time_of, b]
    chances = np.exp([eta / 2, -eta / 2, np.full(votes, TIE)])
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
        lines.append(f"| {name} | {percent(np.mean(clear), '.1f')} |")
    return [*lines, "", f"{arenas} arenas each.", ""]


def moved_by(half: bool, seed: int) -> tuple[ba.Cells, np.ndarray]:
    """Return votes of twelve months with their strengths, of which half change midway, or all take steps."""
    rng = np.random.default_rng([seed, 2])
    truth = np.tile(rng.normal(0, 0.7, 10), (12, 1))
    if half:
        truth[6:, :5] += rng.choice([-1, 1], 5) * 100 / POINTS
    else:
        truth += np.cumsum(np.vstack([np.zeros(10), rng.normal(0, 0.15, (11, 10))]), axis=0)
    return simulated(truth, 6000, seed), truth


def coverage(arenas: int) -> list[str]:
    """Return how often intervals of now have the truth."""
    heads = [f"{strengths}, {percent(level)}" for strengths in ("strengths move", "strengths stay") for level in LEVELS]
    lines = ["## Coverage of now", "", f"| arenas | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for name in ("steps of .15 a month", "half by 100 Elo midway"):
        inside = np.zeros((2, len(LEVELS), arenas))
        for seed in range(arenas):
            cells, truth = moved_by(name.startswith("half"), seed)
            now = truth[-1] - truth[-1].mean()
            for place, model in enumerate((MOVING, replace(MOVING, drift=False))):
                fit = ba.fit(cells, model=model, method="marginal")
                for which, level in enumerate(LEVELS):
                    found = ba.strengths(fit, level=level).sort_values("competitor")
                    inside[place, which, seed] = np.mean((found["lower"] <= now) & (now <= found["upper"]))
        lines.append(f"| {name} | {' | '.join(f'{share:.3f}' for share in inside.mean(axis=2).ravel())} |")
    return [*lines, "", f"{arenas} arenas of ten competitors each.", ""]


def main() -> None:
    """Write the page."""
    asked = options_of(__doc__, test=0, cover=0).parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    lines = ["# Strengths that move", ""]
    if asked.test:
        lines += alarms(asked.test)
    if asked.cover:
        lines += coverage(asked.cover)
    (RESULTS / "drift.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
