"""Are the probabilities of annotators true? Reliability over regimes, by simulation.

    uv run python benchmarks/reliability_of_probabilities.py [--arenas 40] [--only sparse] [--robust off]
        > benchmarks/results/reliability_of_probabilities.md

A probability of .3 is true if three in ten of those who get it are what it says. Annotators of many arenas are put into
bins by what ``ba.annotators`` says of them; "off" is the mean probability less the share that is true. Looked at is
each column that there is:

    anomaly_probability      net agreement D_k below a fifth of the median annotator's, by the true parameters, with the
                             ranking of all (:mod:`bayes_arena.reliability.agreement`)
    favour_probability       always votes for one competitor
    guesser_probability      theta = 0
    adversary_probability    votes against the ranking, theta < 0
    suspicion                either of the first two, by which ``ba.flag`` goes: any of all these

Then who is found at a false discovery rate of .05 by the probabilities of guessers and adversaries, beside an oracle
that knows everything but who is what and their theta.

Honest annotators have theta of sd .5 around 1 (folded at 0), ln nu of sd .8 and b of sd .3.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from crowds import Crowd, HonestArena, honest_arena
from oracle import below_the_bar, found_by_oracle
from rigging import rig

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.progress import report
from bayes_arena.reliability.anomaly import suspicion, votes_as_cast
from bayes_arena.reliability.flagging import discoveries

ENOUGH = 200
"""Annotators that a bin needs to be judged."""
BINS = np.array([0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 + 1e-9])


@dataclass(frozen=True, eq=False)
class Known:
    """Votes, and names of the annotators that a probability is about, by its column."""

    cells: ba.Cells
    true: dict[str, set[str]]
    by_oracle: dict[str, set[str]]


def known(arena: HonestArena, who: Crowd) -> Known:
    """Return what is true of an arena without riggers."""
    guessers, adversaries = set(arena.guessers), set(arena.adversaries)
    bad = below_the_bar(arena)
    true = {"anomaly": bad, "favour": set(), "guesser": guessers, "adversary": adversaries}
    probabilities = {f"{name}_probability": members for name, members in true.items()}
    by_oracle = found_by_oracle(arena, who) if guessers or adversaries else {}
    return Known(arena.cells, probabilities | {"suspicion": bad | guessers | adversaries}, by_oracle)


def crowd(annotators: int, each: int, competitors: int = 20, **kinds: float) -> Callable[[int], Known]:
    """Arenas of a crowd with so many votes an annotator."""

    def make(seed: int) -> Known:
        who = Crowd(annotators=annotators, **kinds)  # type: ignore[arg-type]
        arena = honest_arena(who, competitors=competitors, votes=annotators * each, strength_sd=1.0, seed=seed)
        return known(arena, who)

    return make


def always_for_one(seed: int) -> Known:
    """Five of 24 annotators always vote for one of ten competitors, the fifth, and honestly elsewhere."""
    who = Crowd(annotators=19)
    arena = honest_arena(who, competitors=10, votes=1_900, strength_sd=1.0, seed=seed)
    rigged = rig(arena.cells, "t-normal", arena.ranked(5), accounts=5, votes=100, seed=seed)
    favour = set(rigged.riggers)
    true = known(arena, who).true
    return Known(rigged.cells, true | {"favour_probability": favour, "suspicion": true["suspicion"] | favour}, {})


REGIMES: dict[str, Callable[[int], Known]] = {
    "honest, 200 annotators of 100 votes": crowd(200, 100, competitors=60),
    "dense, 42 of 100": crowd(42, 100),
    "sparse, 400 of 10": crowd(400, 10),
    "guessers 20 %, 100 of 60": crowd(100, 60, guessers=0.2),
    "adversaries 15 %, 100 of 60": crowd(100, 60, adversaries=0.15),
    "always for one, 5 of 24 of 100": always_for_one,
    "two camps of sd .8, 42 of 100": crowd(42, 100, camp_sd=0.8),
}


def said_and_true(make: Callable[[int], Known], arenas: int, guard: bool) -> dict[str, pd.DataFrame]:
    """By column, of every annotator: the probability, whether it is true, whether found by it and by the oracle.

    Arenas that nobody is judged in are not among them.
    """
    found: dict[str, list[pd.DataFrame]] = {}
    for seed in range(arenas):
        report("arenas", seed, arenas)
        truth = make(seed)
        try:
            fit = ba.fit(truth.cells) if guard else ba.fit(truth.cells, robust=False)
            table = ba.annotators(fit)
        except ba.ModelError:  # nobody can be judged
            continue
        table["suspicion"] = (
            pd.Series(suspicion(fit), votes_as_cast(fit)[0].annotators).loc[table["annotator"]].to_numpy()
        )
        for column, members in truth.true.items():
            if column in table:
                rows = pd.DataFrame({"said": table[column], "true": table["annotator"].isin(members)})
                rows["found"] = np.isin(np.arange(len(rows)), discoveries(rows["said"].to_numpy(), 0.05))
                rows["oracle"] = table["annotator"].isin(truth.by_oracle.get(column, set()))
                found.setdefault(column, []).append(rows)
    report("")
    return {column: pd.concat(rows) for column, rows in found.items()}


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arenas", type=int, default=40)
    parser.add_argument("--only", default="", help="regimes whose name begins so")
    parser.add_argument("--robust", "off", dest="guard", action="store_false", help="the default fit without its defence")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    short, long, recall = [], [], []
    for regime, make in REGIMES.items():
        if not regime.startswith(options.only):
            continue
        columns = said_and_true(make, options.arenas, options.guard)
        if not columns:
            short.append(f"| {regime} | nobody is judged | | | | | |")
        for column, table in columns.items():
            said, true = table["said"].to_numpy(), table["true"].to_numpy()
            if column in ("guesser_probability", "adversary_probability") and true.any():
                reached = [f"{table.loc[true, by].mean():.3f}" for by in ("found", "oracle")]
                wrong = [f"{1 - true[table[by]].mean():.3f}" if table[by].any() else "-" for by in ("found", "oracle")]
                recall.append(f"| {regime} | {column} | {' | '.join([*reached, *wrong])} |")
            rows = reliability(said, true)
            judged = [abs(mean - share) for _, count, mean, share in rows if count >= ENOUGH]
            worst = f"{max(judged):.3f}" if judged else "-"
            short.append(
                f"| {regime} | {column} | {len(said)} | {said.mean():.3f} | {true.mean():.3f} | "
                f"{np.mean((said - true) ** 2):.4f} | {worst} |"
            )
            long += [
                f"| {regime} | {column} | {name} | {count} | {mean:.3f} | {share:.3f} | {mean - share:+.3f} |"
                + ("" if count >= ENOUGH else " few |")
                for name, count, mean, share in rows
            ]
    print("    uv run python benchmarks/reliability_of_probabilities.py " + " ".join(sys.argv[1:]))
    how = f"the default fit {'with' if options.guard else 'without'} its defence"
    print(f"\nVersion {ba.__version__}, {options.arenas} arenas a regime, {how}.\n")
    print("| regime | probability | annotators | said | true | Brier | worst bin |\n|---|---|---:|---:|---:|---:|---:|")
    print("\n".join(short))
    print("\nFound at a false discovery rate of .05.\n")
    print("| regime | probability | recall | of an oracle | wrong | of an oracle |\n|---|---|---:|---:|---:|---:|")
    print("\n".join(recall))
    print(f"\nBins; few: fewer than {ENOUGH} annotators.\n")
    print("| regime | probability | bin | annotators | said | true | off | |\n|---|---|---|---:|---:|---:|---:|---|")
    print("\n".join(line if line.endswith("few |") else line + " |" for line in long))


if __name__ == "__main__":
    main()
