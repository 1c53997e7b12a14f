"""What annotators are called, beside how they vote: faults, other rankings, rings, copies.

    python benchmarks/judgements.py [--seeds 8] [--only faults rankings rings copies gaps]

Simulated arenas (``arenas.py``).  Version 0.4 called everybody with ten votes and a P of .8
anomalous; how many that are stands beside.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from arenas import People, Rng, count_votes, draw_votes, of_rankings, thetas
from attacks import single_votes
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.people.copies import ballots_of
from bayes_arena.people.judgement import ANOMALOUS, UNJUDGED
from bayes_arena.votes.votes import FIRST, SECOND

ANNOTATORS, COMPETITORS = 60, 20
BAD = 12  # of them, the first, are planted
WRONGED = ("anomalous", "suspect", "differs")  # verdicts that no honest one deserves
NEVER = -20.0  # ln nu of who never ties; its opposite of who always does
HEADS = (30, 100)  # votes a head
BLIND = 0.6  # share of the votes of a half-blind annotator that go to the first side
FAULTS = (
    "guess",
    "coin thrower",
    "reversed",
    "always ties",
    "first side",
    "half-blind",
)
VERDICTS = ("anomalous", "has a favourite", "suspect", "differs", "ordinary")
# Competitors and votes a head, where rankings of one's own are planted.
SIZES = ((6, 30), (6, 100), (6, 300), (20, 30), (20, 100), (20, 300))
OTHERS = ("coin", "theta .3", "theta .4", "own, sd 1.5", "own, sd 4.5")
# Accounts, and votes of each for the target; targets by their place among eight.
RINGS = ((4, 60), (5, 30), (8, 15), (4, 200), (2, 60))
PLACES = (2, 3, 4, 5, 6)
# Competitors, how often each pair is judged by everybody, and the sd of strengths.
SAME_PAIRS = ((5, 1, 1.0), (5, 1, 2.5), (5, 2, 1.0), (5, 2, 2.5), (10, 1, 1.0))
HONEST, EACH, MET = 30, 40, 8  # honest annotators, their votes, and competitors


def faulty(rng: Rng, kind: str) -> People:
    """Draw annotators of one ranking, the first of whom vote otherwise."""
    bad = np.arange(ANNOTATORS) < BAD
    slope = {"reversed": -1.0, "half-blind": 1.0}.get(kind, 0.0)
    theta = np.where(bad, slope, 1.0) * thetas(rng, ANNOTATORS)[:, 0]
    tie = rng.normal(0, 0.4, ANNOTATORS)
    position = rng.normal(0.1, 0.2, ANNOTATORS)
    if kind in ("coin thrower", "always ties"):
        tie[bad] = NEVER if kind == "coin thrower" else -NEVER
    if kind == "first side":
        position[bad] = 3.0
    strength = theta[:, None] * rng.normal(size=COMPETITORS)
    return of_rankings(strength, rng, tie=tie, position=position)


def votes_of(people: People, each: int, rng: Rng) -> ba.Votes:
    """Draw as many votes of each annotator, on random pairs."""
    size, n = people.lead.shape[:2]
    k = np.repeat(np.arange(size), each)
    i = rng.integers(n, size=len(k))
    j = (i + rng.integers(1, n, size=len(k))) % n
    return draw_votes(people, k, i, j, rng)


def half_blind(votes: ba.Votes, rng: Rng) -> ba.Votes:
    """Return the votes, of which the planted give a share to the first side."""
    k, i, j, outcome = single_votes(votes)
    is_blind = (k < BAD) & (rng.random(len(k)) < BLIND)
    outcome = np.where(is_blind, FIRST, outcome)
    return count_votes(k, i, j, outcome, votes.n_competitors, votes.n_annotators)


def judged(votes: ba.Votes) -> pd.DataFrame:
    """Return the table of annotators in the order of their codes."""
    return ba.annotators(votes).set_index("annotator").loc[list(votes.annotators)]


def shares(table: pd.DataFrame) -> list[str]:
    """Return the share of each verdict."""
    return [f"{np.mean(table['verdict'] == name):.3f}" for name in VERDICTS]


def faults(seeds: int) -> Iterable[str]:
    """Planted faults, and the honest beside them."""
    rows, honest = [], []
    for each in HEADS:
        for kind in FAULTS:
            planted = []
            for seed in range(seeds):
                rng = np.random.default_rng([seed, each, 41])
                votes = votes_of(faulty(rng, kind), each, rng)
                if kind == "half-blind":
                    votes = half_blind(votes, rng)
                table = judged(votes)
                planted.append(table[:BAD])
                honest.append(table[BAD:].assign(kind=kind))
            table = pd.concat(planted)
            before = table[table["p_anomaly"] >= ANOMALOUS]
            kept = np.mean(before["verdict"] == "anomalous") if len(before) else np.nan
            n_ordinary = int(np.sum(before["verdict"] == "ordinary"))
            by_then = f"{len(before) / len(table):.3f}"
            cells = [*shares(table), by_then, f"{kept:.2f}", n_ordinary]
            rows.append([f"{kind}, {each} votes", *cells])
    table = pd.concat(honest)
    loose = table[(table["lower"] > 0) & (table["verdict"] == "anomalous")]
    by_agreement = loose["reason"].isin(["chance", "reversed"]).sum()
    rows.append(["honest beside them", *shares(table), "", "", ""])
    yield "## Faults\n"
    yield (
        f"{ANNOTATORS} annotators (theta 1, sd .3) on {COMPETITORS} competitors, {BAD} of "
        f"them planted, {seeds} arenas a row.  Shares of the planted by verdict; *by then*, "
        "the share with a P of .8, whom 0.4 called anomalous, and of these the share that "
        "still is and the number that are ordinary.  Half-blind: the first side in 60 % of "
        f"all votes.  {by_agreement} of {len(table):,} honest annotators are anomalous for "
        "agreement with an interval above 0.\n"
    )
    header = ["planted", *VERDICTS, "by then", "still", "ordinary then"]
    yield markdown(header, rows)


def other_people(rng: Rng, kind: str, n: int) -> People:
    """Draw annotators of one ranking, the first of whom follow it loosely or another."""
    r = rng.normal(size=n)
    strength = thetas(rng, ANNOTATORS) * r
    slope = {"coin": 0.0, "theta .3": 0.3, "theta .4": 0.4}.get(kind)
    if slope is None:
        sd = float(kind.rpartition(" ")[2])
        strength[:BAD] = rng.normal(0, sd, (BAD, n))
    else:
        strength[:BAD] = slope * r
    return of_rankings(strength, rng, position=rng.normal(0.1, 0.2, ANNOTATORS))


def rankings(seeds: int) -> Iterable[str]:
    """Coins, loose followers, and rankings of one's own."""
    rows, favoured = [], []
    for n, each in SIZES:
        cells = []
        for kind in OTHERS:
            planted = []
            for seed in range(seeds):
                rng = np.random.default_rng([seed, n, each, 43])
                table = judged(votes_of(other_people(rng, kind, n), each, rng))
                planted.append(table[:BAD])
                if kind.startswith("own"):
                    favoured.append(np.mean(table["reason"][:BAD] == "favourite"))
            table = pd.concat(planted)
            would_be = (table["verdict"] == "anomalous") & (table["reason"] == "chance")
            differs = table["verdict"] == "differs"
            n_asked = int(np.sum(would_be | differs))
            share = f"{np.sum(differs) / n_asked:.2f} " if n_asked else ""
            cells.append(f"{np.mean(differs):.2f} ({share}of {n_asked})")
        rows.append([f"{n} competitors, {each} votes", *cells])
    yield "## Rankings of one's own\n"
    yield (
        f"{BAD} of {ANNOTATORS} annotators throw a coin, follow the ranking (sd 1) loosely, "
        f"or have one of their own; {seeds} arenas a cell.  Share of them that differ; in "
        "brackets, of those who would be anomalous for agreeing no more than chance.  A "
        f"favourite is said of {np.mean(favoured):.3f} of those with rankings of their own.\n"
    )
    yield markdown(["", *OTHERS], rows)


