"""Can the ranking be bought? Rigged votes among honest ones, what they move, and who is found.

    uv run python benchmarks/manipulation.py [--quick] [--seeds 10] [--processes 2] > benchmarks/results/manipulation.md
    uv run python benchmarks/manipulation.py --quick --robust off > benchmarks/results/manipulation_before.md

The strategies are in ``rigging.py``, honest arenas in ``crowds.py``, defences by others in ``rivals.py``, and the bound
in ``oracle.py``. The arenas:

    small     60 competitors, 20,000 honest votes of 200 annotators, pairs met alike
    visited   the same, and 100 annotators of three votes each: what slow drips hide among
    part      100,000 of the 1.67 million battles of Chatbot Arena, synthetic annotators, 27 votes each
    real      all of them (61,861 annotators)

A row is a strategy, accounts x votes and a target, over seeds. Ranks: of the target by the honest votes (Bradley-Terry,
this package), and where it stands after the attack by Bradley-Terry, by this package's default fit as it comes, and by
Bradley-Terry after the vote filter at .7 and .8. "worst": by how much the default's rank is off in the worst seed.
"flag": recall and honest accounts flagged in a seed, of ``ba.flag(result, fdr=.05)``; in brackets those of the latter
who are anomalous by their true parameters, though honest: they all but guess, and no rule could know that they mean
well. "verdict": the same of whom ``ba.annotators`` calls anomalous, for whatever reason. "named": share of the targets
that the result names. "pay": the reward of the median rigger, the median honest account's being 1. "bound": the
likelihood ratio with everything known. "cannot tell": share of the seeds in which nobody is judged.

``--only`` prints some sections: attacks, shares, honest, crowds, accounts, camps, few, votes, seconds. With ``--keep
FILE`` the outcome of every attack is written there as it comes, and taken from there if it is known, so that a long run
can be broken off; ``--only kept`` prints all that the file has.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import rivals
from arena_votes import synthetic_annotators
from crowds import Crowd, HonestArena, honest_arena
from oracle import anomalous, flagged_by_oracle
from rigging import STRATEGIES, Rigged, Strategy, rig

import bayes_arena as ba
from bayes_arena.progress import report
from bayes_arena.trust.judging import judge as find_suspects

HERE = Path(__file__).parent
DATA = Path(os.environ.get("BAYES_ARENA_DATA") or HERE.parents[1] / "shared" / "data")
FDR = 0.05
SIZES = tuple(itertools.product((5, 50, 500), (50, 100, 500)))
"""Accounts and votes of each."""
DRIP = (200, 3)
LARGE = 60_000
"""Votes, honest and rigged, beyond which a row has two seeds."""
OF_PART, OF_REAL = 100_000, None
"""Battles of the arenas of real pair counts; None for all."""
TOO_MANY = 0.4
"""Share of the votes from which nobody can tell a bloc from a crowd."""
TO_BE_FOUND = ("t-abstain", "t-normal50", "hate", "two-targets", "omni-bt")
CAMPS = ((0.2, 0.5), (0.4, 0.5), (0.8, 0.5), (0.8, 0.3), (0.8, 0.1))
"""Standard deviation of what divides two camps, and share of the second."""
CROWDS = {(9_000, 124, 50): 3, (60_000, 15_000, 10): 3, (100_000, 4_000, 129): 3, (1_670_250, 61_003, 129): 1}
"""Votes, annotators and competitors of honest crowds, and how many seeds of each."""
CROWD_KEYS = ("votes", "annotators", "competitors", "discrimination_sd", "tie_spread", "strength_sd")
FEW = (8, 12, 16, 24)
"""Competitors of arenas of few."""
MEDIAN, TENTH = "median", "10"


@dataclass(frozen=True)
class Attack:
    """A row of the table, in one seed."""

    arena: str
    strategy: Strategy
    accounts: int
    votes: int
    target: str
    seed: int
    guard: bool


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a fit as it comes says of an arena.

    Attributes
    ----------
    rank, elo : dict
        Of every competitor.
    flagged, called : set of str
        Flagged at the false discovery rate; called anomalous.
    told : str
        All it says in words: kinds of annotators, and warnings.
    reward : dict of str to float
        Of every annotator; empty where nobody is judged.
    seconds : float
        Of the fit, the table of annotators and the flags.
    """

    rank: dict[str, int]
    elo: dict[str, float]
    flagged: set[str]
    called: set[str]
    told: str
    reward: dict[str, float]
    seconds: float


