"""Votes in the shape of HUMAINE's: what their boards cost, and whether they are those of NUTS.

    uv run python benchmarks/humaine.py > benchmarks/results/humaine.md
    uv run python benchmarks/humaine.py --nuts > benchmarks/results/humaine_nuts.md

28 models, 20,000 people of 22 groups (age, country, ethnicity, politics), 25,000 comparisons with a verdict on each of
five criteria, from one tie in ten to two in three. Strengths differ by criterion (.25 logits), by age (.2) and by the
other kinds of groups (.1); the verdicts of a comparison share how well both answers turned out (.7 logits each). The
first group of every kind is over-represented twofold. The fit is the default with ``groups``. Seconds are of the
processor, over all threads, and on the clock; "all" counts a step as often as "times" says. Memory is the largest that
the process had held by then. ``--nuts``: boards from the votes of a tenth of the people (``--people``) beside NUTS's.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import arviz as az
import numpy as np
import polars as pl
from measuring import Clock, markdown, options_of, peak_mib
from true_boards import scores

import bayes_arena as ba

N, PEOPLE, COMPARISONS = 28, 20_000, 25_000
CRITERIA = {"overall": -1.7, "task": -0.9, "fluency": 0.0, "adaptiveness": -0.3, "trust": 1.1}
"""ln nu of ties on a criterion."""
GROUPS = {"age": (6, 0.2), "country": (2, 0.1), "ethnicity": (6, 0.1), "politics": (8, 0.1)}
"""How many groups, and the spread of strengths in them, in logits."""
STRENGTH_SD, CRITERION_SD, ANSWER_SD = 0.5, 0.25, 0.7


@dataclass(frozen=True, eq=False)
class Arena:
    """Comparisons with a verdict on every criterion, and the shares of a population."""

    votes: pl.DataFrame
    census: dict[str, dict[str, float]]


def draw(seed: int, *, people: int = PEOPLE, comparisons: int = COMPARISONS) -> Arena:
    """Simulate such votes."""
    rng = np.random.default_rng([seed, 47])
    strength = rng.normal(0, STRENGTH_SD, N)
    of_criterion = rng.normal(0, CRITERION_SD, (len(CRITERIA), N))
    theta, tie = np.abs(rng.normal(1, 0.3, people)), rng.normal(0, 0.5, people)
    k = np.concatenate([np.arange(people), rng.integers(people, size=comparisons - people)])
    a = rng.integers(N, size=comparisons)
    b = (a + rng.integers(1, N, size=comparisons)) % N
    row, seen, census, columns = np.arange(comparisons), np.tile(strength, (comparisons, 1)), {}, {}
    for kind, (size, sd) in GROUPS.items():
        often = np.array([2.0, *np.ones(size - 1)])
        group = rng.choice(size, people, p=often / often.sum())[k]
        seen += rng.normal(0, sd, (size, N))[group]
        names = np.array([f"{kind} {one + 1}" for one in range(size)])
        columns[kind], census[kind] = names[group], dict.fromkeys(names.tolist(), 1 / size)
    lead = seen[row, a] - seen[row, b] + np.sqrt(2) * ANSWER_SD * rng.normal(size=comparisons)
    names, words = np.array([f"m{one:02}" for one in range(N)]), np.array(["model_a", "model_b", "tie"])
    columns |= {"model_a": names[a], "model_b": names[b], "judge": np.char.add("u", k.astype(str))}
    for (criterion, nu), mine in zip(CRITERIA.items(), of_criterion, strict=True):
        eta = theta[k] * (lead + mine[a] - mine[b])
        logits = np.column_stack([eta / 2, -eta / 2, nu + tie[k]])
        columns[f"{criterion}_winner"] = words[(logits + rng.gumbel(size=(comparisons, 3))).argmax(axis=1)]
    return Arena(pl.DataFrame(columns), census)


def read(votes: pl.DataFrame) -> ba.Cells:
    """Read votes with the columns about people."""
    return ba.read_votes(votes, slices=list(GROUPS), layout="criteria")


def cost() -> None:
    """Print what steps cost, and how often each is needed."""
    arena, total = draw(0), np.zeros(2)
    print("| step | times | CPU s each | clock s each | peak GiB |\n|---|---:|---:|---:|---:|")
    clock = Clock()

    def done(what: str, often: int = 1) -> None:
        lap = clock.lap()
        total[:] += np.array([lap["cpu_s"], lap["wall_s"]]) * often
        print(f"| {what} | {often} | {lap['cpu_s']:.1f} | {lap['wall_s']:.1f} | {peak_mib() / 2**10:.2f} |", flush=True)
        clock.lap()

    cells = read(arena.votes)
    done("read")
    fit = ba.fit(cells, groups=list(GROUPS))
    done("fit")
    ba.leaderboard(fit)
    done("board")
    ba.leaderboard(fit, slice=("criterion", "trust"))
    done("board of a criterion", len(CRITERIA))
    ba.leaderboard(fit, slice=("age", "age 1"))
    done("board of a group", sum(size for size, _ in GROUPS.values()))
    people = fit.of_population(arena.census)
    ba.leaderboard(people)
    ba.verdict(people)
    done("board and verdict of the population")
    ba.best_by_group(fit, "country")
    done("best by country")
    for kind in ("criterion", *GROUPS):
        ba.slice_gaps(fit, kind)
    ba.disagreement(fit)
    done("gaps, disagreement")
    with tempfile.TemporaryDirectory() as folder:
        ba.report(fit).save(Path(folder) / "page.html")
    done("page")
    print(f"| all | | {total[0]:.1f} | {total[1]:.1f} | {peak_mib() / 2**10:.2f} |")


def beside_nuts(draws: int, people: int) -> None:
    """Print, by board, the distance of the scores in NUTS's deviations, and the ratio of the deviations."""
    cells, clock = read(draw(0, people=people, comparisons=people * 5 // 4).votes), Clock()
    nuts = ba.fit(cells, groups=list(GROUPS), robust=False, method="nuts", draws=draws, tune=draws)
    of_nuts_s = clock.lap()["cpu_s"]
    fit, rows = ba.fit(cells, groups=list(GROUPS), robust=False), list[tuple[str, ...]]()
    of_fit_s, tree = clock.lap()["cpu_s"], nuts.tree
    boards = {"overall": None} | {name: ("criterion", name) for name in CRITERIA}
    boards |= {name: ("age", name) for name in cells.slice_names["age"]}
    for name, of in boards.items():
        (mean, sd), (of_nuts, sd_of_nuts) = (scores(one if of is None else one.on(slice=of)) for one in (fit, nuts))
        far, ratio = np.abs((mean - of_nuts) / sd_of_nuts), sd / sd_of_nuts
        rows.append((name, f"{far.mean():.2f}", f"{far.max():.2f}", f"{ratio.mean():.3f}"))
    stats, posterior = tree["sample_stats"], tree["posterior"].to_dataset()
    rhat, ess = (np.concatenate([np.ravel(x) for x in of(posterior).values()]) for of in (az.rhat, az.ess))
    print(
        f"{people:,} people, {cells.n_votes:,.0f} verdicts, {len(rhat):,} numbers. NUTS: {stats.sizes['chain']} chains "
        f"of {draws:,} draws after as many of warm-up, {of_nuts_s:,.0f} s of the processor; the fit, {of_fit_s:.1f} s. "
        f"Largest r-hat {rhat.max():.3f}, fewest effective draws {ess.min():,.0f}, divergences "
        f"{stats['diverging'].sum():.0f}.\n"
    )
    print(markdown(("board", "mean distance, sd", "largest", "ratio of sd"), rows))


def main() -> None:
    """Print a table."""
    parser = options_of(__doc__, people=PEOPLE // 10, draws=1_000)
    parser.add_argument("--nuts", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.nuts:
        beside_nuts(options.draws, options.people)
    else:
        cost()


if __name__ == "__main__":
    main()