def with_ring(accounts: int, each: int, place: int, seed: int) -> ba.Votes:
    """Draw honest votes, and those of accounts that always vote for one competitor."""
    rng = np.random.default_rng([seed, 47])
    strength = rng.normal(size=MET)
    people = of_rankings(thetas(rng, HONEST) * strength, rng)
    k, i, j, outcome = single_votes(votes_of(people, EACH, rng))
    target = int(np.argsort(-strength)[place])
    account = HONEST + np.repeat(np.arange(accounts), each)
    other = (target + rng.integers(1, MET, size=len(account))) % MET
    is_first = rng.random(len(account)) < 0.5
    return count_votes(
        np.append(k, account),
        np.append(i, np.where(is_first, target, other)),
        np.append(j, np.where(is_first, other, target)),
        np.append(outcome, np.where(is_first, FIRST, SECOND)),
        MET,
        HONEST + accounts,
    )


def rings(seeds: int) -> Iterable[str]:
    """Accounts that work together, named."""
    n_arenas = max(seeds, 12)
    rows, honest, wronged = [], [], []
    for accounts, each in RINGS:
        cells = []
        for place in PLACES:
            named = []
            for seed in range(n_arenas):
                table = judged(with_ring(accounts, each, place, seed))
                is_named = (table["reason"] == "favourite").to_numpy()
                named.append(is_named[HONEST:])
                honest.append(is_named[:HONEST])
                wronged.append(table["verdict"].isin(WRONGED)[:HONEST])
            cells.append(f"{np.mean(named):.2f}")
        rows.append([f"{accounts} accounts of {each} votes", *cells])
    yield "## Rings\n"
    yield (
        f"{HONEST} honest annotators of {EACH} votes on {MET} competitors, and accounts "
        "whose votes are all for one, by its place in the true ranking; "
        f"{n_arenas} arenas a cell.  Share of the accounts that are said to favour it; "
        f"{int(np.sum(honest))} of {np.size(honest):,} honest annotators are, and "
        f"{int(np.sum(wronged))} are called anything else but ordinary.\n"
    )
    places = [f"place {place + 1}" for place in PLACES]
    yield markdown(["ring", *places], rows)


