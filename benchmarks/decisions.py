"""Are decisions right? Stopping rules, pairs, verdicts and rank ranges on simulated arenas.

    uv run python benchmarks/decisions.py [--arenas 200] [--part stopping|sentences]

**Stopping.** 20 competitors, r ~ Normal(0, .6), Davidson's ties with nu = 1, no annotators. Votes come 50 at a time on
the pairs that ``next_pairs`` chooses, for ``goal="ranking"`` (even counts) or ``goal="best"``, up to 6,000; after each
50 the model is fitted under the prior of the simulation, ln nu estimated. Printed: when a rule would have stopped, and
how often the leader was not the best then; whether the expected tau is what tau is; whether the votes to go were what
it took.

**Sentences and rank ranges.** 20 competitors, 42 annotators with theta ~ Normal(1, .5), nu = 1, uniform pairs,
am-davidson. Truths: the best leads by 87 Elo; three within 5 Elo lead by 87; the best two are 9 Elo apart; all are
equal; strengths drawn anew. A sentence is wrong if it names a leader or a group without the best competitor, and, where
all are equal, if it names anybody. Rank ranges are right if *all* true ranks are in theirs, and where some are equal,
all the ranks that they may take; width is the mean number of ranks in a range. Beside it, the same of the formula of
Chatbot Arena, which compares intervals that hold one by one.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from measuring import options_of
from true_boards import by_name

import bayes_arena as ba
from bayes_arena.decisions.verdict import in_order, leads, likely_best
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.likelihood.problem import Problem
from bayes_arena.markup import percent
from bayes_arena.progress import report
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

N, SD, BATCH, CAP, LOOKS = 20, 0.6, 50, 6000, (500, 1000, 2000, 4000)
DRAWS = 2000
DAVIDSON = ba.Model("davidson", ties="davidson")
PRIOR = ba.Prior(strength=SD, hyper=None)
ELO = EloScale().points_per_logit
ANNOTATORS, THETA_SD = 42, 0.5
COMPETITORS = tuple(f"model-{number:02d}" for number in range(1, N + 1))


def outcomes(rng: np.random.Generator, lead: np.ndarray) -> np.ndarray:
    """Draw an outcome of Davidson's model with nu = 1 for every lead."""
    p = np.exp(davidson.LIKELIHOOD.log_probabilities(np.array([lead, np.zeros_like(lead)])))
    return np.array([WIN, TIE, LOSS])[(rng.random(len(lead)) > np.cumsum(p[[WIN, TIE]], axis=0)).sum(axis=0)]


def cells(a: np.ndarray, b: np.ndarray, k: np.ndarray, outcome: np.ndarray, annotators: tuple[str, ...]) -> ba.Cells:
    """Sum votes into cells."""
    rows, cell = np.unique(np.column_stack([a, b, k]), axis=0, return_inverse=True)
    counts = np.zeros((len(rows), 4))
    np.add.at(counts, (cell.ravel(), outcome), 1.0)
    return ba.Cells(COMPETITORS, annotators, rows[:, 0], rows[:, 1], rows[:, 2], counts)


def going_on(truth: np.ndarray, goal: str, seed: int) -> Iterator[tuple[int, ba.Fit]]:
    """Yield the number of votes and the fit after every batch."""
    rng, place = np.random.default_rng([seed, 1]), {name: index for index, name in enumerate(COMPETITORS)}
    a, b = (np.concatenate([one, other]) for one, other in [np.triu_indices(N, 1), np.triu_indices(N, 1)[::-1]])
    first = rng.permutation(len(a))[:BATCH]
    a, b = a[first], b[first]
    outcome, point = outcomes(rng, truth[a] - truth[b]), None
    while True:
        problem = Problem(cells(a, b, np.zeros_like(a), outcome, ()), DAVIDSON, PRIOR)
        mode = find_mode(problem, start=point)
        fit, point = ba.Fit(mode=mode, prior=PRIOR, method="map", evidence=None), mode.point
        fit = replace(fit, samples=ba.draw(fit, size=DRAWS))  # once for all that reads them
        yield len(a), fit
        if len(a) >= CAP:
            return
        asked = ba.next_pairs(fit, BATCH, goal=goal, seed=len(a))
        new = [np.array([place[name] for name in asked[side]]) for side in ("a", "b")]
        outcome = np.concatenate([outcome, outcomes(rng, truth[new[0]] - truth[new[1]])])
        a, b = np.concatenate([a, new[0]]), np.concatenate([b, new[1]])


@dataclass(frozen=True)
class Look:
    """What a fit says of an arena, and what is true."""

    votes: int
    p_best: float
    regret: float
    lost: float
    tau: float
    true_tau: float
    estimated: float
    """Votes in all that P(best) = .95 takes, as estimated; only at some looks."""


