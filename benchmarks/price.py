"""Is the price of a place right? Campaigns are run against boards until these give way.

    uv run python benchmarks/price.py FOLDER [--arenas 10] [--processes 2] > benchmarks/results/price.md

FOLDER has mt_bench_human.csv and llmfao.csv (columns model_a, model_b, winner, judge). Arenas have 20 competitors,
r ~ Normal(0, .6), and 4,000 votes of 80 annotators with theta ~ Normal(1, .5), nu = 1 and ln nu spread by .5. Two
competitors of each are pushed: from two fifths down the ranking (place 8 of 20) up to a quarter (5), and from a fifth
(4; of six competitors the third) to the first place. Accounts vote on everything as often as others do; each honest
vote is drawn from the fitted model, with the habits of an annotator drawn for the account, and a push is added where
the target is shown (``bayes_arena/decisions/price.py``).

Gain: what a campaign at the predicted price moves the target, as predicted, over what it does in refits; beside it the
linear influence of a vote, times the votes. Price: the predicted number of accounts over the fewest with which refits
have the target at the place, found to within a quarter; with the share of campaigns where the two are within a factor
of two, and where they are or differ by one account. Refits are averaged over four campaigns, whose luck remains in the
numbers; every vote counts (robust=False), and spreads are estimated again. Medians, and the tenth and ninetieth
percentiles. Campaigns that would need more votes than everybody has cast are not run.
"""

import math
import shlex
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from measuring import options_of

import bayes_arena as ba
from bayes_arena.decisions.price import Board, campaign, scores
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.votes.outcomes import TIE, WIN

MODELS = "bradley-terry", "am-davidson"
PUSHES = math.inf, 1.5, 0.5
ACCOUNTS = 5, 60
REAL = {"LLMFAO": "llmfao.csv", "MT-bench (human)": "mt_bench_human.csv"}
CAMPAIGNS = 4
WIDEST = 16
"""The price in refits is looked for within this factor of the predicted one."""
FINE = 1.25
"""The price in refits is found to within this factor, or one account."""
MOST = 1.0
"""Campaigns of more than so many times the votes cast are not run."""
CERTAIN = 50.0
"""A push, in logits, that leaves no doubt."""


def read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path).select("model_a", "model_b", "winner", "judge")


def simulate(seed: int) -> pl.DataFrame:
    arena = ba.simulate(competitors=20, annotators=80, votes=4000, strength_sd=0.6, tie_spread=0.5, seed=seed)
    return arena.votes


@dataclass(frozen=True, eq=False)
class Attack:
    """Accounts that push one competitor of a board."""

    fit: ba.Fit
    votes: pl.DataFrame
    target: int
    push: float
    size: int
    seed: int

    def cast(self, accounts: int) -> pl.DataFrame:
        """Return the votes of so many accounts."""
        rng, fit = np.random.default_rng(self.seed), self.fit
        cells, count = fit.cells, fit.target.counts.sum(axis=0)
        size = accounts * self.size
        row = np.searchsorted(np.cumsum(count), rng.random(size) * count.sum(), side="right")
        i, j = fit.target.tally.i[row].copy(), fit.target.tally.j[row].copy()
        shown = np.bincount(np.append(fit.target.tally.i, fit.target.tally.j), np.append(count, count))
        shown[self.target] = 0
        opponent = np.searchsorted(np.cumsum(shown), rng.random(size) * shown.sum(), side="right")
        i, j = np.where(j == self.target, opponent, i), np.where(i == self.target, opponent, j)
        account = np.repeat(np.arange(accounts), self.size)
        own = np.zeros((size, 0))
        if fit.target.n_annotators:
            share = fit.cells.votes_by_annotator() / fit.cells.n_votes
            own = fit.point.own[rng.choice(len(share), accounts, p=share)][account]
        along = [fit.point.slices[part] for part in fit.target.directions]
        leads = [where[i] - where[j] for where in (fit.strength, *along)]
        z = fit.target.predictor.coordinates(leads, fit.point.common, own.T)
        sign = (i == self.target).astype(float) - (j == self.target)
        z[ETA] += np.where(sign, sign * min(self.push, CERTAIN), 0.0)
        p = np.exp(fit.target.likelihood.log_probabilities(z))
        outcome = (rng.random(size) > np.cumsum(p[[WIN, TIE]], axis=0)).sum(axis=0)
        names = np.array(cells.competitors)
        return pl.DataFrame(
            {
                "model_a": names[i],
                "model_b": names[j],
                "winner": np.array(["model_a", "tie", "model_b"])[outcome],
                "judge": [f"pushing {k}" for k in account],
            }
        )

    def board(self, accounts: int) -> np.ndarray:
        """Return the board with them, on the scale that all models share."""
        together = pl.concat([self.votes, self.cast(accounts)]) if accounts else self.votes
        fit = ba.fit(together, model=self.fit.model, robust=False)
        return Board.of(fit).strength