@lru_cache(maxsize=2)
def arena_of(name: str, seed: int) -> HonestArena:
    """Return the honest votes of an arena."""
    if name in ("small", "visited"):
        return honest_arena(Crowd(visitors=100 if name == "visited" else 0), seed=seed)
    return synthetic_annotators(HERE / "data", OF_PART if name == "part" else OF_REAL, seed=seed)


@lru_cache(maxsize=2)
def honestly(name: str, seed: int, guard: bool) -> tuple[dict[str, int], Judgement]:
    """Rank by Bradley-Terry and judge the honest votes of an arena."""
    cells = arena_of(name, seed).cells
    return ranks(ba.fit(cells, model="bradley-terry")), judge(cells, guard)


@lru_cache(maxsize=2)
def useless(name: str, seed: int) -> set[str]:
    """Name the honest annotators of an arena who are anomalous all the same."""
    return anomalous(arena_of(name, seed))


def ranks(fit: ba.Fit) -> dict[str, int]:
    """Rank of every competitor by Elo, from 1."""
    return {name: place for place, name in enumerate(ba.leaderboard(fit)["competitor"], start=1)}


def fit_of(cells: ba.Cells, guard: bool) -> ba.Fit:
    """Fit votes as they come, or without the defence."""
    return ba.fit(cells) if guard else ba.fit(cells, robust=False)


def judge(cells: ba.Cells, guard: bool) -> Judgement:
    """Fit votes as they come, and say who is who."""
    start = time.process_time()
    fit = fit_of(cells, guard)
    told = list(fit.warnings)
    flagged, called, reward = set(), set(), {}
    try:
        table = ba.annotators(fit)
    except ba.ModelError:  # nobody can be judged
        pass
    else:
        flagged = set(ba.flag(fit, fdr=FDR))
        anomalous = table[table["verdict"] == "anomalous"]
        called = set(anomalous["annotator"])
        told += list(anomalous["kind"])
        reward = dict(zip(table["annotator"], table["reward"], strict=True))
    seconds = time.process_time() - start
    board = ba.leaderboard(fit)
    elo = dict(zip(board["competitor"], board["elo"], strict=True))
    rank = {name: place for place, name in enumerate(elo, start=1)}
    return Judgement(rank, elo, flagged, called, " ".join(told), reward, seconds)


def target_of(attack: Attack) -> str:
    """Return the competitor that an attack is for: by rank of the honest votes."""
    rank, _ = honestly(attack.arena, attack.seed, attack.guard)
    wanted = len(rank) // 2 if attack.target == MEDIAN else int(attack.target)
    return next(name for name, place in rank.items() if place == wanted)