def look(fit: ba.Fit, truth: np.ndarray, votes: int) -> Look:
    """Compare a fit with the truth."""
    strength = decision_strengths(fit)
    order = np.argsort(-strength.mean(axis=0))
    ranked, true = strength[:, order], truth[order]
    i, j = np.triu_indices(N, 1)
    return Look(
        votes=votes,
        p_best=leads(ranked),
        regret=ELO * float((ranked.max(axis=1) - ranked[:, 0]).mean()),
        lost=ELO * float(truth.max() - true[0]),
        tau=2 * in_order(ranked) - 1 if votes in LOOKS else math.nan,
        true_tau=float(np.sign(true[i] - true[j]).mean()),
        estimated=votes + ba.verdict(fit).votes_to_name if votes in LOOKS else math.nan,
    )


def first(looks: list[Look], rule: Callable[[Look], bool]) -> Look | None:
    """Return the look at which a rule stops."""
    return next((one for one in looks if rule(one)), None)


def is_sure(one: Look) -> bool:
    return one.p_best >= 0.95


def is_harmless(one: Look) -> bool:
    return one.regret <= 10


def with_error(values: Iterable[float], digits: int = 3) -> str:
    """Write a mean and its standard error."""
    found = np.array(list(values), dtype=float)
    if len(found) < 2:
        return "of one" if len(found) else "of none"
    error = found.std(ddof=1) / math.sqrt(len(found))
    return f"{found.mean():.{digits}f} ({error:.{digits}f})"


def stopping(arenas: int) -> None:
    runs: dict[str, list[list[Look]]] = {"ranking": [], "best": []}
    for seed in range(arenas):
        report("arenas", seed, arenas)
        truth = np.random.default_rng([seed, 0]).normal(0, SD, N)
        for goal, of_goal in runs.items():
            looks = []
            for votes, fit in going_on(truth, goal, seed):
                looks.append(look(fit, truth, votes))
                if votes >= LOOKS[-1] and first(looks, is_sure) and first(looks, is_harmless):
                    break
            of_goal.append(looks)
    report("")
    print(f"## When to stop, {arenas} arenas\n")
    print("| pairs for | stop when | stopped | median votes | leader is not the best | Elo lost |")
    print("|---|---|---|---|---|---|")
    for goal, of_goal in runs.items():
        for name, rule in (("P(best) ≥ .95", is_sure), ("expected regret ≤ 10 Elo", is_harmless)):
            stops = [stop for looks in of_goal if (stop := first(looks, rule))]
            print(
                f"| {goal} | {name} | {percent(len(stops) / arenas)} | "
                f"{np.median([stop.votes for stop in stops]):,.0f} | {with_error(stop.lost > 0 for stop in stops)} | "
                f"{with_error((stop.lost for stop in stops), 1)} |"
            )
    print("\n## After so many votes\n")
    print("| pairs for | votes | leader is the best | P(best) | Elo lost | expected | tau | expected | difference |")
    print("|---|---|---|---|---|---|---|---|---|")
    for goal, of_goal in runs.items():
        for votes in LOOKS:
            then = [one for looks in of_goal for one in looks if one.votes == votes]
            print(
                f"| {goal} | {votes:,} | {with_error(one.lost == 0 for one in then)} | "
                f"{np.mean([one.p_best for one in then]):.3f} | {with_error((one.lost for one in then), 1)} | "
                f"{np.mean([one.regret for one in then]):.1f} | {np.mean([one.true_tau for one in then]):.3f} | "
                f"{np.mean([one.tau for one in then]):.3f} | {with_error(one.tau - one.true_tau for one in then)} |"
            )
    print("\n## Votes to P(best) ≥ .95 as estimated, in arenas that were not there yet\n")
    print(f"What it took is unknown where it was more than {CAP:,}; an estimate of more than that is then right.\n")
    print("| pairs for | estimated at | arenas | estimated, median | took, median | within a factor of 2 |")
    print("|---|---|---|---|---|---|")
    for goal, of_goal in runs.items():
        for votes in LOOKS:
            stops = [(looks, first(looks, is_sure)) for looks in of_goal]
            pairs = [
                (one.estimated, stop.votes if stop else math.inf)
                for looks, stop in stops
                for one in looks
                if one.votes == votes and (stop is None or stop.votes > votes)
            ]
            estimated, took = map(np.array, zip(*pairs, strict=True))
            apart = np.log2(np.minimum(estimated, CAP) / np.minimum(took, CAP))
            print(
                f"| {goal} | {votes:,} | {len(pairs)} | {shown(estimated)} | {shown(took)} | "
                f"{percent((np.abs(apart) <= 1).mean())} |"
            )


def shown(votes: np.ndarray) -> str:
    """Write a median of votes, of which some were not reached."""
    median = np.median(np.minimum(votes, CAP))
    return f"> {CAP:,}" if median >= CAP else f"{median:,.0f}"


