"""Does the default cover whoever met whom? Ladders, leagues and Swiss pairing beside random pairs.

    uv run python benchmarks/pairing.py [--arenas 40] [--only sorted Elo] [--as-it-was]

Arenas of 40 annotators by am-davidson's model (theta of sd .35, ln nu of sd .5, sides of mean .1 and sd .2), strengths
of sd 1 unless their name says otherwise, and pairs by the rule that the name says. The truth is r* of these annotators,
weighted by their votes. Prints for the default fit, everybody's votes counted, and for Bradley-Terry under a prior that
is as good as flat: the share of true scores inside 95 % intervals, its standard error over arenas, the root mean square
error over Bradley-Terry's, the mean width in Elo, and the share of arenas in which the default says that the pairing
knew the ranking. ``--as-it-was``: the strengths' spread always estimated, under a half-normal hyperprior.
"""

import math
import sys
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from calibration import average_strength
from measuring import options_of

import bayes_arena as ba
from bayes_arena.inference import pairing
from bayes_arena.inference.projection import project
from bayes_arena.likelihood import priors
from bayes_arena.progress import report
from bayes_arena.ratings.elo import EloScale

ANNOTATORS = 40
OUTCOMES = np.array(["model_a", "model_b", "tie"])
Rng = np.random.Generator
Pairs = tuple[np.ndarray, np.ndarray]


@dataclass
class Crowd:
    """Annotators, and the votes that they have cast so far."""

    rng: Rng
    strength: np.ndarray
    annotators: int = ANNOTATORS
    votes: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = self.rng.normal(size=(self.annotators, 3)) * [0.35, 0.5, 0.2] + [1, 0, 0.1]
        self.theta, self.tie, self.side = own.T

    def vote(self, pairs: Pairs) -> np.ndarray:
        """Show pairs to random annotators, sides by lot; return a, b, annotator and outcome, shape (4, n)."""
        turned = self.rng.random(len(pairs[0])) < 0.5
        a, b = np.where(turned, pairs, pairs[::-1])
        k = self.rng.integers(self.annotators, size=len(a))
        half = 0.5 * (self.theta[k] * (self.strength[a] - self.strength[b]) + self.side[k])
        utility = np.column_stack([half, -half, self.tie[k]]) + self.rng.gumbel(size=(len(a), 3))
        self.votes.append(np.array([a, b, k, utility.argmax(axis=1)]))
        return self.votes[-1]


Design = Callable[[Rng], Crowd]


def anyone(rng: Rng, n: int, votes: int) -> Pairs:
    a = rng.integers(n, size=votes)
    return a, (a + rng.integers(1, n, size=votes)) % n


def fixed(
    pairs: Callable[[Rng, int, int], Pairs],
    n: int,
    votes: int,
    *,
    ordered: bool = False,
    sd: float = 1,
    annotators: int = ANNOTATORS,
) -> Design:
    """Pairs chosen before any vote; of competitors in the order of their strengths, or in none."""

    def design(rng: Rng) -> Crowd:
        r = rng.normal(0, sd, n)
        crowd = Crowd(rng, np.sort(r) if ordered else r, annotators)
        crowd.vote(pairs(rng, n, votes))
        return crowd

    return design


def within(reach: int, elsewhere: float = 0.0) -> Callable[[Rng, int, int], Pairs]:
    """Pairs at most so many places apart, but for a share of them."""

    def pairs(rng: Rng, n: int, votes: int) -> Pairs:
        a = rng.integers(n, size=5 * votes)
        far = rng.random(5 * votes) < elsewhere
        b = np.where(far, rng.integers(n, size=5 * votes), a + rng.integers(1, reach + 1, size=5 * votes))
        there = (b < n) & (a != b)
        return a[there][:votes], b[there][:votes]

    return pairs


