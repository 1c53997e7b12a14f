"""Thousands of competitors, of whom each has met a few: time, memory, and how exact the estimated intervals are.

    python benchmarks/many_competitors.py > benchmarks/results/many_competitors.md

True strengths are standard normal, and every case is a process of its own, after a first small fit; one that has not
ended after five minutes is stopped. CPU seconds are of all its threads. The error is that of the standard deviations on
the board (of every competitor; from 5,000 on, of 300 at random) relative to those from a dense inverse of a Hessian
that this script sums up by itself; rank ranges are compared with those by exact standard deviations. An
error of two percent ends the run with an error, after the table. Fewer than 1500 competitors are solved exactly, and so
is a graph for which the estimate does not settle.
"""

import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy
from measuring import Clock, Unfinished, in_own_process, options_of, peak_mib
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array, diags_array

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.point import Point
from bayes_arena.markup import percent
from bayes_arena.ratings.intervals.contract import Summary
from bayes_arena.ratings.rank_ranges import ranges_of_intervals
from bayes_arena.votes.cells import Cells

VOTES, OPPONENTS, LIMIT = 1_000_000, 20, 300.0
CHECKED, SAMPLE, SOME, WORST = 1500, 5000, 300, 0.02
"""Competitors from whom on standard deviations are checked, and all ranks; beyond, how many are; the error allowed."""
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


