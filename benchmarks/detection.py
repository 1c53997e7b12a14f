"""Are anomalous annotators found, and only those? Real votes as they are, and perturbed as in the paper's section 5.5.

    uv run python benchmarks/detection.py [--seeds 3] > benchmarks/results/detection.md

Looks for ``llmfao.csv`` and ``mt_bench_human.csv`` in ``$BAYES_ARENA_DATA`` (else ``../shared/data``). Prints whom the
votes as they are make suspect; then, with 5 to 45 % of the annotators perturbed, F1 of the verdict (A_k > 1/2) and
of the paper's rules on its am-ELO, and the share of wrongly flagged ones at false discovery rates .05 and .1; then how
often a ranking comes out reversed, by the probability that the fit gives to its mirror image.

Votes as they are have suspects, who count as false alarms unless left out; which rule names them matters, since one
that leaves out its own false alarms has none. So LLMFAO, its annotators of at least 20 votes, is taken once without
those whom A_k suspects (>= .2) and once without those whom either rule does (or theta <= .005).

Simulated arenas have the size of the paper's Table 1; in every other one tie propensities vary (ln nu of sd 0.8). Some
of their annotators are bad by nature, theta being drawn around 1 with sd 0.5: they are scored with everybody in,
against whose true D_k is below the bar; without those whose D_k is below it before, against who was perturbed (a set
that the truth chooses, so that it favours no rule), with 103 votes an annotator and (25 % perturbed only) with 20; and
without suspects, as LLMFAO.
"""

import itertools
import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd
from measuring import FILES, options_of, timed

import bayes_arena as ba
from bayes_arena.markup import percent
from bayes_arena.paper.measures import detection
from bayes_arena.paper.perturbation import KINDS, Kind, perturb, suspects
from bayes_arena.progress import report
from bayes_arena.reliability.anomaly import TOLERANCE

SHARES = tuple(step / 20 for step in range(1, 10))
RATES = (0.05, 0.1)
EFFECT = {"random": -0.5, "equal": 0.0, "flip": -1.0, "mixed": -0.5}
"""What becomes of an annotator's net agreement."""
HALVES = (0.4, 0.45, 0.5)
BINS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def as_they_are(name: str, cells: ba.Cells) -> None:
    fit, fitting, _ = timed(lambda: ba.fit(cells, robust=False))
    table, rating, _ = timed(lambda: ba.annotators(fit))
    verdicts = table["verdict"].value_counts()
    counts = ", ".join(f"{verdicts.get(verdict, 0)} {verdict}" for verdict in ("anomalous", "watch", "reliable"))
    found = table[table["verdict"] == "anomalous"]
    who = ", ".join(f"{row.annotator} {row.anomaly_probability:.2f} ({row.kind})" for row in found.itertuples())
    flagged = ba.flag(fit)
    print(f"| {name} | {counts} | {who or 'nobody'} | {len(flagged)} | {fitting:.2f}, {rating:.2f} |")


def truly_anomalous(arena: ba.Arena, kind: Kind = "flip", perturbed: Iterable[str] = ()) -> set[str]:
    """Whose net agreement, by the parameters that the votes were simulated with, is below the bar."""
    i, j = np.triu_indices(len(arena.competitors), k=1)
    e = 0.5 * arena.discrimination * np.abs(arena.strength[i] - arena.strength[j])[:, None]
    net = (2 * np.sinh(e) / (2 * np.cosh(e) + np.exp(arena.log_tie_propensity))).mean(axis=0)
    net[np.isin(arena.annotators, list(perturbed))] *= EFFECT[kind]
    return {arena.annotators[k] for k in np.flatnonzero(net < TOLERANCE * np.median(np.abs(net)))}


