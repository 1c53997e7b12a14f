"""Thousands of competitors, of whom each has met a few: time, memory, and how exact the estimated intervals are.

    python benchmarks/many_competitors.py > benchmarks/results/many_competitors.md

True strengths are standard normal, and every case is a process of its own, after a first small fit. CPU seconds are of
all its threads. The error is that of the standard deviations on the board (of every competitor; from 5,000 on, of 300
at random) relative to those from a dense inverse or from solutions to 1e-12; ranks are compared with the places that
exact standard deviations leave open. Fewer than 1500 competitors are solved exactly, and so is a graph for which the
estimate does not settle.
"""

import argparse
import multiprocessing
import platform
import resource
import sys
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter, process_time

import numpy as np
import scipy

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.algebra.sparse.factor import SparseFactor
from bayes_arena.likelihood.algebra.sparse.solving.gradients import solve_by_gradients
from bayes_arena.ratings.leaderboard import rank_spread
from bayes_arena.votes.cells import Cells

VOTES, OPPONENTS, SAMPLE, SOME = 1_000_000, 20, 5000, 300
MODELS = {"m-elo": "m-elo", "davidson": ba.Model("davidson", ties="davidson"), "am-davidson": "am-davidson"}
HALF_WIDTH = 1.959963984540054
Pairs = tuple[np.ndarray, np.ndarray]