def outcome_of(attack: Attack) -> dict[str, object]:
    """Measure an attack."""
    warnings.simplefilter("ignore", ba.ArenaWarning)
    arena = arena_of(attack.arena, attack.seed)
    by_bradley_terry, honest = honestly(attack.arena, attack.seed, attack.guard)
    target = target_of(attack)
    rigged = rig(arena.cells, attack.strategy, target, accounts=attack.accounts, votes=attack.votes, seed=attack.seed)
    cells, riggers = rigged.cells, set(rigged.riggers)
    found = judge(cells, attack.guard)
    row: dict[str, object] = {
        "arena": attack.arena,
        "strategy": "slow drip" if (attack.accounts, attack.votes) == DRIP else attack.strategy,
        "accounts x votes": f"{attack.accounts} x {attack.votes}",
        "target": attack.target,
        "rigged": rigged.share,
        "honest: BT": by_bradley_terry[target],
        "honest: default": honest.rank[target],
        "BT": ranks(ba.fit(cells, model="bradley-terry"))[target],
        "default": found.rank[target],
        "named": np.mean([names(found.told, name) for name in rigged.targets]),
        "cannot tell": not found.reward,
        "pay": pay(found, rigged),
        "seconds": found.seconds,
    }
    for threshold, kept in zip((0.7, 0.8), rivals.filtered(cells, rigged.riggers, (0.7, 0.8)), strict=True):
        row[f"filter {threshold}"] = ranks(ba.fit(kept, model="bradley-terry"))[target]
    sets = {
        "flag": found.flagged,
        "verdict": found.called,
        "Fisher": rivals.fisher(cells, rigged.riggers, seed=attack.seed),
        "user test, raw": rivals.user_test(cells, rigged.riggers, fitted=False, seed=attack.seed),
        "user test": rivals.user_test(cells, rigged.riggers, fitted=True, seed=attack.seed),
        "bound": flagged_by_oracle(arena, rigged, attack.strategy, fdr=FDR),
    }
    for name, members in sets.items():
        row[name] = len(members & riggers) / len(riggers)
        row[f"{name} innocents"] = len(members - riggers)
        row[f"{name} useless"] = len((members - riggers) & useless(attack.arena, attack.seed))
    return row


def names(text: str, competitor: str) -> bool:
    """Whether a text names a competitor, not one whose name begins or ends alike."""
    return re.search(rf"(?<![\w.-]){re.escape(competitor)}(?![\w-])", text) is not None


def pay(found: Judgement, rigged: Rigged) -> float:
    """Reward of the median rigger over that of the median honest account; NaN where nobody is judged."""
    if not found.reward:
        return float("nan")
    riggers = set(rigged.riggers)
    honest = np.median([reward for name, reward in found.reward.items() if name not in riggers])
    rigging = np.median([found.reward.get(name, 0.0) for name in rigged.riggers])  # whose votes do not count has none
    return float(rigging / honest) if honest else float("inf")


def attacks(options: argparse.Namespace) -> list[Attack]:
    """All rows that are asked for."""
    sizes = options.sizes or ([(10, 100), (50, 100)] if options.quick else SIZES)
    targets = options.targets or ([MEDIAN] if options.quick else [MEDIAN, TENTH])
    arenas = {"small": 20_000} if options.quick else {"small": 20_000, "part": OF_PART, "real": 1_670_250}
    if options.arenas:
        arenas = {name: arenas.get(name, OF_PART) for name in options.arenas}
    rows = []
    for (arena, honest), target in itertools.product(arenas.items(), targets):
        few = [(5, 100), (50, 100), (500, 100)] if arena == "real" and not options.sizes else sizes
        some = ["t-abstain", "t-normal", "omni-bt"] if arena == "real" else list(STRATEGIES)
        for strategy, (accounts, votes) in itertools.product(options.strategies or some, few):
            seeds = options.seeds if honest + accounts * votes <= LARGE else min(options.seeds, 2)
            seeds = 1 if arena == "real" else seeds
            rows += [Attack(arena, strategy, accounts, votes, target, seed, options.guard) for seed in range(seeds)]
        if not options.sizes and not options.strategies:
            among = "visited" if arena == "small" else arena
            seeds = 1 if arena == "real" else min(options.seeds, 3)
            rows += [Attack(among, "t-abstain", *DRIP, target, seed, options.guard) for seed in range(seeds)]
    return sorted(rows, key=lambda row: (row.arena, row.seed))  # an arena is made once


