"""Scores from a file of votes, beside other packages: seconds of whole processes.

``python benchmarks/peers.py [--runs 3]`` needs arena-rank and evalica.  Each package gets its
fastest documented way in; bytecode is compiled on both sides, and runs take turns.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import polars as pl
from measuring import DATA, least, markdown, python, write_page
from scale import ARENAS, simulate

OURS = """
import bayes_arena as ba
votes = ba.read_votes({path!r}, annotator=False, prompt=False)
fit = ba.fit(votes, model="m-elo")
print(fit.board.elo.max(), fit.board.sd.max())
"""
EVALICA = """
import evalica
import polars as pl
votes = pl.read_parquet({path!r})
meaning = {{"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}}
winner = [meaning.get(label, evalica.Winner.Draw) for label in votes["winner"].to_list()]
columns = votes["model_a"].to_list(), votes["model_b"].to_list(), winner
print(evalica.bradley_terry(*columns).scores.max())
"""
ARENA_RANK = """
import polars as pl
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
data = PairDataset.from_pandas(pl.read_parquet({path!r}).to_pandas())
found = BradleyTerry(len(data.competitors)).compute_ratings_and_cis(data)
print(max(found["ratings"]))
"""
POLARS = """
import polars as pl
votes = pl.scan_parquet({path!r})
print(len(votes.group_by(["model_a", "model_b", "winner"]).len().collect()))
"""
PACKAGES = {
    "bayes_arena, m-ELO with intervals": OURS,
    "evalica, scores only": EVALICA,
    "arena-rank, with intervals": ARENA_RANK,
    "bare Polars group-by": POLARS,
}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for name, votes in arenas().items():
            path = str(Path(folder) / "votes.parquet")
            votes.write_parquet(path)
            parts += [f"## {name}\n", table(path, runs)]
    text = (
        "From a Parquet file to scores, the least of several runs; ratios are to ours. "
        "bayes_arena and arena-rank also have intervals.\n"
    )
    write_page(
        "peers", "Beside other packages", [text, *parts], "python benchmarks/peers.py"
    )


def arenas() -> dict[str, pl.DataFrame]:
    """Return the votes by arena."""
    real = pl.read_csv(DATA / "llmfao.csv").select(
        "model_a", "model_b", "winner", "judge"
    )
    arena = ARENAS["alike"]
    return {
        "LLMFAO, 8,931 votes": real,
        f"{arena.votes:,} votes on {arena.competitors} competitors": simulate(arena),
    }


def table(path: str, runs: int) -> str:
    """Return the table of one file."""
    costs = {
        name: least(python(code.format(path=path)), runs)
        for name, code in PACKAGES.items()
    }
    ours = next(iter(costs.values()))
    rows = [
        [
            name,
            f"{cost.wall:.2f}",
            f"{cost.wall / ours.wall:.2f}",
            f"{cost.cpu:.2f}",
            f"{cost.cpu / ours.cpu:.2f}",
            f"{cost.memory:.2f}",
        ]
        for name, cost in costs.items()
    ]
    header = ["package", "wall s", "ratio", "CPU s", "ratio", "GiB"]
    return markdown(header, rows)


if __name__ == "__main__":
    main()
