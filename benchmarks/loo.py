"""Leave-one-out: against ArviZ, in time and memory, and where only a sample of the votes is left out.

    uv run python benchmarks/loo.py [--votes 1670250 --annotators 61003] [--exact] > benchmarks/results/loo.md

Real votes (``llmfao.csv``, ``mt_bench_human.csv`` in ``$BAYES_ARENA_DATA``, else ``../shared/data``; skipped where
absent) by ``ba.leave_one_out`` and by ``az.loo`` on the same draws, vote by vote. Then simulated votes of 129
competitors: 100,000 of them in full and by samples, and as many as ``--votes`` says, in full only with ``--exact``.
Processor time is that of all threads. Gibibytes are the peak of the process, what the fit took included.
"""

import shlex
import sys
import warnings
from pathlib import Path

import arviz as az
import numpy as np
from measuring import FILES, options_of, peak_mib, timed

import bayes_arena as ba
from bayes_arena.fits.pointwise import pointwise
from bayes_arena.validation.leave_one_out import LeaveOneOut
from bayes_arena.votes.cells import Cells


def against_arviz() -> None:
    print(f"    uv run python benchmarks/{shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}\n")
    print("| votes | model | columns | seconds | processor seconds | ArviZ's | elpd | difference | of SE |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in ("MT-bench", "LLMFAO"):
        if not FILES[name].is_file():
            continue
        cells = ba.read_votes(FILES[name], prompt=False)
        for model in ("bradley-terry", "am-davidson"):
            fit = ba.fit(cells, model=model, robust=False)
            ba.leave_one_out(fit)  # compiles
            loo, wall, cpu = timed(lambda fit=fit: ba.leave_one_out(fit))
            values, votes = pointwise(fit)
            by_vote = np.repeat(values, votes.astype(int), axis=1)[None]
            tree = az.from_dict({"posterior": {"x": np.zeros((1, len(values)))}, "log_likelihood": {"v": by_vote}})
            reference, _, theirs = timed(lambda tree=tree: az.loo(tree, reff=1.0))
            numbers = f"{len(votes):,} | {wall:.2f} | {cpu:.2f} | {theirs:.1f} | {loo.total:.1f}"
            print(f"| {name} | {model} | {numbers} | {loo.total - reference.elpd:.0e} | {loo.se - reference.se:.0e} |")


def row(what: str, loo: LeaveOneOut, wall: float, cpu: float) -> None:
    numbers = [f"{wall:.1f}", f"{cpu:.1f}", f"{peak_mib() / 2**10:.2f}", f"{loo.total:.1f}", f"{loo.se:.1f}"]
    print(f"| {what} | {' | '.join(numbers)} | {loo.sampling_se:.1f} | {loo.p:.0f} |", flush=True)


def at_scale(votes: int, annotators: int, samples: list[int | None]) -> None:
    table = ba.simulate(competitors=129, annotators=annotators, votes=votes, seed=7).votes
    cells: Cells = ba.read_votes(table)
    del table
    fit, _, cpu = timed(lambda: ba.fit(cells, model="am-davidson", robust=False))
    took = f"{cpu:.1f} processor seconds, {peak_mib() / 2**10:.2f} GiB"
    print(f"\n{votes:,} votes of {annotators:,} annotators: the fit took {took}\n")
    print("| left out | seconds | processor seconds | GiB | elpd | SE | of sampling | p |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    ba.leave_one_out(fit, sample=2)  # compiles
    for sample in samples:
        row(f"{sample:,}" if sample else "all", *timed(lambda sample=sample: ba.leave_one_out(fit, sample=sample)))


def main() -> None:
    parser = options_of(__doc__, annotators=61_003)
    parser.add_argument("--votes", type=int)
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    against_arviz()
    at_scale(100_000, 4000, [2_000, 5_000, 20_000, None])
    if options.votes:
        at_scale(options.votes, options.annotators, [5_000, 20_000, *([None] if options.exact else [])])


if __name__ == "__main__":
    main()