def measured(rows: list[Attack], options: argparse.Namespace) -> pd.DataFrame:
    """Outcomes of attacks, several at a time if asked for; those that were kept are not measured again."""
    known = {}
    if options.keep and options.keep.exists():
        lines = [json.loads(line) for line in options.keep.read_text().splitlines()]
        known = {Attack(**line["attack"]): line["outcome"] for line in lines}
    unknown = [row for row in rows if row not in known]
    with get_context("spawn").Pool(options.processes) if options.processes > 1 else nullcontext() as pool:
        outcomes = pool.imap(outcome_of, unknown) if pool else map(outcome_of, unknown)
        for number, (row, outcome) in enumerate(zip(unknown, outcomes, strict=True)):
            report("attacks", number, len(unknown))
            known[row] = outcome
            if options.keep:
                with options.keep.open("a") as kept:
                    kept.write(json.dumps({"attack": asdict(row), "outcome": outcome}, default=float) + "\n")
    report("")
    return pd.DataFrame([known[row] for row in rows])


def say_attacks(options: argparse.Namespace) -> None:
    """Print the tables of attacks."""
    say_outcomes(measured(attacks(options), options))


def say_kept(options: argparse.Namespace) -> None:
    """Print the tables of all attacks that were kept, whatever runs they are of."""
    if not options.keep:
        raise SystemExit("Name the file: --keep FILE.")
    lines = [json.loads(line) for line in options.keep.read_text().splitlines()]
    rows = sorted(lines, key=lambda line: [line["attack"][name] for name in ("arena", "target", "accounts", "votes")])
    table = pd.DataFrame([line["outcome"] for line in rows])
    say_in_short(table)
    say_outcomes(table)


def say_in_short(table: pd.DataFrame) -> None:
    """Print what holds of all attacks, of those that everybody should find, and of each of the others."""
    table = table.assign(off=(table["default"] - table["honest: default"]).abs())
    too_many = table["rigged"] >= TOO_MANY
    over, under = table[too_many], table[~too_many]
    print(f"## In short: {len(table)} attacks\n")
    flagged, refused = under["flag innocents"], under["cannot tell"].sum()
    print(f"Nobody is judged in {over['cannot tell'].sum():.0f} of the {len(over)} in which a bloc casts 40 % of the")
    print(f"votes or more, and in {refused:.0f} of the {len(under)} others, which follow: {flagged.mean():.2f} honest")
    print(f"accounts are flagged in one, {flagged.max()} at most. To be found are, of 1,000 rigged votes or more,")
    print(", ".join(TO_BE_FOUND) + ".\n")
    rigged = under["accounts x votes"].str.split(" x ").map(lambda size: int(size[0]) * int(size[1]))
    found = under["strategy"].isin(TO_BE_FOUND) & (rigged >= 1000)
    rows = []
    for (arena, which), part in under.groupby(["arena", under["strategy"].where(~found, "to be found")], sort=False):
        row: dict[str, object] = {
            "arena": arena,
            "strategy": which,
            "attacks": len(part),
            "recall": part["flag"].mean(),
        }
        row |= {"recall, least": part["flag"].min(), "bound": part["bound"].mean(), "named": part["named"].mean()}
        row |= {"within 2 of the honest rank": (part["off"] <= 2).mean(), "farthest": part["off"].max()}
        rows.append(row | {"pay, most": part["pay"].max()})
    say(pd.DataFrame(rows), {"attacks": 0, "farthest": 0})
    print()


