"""How fast point estimates are, beside peers, in one run.

    uv run --group benchmark python benchmarks/point_estimates.py [--choix]

choix loops over votes in Python and takes minutes, so it is asked for by name.
Prints a Markdown table: seconds are medians on this machine, ratios are what to quote. Every contestant starts from
the same file of 1.67 million votes; peers are given the fastest way in that they document.
"""

import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
from arena_votes import OUTCOMES, write_arena_votes

import bayes_arena as ba

HERE = Path(__file__).parent
LAPS = 9
DATA = Path(os.environ.get("BAYES_ARENA_DATA") or HERE.parents[1] / "shared" / "data")


def seconds(task: Callable[[], object], runs: int = 5, warm_up: int = 1) -> float:
    for _ in range(warm_up):
        task()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def am_elo_on_llmfao() -> None:
    path = DATA / "llmfao.csv"
    if not path.is_file():
        print("LLMFAO is not in $BAYES_ARENA_DATA: skipped.")
        return
    votes = ba.read_votes(path)

    def refit() -> ba.Fit:
        cells = ba.keep_annotators(votes, more_than=50)  # new cells: nothing cached from the run before
        return ba.fit(cells, model="am-elo", prior="flat")

    fit = refit()
    print(f"am-ELO flat, LLMFAO > 50 votes: {1e3 * seconds(refit, 20):.1f} ms, mean loss {fit.mean_loss:.6f}")
    command = [str(Path(sys.executable).parent / "bayes-arena"), "rank", str(path)]
    whole = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    helping = seconds(lambda: subprocess.run([command[0], "--help"], check=True, capture_output=True))
    print(f"`bayes-arena rank llmfao.csv`, whole process: {whole:.2f} s; `--help`: {helping:.2f} s\n")


def bare_group_by(path: Path) -> object:
    keys = ["model_a", "model_b", "winner"]
    return pl.scan_parquet(path).group_by(keys).agg(pl.len()).collect(engine="streaming")


def ours(path: Path) -> object:
    return ba.leaderboard(ba.fit(ba.read_votes(path), prior="flat"))


def with_evalica(path: Path) -> object:
    import evalica

    votes = pl.read_parquet(path)
    winners = {
        "model_a": evalica.Winner.X,
        "model_b": evalica.Winner.Y,
        "tie": evalica.Winner.Draw,
        "tie (bothbad)": evalica.Winner.Draw,
    }
    return evalica.bradley_terry(
        votes["model_a"].to_list(), votes["model_b"].to_list(), [winners[name] for name in votes["winner"].to_list()]
    )


def with_choix(path: Path) -> object:
    import choix

    votes = pl.read_parquet(path).filter(pl.col("winner").is_in(OUTCOMES[:2]))
    names = pl.concat([votes["model_a"], votes["model_b"]]).unique().sort()
    codes = {name: code for code, name in enumerate(names)}
    first = pl.col("winner") == "model_a"
    rows = votes.select(
        pl.when(first).then("model_a").otherwise("model_b").replace_strict(codes).alias("winner"),
        pl.when(first).then("model_b").otherwise("model_a").replace_strict(codes).alias("loser"),
    ).rows()
    return choix.opt_pairwise(len(names), rows, alpha=1e-6)


def with_arena_rank(path: Path) -> object:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(pl.read_parquet(path).to_pandas())
    return BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)


def million_votes(with_slow: bool) -> None:
    path = write_arena_votes(HERE / "data")
    contestants: dict[str, tuple[str, Callable[[Path], object]]] = {
        "Polars scan and group-by alone": ("-", bare_group_by),
        "bayes_arena": ("ties, intervals, rank spread", ours),
        "arena-rank": ("ties, intervals", with_arena_rank),
        "evalica": ("ties, no intervals", with_evalica),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for lap in range(LAPS + 1):  # in turn, so that a drift of the machine touches all alike; the first lap warms up
        for name, (_, task) in contestants.items():
            start = time.perf_counter()
            task(path)
            if lap:
                times[name].append(time.perf_counter() - start)
    if with_slow:
        contestants["choix"] = ("ties dropped, no intervals", with_choix)
        times["choix"] = [seconds(lambda: with_choix(path), runs=1, warm_up=0)]
    ours_each = times["bayes_arena"]
    print(f"{pl.scan_parquet(path).select(pl.len()).collect().item():,} votes, file to leaderboard:\n")
    print("| | gives | seconds | times bayes_arena |\n|---|---|---:|---:|")
    for name, (gives, _) in contestants.items():
        ratio = statistics.median(one / own for one, own in zip(times[name], ours_each, strict=False))
        print(f"| {name} | {gives} | {statistics.median(times[name]):.3f} | {ratio:.2f} |")
    command = [str(Path(sys.executable).parent / "bayes-arena"), "rank", str(path), "--prior", "flat"]
    whole = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    print(f"\n`bayes-arena rank arena.parquet`, whole process: {whole:.2f} s")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    am_elo_on_llmfao()
    million_votes(with_slow="--choix" in sys.argv)
