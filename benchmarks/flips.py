"""How many votes an order rests on, in three arenas, and how long it takes to find out.

    uv run --group benchmark python benchmarks/flips.py FOLDER > benchmarks/results/flips.md

FOLDER has mt_bench_human.csv and llmfao.csv (columns model_a, model_b, winner, judge); the votes of the public arena
are made by benchmarks/arena_votes.py. Prompts are left unread, but for the models that are said to have answers.
Every vote counts (robust=False). Seconds are of the processor, on one thread.
"""

import shlex
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from arena_votes import write_arena_votes
from measuring import options_of

import bayes_arena as ba
from bayes_arena.decisions import fewest, flips
from bayes_arena.threads import one_thread

HERE = Path(__file__).parent


def timed(count: list[int], fit: ba.Fit, **options: object) -> tuple[pd.DataFrame, float, int]:
    """Flips, seconds (the best of three runs) and refits."""
    seconds = []
    for _ in range(3):
        count[0], start = 0, time.process_time()
        table = ba.flips(fit, **options)
        seconds.append(time.process_time() - start)
    return table, min(seconds), count[0]


def described(name: str, fit: ba.Fit, table: pd.DataFrame, seconds: float, n_refits: int) -> str:
    """One row on all adjacent pairs."""
    k, linear, p = table["k"], table["k_linear"], table["p_better"]
    few = " / ".join(str(int((k <= most).sum())) for most in (1, 3, 10))
    within = (abs(linear - k) <= np.maximum(1, 0.1 * k)) | (linear == k)
    settled = k[p > 0.95]
    top = table.iloc[0]
    least = f"{settled.min():.0f} ({len(settled)} such pairs)" if len(settled) else "no such pair"
    exact = f"{(linear == k).mean():.2f} / {within.mean():.2f}"
    return (
        f"| {name} | {fit.model.name} | {len(table)} | {few} | {top['k']:.0f} ({100 * top['share']:.2g} %), "
        f"{top['p_better']:.3f} | {least} | {exact} | {n_refits} | {seconds:.2f} |"
    )