def lead(strength: np.ndarray, target: int, place: int) -> float:
    """By how much a competitor leads the last one that it has to pass."""
    return float(strength[target] - np.sort(np.delete(strength, target))[-place])


def fewest(passed: Callable[[int], bool], guess: int) -> float:
    """Return the fewest accounts that pass, searched from a guess; infinity or 0 where it is too far from it."""
    low, high = (0, guess) if passed(guess) else (guess, 0)
    while not high:
        if low >= WIDEST * guess:
            return math.inf
        low, high = (low, 2 * low) if passed(2 * low) else (2 * low, 0)
    while high - low > 1 and (not low or high > FINE * low):
        middle = math.isqrt(low * high) if low else high // 2
        middle = min(max(middle, low + 1), high - 1)
        low, high = (low, middle) if passed(middle) else (middle, high)
        if high * WIDEST < guess:
            return 0.0
    return high


def pushed(fit: ba.Fit, votes: pl.DataFrame, rank: int, place: int, push: float, size: int) -> list[float] | None:
    """Compare a campaign with refits: ratios of gain, linear gain and price, and accounts too many.

    None where it is predicted to be in vain, or to take too long.
    """
    board = Board.of(fit)
    target = int(np.argsort(-board.strength, kind="stable")[rank - 1])
    planned = campaign(board, target, scores(fit, board, push), None)
    price = planned.price(place)
    if price > MOST * board.n_votes:
        return None
    accounts = math.ceil(price / size)
    attacks = [Attack(fit, votes, target, push, size, seed) for seed in range(CAMPAIGNS)]

    @cache
    def boards(accounts: int) -> np.ndarray:
        return np.array([attack.board(accounts) for attack in attacks])

    gain = boards(accounts)[:, target].mean() - board.strength[target]
    moved, _ = planned.moved(accounts * size, board.strength)
    _, by_vote = planned.moved(0.0, board.strength)
    actual = fewest(
        lambda some: bool(np.mean([lead(strength, target, place) for strength in boards(some)]) > 0), accounts
    )
    ratio = accounts / actual if actual else math.inf
    found = [(moved[target] - board.strength[target]) / gain, accounts * size * by_vote[target] / gain, ratio]
    return [*map(float, found), float(accounts - actual)]


def of_arena(name: str, make: Callable[[], pl.DataFrame]) -> dict[tuple[str, float, int], list[list[float] | None]]:
    """Return the comparisons of one arena by model, push and votes of an account."""
    warnings.simplefilter("ignore")
    votes, found = make(), {}
    for model in MODELS:
        fit = ba.fit(votes, model=model, robust=False)
        n = fit.cells.n_competitors
        goals = (2 * n // 5, n // 4), (max(n // 5, 3), 1)
        for push, size in product(PUSHES, ACCOUNTS):
            found[model, push, size] = [pushed(fit, votes, *goal, push, size) for goal in goals]
            print(name, model, push, size, found[model, push, size], file=sys.stderr, flush=True)
    return found


def described(values: np.ndarray) -> str:
    """Median, and the tenth and ninetieth percentiles."""
    return "{:.2f} ({:.2f} to {:.2f})".format(*np.quantile(values, [0.5, 0.1, 0.9]))


def main() -> None:
    parser = options_of(__doc__, arenas=10, processes=2)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    made = {name: partial(read, options.folder / file) for name, file in REAL.items()}
    made |= {f"arena {seed}": partial(simulate, seed) for seed in range(options.arenas)}
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        found = dict(zip(made, pool.map(of_arena, made, made.values()), strict=True))
    print(f"    uv run python {shlex.join(sys.argv)}\n")
    kinds = {f"{options.arenas} arenas": [name for name in made if name not in REAL]} | {name: [name] for name in REAL}
    print(
        "| votes | model | campaign | votes an account | run (not run) | gain, predicted over actual | linear", end=""
    )
    print(" | price, predicted over actual | within a factor of 2 | or one account |\n" + "|---" * 10 + "|")
    for (kind, names), model, push, size in product(kinds.items(), MODELS, PUSHES, ACCOUNTS):
        runs = [one for name in names for one in found[name][model, push, size]]
        rows = np.array([one for one in runs if one])
        label = f"| {kind} | {model} | {'plain' if math.isinf(push) else f'soft, {push:g}'} | {size} | "
        if not len(rows):
            print(f"{label}0 ({len(runs)}) | | | | | |")
            continue
        gain, linear, price, excess = rows.T
        close = (price >= 0.5) & (price <= 2)
        columns = [f"{len(rows)} ({len(runs) - len(rows)})", *map(described, (gain, linear, price))]
        columns += [f"{close.mean():.2f}", f"{(close | (abs(excess) <= 1)).mean():.2f}"]
        print(label + " | ".join(columns) + " |")


if __name__ == "__main__":
    main()