def say_outcomes(table: pd.DataFrame) -> None:
    """Print what attacks move, and who is found."""
    keys = ["arena", "strategy", "accounts x votes", "target"]
    rows = table.groupby(keys, sort=False)
    means = rows.mean()
    means.insert(0, "seeds", rows.size())
    means["worst"] = (
        table.assign(off=(table["default"] - table["honest: default"]).abs()).groupby(keys, sort=False)["off"].max()
    )
    order = [*STRATEGIES, "slow drip"]
    means = means.sort_index(
        key=lambda index: index.map(order.index) if index.name == "strategy" else index, kind="stable"
    )
    moved = means.reset_index()[[*keys, "seeds", "rigged", "honest: BT", "BT", "filter 0.7", "filter 0.8"]]
    rest = means.reset_index()[["honest: default", "default", "worst", "pay", "cannot tell", "seconds"]]
    print("## What they move: rank of the target, mean over seeds\n")
    say(
        moved.join(rest),
        {
            "seeds": 0,
            "BT": 1,
            "honest: BT": 1,
            "filter 0.7": 1,
            "filter 0.8": 1,
            "default": 1,
            "honest: default": 1,
            "worst": 0,
            "rigged": 3,
            "seconds": 1,
        },
    )
    print("\n## Who is found: recall / honest accounts lost in a seed\n")
    found = means.reset_index()[keys].copy()
    for name in ("flag", "verdict", "bound", "user test", "user test, raw", "Fisher"):
        columns = means[[name, f"{name} innocents", f"{name} useless"]].to_numpy()
        found[name] = [f"{recall:.2f} / {lost:.1f} ({bad:.1f})" for recall, lost, bad in columns]
    found["named"] = means["named"].to_numpy()
    say(found)


def say(table: pd.DataFrame, digits: dict[str, int] | None = None) -> None:
    """Print a table in Markdown."""
    print("| " + " | ".join(table.columns) + " |\n" + "|---" * len(table.columns) + "|")
    for row in table.itertuples(index=False):
        shown = [
            value if isinstance(value, str) else "-" if pd.isna(value) else f"{value:.{(digits or {}).get(name, 2)}f}"
            for name, value in zip(table.columns, row, strict=True)
        ]
        print("| " + " | ".join(shown) + " |")
    sys.stdout.flush()


def say_shares(options: argparse.Namespace) -> None:
    """Print what a bloc can do that casts more and more of the votes."""
    print("\n## Blocs of 20 to 60 % of the votes (small arena, 100 votes an account, median target)\n")
    rows = [
        Attack("small", strategy, round(20_000 * share / (1 - share) / 100), 100, MEDIAN, seed, options.guard)
        for seed in range(min(options.seeds, 3))
        for strategy in ("t-abstain", "omni-bt", "t-tie")
        for share in (0.2, 0.3, 0.35, 0.4, 0.5, 0.6)
    ]
    table = measured(rows, options)
    columns = ["rigged", "honest: default", "BT", "default", "flag", "flag innocents", "flag useless"]
    columns += ["cannot tell", "named", "pay"]
    say(
        table.groupby(["strategy", "accounts x votes"], sort=False)[columns].mean().reset_index(),
        {"BT": 1, "default": 1, "honest: default": 1},
    )


def say_honest(options: argparse.Namespace) -> None:
    """Print whom honest votes make suspect, and what the defence does to their board."""
    print("\n## Honest arenas: accounts flagged in each seed, and how far the defence moves the board\n")
    crowds = {
        "small": Crowd(),
        "100 visitors of three votes": Crowd(visitors=100),
        "tastes of sd .5": Crowd(taste_sd=0.5),
        "a fifth guess": Crowd(guessers=0.2),
        "15 % vote against the ranking": Crowd(adversaries=0.15),
    }
    rows = []
    for name, crowd in crowds.items():
        for seed in range(options.seeds):
            report("honest", seed, options.seeds)
            arena = honest_arena(crowd, seed=seed)
            found, bad = judge(arena.cells, options.guard), anomalous(arena) | {*arena.guessers, *arena.adversaries}
            row = {
                "arena": name,
                "flagged": len(found.flagged - bad),
                "flagged, and below the bar": len(found.flagged & bad),
            }
            row["cannot tell"] = float(not found.reward)
            bare = ba.leaderboard(ba.fit(arena.cells, robust=False), level=0.95).set_index("competitor")
            apart = (pd.Series(found.elo) - bare["elo"]).abs()
            sd = (bare["upper"] - bare["lower"]) / (2 * NormalDist().inv_cdf(0.975))
            row |= {
                "board moved": float(apart.max() > 0),
                "Elo moved, farthest": apart.max(),
                "in its sd": (apart / sd).max(),
            }
            rows.append(row)
    report("")
    table = pd.DataFrame(rows).groupby("arena", sort=False)
    most = table[["flagged", "Elo moved, farthest", "in its sd"]].max().add_suffix(", most")
    say(table.mean().join(most).reset_index())