def truths(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Strengths of every kind of arena."""
    drawn = np.sort(rng.normal(0, SD, N))[::-1]
    clear, group, hard = drawn.copy(), drawn.copy(), drawn.copy()
    clear[0] = clear[1] + 0.5
    group[:3] = group[3] + 0.5 + np.array([5, 2.5, 0]) / ELO
    hard[1] = hard[0] - 9 / ELO
    hard = np.sort(hard)[::-1]
    return {
        "a clear leader": clear,
        "a close top group": group,
        "best two 9 Elo apart": hard,
        "all equal": np.zeros(N),
        "drawn": drawn,
    }


def voted(rng: np.random.Generator, truth: np.ndarray, votes: int) -> ba.Cells:
    """Simulate votes."""
    theta = rng.normal(1, THETA_SD, ANNOTATORS)
    a = rng.integers(N, size=votes)
    b = (a + rng.integers(1, N, size=votes)) % N
    k = np.concatenate([np.arange(ANNOTATORS), rng.integers(ANNOTATORS, size=votes - ANNOTATORS)])
    names = tuple(f"annotator-{number:02d}" for number in range(1, ANNOTATORS + 1))
    return cells(a, b, k, outcomes(rng, theta[k] * (truth[a] - truth[b])), names)


def is_right(truth: np.ndarray, named: np.ndarray) -> bool:
    """Whether a sentence that names these competitors, or none, is right."""
    return not len(named) or bool(np.ptp(truth) > 0 and truth.argmax() in named)


@dataclass(frozen=True)
class Said:
    """What is said of an arena, and whether it is right."""

    named: int
    sentence: bool
    laxer_sentence: bool
    ranges: bool
    width: float
    arena: bool
    arena_width: float


def say(fit: ba.Fit, truth: np.ndarray) -> Said:
    """Compare what is said of an arena with the truth."""
    p_best = best_probabilities(decision_strengths(replace(fit, samples=ba.draw(fit))))
    named, laxer = likely_best(p_best), likely_best(p_best, one_of=0.95)
    board = by_name(fit)
    best, worst = 1 + (truth[:, None] < truth).sum(axis=1), (truth[:, None] <= truth).sum(axis=1)
    lower, upper = board["lower"].to_numpy(), board["upper"].to_numpy()
    first, last = 1 + (lower > upper[:, None]).sum(axis=1), N - (upper < lower[:, None]).sum(axis=1)
    return Said(
        named=len(named),
        sentence=is_right(truth, named),
        laxer_sentence=is_right(truth, laxer),
        ranges=bool(((board["rank_lower"] <= best) & (worst <= board["rank_upper"])).all()),
        width=float((board["rank_upper"] - board["rank_lower"]).mean()) + 1,
        arena=bool(((first <= best) & (worst <= last)).all()),
        arena_width=float((last - first).mean()) + 1,
    )


def sentences(arenas: int, sizes: list[int]) -> None:
    print(f"## Sentences and rank ranges, {arenas} arenas of each kind\n")
    print(
        "| truth | votes | leads | is one of | not enough | **sentence right** | leads: right | is one of: right | "
        "right, were sets of .95 named | **all rank ranges right** | width | by the arena's formula | width |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for votes in sizes:
        found: dict[str, list[Said]] = {}
        for seed in range(arenas):
            report("arenas", seed, arenas)
            for kind, (name, truth) in enumerate(truths(np.random.default_rng([seed, 2])).items()):
                fit = ba.fit(voted(np.random.default_rng([seed, 3, kind]), truth, votes), model="am-davidson")
                found.setdefault(name, []).append(say(fit, truth))
        report("")
        for name, rows in found.items():
            groups = [
                [one for one in rows if one.named == 1],
                [one for one in rows if one.named > 1],
                [one for one in rows if one.named == 0],
            ]
            shares = " | ".join(f"{len(group) / arenas:.3f}" for group in groups)
            right = [with_error(one.sentence for one in group) for group in (rows, *groups[:2])]
            others = [
                with_error(one.laxer_sentence for one in rows),
                with_error(one.ranges for one in rows),
                f"{np.mean([one.width for one in rows]):.1f}",
                with_error(one.arena for one in rows),
                f"{np.mean([one.arena_width for one in rows]):.1f}",
            ]
            print(f"| {name} | {votes:,} | {shares} | {' | '.join([*right, *others])} |")


def main() -> None:
    parser = options_of(__doc__, arenas=200)
    parser.add_argument("--part", choices=("stopping", "sentences"))
    parser.add_argument("--votes", type=int, nargs="+", default=[4000], help="sizes of the arenas of sentences")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    if options.part != "sentences":
        stopping(options.arenas)
        print()
    if options.part != "stopping":
        sentences(options.arenas, options.votes)


if __name__ == "__main__":
    main()