def leagues(across: float) -> Callable[[Rng, int, int], Pairs]:
    """Leagues of five, and a share of games with the league above or below."""

    def pairs(rng: Rng, n: int, votes: int) -> Pairs:
        a, b = rng.integers(n, size=(2, 12 * votes))
        cross = rng.random(12 * votes) < across
        there = (a != b) & np.where(cross, np.abs(a // 5 - b // 5) == 1, a // 5 == b // 5)
        return a[there][:votes], b[there][:votes]

    return pairs


def star(rng: Rng, n: int, votes: int) -> Pairs:
    return np.zeros(votes, dtype=int), rng.integers(1, n, size=votes)


def newcomer(rng: Rng, n: int, votes: int) -> Pairs:
    a, b = anyone(rng, n - 1, votes - 30)
    return np.append(a, np.full(30, n - 1)), np.append(b, rng.integers(n - 1, size=30))


def zipf(rng: Rng, n: int, votes: int) -> Pairs:
    share = rng.permutation(1 / np.arange(1, n + 1) ** 1.5)
    a, b = rng.choice(n, size=(2, 4 * votes), p=share / share.sum())
    there = a != b
    return a[there][:votes], b[there][:votes]


def by_elo(n: int, votes: int, step: int) -> Design:
    """Neighbours in the current Elo ranking."""

    def design(rng: Rng) -> Crowd:
        crowd, elo = Crowd(rng, rng.normal(0, 1, n)), np.zeros(n)
        for _ in range(votes // step):
            order, place = np.argsort(elo + rng.normal(0, 1e-6, n)), rng.integers(n - 1, size=step)
            for a, b, _, outcome in crowd.vote((order[place], order[place + 1])).T:
                change = 0.1 * ((1, 0, 0.5)[outcome] - 1 / (1 + math.exp(elo[b] - elo[a])))
                elo[a], elo[b] = elo[a] + change, elo[b] - change
        return crowd

    return design


def swiss(n: int, votes: int, rounds: int) -> Design:
    """Pairs of like strength, by the share of points so far."""

    def design(rng: Rng) -> Crowd:
        crowd = Crowd(rng, rng.normal(0, 1, n))
        a, b = np.triu_indices(n, 1)
        points, played = np.full(n, 1.0), np.full(n, 2.0)
        for _ in range(rounds):
            rated = np.log(points / (played - points))
            like = np.exp(-np.abs(rated[a] - rated[b]) / 0.25) + 1e-3
            chosen = rng.choice(len(a), votes // rounds, p=like / like.sum())
            one, other, _, outcome = crowd.vote((a[chosen], b[chosen]))
            score = np.array([1, 0, 0.5])[outcome]
            points += np.bincount(one, score, n) + np.bincount(other, 1 - score, n)
            played += np.bincount(np.append(one, other), minlength=n)
        return crowd

    return design


DESIGNS: dict[str, Design] = {
    "sorted chain of 20, 600 votes": fixed(within(1), 20, 600, ordered=True),
    "sorted chain of 20, 4,000": fixed(within(1), 20, 4000, ordered=True),
    "sorted chain of 20, 20,000": fixed(within(1), 20, 20_000, ordered=True),
    "sorted within 2": fixed(within(2), 20, 4000, ordered=True),
    "sorted within 3": fixed(within(3), 20, 4000, ordered=True),
    "sorted within 6": fixed(within(6), 20, 4000, ordered=True),
    "ladder of 60 within 2, 6,000": fixed(within(2), 60, 6000, ordered=True),
    "sorted chain and 5 % of any": fixed(within(1, 0.05), 20, 4000, ordered=True),
    "sorted chain and 20 % of any": fixed(within(1, 0.2), 20, 4000, ordered=True),
    "ladder of 60 and 10 % of any": fixed(within(2, 0.1), 60, 6000, ordered=True),
    "leagues, 3 % across": fixed(leagues(0.03), 20, 4000, ordered=True),
    "leagues, 1 % across": fixed(leagues(0.01), 20, 4000, ordered=True),
    "Swiss, 20 rounds": swiss(20, 4000, 20),
    "Swiss, 8 rounds of 100": swiss(20, 800, 8),
    "ladder by Elo, 4,000": by_elo(20, 4000, 50),
    "ladder by Elo, 800": by_elo(20, 800, 20),
    "ladder by Elo, 60 of 6,000": by_elo(60, 6000, 60),
    "unsorted chain": fixed(within(1), 20, 4000),
    "star": fixed(star, 20, 4000),
    "any pair, 4,000": fixed(anyone, 20, 4000),
    "any pair, 50 of 400": fixed(anyone, 50, 400),
    "any pair, 50 of 200": fixed(anyone, 50, 200),
    "any pair, 6 of 80": fixed(anyone, 6, 80, annotators=8),
    "newcomer of 30": fixed(newcomer, 20, 4000),
    "popularity by Zipf": fixed(zipf, 20, 4000),
    "strengths of sd 3": fixed(anyone, 20, 4000, sd=3),
    "strengths of sd .15, 1,000": fixed(anyone, 20, 1000, sd=0.15),
    "all equal, 1,000": fixed(anyone, 20, 1000, sd=0),
}


def scores(fit: ba.Fit, truth: np.ndarray) -> tuple[float, float, float]:
    """Return the share inside 95 % intervals, the mean square error, and the mean width, in Elo."""
    board = project(fit.target, fit.point, fit.cells.votes_by_annotator())
    sd = np.sqrt(np.diag(fit.laplace.covariance(board.by_head, board.by_own)))
    miss, unit = board.strength - truth, EloScale().points_per_logit
    return float((np.abs(miss) < 1.96 * sd).mean()), float((miss**2).mean()), float(2 * 1.96 * sd.mean() * unit)


def run(design: Design, seed: int, name: str) -> tuple[tuple[float, ...], tuple[float, ...], bool]:
    crowd = design(np.random.default_rng([zlib.crc32(name.encode()), seed]))
    a, b, k, outcome = np.concatenate(crowd.votes, axis=1)
    names = np.array([f"m{index:03}" for index in range(len(crowd.strength))])
    votes = {"model_a": names[a], "model_b": names[b], "winner": OUTCOMES[outcome], "judge": k}
    cells = ba.read_votes(pd.DataFrame(votes))
    seen = np.array([int(one[1:]) for one in cells.competitors])
    weight = np.bincount(k, minlength=crowd.annotators).astype(float)
    truth = average_strength(crowd.theta, crowd.tie, np.tile(crowd.strength[seen], (crowd.annotators, 1)), weight)
    default = ba.fit(cells, robust=False)
    plain = ba.fit(cells, model="bradley-terry", prior=ba.Prior(strength=30.0, hyper=None))
    return scores(default, truth), scores(plain, truth), "strength" in default.spreads.known


def main() -> None:
    parser = options_of(__doc__, arenas=40)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--as-it-was", action="store_true")
    asked = parser.parse_args()
    if asked.as_it_was:
        priors.DEGREES.clear()
        pairing.FAR = -1.0
    warnings.simplefilter("ignore", ba.ArenaWarning)
    print(f"    {' '.join(['benchmarks/pairing.py', *sys.argv[1:]])}\n")
    print("| pairs | default covers | RMSE / Bradley-Terry | width | weak prior | Bradley-Terry covers | width |")
    print("|---|---|---|---|---|---|---|")
    for name, design in DESIGNS.items():
        if not any(part in name for part in asked.only):
            continue
        rows = []
        for seed in range(asked.arenas):
            report(name, seed, asked.arenas)
            rows.append(run(design, seed, name))
        ours, plain, weak = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
        error = ours[:, 0].std(ddof=1) / math.sqrt(len(rows))
        ratio = math.exp(0.5 * np.mean(np.log(ours[:, 1] / plain[:, 1])))
        print(
            f"| {name} | {ours[:, 0].mean():.3f} ({error:.3f}) | {ratio:.2f} | {ours[:, 2].mean():.0f} | "
            f"{weak.mean():.2f} | {plain[:, 0].mean():.3f} | {plain[:, 2].mean():.0f} |",
            flush=True,
        )
    report("")


if __name__ == "__main__":
    main()