def say_crowds(options: argparse.Namespace) -> None:
    """Print how many of a crowd that votes by the default model are left out, and what the defence takes."""
    print("\n## Honest crowds, each with its own theta, ties and side (.2): how many are left out in a seed\n")
    ba.fit(honest_arena(Crowd(visitors=9), competitors=9, votes=900).cells)  # what is compiled, is compiled once
    rows = []
    for (votes, annotators, competitors), seeds in CROWDS.items():
        if options.quick and votes > LARGE * 2:
            continue
        for theta, tie, strength in itertools.product((0.2, 0.5), (0.0, 0.8), (1.0, 2.0)):
            spreads = {"discrimination_sd": theta, "tie_spread": tie, "strength_sd": strength, "position_spread": 0.2}
            for seed in range(min(options.seeds, seeds)):
                arena = ba.simulate(
                    competitors=competitors, annotators=annotators, votes=votes, seed=seed + 7, **spreads
                )
                rows.append({"competitors": str(competitors), **spreads} | _left_out(ba.read_votes(arena.votes)))
    if not options.quick:
        rows += [{"competitors": "129"} | _left_out(arena_of("real", seed).cells) for seed in range(2)]
    table = pd.DataFrame(rows).drop(columns="position_spread").groupby([*CROWD_KEYS], sort=False, dropna=False)
    found = table["left out"].agg(["count", "mean", "max"])
    found = found.set_axis(["seeds", "left out", "most"], axis=1)
    say(found.join(table["CPU seconds"].mean()).reset_index())


def _left_out(cells: ba.Cells) -> dict[str, object]:
    """Judge votes whose tally is known, as a fit's is, and count who is left out."""
    cells.tally(by_annotator=True, by_side=cells.sided)
    start = time.process_time()
    judged = find_suspects(cells)
    seconds = time.process_time() - start
    sizes = {"votes": f"{cells.n_votes:,.0f}", "annotators": f"{cells.n_annotators:,}"}
    return {**sizes, "left out": int(judged.left_out.sum()), "CPU seconds": seconds}


def say_accounts(options: argparse.Namespace) -> None:
    """Print how far a few accounts move the board, and how often further than Bradley-Terry's."""
    print("\n## A few accounts of 100 votes (small arena, median target): Elo moved, and the target's rank\n")
    rows = []
    models: dict[str, Callable[[ba.Cells], ba.Fit]] = {
        "BT": lambda votes: ba.fit(votes, model="bradley-terry"),
        "default": lambda votes: fit_of(votes, options.guard),
    }
    for seed in range(min(options.seeds, 5)):
        cells = arena_of("small", seed).cells
        before = {name: elo_of(model(cells)) for name, model in models.items()}
        for strategy, accounts in itertools.product(options.strategies or STRATEGIES, (1, 2, 4)):
            report(f"{strategy}, {accounts} accounts", seed, options.seeds)
            target = target_of(Attack("small", strategy, accounts, 100, MEDIAN, seed, options.guard))
            rigged = rig(cells, strategy, target, accounts=accounts, votes=100, seed=seed).cells
            row: dict[str, object] = {"strategy": strategy, "accounts": f"{accounts}"}
            for name, model in models.items():
                after = elo_of(model(rigged))
                row[f"{name}: honest rank"] = 1 + list(before[name].index).index(target)
                row[f"{name}: rank"] = 1 + list(after.index).index(target)
                row[f"{name}: target"] = after[target] - before[name][target]
                row[f"{name}: farthest"] = (after - before[name]).abs().max()
            rows.append(row | {"farther than BT": float(row["default: farthest"] > row["BT: farthest"])})
    report("")
    say(pd.DataFrame(rows).groupby(["strategy", "accounts"], sort=False).mean().reset_index())


