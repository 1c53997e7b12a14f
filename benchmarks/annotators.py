"""Who is found, and who is named falsely: anomalies, favourites, contested, one ranking.

    python benchmarks/annotators.py [--seeds 8] [--only anomalies favourites ...]

Simulated arenas (``arenas.py``, ``attacks.py``), and LLMFAO and MT-bench where
``$BAYES_ARENA_DATA`` (else ``../shared/data``) has them.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from arenas import (
    CROWDS,
    REGIMES,
    Arena,
    People,
    Rng,
    count_votes,
    draw_arena,
    draw_votes,
    of_rankings,
    thetas,
)
from attacks import ATTACKS, attacked, honest_arena, single_votes
from calibration import expert_arena
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.errors import FitError
from bayes_arena.paper.measures import detection
from bayes_arena.paper.perturb import KINDS, perturb
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.contested import CONTESTED, find_contested
from bayes_arena.people.copies import find_copies
from bayes_arena.people.favourites import find_favourites
from bayes_arena.people.judgement import ANOMALOUS, SUSPECT
from bayes_arena.people.shared import RANDOM_EXPOSURE, SURE, compare_boards
from bayes_arena.people.table import pair_table
from bayes_arena.votes.votes import FIRST, SECOND

ANNOTATORS, COMPETITORS = 60, 20
RIGHTLY_CONTESTED = ("fans, 20 %", "riggers who tie otherwise")
CROWD = 160  # annotators of arenas with favourites
# Other votes a head, share of annotators with a favourite, and sd of tastes.
FANS = ((100, 0.05, 0), (100, 0.05, 0.5), (100, 0.2, 0), (20, 0.05, 0), (20, 0.2, 0))
PLANTED = ("guess", "coin thrower", "reversed", "always ties", "first side")
SHARES = (0.1, 0.3)
HEADS = (10, 30, 100)  # votes a head
NEVER = -20.0  # ln nu of who never ties; its opposite of who always does
ONE_SIDED = 3.0  # position effect of who takes the first side
LOYALTY = 0.95  # share of the votes on a favourite that are for it
# Share of the median agreement, and the probability of less, from which a rule names.
RULES = {"anomalous": ANOMALOUS, "suspect": SUSPECT}  # P from which somebody is
PAPER = {"theta at most 0": 0.0, "theta at most .005": 0.005}
LEVELS = (0.1, 0.25, 0.4)  # of perturbed annotators of LLMFAO


def planted(rng: Rng, kind: str, share: float) -> People:
    """Draw annotators of one ranking, the first of whom vote otherwise."""
    bad = np.arange(ANNOTATORS) < round(share * ANNOTATORS)
    theta = thetas(rng, ANNOTATORS)[:, 0]
    tie = rng.normal(0, 0.4, ANNOTATORS)
    position = rng.normal(0.1, 0.2, ANNOTATORS)
    theta = np.where(bad, -theta if kind == "reversed" else 0.0, theta)
    if kind == "coin thrower":
        tie = np.where(bad, NEVER, tie)
    elif kind == "always ties":
        tie = np.where(bad, -NEVER, tie)
    elif kind == "first side":
        position = np.where(bad, ONE_SIDED, position)
    strength = theta[:, None] * rng.normal(size=COMPETITORS)
    return of_rankings(strength, rng, tie=tie, position=position)


def planted_arena(kind: str, share: float, votes: int, seed: int) -> Arena:
    """Draw an arena with as many votes of each annotator."""
    rng = np.random.default_rng([seed, 29])
    people = planted(rng, kind, share)
    k = np.repeat(np.arange(ANNOTATORS), votes)
    i = rng.integers(COMPETITORS, size=len(k))
    j = (i + rng.integers(1, COMPETITORS, size=len(k))) % COMPETITORS
    return Arena(draw_votes(people, k, i, j, rng), np.zeros(COMPETITORS))


def named_by_rules(votes: ba.Votes) -> dict[str, np.ndarray]:
    """Return whom each rule names, (annotators,)."""
    fit = ba.fit(votes, model="am-davidson")
    table = annotator_columns(votes, fit, find_favourites(votes))
    p_anomaly = np.empty(votes.n_annotators)
    p_anomaly[np.searchsorted(votes.annotators, table["annotator"])] = table[
        "p_anomaly"
    ]
    named = {rule: p_anomaly >= least for rule, least in RULES.items()}
    for rule, epsilon in PAPER.items():
        try:
            low = ba.flag_by_theta(votes, epsilon)
        except FitError:  # a theta without a maximum: the paper's model names nobody
            low = ()
        named[rule] = np.isin(votes.annotators, low)
    return named


def anomalies(seeds: int) -> Iterable[str]:
    """Planted annotators found, and ordinary ones named."""
    yield "## Anomalous annotators\n"
    shares = ", ".join(f"{100 * share:.0f} %" for share in SHARES)
    yield (
        f"{ANNOTATORS} annotators (theta 1, sd .3) on {COMPETITORS} competitors; {shares} "
        f"of them planted, of one kind, {seeds} arenas each.  Found, as a share of the "
        "planted; and ordinary ones named, of all ordinary.  Theta is the paper's, by flat "
        "am-ELO, which has no maximum at 10 votes a head: then it names nobody.\n"
    )
    rows = []
    for votes in HEADS:
        found: dict[str, list[float]] = defaultdict(list)
        named: dict[str, list[float]] = defaultdict(list)
        for kind in PLANTED:
            by_rule = defaultdict(list)
            for share in SHARES:
                bad = np.arange(ANNOTATORS) < round(share * ANNOTATORS)
                for seed in range(seeds):
                    arena = planted_arena(kind, share, votes, seed)
                    for rule, who in named_by_rules(arena.votes).items():
                        by_rule[rule].append(who[bad])
                        named[rule].append(who[~bad])
            for rule, who in by_rule.items():
                found[rule].append(np.concatenate(who).mean())
        for rule in found:
            falsely = np.concatenate(named[rule])
            shown = [f"{value:.2f}" for value in found[rule]]
            rows.append(
                [f"{votes} votes, {rule}", *shown, f"{falsely.sum()} of {falsely.size}"]
            )
    yield markdown(["votes a head, rule", *PLANTED, "ordinary named"], rows)
    yield from perturbed(min(seeds, 5))


def perturbed(seeds: int) -> Iterable[str]:
    """Mean F1 over LLMFAO's annotators, perturbed as in the paper's Figure 7."""
    if not (DATA / "llmfao.csv").is_file():
        return
    votes = ba.read_votes(DATA / "llmfao.csv").keep(more_than=50)
    paper = ba.fit(votes, model="am-elo", prior="flat")
    votes = votes.drop(annotators=ba.flag_by_theta(paper))
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for kind in KINDS:
        for share in LEVELS:
            for seed in range(seeds):
                changed = perturb(votes, kind, share, seed)
                for rule, who in named_by_rules(changed.votes).items():
                    names = set(np.array(changed.votes.annotators)[who])
                    scores[rule][kind].append(detection(names, changed.annotators).f1)
    rows = []
    for rule, by_kind in scores.items():
        means = [np.mean(values) for values in by_kind.values()]
        rows.append([rule, *(f"{mean:.3f}" for mean in [*means, np.mean(means)])])
    yield (
        f"F1 on the {votes.n_annotators} annotators of LLMFAO of more than 50 votes that "
        f"the paper does not flag, 10, 25 and 40 % perturbed, {seeds} seeds:\n"
    )
    yield markdown(["rule", *KINDS, "mean"], rows)


def favourites(seeds: int) -> Iterable[str]:
    """Planted favourites found, and honest annotators named."""
    yield "## Favourites\n"
    rows = []
    for others, share, sd in FANS:
        cells = []
        for votes in HEADS:
            hits = [fans_found(others, share, sd, votes, seed) for seed in range(seeds)]
            found, planned, falsely = np.sum(hits, axis=0)
            cells.append(f"{found} of {planned}, {falsely}")
        taste = f", tastes of sd {sd:g}" if sd else ""
        rows.append([f"{others} other votes, share {share:g}{taste}", *cells])
    yield (
        f"{CROWD} annotators on {COMPETITORS} competitors, a share of whom have a favourite "
        f"each, of the weaker half: 10, 30 or 100 votes on it, {LOYALTY:g} of them for it; "
        f"{seeds} arenas a cell.  Favourites found, and honest annotators named.\n"
    )
    yield markdown(["votes on the favourite", *map(str, HEADS)], rows)


def fans_found(
    others: int, share: float, sd: float, votes: int, seed: int
) -> tuple[int, int, int]:
    """Return favourites found, planted, and honest annotators named, in an arena."""
    rng = np.random.default_rng([seed, 31])
    n = COMPETITORS
    fans = np.arange(round(share * CROWD))
    strength = rng.normal(size=n)
    own = thetas(rng, CROWD) * strength + sd * rng.normal(size=(CROWD, n))
    love = np.argsort(strength)[rng.integers(n // 2, size=len(fans))]

    k = np.repeat(np.arange(CROWD), others)
    i = rng.integers(n, size=len(k))
    j = (i + rng.integers(1, n, size=len(k))) % n
    loved = np.append(love, np.full(CROWD - len(fans), -1))[k]
    kept = (i != loved) & (j != loved)
    people = of_rankings(own, rng)
    honest = single_votes(draw_votes(people, k[kept], i[kept], j[kept], rng))

    k, i = np.repeat(fans, votes), np.repeat(love, votes)
    j = (i + rng.integers(1, n, size=len(k))) % n
    is_first, is_for = rng.random((2, len(k))) < [[0.5], [LOYALTY]]
    outcome = np.where(is_for == is_first, FIRST, SECOND)
    added = k, np.where(is_first, i, j), np.where(is_first, j, i), outcome
    columns = [np.append(old, new) for old, new in zip(honest, added, strict=True)]
    named = find_favourites(count_votes(*columns, n, CROWD)).named
    hits = np.isin(fans * n + love, named).sum()
    return int(hits), len(fans), int(np.sum(named // n >= len(fans)))


def contested(seeds: int) -> Iterable[str]:
    """Honest arenas in which something is named, and targets of attacks found."""
    n_arenas = 2 * seeds
    rows, n_contested, n_honest, n_named = [], 0, 0, 0
    n_copies = 0
    for name, (people, n_votes) in (REGIMES | CROWDS).items():
        named, away = [], []
        for seed in range(n_arenas):
            votes = draw_arena(people, n_votes, seed).votes
            named.append(len(find_favourites(votes).named))
            away.append(find_contested(pair_table(votes)).max())
            n_copies += len(find_copies(ba.fit(votes, model="am-davidson")))
        n_above = int(np.sum(np.array(away) > CONTESTED))
        rows.append([name, sum(named), n_above, f"{max(away):.1f}"])
        if name not in RIGHTLY_CONTESTED:
            n_contested += n_above
            n_honest += n_arenas
        if name != "one heavy expert":
            n_named += sum(named)
    yield "## Honest arenas: who is named\n"
    yield (
        f"{n_arenas} arenas each.  A heavy expert with a ranking of their own has favourites, "
        f"in truth; {n_named} are named of others.  Of fans and of riggers the favourite is "
        f"contested, in truth; elsewhere somebody is in {n_contested} of {n_honest} arenas.  "
        f"{n_copies} annotators are said to cast the votes of another.\n"
    )
    yield markdown(["arena", "favourites", "contested", "largest"], rows)
    yield "## Attacks: is the target contested?\n"
    yield from attacks(min(seeds, 3))


def attacks(seeds: int) -> Iterable[str]:
    """Return in how many arenas the target of each attack is contested, and who is named."""
    rows, n_found, n_kinds = [], 0, 0
    for attack in ATTACKS:
        size, found, honest = [], 0, 0
        for seed in range(seeds):
            arena = honest_arena(seed)
            votes = attacked(arena, attack, seed)
            away = find_contested(pair_table(votes))
            size.append(away[arena.target])
            found += int(away.argmax() == arena.target and away.max() > CONTESTED)
            result = find_favourites(votes)
            who = result.table.annotator[result.is_for | result.is_against]
            honest += int(np.sum(who < arena.votes.n_annotators))
        label = f"{attack.name}, {attack.accounts} x ({attack.elsewhere} + {attack.on})"
        rows.append([label, f"{np.mean(size):.1f}", f"{found} of {seeds}", honest])
        n_found += found
        n_kinds += found > seeds / 2
    yield (
        "Accounts x (votes elsewhere + votes on the target) among 8,000 honest votes.  The "
        f"target is contested, more than anybody, in {n_found} of {seeds * len(ATTACKS)} "
        f"arenas; in most of those of {n_kinds} of {len(ATTACKS)} attacks.\n"
    )
    yield markdown(
        ["attack", "disagreement", "contested", "honest annotators named"], rows
    )


def ranking_of(rng: Rng, n: int, size: int) -> People:
    """Draw annotators of one ranking."""
    return of_rankings(thetas(rng, size) * rng.normal(size=n), rng)


def by_model_arena(seed: int) -> Arena:
    """Draw an arena where each annotator sees one competitor most, the better the surer."""
    rng = np.random.default_rng([seed, 37])
    n, size, n_votes = COMPETITORS, ANNOTATORS, 4000
    strength = np.sort(rng.normal(size=n))[::-1]
    home = np.arange(size) % n
    theta = np.where(home < n // 2, 1.5, 0.5)
    people = of_rankings(theta[:, None] * strength, rng)
    k = rng.integers(size, size=n_votes)
    i = np.where(rng.random(n_votes) < 0.7, home[k], rng.integers(n, size=n_votes))
    j = (i + rng.integers(1, n, size=n_votes)) % n
    swap = rng.random(n_votes) < 0.5
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    return Arena(draw_votes(people, k, i, j, rng), strength)


def shared(seeds: int) -> Iterable[str]:
    """How often the boards are said to differ, and the exposure."""
    cases: dict[str, Callable[[int], Arena]] = {}
    for n, size, n_votes in (
        (6, 10, 1500),
        (20, 40, 4000),
        (60, 100, 8000),
        (30, 400, 6000),
    ):
        people = partial(ranking_of, n=n, size=size)
        name = f"one ranking, {n} competitors, {size} annotators"
        cases[name] = partial(draw_arena, people, n_votes)
    for name, (people, n_votes) in (REGIMES | CROWDS).items():
        cases[name] = partial(draw_arena, people, n_votes)
    cases["experts on the best"] = expert_arena
    cases["annotators by competitor"] = by_model_arena
    rows = []
    for name, case in cases.items():
        n_arenas = 5 * seeds if name.startswith("one ranking") else seeds
        results = [shared_of(case(seed).votes) for seed in range(n_arenas)]
        rows.append([name, n_arenas, *summary(results)])
    for name in ("llmfao", "mt_bench_human"):
        if (DATA / f"{name}.csv").is_file():
            votes = ba.read_votes(DATA / f"{name}.csv")
            rows.append([f"{name}, by prompt", 1, *summary([shared_of(votes)])])
            votes = votes.collapse(annotators=True)
            rows.append([f"{name}, by vote", 1, *summary([shared_of(votes)])])
    yield "## Do annotators share one ranking?\n"
    yield (
        f"Share of arenas in which the boards differ at p < {SURE:g}, their exposure, and the "
        f"largest gap in Elo, on average.  Above an exposure of {RANDOM_EXPOSURE:g} the note "
        "says that annotators saw different competitors.\n"
    )
    yield markdown(["arena", "arenas", "p < .01", "median p", "exposure", "gap"], rows)


def shared_of(votes: ba.Votes) -> tuple[float, float, float]:
    """Return the p-value, the exposure and the largest gap."""
    result = compare_boards(ba.fit(votes), ba.fit(votes, model="am-davidson"))
    return result.p_value, result.exposure, float(np.abs(result.gap).max())


def summary(results: list[tuple[float, float, float]]) -> list[str]:
    """Return the share of small p, the median p, and mean exposure and gap."""
    p, exposure, gap = np.array(results).T
    share = f"{np.mean(p < SURE):.2f}"
    return [share, f"{np.median(p):.2g}", f"{exposure.mean():.2f}", f"{gap.mean():.0f}"]


PARTS: dict[str, Callable[[int], Iterable[str]]] = {
    "anomalies": anomalies,
    "favourites": favourites,
    "contested": contested,
    "shared": shared,
}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [line for name in options.only for line in PARTS[name](options.seeds)]
    command = f"python benchmarks/annotators.py --seeds {options.seeds}"
    write_page("annotators", "Who is found, and who is named falsely", parts, command)


if __name__ == "__main__":
    main()
