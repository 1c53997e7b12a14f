"""How far the best of many variants is overrated, and whether pooled scores are not.

    uv run python benchmarks/siblings.py [--arenas 400] > benchmarks/results/siblings.md

Fifteen providers with one to five competitors each, and one provider with 27 variants, each with so many votes against
the competitors of the others; strengths N(0, s_m^2) by provider and N(0, s_d^2) by variant, in logits, no ties. The
variant with the highest plain score is looked at: with all variants among the votes; with the other 26 left out and
``tested`` given; and with them left out and nothing said. Errors are in Elo points against the mean of the competitors,
beside them the standard error over arenas; coverage is of 89 % intervals, the plain one that of the leaderboard.
"""

import shlex
import sys

import numpy as np
from measuring import options_of

import bayes_arena as ba

PROVIDERS, VARIANTS, LEVEL = 15, 27, 0.89
POINTS = ba.EloScale().points_per_logit


def simulated(rng: np.random.Generator, s_m: float, s_d: float, votes: int) -> tuple[ba.Cells, np.ndarray, np.ndarray]:
    """Votes, strengths and families; the 27 variants come last."""
    sizes = np.append(rng.integers(1, 6, PROVIDERS), VARIANTS)
    family = np.repeat(np.arange(len(sizes)), sizes)
    strength = rng.normal(0, s_m, len(sizes))[family] + rng.normal(0, s_d, len(family))
    others = len(family) - VARIANTS
    a = np.repeat(np.arange(len(family)), votes)
    b = rng.integers(others - 1, size=len(a))
    b += (a < others) & (b >= a)
    won = rng.random(len(a)) < 1 / (1 + np.exp(strength[b] - strength[a]))
    order = np.lexsort((b, a))
    cells = ba.Cells(
        competitors=tuple(f"c{index:03}" for index in range(len(family))),
        annotators=(),
        a=a[order],
        b=b[order],
        annotator=np.zeros_like(a),
        counts=np.eye(4)[np.where(won[order], 0, 1)],
    )
    return cells, strength, family


def with_one_variant(cells: ba.Cells, best: int, others: int) -> ba.Cells:
    """Leave the variants out, all but one."""
    rows = (cells.a < others) | (cells.a == best)
    names = (*cells.competitors[:others], cells.competitors[best])
    return cells.take(rows, competitors=names, a=np.minimum(cells.a[rows], others))


def seen(cells: ba.Cells, strength: np.ndarray, family: np.ndarray, best: str, tested: dict[str, int]) -> list[float]:
    """Errors of the best variant's plain and pooled score, the inflation predicted, and whether intervals cover."""
    fit = ba.fit(cells, model="bradley-terry")
    truth = 1000 + POINTS * (strength - strength.mean())
    provider = {name: f"p{each:02}" for name, each in zip(cells.competitors, family, strict=True)}
    table = ba.siblings(fit, provider, tested=tested, level=LEVEL).set_index("competitor").loc[list(cells.competitors)]
    board = ba.leaderboard(fit, level=LEVEL).set_index("competitor").loc[best]
    row, at = table.loc[best], cells.competitors.index(best)
    return [
        row["elo"] - truth[at],
        row["inflation"],
        row["pooled"] - truth[at],
        board["lower"] <= truth[at] <= board["upper"],
        row["lower"] <= truth[at] <= row["upper"],
        np.mean((table["lower"] <= truth) & (truth <= table["upper"])),
    ]


def main() -> None:
    arenas = options_of(__doc__, arenas=400).parse_args().arenas
    print(f"    uv run python benchmarks/siblings.py {shlex.join(sys.argv[1:])}\n")
    print(f"{arenas} arenas a row.\n")
    print("| s_m | s_d | votes each | the other 26 | plain error | predicted | pooled error", end="")
    print(" | plain covers | pooled covers | pooled covers, all competitors |\n" + "|---" * 10 + "|")
    for s_m, s_d, votes in ((0.6, 0.3, 100), (0.6, 0.3, 400), (0.6, 0.1, 400), (0.3, 0.3, 400)):
        found: dict[str, list[list[float]]] = {"among the votes": [], "hidden, tested=27": [], "hidden, unsaid": []}
        for seed in range(arenas):
            cells, strength, family = simulated(np.random.default_rng(seed), s_m, s_d, votes)
            others = len(family) - VARIANTS
            best = others + int(np.argmax(ba.fit(cells, model="bradley-terry").strength[others:]))
            name, one = cells.competitors[best], with_one_variant(cells, best, others)
            shown = [*range(others), best]
            known = strength[shown], family[shown], name
            found["among the votes"].append(seen(cells, strength, family, name, {}))
            found["hidden, tested=27"].append(seen(one, *known, {f"p{PROVIDERS:02}": VARIANTS}))
            found["hidden, unsaid"].append(seen(one, *known, {}))
        for way, rows in found.items():
            mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(arenas)
            points = " | ".join(f"{mean[at]:+.1f} +- {error[at]:.1f}" for at in range(3))
            covers = " | ".join(f"{mean[at]:.3f} +- {error[at]:.3f}" for at in range(3, 6))
            print(f"| {s_m} | {s_d} | {votes} | {way} | {points} | {covers} |", flush=True)


if __name__ == "__main__":
    main()