def elo_of(fit: ba.Fit) -> pd.Series:
    """Rating of every competitor, best first."""
    return ba.leaderboard(fit).set_index("competitor")["elo"]


def say_camps(options: argparse.Namespace) -> None:
    """Print what is said where annotators form two camps."""
    print("\n## Two camps of honest annotators (small arena): nobody is to be flagged\n")
    rows = []
    for (sd, share), seed in itertools.product(CAMPS, range(min(options.seeds, 5))):
        arena = honest_arena(Crowd(camp_sd=sd, camp_share=share), seed=seed)
        found = judge(arena.cells, options.guard)
        row = {"sd": f"{sd}", "second camp": f"{share:.0%}", "flagged": len(found.flagged)}
        row |= {"called anomalous": len(found.called), "cannot tell": float(not found.reward)}
        rows.append(row | {"says camps": float("camp" in found.told)})
    say(pd.DataFrame(rows).groupby(["sd", "second camp"], sort=False).mean().reset_index())


def say_few(options: argparse.Namespace) -> None:
    """Print whose votes count in arenas of few competitors: among honest annotators, camps, and riggers for one."""
    print("\n## Few competitors: 150 annotators of 60 votes, or 42 of 100; a tenth as many riggers, five at least\n")
    crowds = {
        "honest": Crowd(),
        "tastes of sd .8": Crowd(taste_sd=0.8),
        "camps of sd .8": Crowd(camp_sd=0.8),
        "camps of sd .8, 30 %": Crowd(camp_sd=0.8, camp_share=0.3),
        "camps of sd .5": Crowd(camp_sd=0.5),
    }
    cases = [*crowds, *(options.strategies or STRATEGIES)]
    sizes = itertools.product(FEW, ((150, 60), (42, 100)), range(min(options.seeds, 5)))
    rows = []
    for (competitors, (annotators, each), seed), case in itertools.product(sizes, cases):
        report(f"{case}, {competitors} competitors", seed, options.seeds)
        crowd = replace(crowds.get(case, Crowd()), annotators=annotators)
        arena = honest_arena(crowd, competitors=competitors, votes=annotators * each, seed=seed)
        cells, riggers, target = arena.cells, set[str](), arena.ranked(competitors // 2)
        if case not in crowds:
            size = max(annotators // 10, 5)
            rigged = rig(cells, case, target, accounts=size, votes=100, seed=seed)
            cells, riggers = rigged.cells, set(rigged.riggers)
        found = find_suspects(cells)
        suspects, told = set(found.suspects), " ".join(found.said)
        row = {"votes": case, "annotators": f"{annotators} x {each}", "competitors": f"{competitors}"}
        row |= {"says camps": float("camps" in found.unjudged), "cannot tell": float(bool(found.unjudged))}
        row["left out: riggers"] = len(suspects & riggers) / len(riggers) if riggers else float("nan")
        row["named"] = float(names(told, target)) if riggers else float("nan")
        rows.append(row | {"honest": len(suspects - riggers), "honest, most": len(suspects - riggers)})
    report("")
    keys = ["votes", "annotators", "competitors"]
    table = pd.DataFrame(rows).groupby(keys, sort=False)
    most = {name: "max" if name == "honest, most" else "mean" for name in rows[0] if name not in keys}
    order = (
        table.agg(most).reset_index().sort_values("votes", key=lambda column: column.map(cases.index), kind="stable")
    )
    say(order, {"honest, most": 0})


def say_votes(options: argparse.Namespace) -> None:
    """Print whom real votes make suspect."""
    print("\n## Real votes: who is called what\n")
    print("| votes | called | flagged at .05 | seconds |\n|---|---|---|---:|")
    for name, file in (("LLMFAO", "llmfao.csv"), ("MT-bench", "mt_bench_human.csv")):
        start = time.process_time()
        fit = fit_of(ba.read_votes(DATA / file, prompt=False), options.guard)
        table, flagged = ba.annotators(fit), ba.flag(fit, fdr=FDR)
        seconds = time.process_time() - start
        called = table[table["verdict"] == "anomalous"]
        who = ", ".join(f"{row.annotator} ({row.kind})" for row in called.itertuples())
        print(f"| {name} | {who or 'nobody'} | {', '.join(flagged) or 'nobody'} | {seconds:.1f} |")


def say_seconds(options: argparse.Namespace) -> None:
    """Print what the defence costs."""
    print("\n## CPU seconds of the default fit, best of three (1.67 million votes: one)\n")
    sets = {
        "example arena (`simulate()`)": lambda: ba.read_votes(ba.simulate().votes),
        "LLMFAO, without prompts": lambda: ba.read_votes(DATA / "llmfao.csv", prompt=False),
        "small": lambda: arena_of("small", 0).cells,
        "part": lambda: arena_of("part", 0).cells,
        "real": lambda: arena_of("real", 0).cells,
    }
    rows = []
    for name, read in sets.items():
        if name in ("part", "real") and name not in (options.arenas or ()):
            continue
        cells = read()
        ba.fit(cells)  # what is compiled, is compiled once
        calls: dict[str, Callable[[], object]] = {
            "without": partial(fit_of, cells, robust=False),
            "with": partial(fit_of, cells, robust=True),
            "the defence alone": partial(find_suspects, cells),
        }
        row = {"votes": name, "n": f"{cells.n_votes:,.0f}", "annotators": f"{cells.n_annotators:,}"}
        rows.append(row | {what: _least_seconds(call, 1 if name == "real" else 3) for what, call in calls.items()})
    say(pd.DataFrame(rows))


def _least_seconds(call: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


SECTIONS: dict[str, Callable[[argparse.Namespace], None]] = {
    "attacks": say_attacks,
    "kept": say_kept,
    "shares": say_shares,
    "honest": say_honest,
    "crowds": say_crowds,
    "accounts": say_accounts,
    "camps": say_camps,
    "few": say_few,
    "votes": say_votes,
    "seconds": say_seconds,
}


def size(text: str) -> tuple[int, int]:
    """Read accounts x votes."""
    accounts, votes = text.split("x")
    return int(accounts), int(votes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few sizes, the median target, the small arena")
    parser.add_argument(
        "--robust", "off", dest="guard", action="store_false", help="the default fit without its defence"
    )
    parser.add_argument("--seeds", type=int, help="10, or 2 with --quick; fewer for large rows")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="JSON lines of outcomes")
    usual = [name for name in SECTIONS if name != "kept"]
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=usual)
    parser.add_argument("--arenas", nargs="+", choices=("small", "visited", "part", "real"))
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES)
    parser.add_argument("--sizes", nargs="+", type=size, metavar="ACCOUNTSxVOTES")
    parser.add_argument("--targets", nargs="+", choices=(MEDIAN, TENTH))
    options = parser.parse_args()
    options.seeds = options.seeds or (2 if options.quick else 10)
    warnings.simplefilter("ignore", ba.ArenaWarning)
    print("    uv run python benchmarks/manipulation.py " + " ".join(sys.argv[1:]))
    print(f"\nVersion {ba.__version__}, the default fit {'with' if options.guard else 'without'} its defence.\n")
    for name in options.only:
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