def check(fit: ba.Fit, board: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return exact half widths of intervals, of some where there are very many, and how far off the board's are."""
    shown = board.set_index("competitor").loc[list(fit.cells.competitors)]
    half, n = (shown["upper"] - shown["lower"]).to_numpy() / 2, len(shown)
    some = np.arange(n) if n < SAMPLE else np.random.default_rng(1).choice(n, SOME, replace=False)
    exact = HALF_WIDTH * 400 / np.log(10) * np.sqrt(exact_variances(fit, some))
    return exact, np.abs(half[some] / exact - 1)


def exact_variances(fit: ba.Fit, some: np.ndarray) -> np.ndarray:
    """Variances on the board of some competitors, by a dense matrix and nothing that estimates or approximates."""
    target, n, q = fit.target, fit.cells.n_competitors, len(fit.target.own)
    matrix = dense_hessian(target, fit.point)
    held = np.zeros((len(matrix), 1 + q))  # the sums of strengths, and of the annotators' numbers
    held[:n, 0] = 1.0
    for p in range(q):
        held[n + len(target.common) + p :: q, 1 + p] = 1.0
    factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    rows = project(target, fit.point, fit.cells.votes_by_annotator(), fit.view)
    right = np.concatenate([rows.by_head[some], np.asarray(rows.by_own[some]).reshape(len(some), -1)], axis=1).T
    x, towards = (cho_solve(factor, columns, check_finite=False) for columns in (right, held))
    across = held.T @ x
    return np.sum(right * x, axis=0) - np.sum(across * np.linalg.solve(held.T @ towards, across), axis=0)


def dense_hessian(target: Objective, point: Point) -> np.ndarray:
    """Hessian of the negative log-posterior: J' W J of the rows, what bends in theta (r_i - r_j), and the prior."""
    n, c, q, tally = target.n_competitors, len(target.common), len(target.own), target.tally
    rows, terms, (of_common, of_own) = np.arange(len(tally.i)), target.row_terms(point), target.bases(point)
    size, theta = n + c + q * target.n_annotators, target.factors(point)[0]
    own = [n + c + q * tally.k + p for p in range(q)]
    entries = [(ETA, tally.i, theta), (ETA, tally.j, -theta)]  # coordinate, parameter, derivative
    entries += [(target.common[s].coordinate, n + s, of_common[s]) for s in range(c)]
    entries += [(target.own[p].coordinate, own[p], of_own[p]) for p in range(q)]

    def matrix(values: Any, row: Any, column: Any, shape: tuple[int, int]) -> Any:
        """Return a sparse matrix; a single number is that of every row of votes, and equal places are summed."""
        values, row, column = np.broadcast_arrays(values, row, column)
        return coo_array((values, (row, column)), shape=shape).tocsr()

    jacobians = []
    for coordinate in range(len(terms.gradient)):
        parts = [matrix(by, rows, place, (len(rows), size)) for of, place, by in entries if of == coordinate]
        jacobians.append(sum(parts[1:], parts[0]))
    total = csr_array((size, size))
    for one, left in enumerate(jacobians):
        for two, right in enumerate(jacobians):
            total += left.T @ diags_array(terms.hessian[one, two]) @ right
    for p, effect in enumerate(target.own):
        if effect.basis == "lead":
            bent = matrix(terms.gradient[ETA], tally.i, own[p], (size, size))
            bent -= matrix(terms.gradient[ETA], tally.j, own[p], (size, size))
            total += bent + bent.T
    sds = [np.full(n, target.strength_sd), [effect.sd for effect in target.common]]
    sds.append(np.tile([effect.sd for effect in target.own], target.n_annotators))
    dense = total.toarray()
    dense[np.diag_indices(size)] += np.concatenate(sds) ** -2
    return dense


def measure(model: str, graph: str, n: int, votes: int, annotators: int) -> str:
    """Cells of the row of the table, from the fit on."""
    ties, options = model != "m-elo", {"model": MODELS[model], "robust": False}
    ba.leaderboard(ba.fit(cast("random", 60, 5000, min(annotators, 20), ties), **options))
    cells = cast(graph, n, votes, annotators, ties)
    before, clock = peak_mib(), Clock()
    fit = ba.fit(cells, **options)
    times = [clock.lap()]
    board = ba.leaderboard(fit)
    times.append(clock.lap())
    peak, error = peak_mib(), board.attrs.get("sd_error")
    how, errors, ranks = "exact", "", ""
    if error is not None:
        how = f"estimated, {percent(error, '.2f')}" if error else "dense"
    if n >= CHECKED:
        exact, off = check(fit, board)
        if not off.max() < WORST:
            how += ", WRONG"
        errors = " / ".join(percent(value, ".2f") for value in (np.median(off), np.quantile(off, 0.99), off.max()))
        if n < SAMPLE:
            board = board.set_index("competitor").loc[list(cells.competitors)]
            score, sd = board["elo"].to_numpy(), exact / HALF_WIDTH
            summary = Summary(score, sd, score - exact, score + exact)
            places = ranges_of_intervals(summary, 0.95, cells.components)
            moved = [
                np.abs(board[name] - place) for name, place in zip(("rank_lower", "rank_upper"), places, strict=True)
            ]
            ranks = f"{np.mean(moved):.2f} / {np.max(moved)}"
    cost = " | ".join(f"{time['cpu_s']:.2f} ({time['wall_s']:.2f})" for time in times)
    return f"{cost} | {peak / 2**10:.2f} ({before / 2**10:.2f}) | {how} | {errors} | {ranks}"


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--competitors", type=int, nargs="+", default=[500, 2000, 10_000])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS), help="on random graphs")
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS)[1:], choices=list(GRAPHS), help="for m-elo")
    parser.add_argument("--annotators", type=int, default=100, help="of am-davidson")
    parser.add_argument("--votes", type=int, default=100_000, help="of am-davidson")
    asked = parser.parse_args()
    cases: list[tuple[str, str, int, int, int]] = []
    for model in asked.models:
        size = (asked.votes, asked.annotators) if model == "am-davidson" else (VOTES, 0)
        cases += [(model, "random", n, *size) for n in asked.competitors]
    cases += [("m-elo", graph, n, VOTES, 0) for graph in asked.graphs for n in asked.competitors if n > 500]
    print(
        f"# Many competitors\n\n```bash\n{' '.join(['python', 'benchmarks/many_competitors.py', *sys.argv[1:]])}\n```\n"
    )
    print(
        "Seconds are CPU (passed); memory is the peak in GiB (before the fit). Of the standard deviations: how they "
        "are found, with the largest standard error that the estimate states; by how much they differ from exact "
        "ones, median / 99th percentile / largest. Of the ends of rank ranges: mean / "
        "largest difference.\n"
    )
    print("| model | graph | competitors | votes | annotators | fit | board | memory | sd | error | ranks off |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    wrong = []
    for model, graph, n, votes, annotators in cases:
        found = in_own_process(measure, model, graph, n, votes, annotators, limit=LIMIT, gib=16.0)
        said = f"{found.why} | | | | |" if isinstance(found, Unfinished) else found
        print(f"| {model} | {graph} | {n:,} | {votes:,} | {annotators:,} | {said} |", flush=True)
        wrong += [f"{model}, {graph}, {n:,}"] * ("WRONG" in said)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(f"\n{versions}, {platform.machine()}.")
    if wrong:
        raise SystemExit(f"Standard deviations are off by {percent(WORST)} or more: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