def ordered_again(fit: ba.Fit) -> tuple[np.ndarray, np.ndarray]:
    """Return k of the adjacent pairs, and k with votes ordered by the mean of their effects before and after."""
    fit = flips.at_mode(fit)
    order = np.argsort(-(fit.strength + fit.view.slices @ fit.point.slices), kind="stable")
    above, below = order[:-1], order[1:]
    first, again = [], []
    contrasts = flips.contrasts_of(fit, above, below)
    for contrast, found in zip(contrasts, flips.fewest_changes(fit, above, below, "vote", "drop", 0.3), strict=True):
        after = fewest.refitted(found.changes, found.taken, fit, fit.point)
        (effect,) = found.changes.effects(after, contrast[None])
        path = fewest.Path(found.changes, (effect + found.effect) / 2, 0.3 * fit.target.n_votes)
        first.append(found.units)
        again.append(fewest.fewest_along(path, fit, contrast).units)
    return np.array(first), np.array(again)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    count, minimise = [0], fewest.minimise

    def counted(*arguments):
        count[0] += 1
        return minimise(*arguments)

    fewest.minimise = counted
    print(f"    uv run --group benchmark python benchmarks/flips.py {shlex.join(sys.argv[1:])}\n")
    cells = {
        "MT-bench (human)": ba.read_votes(folder / "mt_bench_human.csv", prompt=False),
        "LLMFAO": ba.read_votes(folder / "llmfao.csv", prompt=False),
        "arena": ba.read_votes(write_arena_votes(HERE / "data")),
    }
    fits = [
        (name, ba.fit(votes, model=model, robust=False))
        for model in ("bradley-terry", "am-davidson")
        for name, votes in cells.items()
        if votes.n_annotators or model == "bradley-terry"
    ]
    with warnings.catch_warnings(action="ignore"):  # that prompts were read
        fits += [
            (name, ba.fit(ba.read_votes(folder / file), answers=True, robust=False))
            for name, file in (("MT-bench (human)", "mt_bench_human.csv"), ("LLMFAO", "llmfao.csv"))
        ]
    for name, votes in cells.items():
        print(f"- {name}: {votes!r}")
    print("\nSingle votes dropped, all adjacent pairs of the ranking:\n")
    print("| votes | model | pairs | k <= 1 / 3 / 10 | k of the first two (share), P | least k where P > .95", end="")
    print(" | linear = exact / within 10 % or 1 | refits | seconds |\n" + "|---" * 9 + "|")
    for name, fit in fits:
        print(described(name, fit, *timed(count, fit)), flush=True)
    print("\nThe first two, by how (votes; whole annotators within 60 % of the votes):\n")
    print("| votes | model | P | votes dropped (linear), by annotators | turned round | added | annotators dropped |")
    print("|---" * 7 + "|")
    for name, fit in fits:
        drop, flip = (ba.flips(fit, "top", how=how).iloc[0] for how in ("drop", "flip"))
        add = "" if fit.model.is_crossed else f"{ba.flips(fit, 'top', how='add')['k'][0]:.0f}"
        who = ba.flips(fit, "top", by="annotator", max_share=0.6)["k"][0] if fit.cells.n_annotators else np.nan
        by = f", {drop['annotators']}" if "annotators" in drop else ""
        print(
            f"| {name} | {fit.model.name} | {drop['p_better']:.3f} | {drop['k']:.0f} ({drop['k_linear']:.0f}){by} | "
            f"{flip['k']:.0f} | {add} | {'' if np.isnan(who) else f'{who:.0f} of {fit.cells.n_annotators}'} |",
            flush=True,
        )
    print("\nWhole annotators dropped, all adjacent pairs, within 30 % of the votes:\n")
    print("| votes | model | pairs that fall to 1 / 2 / 3 to 10 / more or none | seconds |\n|---|---|---|---|")
    for name, fit in fits:
        if fit.cells.n_annotators:
            table, seconds, _ = timed(count, fit, by="annotator")
            k = table["k"]
            shown = (k == 1).sum(), (k == 2).sum(), ((k > 2) & (k <= 10)).sum(), (k > 10).sum()
            print(f"| {name} | {fit.model.name} | {' / '.join(map(str, shown))} | {seconds:.2f} |", flush=True)
    print("\nOrdered again by the mean of the effects before and after the change, k of the adjacent pairs as a share")
    print(
        "of k along the order of the effects before:\n\n| votes | model | first two | median | least |\n"
        + "|---" * 5
        + "|"
    )
    for name, fit in fits:
        with one_thread():
            first, again = ordered_again(fit)
        share = again / first
        shown = f"{again[0]:.0f} for {first[0]:.0f} | {np.median(share):.3f} | {share.min():.3f}"
        print(f"| {name} | {fit.model.name} | {shown} |", flush=True)
    print("\nk by votes against what z says, log k with log(z sqrt(n_i n_j / (n_i + n_j))), n the votes of either:\n")
    print("| votes | correlation | median of the ratio |\n|---|---|---|")
    for name, fit in fits[: len(cells)]:
        board, table = ba.leaderboard(fit).set_index("competitor")["votes"], ba.flips(fit)
        pairs = list(zip(table["competitor"], table["opponent"], strict=True))
        n, m = (board[table[side]].to_numpy(dtype=float) for side in ("competitor", "opponent"))
        expected = ba.contrasts(fit, pairs)["z"].to_numpy() * np.sqrt(n * m / (n + m))
        correlation = np.corrcoef(np.log(table["k"]), np.log(expected))[0, 1]
        print(f"| {name} | {correlation:.3f} | {np.median(table['k'] / expected):.2f} |", flush=True)


if __name__ == "__main__":
    main()
