"""How often intervals, rank ranges and verdicts hold.

``python benchmarks/calibration.py [--only regimes few prompts weights ...] [--arenas 26]``.
Truths: the average vote of everybody who voted; of prompts that on new ones.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import few_votes
import numpy as np
from arenas import (
    REGIMES,
    Arena,
    People,
    average_strength,
    count_votes,
    draw_arena,
    draw_outcomes,
    draw_votes,
    numbered,
    of_rankings,
    thetas,
)
from measuring import markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.boards.verdict import first_is_settled
from bayes_arena.inference.scale import bradley_terry_strengths

LEAST_ARENAS = 120  # of the cheap tables


@dataclass
class Tally:
    """What boards of one kind were like, an entry an arena."""

    covered: list[float] = field(default_factory=list)
    ranked: list[float] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)
    named: list[bool] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    width: list[float] = field(default_factory=list)

    def add(self, standing: Standing, truth: np.ndarray) -> None:
        """Hold a board against the truth."""
        lower, upper = standing.bounds
        truth = truth - truth.mean()
        self.covered.append(float(np.mean((lower <= truth) & (truth <= upper))))
        self.error.append(float(np.mean((standing.strength - truth) ** 2)))
        self.width.append(ELO.points_per_logit * float(np.mean(upper - lower)))
        ranked = standing.ranked
        rank = 1 + np.sum(truth[ranked][:, None] < truth[ranked], axis=1)
        first, last = standing.rank_ranges
        self.ranked.append(float(np.mean((first <= rank) & (rank <= last))))
        best = 1 + np.sum(lower[ranked] > upper[ranked][:, None], axis=1)
        worst = len(ranked) - np.sum(upper[ranked] < lower[ranked][:, None], axis=1)
        self.spread.append(float(np.mean((best <= rank) & (rank <= worst))))
        leader = int(np.argmax(standing.p_best))
        if first_is_settled(standing):
            self.named.append(True)
            self.right.append(bool(rank[leader] == 1))

    @property
    def coverage(self) -> str:
        """Mean coverage of the intervals."""
        return f"{np.mean(self.covered):.3f}"

    @property
    def rmse(self) -> float:
        """Root mean square error in Elo."""
        return ELO.points_per_logit * float(np.sqrt(np.mean(self.error)))


def regimes(arenas: int) -> list[str]:
    """Return the table of the regimes of people who disagree."""
    rows, totals = [], {name: Tally() for name in ("posterior", "sandwich")}
    errors = []
    for name, (people, n_votes) in REGIMES.items():
        tallies = {kind: Tally() for kind in totals}
        plain = Tally()
        for seed in range(arenas):
            arena = draw_arena(people, n_votes, seed)
            fit = ba.fit(arena.votes)
            for kind, tally in tallies.items():
                options = {"interval": kind, "min_votes": 0}
                tally.add(standing_of(fit, Look(**options)), arena.strength)
                totals[kind].add(standing_of(fit, Look(**options)), arena.strength)
            other = ba.fit(arena.votes, model="bradley-terry")
            plain.add(standing_of(other, Look(min_votes=0)), arena.strength)
        posterior, sandwich = tallies["posterior"], tallies["sandwich"]
        errors.append(posterior.rmse / plain.rmse)
        rows.append(
            [
                name,
                posterior.coverage,
                sandwich.coverage,
                f"{errors[-1]:.3f}",
                f"{np.mean(posterior.width):.0f}",
                f"{np.mean(posterior.ranked):.3f}",
                f"{np.mean(posterior.spread):.3f}",
                verdicts(posterior),
            ]
        )
        print(rows[-1], file=sys.stderr, flush=True)
    own = totals["posterior"]
    means = [f"{np.mean(own.ranked):.3f}", f"{np.mean(own.spread):.3f}", verdicts(own)]
    coverage = [own.coverage, totals["sandwich"].coverage]
    rows.append(["all", *coverage, f"{np.mean(errors):.3f}", "", *means])
    header = [
        "regime",
        "posterior",
        "sandwich",
        "RMSE / BT",
        "width",
        "ranks",
        "spread",
    ]
    text = (
        f"Coverage of 95 % intervals by Davidson, {arenas} arenas a regime; RMSE over "
        "Bradley-Terry's; mean width in Elo; how often a true rank lies in its own range "
        "and in the arena's spread; verdicts that name the best, and the share right.\n"
    )
    return ["## People who disagree\n", text, markdown([*header, "verdicts"], rows)]


def verdicts(tally: Tally) -> str:
    """Return how many verdicts named the best, and the share of them that were right."""
    if not tally.named:
        return "0"
    return f"{len(tally.named)}, {np.mean(tally.right):.2f}"


def specified(arenas: int) -> list[str]:
    """Return the table of arenas in which am-Davidson's assumptions hold."""
    rows = []
    for annotators, each in ((400, 4), (60, 100), (4000, 25)):
        tallies = {model: Tally() for model in ("davidson", "am-davidson")}
        count = arenas if annotators < 1000 else max(arenas // 4, 1)
        for seed in range(count):
            arena = draw_arena(partial(varied, annotators), annotators * each, seed)
            for model, tally in tallies.items():
                fit = ba.fit(arena.votes, model=model)
                tally.add(standing_of(fit, Look(min_votes=0)), arena.strength)
        cells = [f"{t.coverage}, {t.rmse:.1f}" for t in tallies.values()]
        rows.append([f"{annotators:,} x {each}", count, *cells])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["annotators x votes", "arenas", "Davidson", "am-Davidson"]
    text = "20 competitors; coverage and RMSE in Elo.\n"
    return ["## One ranking, annotators that vary\n", text, markdown(header, rows)]


def varied(annotators: int, rng: np.random.Generator) -> People:
    """Return people of one ranking who vary as am-Davidson says."""
    strength = thetas(rng, annotators, 0.5) * rng.normal(size=20)
    tie = rng.normal(-0.3, 0.8, annotators)
    position = rng.normal(0.1, 0.3, annotators)
    return of_rankings(strength, rng, tie=tie, position=position)


def few(arenas: int) -> list[str]:
    """Return the table of arenas with few votes."""
    rows = []
    for n_votes in (3, 6, 10, 16, 25, 40):
        for annotators in (0, max(n_votes // 4, 2)):
            tallies = {model: Tally() for model in ("davidson", "am-davidson")}
            for seed in range(arenas):
                arena = few_arena(n_votes, max(annotators, 1), seed)
                for model, tally in tallies.items():
                    if model == "davidson" or annotators:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            fit = ba.fit(arena.votes, model=model)
                        tally.add(standing_of(fit, Look(min_votes=0)), arena.strength)
            plain, weighted = tallies["davidson"], tallies["am-davidson"]
            other = weighted.coverage if annotators else ""
            rows.append([n_votes, annotators or "unknown", plain.coverage, other])
    header = ["votes", "annotators", "Davidson", "am-Davidson"]
    text = f"Four competitors, {arenas} arenas a row.\n"
    return ["## Few votes\n", text, markdown(header, rows)]


def few_arena(n_votes: int, annotators: int, seed: int) -> Arena:
    """Return an arena of four competitors with few votes."""
    arena = ba.simulate(
        competitors=4,
        annotators=annotators,
        votes=max(n_votes, annotators),
        discrimination_sd=0.0,
        seed=seed,
    )
    votes = ba.read_votes(arena.columns)
    codes = [arena.competitors.index(name) for name in votes.competitors]
    truth = average_of_davidson(arena.strength)[codes]
    return Arena(votes, truth)


def average_of_davidson(strength: np.ndarray) -> np.ndarray:
    """Return the board of Davidson's strengths at a tie propensity of one."""
    lead = strength[:, None] - strength
    win, lose = np.exp(lead / 2), np.exp(-lead / 2)
    score = (win + 0.5) / (win + 1 + lose)
    return bradley_terry_strengths(score.sum(axis=1) - 0.5)[0]


def modes(arenas: int) -> list[str]:
    """Return the table of posterior modes, at the spreads of the Gaussian."""
    rows = []
    for competitors in (4, 5, 10):
        row: list[object] = [competitors]
        for sd in (0.5, 1.0, 2.5):
            tally = Tally()
            for seed in range(arenas):
                arena = few_votes.few_arena(competitors, 40, sd, seed)
                fit = ba.fit(arena.votes, method="map")
                tally.add(standing_of(fit, Look(min_votes=0)), arena.strength)
            row.append(tally.coverage)
        rows.append(row)
    header = ["competitors", "sd .5", "sd 1", "sd 2.5"]
    text = (
        f'Davidson by `method="map"`, 40 votes, {arenas} arenas a cell; strengths of the '
        "sd given, in logits.\n"
    )
    return ["## Posterior modes\n", text, markdown(header, rows)]


def newcomers(arenas: int) -> list[str]:
    """Return the table of one competitor with few votes among others with many."""
    rows = []
    for n_votes in (1, 2, 3, 5, 10):
        covered = {kind: [] for kind in ("posterior", "sandwich", "bootstrap")}
        ratios = []
        for seed in range(arenas):
            arena = newcomer_arena(n_votes, seed)
            truth = arena.strength - arena.strength.mean()
            fit = ba.fit(arena.votes)
            widths = {}
            for kind, hits in covered.items():
                standing = standing_of(fit, Look(interval=kind, min_votes=0))
                lower, upper = (ends[-1] for ends in standing.bounds)
                hits.append(lower <= truth[-1] <= upper)
                widths[kind] = upper - lower
            ratios.append(widths["bootstrap"] / widths["posterior"])
        cells = [f"{np.mean(hits):.3f}" for hits in covered.values()]
        rows.append([n_votes, *cells, f"{np.mean(ratios):.2f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["votes", *covered, "width, bootstrap / posterior"]
    text = (
        f"One competitor with few votes beside nine with 600, {arenas} arenas a row: "
        "coverage of its interval.\n"
    )
    return ["## A newcomer\n", text, markdown(header, rows)]


def newcomer_arena(n_votes: int, seed: int) -> Arena:
    """Return an arena whose last competitor has few votes."""
    rng = np.random.default_rng([seed, n_votes, 29])
    i = rng.integers(9, size=600)
    j = (i + rng.integers(1, 9, size=600)) % 9
    i = np.append(i, np.full(n_votes, 9))
    j = np.append(j, rng.integers(9, size=n_votes))
    people = of_rankings(rng.normal(size=(1, 10)), rng)
    votes = draw_votes(people, np.zeros(len(i), int), i, j, rng)
    return Arena(votes, average_strength(people, np.ones(1)))


def weights(arenas: int) -> list[str]:
    """Return the table of weights of importance, which say nothing of the votes."""
    rows = []
    for sd in (0.5, 1.0):
        tallies = {kind: Tally() for kind in ("posterior", "sandwich")}
        for seed in range(arenas):
            arena = weighted_arena(sd, seed)
            fit = ba.fit(arena.votes)
            for kind, tally in tallies.items():
                look = Look(interval=kind, min_votes=0)
                tally.add(standing_of(fit, look), arena.strength)
        rows.append([f"{sd:g}", *(tally.coverage for tally in tallies.values())])
    text = (
        "20 competitors, 2,000 votes with log-normal weights of the sd given, read as "
        f"importance; {arenas} arenas a row.\n"
    )
    table = markdown(["sd of ln weight", "posterior", "sandwich"], rows)
    return ["## Weights of importance\n", text, table]


def weighted_arena(sd: float, seed: int) -> Arena:
    """Return an arena of one ranking whose votes have log-normal weights."""
    rng = np.random.default_rng([seed, round(10 * sd), 23])
    n, n_votes = 20, 2000
    people = of_rankings(rng.normal(size=(1, n)), rng)
    i = rng.integers(n, size=n_votes)
    j = (i + rng.integers(1, n, size=n_votes)) % n
    nobody = np.zeros(n_votes, int)
    outcome = draw_outcomes(people, nobody, people.lead[0, i, j], rng)
    names = np.array(numbered("model", n))
    columns = {
        "model_a": names[i],
        "model_b": names[j],
        "winner": np.array(["model_a", "model_b", "tie"])[outcome],
        "weight": rng.lognormal(sigma=sd, size=n_votes),
    }
    votes = ba.read_votes(columns, weight="weight", weights="importance")
    return Arena(votes, average_strength(people, np.ones(1)))


def prompts(arenas: int) -> list[str]:
    """Return the table of prompts that repeat; the truth is on new ones."""
    rows = []
    for n_prompts in (13, 20, 40, 80, 200):
        for sd in (0.0, 0.3, 1.0):
            for even in (True, False):
                rows.append(prompt_row(n_prompts, sd, even, arenas))
                print(rows[-1], file=sys.stderr, flush=True)
    header = ["prompts", "sd", "votes a prompt", "boards", "posterior", "clustered"]
    text = (
        f"20 competitors, 2,000 votes, {arenas} arenas a row; competitors differ by "
        "prompt with the sd given, in logits. Coverage of the average vote on new "
        "prompts, of the boards that allow for them by default: the others have fewer "
        "than eight prompts by Kish's number, and say that they are about these only.\n"
    )
    return ["## Prompts that repeat\n", text, markdown(header, rows)]


def prompt_row(n_prompts: int, sd: float, even: bool, arenas: int) -> list[object]:
    """Return the row of one kind of prompts."""
    posterior, clustered = Tally(), Tally()
    for seed in range(arenas):
        arena = prompt_arena(n_prompts, sd, even, seed)
        fit = ba.fit(arena.votes)
        standing = standing_of(fit, Look(min_votes=0))
        if standing.uncertainty.cluster is None:
            continue
        clustered.add(standing, arena.strength)
        plain = standing_of(fit, Look(interval="posterior", min_votes=0))
        posterior.add(plain, arena.strength)
    shape = "even" if even else "uneven"
    kind = [n_prompts, f"{sd:g}", shape, len(clustered.covered)]
    return [*kind, posterior.coverage, clustered.coverage]


def prompt_arena(n_prompts: int, sd: float, even: bool, seed: int) -> Arena:
    """Return an arena whose competitors are stronger on some prompts."""
    rng = np.random.default_rng([seed, n_prompts])
    n, n_votes, annotators = 20, 2000, 40
    strength = rng.normal(0, 1, n)
    by_prompt = rng.normal(0, sd, (n_prompts, n)) if sd else np.zeros((n_prompts, n))
    share = np.ones(n_prompts) if even else rng.gamma(1.0, size=n_prompts) + 0.1
    prompt = rng.choice(n_prompts, n_votes, p=share / share.sum())
    k = rng.integers(annotators, size=n_votes)
    i = rng.integers(n, size=n_votes)
    j = (i + rng.integers(1, n, size=n_votes)) % n
    lead = strength[i] - strength[j] + by_prompt[prompt, i] - by_prompt[prompt, j]
    weight = np.exp(np.stack([lead / 2, -lead / 2, 0 * lead]))
    weight /= weight.sum(axis=0)
    outcome = (rng.random(n_votes) > weight.cumsum(axis=0)[:2]).sum(axis=0)
    votes = count_votes(k, i, j, outcome, n, annotators, prompt, n_prompts)
    return Arena(votes, on_new_prompts(strength, sd))


def on_new_prompts(strength: np.ndarray, sd: float) -> np.ndarray:
    """Return the board of the average vote on prompts not seen."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    lead = strength[:, None] - strength
    score = np.zeros_like(lead)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        shifted = lead + np.sqrt(2) * sd * node
        win, lose = np.exp(shifted / 2), np.exp(-shifted / 2)
        score += weight * (win + 0.5) / (win + 1 + lose)
    return bradley_terry_strengths(score.sum(axis=1) - 0.5)[0]


def experts(arenas: int) -> list[str]:
    """Return the table of experts who saw the best competitors only."""
    tallies = {model: Tally() for model in ("davidson", "am-davidson")}
    said = 0
    for seed in range(arenas):
        arena = expert_arena(seed)
        for model, tally in tallies.items():
            fit = ba.fit(arena.votes, model=model)
            tally.add(standing_of(fit, Look(min_votes=0)), arena.strength)
        said += any(note.kind == "boards" for note in ba.rate(arena.votes).notes)
    rows = [[name, t.coverage, f"{t.rmse:.0f}"] for name, t in tallies.items()]
    text = (
        "Experts (theta 2) vote on pairs of the best half, the others (theta .5) on all "
        f"pairs; {arenas} arenas. The note on it is said in {said} of them.\n"
    )
    table = markdown(["board", "coverage", "RMSE"], rows)
    return ["## Experts on the best competitors\n", text, table]


def expert_arena(seed: int) -> Arena:
    """Return an arena in which experts saw other competitors than the rest.

    The truth is the average vote if everybody voted on all pairs.
    """
    rng = np.random.default_rng([seed, 5])
    n, annotators, n_votes = 20, 40, 4000
    strength = np.sort(rng.normal(0, 1, n))[::-1]
    theta = np.where(np.arange(annotators) < 20, 2.0, 0.5)
    k = rng.integers(annotators, size=n_votes)
    top = np.where(k < 20, n // 2, n)
    i = (rng.random(n_votes) * top).astype(int)
    j = (i + 1 + (rng.random(n_votes) * (top - 1)).astype(int)) % top
    eta = theta[k] * (strength[i] - strength[j])
    weight = np.exp(np.stack([eta / 2, -eta / 2, 0 * eta]))
    weight /= weight.sum(axis=0)
    outcome = (rng.random(n_votes) > weight.cumsum(axis=0)[:2]).sum(axis=0)
    score = 0.0
    for value in (2.0, 0.5):
        lead = value * (strength[:, None] - strength)
        win, lose = np.exp(lead / 2), np.exp(-lead / 2)
        score = score + 0.5 * (win + 0.5) / (win + 1 + lose)
    truth = bradley_terry_strengths(score.sum(axis=1) - 0.5)[0]
    return Arena(count_votes(k, i, j, outcome, n, annotators), truth)


PARTS: dict[str, Callable[[int], Iterable[str]]] = {
    "regimes": regimes,
    "specified": lambda arenas: specified(max(arenas, LEAST_ARENAS)),
    "few": lambda arenas: few(max(arenas, LEAST_ARENAS)),
    "modes": lambda arenas: modes(max(arenas, LEAST_ARENAS)),
    "newcomers": newcomers,
    "weights": lambda arenas: weights(max(arenas, LEAST_ARENAS)),
    "prompts": prompts,
    "experts": experts,
}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--arenas", type=int, default=26)
    options = parser.parse_args()
    parts = [line for name in options.only for line in PARTS[name](options.arenas)]
    command = f"python benchmarks/calibration.py --arenas {options.arenas}"
    write_page("calibration", "How often intervals hold", parts, command)


if __name__ == "__main__":
    main()
