"""A gate for continuous integration: how often it is wrong, on simulated comparisons by one language model as judge.

    python benchmarks/gate.py [--comparisons 1000] > benchmarks/results/gate.md

A judge compares a new and a base model on 250 prompts, each in both orders: 500 votes. On a prompt the new one leads by
d + Normal(0, .7) logits, the judge leans to the side shown first by .3 logits, ties follow Davidson's model with
nu = .5, and a share of the verdicts is noise: a coin toss. d is such that without noise and without a side the new one
takes the score that its lead stands for, averaged over prompts. Fitted as by ``bayes-arena pairs votes.csv
--program judge --no-prompt --require ...``, the default model at level .95. With the two exchanged, the same fits show
leads below zero.
"""

import math
import sys
import warnings
from collections import Counter

import numpy as np
import polars as pl
from measuring import options_of
from scipy.optimize import brentq

import bayes_arena as ba
from bayes_arena.decisions.gate import gate
from bayes_arena.markup import percent
from bayes_arena.ratings.elo import EloScale

PROMPTS, SPREAD, SIDE, NU = 250, 0.7, 0.3, 0.5
POINTS = EloScale().points_per_logit
GATES = (("better", 0.0), ("not-worse", 20.0), ("settled", 0.0))


def expected(lead: np.ndarray) -> np.ndarray:
    """Return the score under Davidson's model, a tie counting one half."""
    win, loss = np.exp(lead / 2), np.exp(-lead / 2)
    return (win + NU / 2) / (win + loss + NU)


def logits(elo: float) -> float:
    """Return the mean lead at which the average score over prompts is that of a lead in Elo points."""
    x, weight = np.polynomial.hermite_e.hermegauss(41)
    score = 1 / (1 + math.exp(-elo / POINTS))
    return float(brentq(lambda d: expected(d + SPREAD * x) @ weight / weight.sum() - score, -5, 5))


def voted(lead: float, noise: float, seed: int) -> pl.DataFrame:
    """Simulate the votes of a judge, the position swapped."""
    rng = np.random.default_rng(seed)
    of_prompt, names, orders = lead + SPREAD * rng.normal(size=PROMPTS), np.array(["new", "base"]), []
    for first in (0, 1):
        shown = (of_prompt if first == 0 else -of_prompt) + SIDE
        odds = np.array([np.exp(shown / 2), np.exp(-shown / 2), np.full(PROMPTS, NU)])
        outcome = (rng.random(PROMPTS) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)
        tossed = rng.random(PROMPTS) < noise
        outcome[tossed] = rng.integers(2, size=int(tossed.sum()))
        rows = {
            "model_a": np.repeat(names[first], PROMPTS),
            "model_b": np.repeat(names[1 - first], PROMPTS),
            "winner": np.array(["model_a", "model_b", "tie"])[outcome],
            "judge": np.repeat("judge", PROMPTS),
            "prompt": np.arange(PROMPTS),
        }
        orders.append(pl.DataFrame(rows))
    return pl.concat(orders)


def main() -> None:
    parser = options_of(__doc__, comparisons=1000)
    parser.add_argument("--leads", type=float, nargs="+", default=[0, 20, 50])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0], help="shares of verdicts that are coin tosses")
    parser.add_argument("--write", help="only write the votes of one comparison to this file")
    asked = parser.parse_args()
    if asked.write:
        voted(logits(asked.leads[0]), asked.noise[0], seed=0).write_csv(asked.write)
        return
    warnings.simplefilter("ignore", ba.ArenaWarning)
    print(f"    {' '.join(['python', 'benchmarks/gate.py', *sys.argv[1:]])}\n")
    print("| noise | true lead, Elo | required | yes | no | not enough votes | lead as estimated |")
    print("|---|---|---|---|---|---|---|")
    for noise in asked.noise:
        for elo in asked.leads:
            answers: dict[tuple[float, str], Counter[str]] = {}
            leads = []
            for seed in range(asked.comparisons):
                cells = ba.read_votes(
                    voted(logits(elo), noise, seed), annotator="judge", prompt=False, programs=["judge"]
                )
                fit = ba.fit(cells)
                leads.append(ba.versus(fit, "new", "base").elo_gap)
                for sign, pair in ((1, ("new", "base")), (-1, ("base", "new"))):
                    for required, margin in GATES if elo or sign > 0 else ():
                        found = gate(fit, *pair, required=required, margin=margin)
                        answers.setdefault((sign * elo, required), Counter())[found.answer] += 1
            for (lead, required), counts in sorted(answers.items()):
                margin = dict(GATES)[required]
                shares = " | ".join(
                    f"{counts[answer] / asked.comparisons:.3f}" for answer in ("yes", "no", "not enough votes")
                )
                print(
                    f"| {percent(noise)} | {lead:+.0f} | {required}{f' by {margin:g}' if margin else ''} | {shares} | "
                    f"{math.copysign(1, lead) * np.mean(leads):+.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
