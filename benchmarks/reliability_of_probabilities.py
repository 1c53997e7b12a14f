"""Are the probabilities of annotators true? Reliability over regimes, by simulation.

    uv run python benchmarks/reliability_of_probabilities.py [--arenas 40] [--only sparse]
        > benchmarks/results/reliability_of_probabilities.md

A probability of .3 is true if three in ten of those who get it are what it says. Annotators of many arenas are put into
bins by what ``ba.annotators`` says of them; "off" is the mean probability less the share that is true. True of the
anomaly probability is that the votes say little (consistency E_k below a fifth of the median annotator's), are largely
against the ranking (D_k < -E_k / 2) or are the side's, by the true parameters (:mod:`bayes_arena.reliability.anomaly`).

Then who is found at a false discovery rate of .05 of the guessers and adversaries, and how many of those named are
neither; an oracle that knows everything but who is what and their theta is beside it.

Honest annotators have theta of sd .5 around 1 (folded at 0), ln nu of sd .8 and b of sd .3.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from crowds import Crowd, HonestArena, honest_arena
from measuring import options_of
from oracle import anomalous, found_by_oracle

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.progress import report
from bayes_arena.reliability.flagging import discoveries

ENOUGH = 200
"""Annotators that a bin needs to be judged."""
BINS = np.array([0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 + 1e-9])


@dataclass(frozen=True, eq=False)
class Known:
    """Votes, names of the anomalous annotators and of the guessers and adversaries, and whom an oracle finds of these.

    The latter is by kind.
    """

    cells: ba.Cells
    anomalous: set[str]
    planted: dict[str, set[str]]
    by_oracle: dict[str, set[str]]


def known(arena: HonestArena, who: Crowd) -> Known:
    """Return what is true of an arena."""
    planted = {"guessers": set(arena.guessers), "adversaries": set(arena.adversaries)}
    return Known(arena.cells, anomalous(arena), planted, found_by_oracle(arena, who) if any(planted.values()) else {})


def crowd(annotators: int, each: int, competitors: int = 20, **kinds: float) -> Callable[[int], Known]:
    """Arenas of a crowd with so many votes an annotator."""

    def make(seed: int) -> Known:
        who = Crowd(annotators=annotators, **kinds)  # type: ignore[arg-type]
        arena = honest_arena(who, competitors=competitors, votes=annotators * each, strength_sd=1.0, seed=seed)
        return known(arena, who)

    return make


REGIMES: dict[str, Callable[[int], Known]] = {
    "honest, 200 annotators of 100 votes": crowd(200, 100, competitors=60),
    "dense, 42 of 100": crowd(42, 100),
    "sparse, 400 of 10": crowd(400, 10),
    "guessers 20 %, 100 of 60": crowd(100, 60, guessers=0.2),
    "adversaries 15 %, 100 of 60": crowd(100, 60, adversaries=0.15),
    "guessers 20 %, 400 of 20": crowd(400, 20, guessers=0.2),
    "two camps of sd .8, 42 of 100": crowd(42, 100, camp_sd=0.8),
}


def said_and_true(make: Callable[[int], Known], arenas: int) -> pd.DataFrame:
    """Of every annotator: the probability, whether it is true, what was planted, who is found, by the oracle too."""
    found = []
    for seed in range(arenas):
        report("arenas", seed, arenas)
        truth = make(seed)
        table = ba.annotators(ba.fit(truth.cells, robust=False))
        names, said = table["annotator"], table["anomaly_probability"]
        rows = pd.DataFrame({"said": said, "true": names.isin(truth.anomalous)})
        rows["found"] = np.isin(np.arange(len(rows)), discoveries(said.to_numpy(), 0.05))
        for kind, members in truth.planted.items():
            rows[kind], rows[f"{kind} by oracle"] = names.isin(members), names.isin(truth.by_oracle.get(kind, set()))
        found.append(rows)
    report("")
    return pd.concat(found)


def reliability(said: Floats, true: np.ndarray) -> list[tuple[str, int, float, float]]:
    """Bins that have annotators: name, annotators, mean probability, share that is true."""
    where = np.digitize(said, BINS) - 1
    rows = []
    for place in np.unique(where):
        inside = where == place
        name = f"{BINS[place]:g} to {min(BINS[place + 1], 1):g}"
        rows.append((name, int(inside.sum()), float(said[inside].mean()), float(true[inside].mean())))
    return rows


def main() -> None:
    parser = options_of(__doc__, arenas=40)
    parser.add_argument("--only", default="", help="regimes whose name begins so")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    short, long, recall = [], [], []
    for regime, make in REGIMES.items():
        if not regime.startswith(options.only):
            continue
        table = said_and_true(make, options.arenas)
        said, true = table["said"].to_numpy(), table["true"].to_numpy()
        wrong = f"{1 - true[table['found']].mean():.3f}" if table["found"].any() else "-"
        for kind in ("guessers", "adversaries"):
            if (of := table[kind]).any():
                reached = [f"{table.loc[of, by].mean():.3f}" for by in ("found", f"{kind} by oracle")]
                recall.append(f"| {regime} | {kind} | {' | '.join(reached)} | {wrong} |")
        rows = reliability(said, true)
        judged = [abs(mean - share) for _, count, mean, share in rows if count >= ENOUGH]
        worst = f"{max(judged):.3f}" if judged else "-"
        brier = np.mean((said - true) ** 2)
        short.append(f"| {regime} | {len(said)} | {said.mean():.3f} | {true.mean():.3f} | {brier:.4f} | {worst} |")
        long += [
            f"| {regime} | {name} | {count} | {mean:.3f} | {share:.3f} | {mean - share:+.3f} |"
            + (" |" if count >= ENOUGH else " few |")
            for name, count, mean, share in rows
        ]
    print("    uv run python benchmarks/reliability_of_probabilities.py " + " ".join(sys.argv[1:]))
    print(f"\nVersion {ba.__version__}, {options.arenas} arenas a regime.\n")
    print("| regime | annotators | said | true | Brier | worst bin |\n|---|---:|---:|---:|---:|---:|")
    print("\n".join(short))
    print("\nFound at a false discovery rate of .05; wrong: of all found, those that are not anomalous.\n")
    print("| regime | planted | recall | of an oracle | wrong |\n|---|---|---:|---:|---:|")
    print("\n".join(recall))
    print(f"\nBins; few: fewer than {ENOUGH} annotators.\n")
    print("| regime | bin | annotators | said | true | off | |\n|---|---|---:|---:|---:|---:|---|")
    print("\n".join(long))


if __name__ == "__main__":
    main()