def copies(seeds: int) -> Iterable[str]:
    """Honest annotators who all judge the same pairs, and one who copies another."""
    rows = []
    for n, times, sd in SAME_PAIRS:
        i, j = np.triu_indices(n, 1)
        i, j = np.tile(i, times), np.tile(j, times)
        n_alike, n_named, n_found = 0, 0, 0
        for seed in range(seeds):
            rng = np.random.default_rng([seed, n, times, 59])
            strength = thetas(rng, HONEST) * rng.normal(0, sd, n)
            people = of_rankings(strength, rng, tie=np.full(HONEST, -2.0))
            k = np.repeat(np.arange(HONEST), len(i))
            votes = draw_votes(people, k, np.tile(i, HONEST), np.tile(j, HONEST), rng)
            n_alike += HONEST - len(set(ballots_of(votes)))
            n_named += int(np.sum(judged(votes)["reason"] == "copies"))
            n_found += int("copies" in set(judged(with_copy(votes))["reason"]))
        rows.append(
            [f"{len(i)} votes on {n} competitors, sd {sd:g}", n_alike, n_named, n_found]
        )
    yield "## The same votes\n"
    yield (
        f"{HONEST} honest annotators all judge the same pairs, {seeds} arenas a row: how many "
        "cast the votes of another by chance, how many are named for it; and in how many "
        "arenas a copy of the first annotator is.\n"
    )
    yield markdown(["", "alike", "named", "copies found"], rows)


def with_copy(votes: ba.Votes) -> ba.Votes:
    """Return votes with those of the first annotator cast again by another."""
    size = votes.n_annotators
    k, *pairs = single_votes(votes)
    again = k == 0
    columns = [np.append(column, column[again]) for column in pairs]
    k = np.append(k, np.full(again.sum(), size))
    return count_votes(k, *columns, votes.n_competitors, size + 1)


def gaps(seeds: int) -> Iterable[str]:
    """Files in which some cells are empty."""
    n_judged, n_all = 0, 0
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 53])
        people = of_rankings(thetas(rng, 12) * rng.normal(size=MET), rng)
        table = frame_of(votes_of(people, 26, rng)).sample(307, random_state=seed)
        table.loc[rng.choice(table.index, 5, replace=False), "judge"] = ""
        verdict = ba.annotators(table)["verdict"]
        n_judged += int(np.sum(~verdict.isin(UNJUDGED)))
        n_all += len(verdict)
    yield "## Empty cells\n"
    yield (
        f"307 votes of 12 annotators, of which five lack the annotator, {seeds} files: "
        f"{n_judged} of {n_all} annotators are judged.\n"
    )
    path = DATA / "pandalm_testset.json"
    if path.is_file():
        labels = {"1": "model_a", "2": "model_b", "0": "tie"}
        half = []
        for prompt in (None, False):
            board = ba.leaderboard(ba.fit(path, outcomes=labels, prompt=prompt))
            width = (board["upper"] - board["lower"]) / 2
            half.append(f"{width.min():.0f} to {width.max():.0f} Elo")
        yield (
            "PandaLM, three raters an item, 3 of 2,997 votes without a prompt: half-widths "
            f"of {half[0]}; {half[1]} where prompts are not read, as by 0.4.\n"
        )


def frame_of(votes: ba.Votes) -> pd.DataFrame:
    """Return single votes as a dataframe."""
    k, i, j, outcome = single_votes(votes)
    names = np.array(votes.competitors)
    return pd.DataFrame(
        {
            "model_a": names[i],
            "model_b": names[j],
            "winner": np.array(["model_a", "model_b", "tie"])[outcome],
            "judge": np.array(votes.annotators)[k],
        }
    )


PARTS: dict[str, Callable[[int], Iterable[str]]] = {
    "faults": faults,
    "rankings": rankings,
    "rings": rings,
    "copies": copies,
    "gaps": gaps,
}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [line for name in options.only for line in PARTS[name](options.seeds)]
    command = f"python benchmarks/judgements.py --seeds {options.seeds}"
    write_page("judgements", "What annotators are called", parts, command)


if __name__ == "__main__":
    main()