def runs(
    name: str,
    cells: ba.Cells,
    seeds: range,
    arena: ba.Arena | None = None,
    *,
    shares: tuple[float, ...] = SHARES,
) -> list[dict[str, object]]:
    """One row for every kind, share and seed: F1 of each rule, and wrong shares at each rate.

    The truth is who was perturbed or, given the arena, who is below the bar.
    """
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        for share in shares:
            for seed in seeds:
                report(f"{name}: {kind} {percent(share)}, seed {seed}")
                perturbed, who = perturb(cells, kind, share, seed)
                fit, paper = ba.fit(perturbed, robust=False), ba.fit(perturbed, model="am-elo", prior="flat")
                table = ba.annotators(fit)
                found = {
                    "A > .5": table["annotator"][table["verdict"] == "anomalous"],
                    "theta <= 0": ba.flag_by_theta(paper),
                    "theta <= .005": ba.flag_by_theta(paper, epsilon=0.005),
                }
                true = set(who) if arena is None else truly_anomalous(arena, kind, who)
                row = {"votes": name, "kind": kind, "share": share, "mirror": fit.mirror_probability}
                row |= {rule: detection(flagged, true).f1 for rule, flagged in found.items()}
                for rate in RATES:
                    at_rate = detection(ba.flag(fit, fdr=rate), true)
                    row |= {f"wrong at {rate:g}": 1 - at_rate.precision, f"found at {rate:g}": at_rate.recall}
                rows.append(row)
    report("")
    return rows


def count_suspects(name: str, arenas: list[ba.Cells]) -> None:
    found = pd.concat(suspects(cells) for cells in arenas)
    size = sum(cells.n_annotators for cells in arenas)
    counts = (found[rule].sum() for rule in ("by_anomaly", "by_theta"))
    print(f"| {name} | {size} | {' | '.join(f'{count}' for count in counts)} | {len(found)} |")


def runs_without_suspects(name: str, cells: ba.Cells, seeds: range) -> list[dict[str, object]]:
    """Rows without those whom A_k suspects of the votes as they are, and without those whom either rule does."""
    found = suspects(cells)
    by_anomaly = set(found.loc[found["by_anomaly"], "annotator"])
    rows = runs(f"{name}, nobody suspect by A before", ba.drop_annotators(cells, by_anomaly), seeds)
    either = f"{name}, nobody suspect by either before"
    of_either = by_anomaly | set(found["annotator"])
    if by_anomaly == of_either:
        return rows + [row | {"votes": either} for row in rows]
    return rows + runs(either, ba.drop_annotators(cells, of_either), seeds)


def reversed_rankings(arenas: int) -> list[tuple[float, float | None, bool]]:
    """Share turned round, probability of the mirror, and whether it came out.

    Which of the two is the mirror is for those to say whose votes count.
    """
    rows = []
    for share in HALVES:
        for seed in range(arenas):
            report(f"mirror: {percent(share)}, arena {seed}")
            size = 20
            arena = ba.simulate(
                competitors=10, annotators=size, votes=60 * size, anomalous=round(share * size), seed=1000 + seed
            )
            fit = ba.fit(ba.read_votes(arena.votes), method="marginal", robust=False)
            counted = np.isin(arena.annotators, fit.cells.annotators)
            up = fit.strength @ arena.strength * arena.discrimination[counted].mean()
            rows.append((share, fit.mirror_probability, bool(up < 0)))
    report("")
    return rows


