"""What a judge that is a program is worth beside people, and whether that holds for votes that were left out.

    uv run python benchmarks/judges.py [--splits 20] [--arenas 20] > benchmarks/results/judges.md

Looks for ``mt_bench_human.csv`` and ``mt_bench_gpt4.csv`` in ``$BAYES_ARENA_DATA`` (else ``../shared/data``): 3,355
votes of people on 6 competitors, and GPT-4's verdict on 2,400 of the same items ("tie (inconsistent)", where it changed
its mind with the order, as a tie). GPT-4's votes on LLMFAO are not in the folder: there people and judge are simulated
from am-davidson fitted to LLMFAO, the judge once on every item of a prompt and a pair, with the theta, the ties and the
spread of taste that an earlier study found of GPT-4 there.

Votes of people are split 80/20, and n of the 80 % are fitted, alone, with all votes of the judge as those of one more
annotator, or with a taste of the judge's own. Scored are the people's votes left out, in nats a vote; differences to
people alone, and of taste to none, with standard errors by Nadeau & Bengio in parentheses.

The last tables are of simulated judges beside 40 people with 60 votes each on 12 competitors, medians over arenas.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from measuring import DATA, options_of

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.davidson import LIKELIHOOD
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.reliability.worth import worth
from bayes_arena.validation.cross_validation import vote_scores
from bayes_arena.validation.prediction import predict_cells
from bayes_arena.votes.cells import single_votes, with_counts
from bayes_arena.votes.names import PROMPT
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

JUDGE = "gpt-4"
SIZES = (200, 800, 1600)
TEST = 0.2
POOLED = PRESETS["am-davidson"]
ANSWERS = {"strength_by": (PROMPT,), "ties_by": (PROMPT,)}
SIMULATED = {"theta": 1.37, "nu": 0.08, "taste": 0.99}
"""Theta and nu relative to people, spread of taste in logits."""
PEOPLE, EACH, COMPETITORS = 40, 60, 12
NAMES = np.array(["model_a", "model_b", "tie"])


def mt_bench(prompt: list[str] | bool) -> ba.Cells:
    """Read the votes of people and of GPT-4 on MT-bench."""
    people, judge = (pl.read_csv(DATA / f"mt_bench_{who}.csv") for who in ("human", "gpt4"))
    votes = pl.concat([people, judge.with_columns(judge=pl.lit(JUDGE))])
    return ba.read_votes(votes, prompt=prompt, outcomes={"tie (inconsistent)": "tie"}, programs=JUDGE)


def outcomes(eta: Floats, log_tie: Floats, rng: np.random.Generator) -> np.ndarray:
    """Draw votes from their coordinates."""
    z = np.empty((2, len(eta)))
    z[ETA], z[T] = eta, log_tie
    p = np.exp(LIKELIHOOD.log_probabilities(z))[[WIN, LOSS, TIE]]
    return NAMES[(rng.random(len(eta)) > np.cumsum(p, axis=0)[:2]).sum(axis=0)]


def llmfao(seed: int = 0) -> ba.Cells:
    """Simulate LLMFAO: its people on their pairs, and a judge once on each item."""
    cells = ba.read_votes(DATA / "llmfao.csv", prompt="question_id")
    fit, rng = ba.fit(cells, model=POOLED), np.random.default_rng(seed)
    row, _ = single_votes(cells)
    tally = cells.by_cell()
    eta, log_tie = fit.target_of(tally).coordinates(fit.point)[:, row]
    names = np.array(cells.competitors)
    people = {
        "model_a": names[cells.a[row]],
        "model_b": names[cells.b[row]],
        "winner": outcomes(eta, log_tie, rng),
        "judge": np.array(cells.annotators)[cells.annotator[row]],
    }
    low, high = np.minimum(cells.a, cells.b), np.maximum(cells.a, cells.b)
    items = np.unique(np.stack([cells.slices[PROMPT], low, high]), axis=1)
    seen = fit.strength + rng.normal(0, SIMULATED["taste"], cells.n_competitors)
    lead = SIMULATED["theta"] * (seen[items[1]] - seen[items[2]])
    tie = np.full(len(lead), np.median(log_tie) + math.log(SIMULATED["nu"]))
    judge = {
        "model_a": names[items[1]],
        "model_b": names[items[2]],
        "winner": outcomes(lead, tie, rng),
        "judge": np.full(len(lead), JUDGE),
    }
    return ba.read_votes(pl.concat([pl.DataFrame(people), pl.DataFrame(judge)]), programs=JUDGE)


def splits_of(cells: ba.Cells, n: int, splits: int) -> Iterator[tuple[ba.Cells, ba.Cells, ba.Cells]]:
    """Yield n votes of people, the same with all votes of the judge, and votes of people left out."""
    row, outcome = single_votes(cells)
    by_judge = cells.annotator[row] == cells.annotators.index(JUDGE)
    of_people = np.flatnonzero(~by_judge)

    def some(votes: np.ndarray) -> ba.Cells:
        counts = np.zeros_like(cells.counts)
        np.add.at(counts, (row[votes], outcome[votes]), 1.0)
        return with_counts(cells, counts)

    for split in range(splits):
        order = np.random.default_rng(split).permutation(of_people)
        left_out = round(TEST * len(order))
        kept = order[left_out : left_out + n]
        yield some(kept), some(np.append(kept, np.flatnonzero(by_judge))), some(order[:left_out])


def log_score(fit: ba.Fit, cells: ba.Cells) -> float:
    """Return the mean log score of votes."""
    _, scores, votes = vote_scores(predict_cells(fit, cells), cells.counts)
    return float((scores * votes).sum() / votes.sum())


def held_out(title: str, cells: ba.Cells, splits: int, effects: dict[str, tuple[str, ...]]) -> None:
    """Print how well votes of people are predicted without the judge, with it, and with its taste."""
    pooled = replace(POOLED, **effects)
    taste = replace(pooled, name="with taste", strength_by=(*pooled.strength_by, "program"))
    print(f"## {title}: {splits} splits\n")
    print("| votes of people | people alone | + judge, pooled | + judge, with taste | taste less pooled |")
    print("|---|---|---|---|---|")
    for n in SIZES:
        values = np.empty((splits, 3))
        for split, (alone, both, left_out) in enumerate(splits_of(cells, n, splits)):
            for column, (votes, model) in enumerate(((alone, pooled), (both, pooled), (both, taste))):
                values[split, column] = log_score(ba.fit(votes, model=model), left_out)
        changes = values[:, [1, 2, 2]] - values[:, [0, 0, 1]]
        errors = math.sqrt(1 / splits + TEST / (1 - TEST)) * changes.std(axis=0, ddof=1)
        shown = [f"{mean:+.4f} ({error:.4f})" for mean, error in zip(changes.mean(axis=0), errors, strict=True)]
        print(f"| {n:,} | {values[:, 0].mean():.4f} | " + " | ".join(shown) + " |", flush=True)
    print()


def report(title: str, cells: ba.Cells) -> None:
    """Print the report of the judge under the default fit, and the worth of its votes without a taste."""
    fit = ba.fit(cells)
    pooled = ba.fit(cells, model=replace(fit.model, strength_by=tuple(set(fit.model.strength_by) - {"program"})))
    kin = [name for name in cells.competitors if name.startswith("gpt")]
    print(f"## {title}: {fit.model.name}\n\n```\n{ba.judge_report(fit, JUDGE)}\n```\n")
    print(f"Own kind {', '.join(kin)}: {ba.judge_report(fit, JUDGE, own=kin).self_preference}\n")
    print(f"The same without taste: {ba.judge_report(pooled, JUDGE).sentence}\n", flush=True)


def arena(votes: int, tau: float, seed: int) -> tuple[ba.Cells, float]:
    """Simulate people and a judge like them but for its taste; and the ratio of the information of their votes."""
    rng = np.random.default_rng([seed, 7])
    r, taste = rng.normal(size=COMPETITORS), rng.normal(size=COMPETITORS)
    k = np.append(np.repeat(np.arange(PEOPLE), EACH), np.full(votes, PEOPLE))
    i = rng.integers(COMPETITORS, size=len(k))
    j = (i + rng.integers(1, COMPETITORS, size=len(k))) % COMPETITORS
    theta = np.append(np.abs(1 + 0.3 * rng.normal(size=PEOPLE)), 1.3)
    log_tie = np.append(0.5 * rng.normal(size=PEOPLE), 0.0)
    eta = theta[k] * (r[i] - r[j] + tau * (taste[i] - taste[j]) * (k == PEOPLE))
    table = {
        "model_a": [f"model-{one:02d}" for one in i],
        "model_b": [f"model-{one:02d}" for one in j],
        "winner": outcomes(eta, log_tie[k], rng),
        "judge": np.array([*(f"person-{one:02d}" for one in range(PEOPLE)), JUDGE])[k],
    }
    win, tie, loss = np.exp(eta / 2), np.exp(log_tie[k]), np.exp(-eta / 2)
    total = win + tie + loss
    said = theta[k] ** 2 * ((win + loss) / total - ((win - loss) / total) ** 2) / 4
    return ba.read_votes(pl.DataFrame(table), programs=JUDGE), said[k == PEOPLE].mean() / said[k < PEOPLE].mean()


def simulated(arenas: int) -> None:
    """Print what simulated judges are worth, by taste and votes."""
    print(f"## Simulated judges, {arenas} arenas each: worth of a vote in votes of people\n")
    print("| taste | votes of the judge | Fisher ratio | no taste in the model | with taste | spread found | at most |")
    print("|---|---|---|---|---|---|---|")
    for tau in (0.0, 0.3, 0.6):
        for votes in (300, 1200, 4800):
            found = []
            for seed in range(arenas):
                cells, ratio = arena(votes, tau, seed)
                fit, pooled = ba.fit(cells, robust=False), ba.fit(cells, model=POOLED)
                own, none = (worth(one, JUDGE, cells.people) for one in (fit, pooled))
                most = math.inf if own.most is None else own.most
                found.append((ratio, none.each, own.each, fit.spreads.spread("strength_by_program"), most))
            ratio, none, own, spread, most = np.median(found, axis=0)
            print(
                f"| {tau:g} | {votes:,} | {ratio:.2f} | {none:.2f} | {own:.2f} | {spread:.2f} | {most:,.0f} |",
                flush=True,
            )
    print()


def main() -> None:
    options = options_of(__doc__, splits=20, arenas=20).parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    print(f"# Judges\n\n    uv run python benchmarks/judges.py --splits {options.splits} --arenas {options.arenas}\n")
    print(str(__doc__).split("\n\n", 2)[2])
    plain, answers = mt_bench(prompt=False), mt_bench(prompt=["question_id", "turn"])
    report("GPT-4 on MT-bench, prompts ignored", plain)
    report("GPT-4 on MT-bench, question x turn", answers)
    held_out("GPT-4 on MT-bench, prompts ignored", plain, options.splits, {})
    held_out("GPT-4 on MT-bench, answers", answers, options.splits, ANSWERS)
    print("GPT-4 on LLMFAO: not measured, its votes are not at hand.\n")
    held_out("Simulated judge, LLMFAO's layout", llmfao(), options.splits, {})
    simulated(options.arenas)


if __name__ == "__main__":
    main()