def random_graph(rng: np.random.Generator, n: int, opponents: int = OPPONENTS) -> Pairs:
    """Every competitor meets so many others at random."""
    orders = [rng.permutation(n) for _ in range(opponents // 2)]
    return np.concatenate(orders), np.concatenate([np.roll(order, 1) for order in orders])


def clusters(rng: np.random.Generator, n: int) -> Pairs:
    """Twenty groups, joined in a ring by single pairs."""
    size = n // 20
    parts = [np.stack(random_graph(rng, size)) + size * part for part in range(20)]
    first = size * np.arange(20)
    a, b = np.concatenate([*parts, np.stack([first, np.roll(first, 1)])], axis=1)
    return a, b


def hub(rng: np.random.Generator, n: int) -> Pairs:
    """Six opponents each at random, and one competitor who met everybody."""
    a, b = random_graph(rng, n, 6)
    return np.append(a, np.zeros(n - 1, dtype=int)), np.append(b, np.arange(1, n))


def chain(rng: np.random.Generator, n: int) -> Pairs:
    """Every competitor meets the next."""
    return np.arange(n - 1), np.arange(1, n)


def band(rng: np.random.Generator, n: int) -> Pairs:
    """Every competitor meets the next ten."""
    a = np.repeat(np.arange(n), 10)
    b = a + np.tile(np.arange(1, 11), n)
    return a[b < n], b[b < n]


GRAPHS: dict[str, Callable[..., Pairs]] = {
    "random": random_graph, "clusters": clusters, "hub": hub, "chain": chain, "band": band,
}  # fmt: skip


def cast(graph: str, n: int, votes: int, annotators: int, ties: bool) -> Cells:
    """Cast votes on pairs of a graph, drawn at random with replacement."""
    rng = np.random.default_rng(0)
    ends = np.sort(np.stack(GRAPHS[graph](rng, n)), axis=0)
    pairs = np.unique(ends[0] * n + ends[1])
    a, b = pairs // n, pairs % n
    strength = rng.normal(size=n)
    row, who = rng.integers(len(pairs), size=votes), rng.integers(max(annotators, 1), size=votes)
    row[: len(pairs)] = np.arange(min(len(pairs), votes))  # every pair meets
    theta, nu = np.abs(rng.normal(1, 0.3, max(annotators, 1))), rng.normal(0, 0.5, max(annotators, 1)) - 0.5
    lead = (strength[a] - strength[b])[row] * (theta / theta.mean() if annotators else np.ones(1))[who]
    chances = np.exp(np.stack([lead / 2, -lead / 2, nu[who] if ties else np.full(votes, -np.inf)]))
    outcome = (rng.random(votes) * chances.sum(axis=0) > np.cumsum(chances, axis=0)).sum(axis=0)
    cells, place = np.unique(who * len(pairs) + row, return_inverse=True)
    counts = np.bincount(place * 4 + np.minimum(outcome, 2), minlength=4 * len(cells)).reshape(-1, 4)
    return Cells(
        competitors=tuple(f"c{index:05d}" for index in range(n)),
        annotators=tuple(f"k{index:05d}" for index in range(annotators)),
        a=a[cells % len(pairs)],
        b=b[cells % len(pairs)],
        annotator=cells // len(pairs),
        counts=counts.astype(float),
        sided=False,
    )


def exact_variances(fit: ba.Fit, some: np.ndarray) -> np.ndarray:
    """Variances on the board from solutions to 1e-12, of some competitors."""
    rows = project(fit.target, fit.point, fit.cells.votes_by_annotator(), fit.view).by_head[some]
    factor, n = fit.laplace.factor, fit.cells.n_competitors
    across, common = factor.across, factor.common
    diagonal = factor.strengths.diagonal() + np.sum(factor.gauge**2, axis=1)

    def solve(right: np.ndarray) -> np.ndarray:
        return solve_by_gradients(
            lambda x: factor.strengths @ x + factor.gauge @ (factor.gauge.T @ x), right, diagonal, 1e-12
        )

    right = rows[:, :n].T - rows[:, :n].mean(axis=1)
    x = solve(np.ascontiguousarray(right))
    if not len(common):
        return np.sum(right * x, axis=0)
    towards = solve(across)
    left = rows[:, n:].T - across.T @ x
    return np.sum(right * x, axis=0) + np.sum(left * np.linalg.solve(common - across.T @ towards, left), axis=0)


def measure(case: tuple[str, str, int, int, int]) -> str:
    """Row of the table."""
    model, graph, n, votes, annotators = case
    ties, options = model != "m-elo", {"model": MODELS[model], "guard": False}
    ba.leaderboard(ba.fit(cast("random", 60, 5000, min(annotators, 20), ties), **options))
    cells = cast(graph, n, votes, annotators, ties)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clocks = [(process_time(), perf_counter())]
    fit = ba.fit(cells, **options)
    clocks.append((process_time(), perf_counter()))
    board = ba.leaderboard(fit)
    clocks.append((process_time(), perf_counter()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = [f"{after[clock] - start[clock]:.2f}" for start, after in pairwise(clocks) for clock in (0, 1)]
    how, errors, ranks = "exact", "", ""
    if isinstance(fit.laplace.factor, SparseFactor):
        error = board.attrs["sd_error"]
        how = f"estimated, {error:.2%}" if error else "dense"
        board = board.sort_values("competitor")
        points = 400 / np.log(10)
        sd = ((board["upper"] - board["lower"]) / (2 * HALF_WIDTH * points)).to_numpy()
        some = np.arange(n) if n < SAMPLE else np.random.default_rng(1).choice(n, SOME, replace=False)
        exact = np.sqrt(exact_variances(fit, some))
        off = np.abs(sd[some] / exact - 1)
        errors = " / ".join(f"{value:.2%}" for value in (np.median(off), np.quantile(off, 0.99), off.max()))
        if n < SAMPLE:
            half = HALF_WIDTH * points * exact
            places = rank_spread(board["elo"].to_numpy() - half, board["elo"].to_numpy() + half)
            moved = [
                np.abs(board[name] - place) for name, place in zip(("rank_best", "rank_worst"), places, strict=True)
            ]
            ranks = f"{np.mean(moved):.2f} / {np.max(moved)}"
    cost = f"{times[0]} ({times[1]}) | {times[2]} ({times[3]}) | {peak / 2**20:.2f} ({before / 2**20:.2f})"
    return f"| {model} | {graph} | {n:,} | {votes:,} | {annotators:,} | {cost} | {how} | {errors} | {ranks} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--competitors", type=int, nargs="+", default=[500, 2000, 10_000])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS), help="on random graphs")
    parser.add_argument("--graphs", nargs="*", default=["clusters", "hub"], choices=list(GRAPHS), help="for m-elo")
    parser.add_argument("--annotators", type=int, default=100, help="of am-davidson")
    parser.add_argument("--votes", type=int, default=100_000, help="of am-davidson")
    asked = parser.parse_args()
    plain = [model for model in asked.models if model != "am-davidson"]
    cases = [(model, "random", n, VOTES, 0) for model in plain for n in asked.competitors]
    cases += [("m-elo", graph, n, VOTES, 0) for graph in asked.graphs for n in asked.competitors if n > 500]
    if "am-davidson" in asked.models:
        few = [n for n in asked.competitors if n < SAMPLE]  # its matrices are dense
        cases += [("am-davidson", "random", n, asked.votes, asked.annotators) for n in few]
    print(
        f"# Many competitors\n\n```bash\n{' '.join(['python', 'benchmarks/many_competitors.py', *sys.argv[1:]])}\n```\n"
    )
    print(
        "Seconds are CPU (passed); memory is the peak in GiB (before the fit). Of the standard deviations: how they "
        "are found, with the largest standard error that the estimate states; median / 99th percentile / largest. "
        "Of the best and worst ranks that intervals leave open: mean / largest difference.\n"
    )
    print("| model | graph | competitors | votes | annotators | fit | board | memory | sd | error | ranks off |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for case in cases:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(measure, (case,)), flush=True)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(f"\n{versions}, {platform.machine()}.")


if __name__ == "__main__":
    main()