def markdown(table: pd.DataFrame, index: str) -> str:
    lines = [f"| {index} | " + " | ".join(map(str, table.columns)) + " |", "|---" * (len(table.columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |" for name, row in table.iterrows()]
    return "\n".join(lines)


def in_short(table: pd.DataFrame, rules: list[str]) -> pd.DataFrame:
    """Mean F1 of each rule over all kinds of perturbation, and over those who call everything a tie alone."""
    names = table["votes"].unique()
    equal = table[table["kind"] == "equal"].groupby("votes")[rules].mean().loc[names]
    return table.groupby("votes")[rules].mean().loc[names].join(equal.add_suffix(", ties only"))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="perturbations of each kind and share of LLMFAO")
    parser.add_argument("--arenas", type=int, default=10, help="simulated arenas")
    parser.add_argument("--mirrors", type=int, default=100, help="arenas in which nearly half are turned round")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)

    print("## The votes as they are\n")
    print("| votes | verdicts | anomalous | flagged at .05 | seconds: fit, annotators |\n|---|---|---|---:|---:|")
    for name, file in FILES.items():
        as_they_are(name, ba.read_votes(file, prompt=False))

    llmfao = ba.keep_annotators(ba.read_votes(FILES["LLMFAO"], prompt=False), more_than=19)
    print("\n## Suspect as they are\n")
    print("| votes | annotators | by A >= .2 | by theta <= .005 | by any |")
    print("|---|---:|---:|---:|---:|")
    count_suspects("LLMFAO", [llmfao])
    count_suspects("simulated", [ba.read_votes(planted(seed).votes) for seed in range(options.arenas)])
    rows = runs_without_suspects("LLMFAO", llmfao, range(options.seeds))
    for seed in range(options.arenas):
        rows += simulated(seed)
    print_detections(pd.DataFrame(rows))
    print_reversals(options.mirrors)


def planted(seed: int, votes: int = 4321) -> ba.Arena:
    return ba.simulate(votes=votes, tie_spread=0.8 * (seed % 2), seed=100 + seed)


def simulated(seed: int) -> list[dict[str, object]]:
    """Rows of one simulated arena."""
    arena = planted(seed)
    cells, once = ba.read_votes(arena.votes), range(seed, seed + 1)
    honest = ba.drop_annotators(cells, truly_anomalous(arena))
    rows = runs("simulated, all", cells, once, arena)
    rows += runs("simulated, nobody below the bar before", honest, once)
    return rows + runs_without_suspects("simulated", cells, once) + sparse(seed)


def sparse(seed: int) -> list[dict[str, object]]:
    """Rows of the same arena with 20 votes an annotator, a quarter of them perturbed."""
    arena = planted(seed, votes=20 * 42)
    honest = ba.drop_annotators(ba.read_votes(arena.votes), truly_anomalous(arena))
    name = "simulated, nobody below the bar before, 20 votes each, 25 % perturbed"
    return runs(name, honest, range(seed, seed + 1), shares=(0.25,))


def print_detections(table: pd.DataFrame) -> None:
    rules = ["A > .5", "theta <= 0", "theta <= .005"]
    rates = [f"{what} at {rate:g}" for rate in RATES for what in ("wrong", "found")]
    print("\n## In short: mean F1 over 5 to 45 % of the annotators perturbed\n")
    print(markdown(in_short(table, rules), "votes"))
    print("\n## Perturbed annotators: F1, and shares of wrongly flagged and of found at false discovery rates\n")
    for name in table["votes"].unique():
        part = table[table["votes"] == name]
        means = part.groupby("kind", sort=False)[rules + rates].mean()
        means.loc["all"] = part[rules + rates].mean()
        means.loc["all, standard error"] = part[rules + rates].sem()
        means.loc["equal, up to 35 %"] = part[(part["kind"] == "equal") & (part["share"] < 0.36)][rules + rates].mean()
        means.loc["flip, mirror < .01"] = part[(part["kind"] == "flip") & (part["mirror"] < 0.01)][rules + rates].mean()
        print(markdown(means, name) + "\n")
        print(markdown(part.pivot_table("A > .5", "kind", "share", sort=False), f"{name}: A > .5 by share") + "\n")


def print_reversals(arenas: int) -> None:
    print("## Rankings that came out reversed, 40 to 50 % turned round\n")
    mirror = pd.DataFrame(reversed_rankings(arenas), columns=["share", "probability", "reversed"])
    print("| mirror_probability | arenas | mean probability | share reversed |\n|---|---:|---:|---:|")
    for low, high in itertools.pairwise(BINS):
        part = mirror[(mirror["probability"] >= low) & (mirror["probability"] < high + (high == BINS[-1]))]
        print(
            f"| {low:g} to {high:g} | {len(part)} | {part['probability'].mean():.4f} | {part['reversed'].mean():.3f} |"
        )


if __name__ == "__main__":
    main()
