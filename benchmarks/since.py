"""What changed since the last board: how often a change is called falsely, and found.

    python benchmarks/since.py [--arenas 200] [--only nobody replaced]

Simulated arenas (``arenas.py``): 20 competitors, people of one ranking.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from arenas import (
    N,
    People,
    Rng,
    average_strength,
    count_votes,
    crowd,
    draw_outcomes,
)
from measuring import markdown, write_page
from scipy.optimize import brentq
from scipy.special import ndtr

import bayes_arena as ba
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.former import FormerBoard, former_of
from bayes_arena.boards.look import LOOK
from bayes_arena.boards.since import Changes
from bayes_arena.boards.surprise import discoveries
from bayes_arena.rating.rating import Rating, rating_of
from bayes_arena.tables import records
from bayes_arena.votes.votes import Votes

FIRST_SEED = 12_000  # seeds of other pages are below
SHARE = 0.05
PROMPT_SD = 0.7  # logits by which competitors differ by prompt
BETTER = 60.0  # Elo points


@dataclass(frozen=True)
class Weeks:
    """Votes up to a former board, and those since.

    Attributes
    ----------
    votes, more : int
        Votes on the former board, and those that came.
    prompts, new_prompts : int
        Prompts of the former votes; those that only the others are on, if there are.
    kept : bool
        Whether the former votes are on the new board, too.
    half, newcomer, combined : bool
        Whether the votes that came are on ten competitors only; whether half of them are
        on a competitor without a former vote; whether boards are combined.
    """

    votes: int = 2000
    more: int = 200
    prompts: int = 0
    new_prompts: int = 0
    kept: bool = True
    half: bool = False
    newcomer: bool = False
    combined: bool = False

    def draw(self, seed: int) -> tuple[Votes, Votes]:
        """Return the votes of the former board, and of the new one."""
        rng = np.random.default_rng([seed, 31])
        people = crowd(rng)
        size, total = len(people.lead), self.votes + self.more
        k = rng.integers(size, size=total)
        i, j = self.pairs(rng, total)
        prompt, shift = self.on_prompts(rng, i, j)
        outcome = draw_outcomes(people, k, people.lead[k, i, j] + shift, rng)
        columns = (k, i, j, outcome)
        former = np.arange(total) < self.votes
        now = np.full(total, True) if self.kept else ~former
        return self.count(columns, prompt, former), self.count(columns, prompt, now)

    def pairs(self, rng: Rng, total: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw who meets whom."""
        n = np.full(total, N - 1 if self.newcomer else N)
        if self.half:
            n[self.votes :] = N // 2
        i = rng.integers(n)
        j = (i + rng.integers(1, n)) % n
        if self.newcomer:
            i[self.votes :: 2] = N - 1
        return i, j

    def on_prompts(self, rng: Rng, i: np.ndarray, j: np.ndarray) -> tuple:
        """Draw prompts, and what they add to the leads; None and 0 without prompts."""
        if not self.prompts:
            return None, 0.0
        prompt = rng.integers(self.prompts, size=len(i))
        if self.new_prompts:
            prompt[self.votes :] = (
                self.prompts + prompt[self.votes :] % self.new_prompts
            )
        by_prompt = rng.normal(0, PROMPT_SD, (self.prompts + self.new_prompts, N))
        return prompt, by_prompt[prompt, i] - by_prompt[prompt, j]

    def count(self, columns, prompt, mask: np.ndarray) -> Votes:
        """Count some of the votes."""
        k, i, j, outcome = (column[mask] for column in columns)
        prompts = self.prompts + self.new_prompts
        if prompt is not None:
            prompt = prompt[mask]
        return count_votes(k, i, j, outcome, N, int(k.max()) + 1, prompt, prompts)


ROWS = {
    "2,000 votes, 200 more": Weeks(),
    "400 votes, 40 more": Weeks(400, 40),
    "10,000 votes, 1,000 more": Weeks(10_000, 1000),
    "2,000 votes, 2,000 more": Weeks(2000, 2000),
    "2,000 votes, 1,999 others": Weeks(2000, 1999, kept=False),
    "2,000 votes, 6,000 others, which pass for grown": Weeks(2000, 6000, kept=False),
    "200 more on half of the competitors": Weeks(half=True),
    "200 more, half on a newcomer": Weeks(newcomer=True),
    "on 80 prompts": Weeks(prompts=80),
    "on 80 prompts, and 8 new ones": Weeks(prompts=80, new_prompts=8),
    "on 20 prompts": Weeks(prompts=20),
    "on 20 prompts, and 2 new ones": Weeks(prompts=20, new_prompts=2),
    "on 80 prompts, half of the competitors": Weeks(prompts=80, half=True),
    "combined boards": Weeks(combined=True),
    "combined boards, on 80 prompts": Weeks(combined=True, prompts=80),
}


def board(votes: Votes, former: FormerBoard | None = None, **options) -> Rating:
    """Return the rating of votes."""
    return rating_of(ba.fit(votes), LOOK, former=former, **options)


def as_former(rating: Rating) -> FormerBoard:
    """Return a rating as its JSON has it, without judging annotators."""
    leaderboard = records(rating.board_columns)
    return former_of({**rating.facts, "leaderboard": leaderboard}, "last.json")


def nobody(arenas: int) -> Iterable[str]:
    """Return the table of boards on which nobody changed."""
    rows = []
    for name, weeks in ROWS.items():
        tallies = np.array([called(weeks, FIRST_SEED + s) for s in range(arenas)])
        shares = tallies.mean(axis=0)
        rows.append([name, *("" if np.isnan(x) else f"{x:.3f}" for x in shares)])
        print(rows[-1], file=sys.stderr, flush=True)
    yield "## Nobody changed\n"
    yield (
        f"{N} competitors and 40 annotators, 2,000 votes and 200 more where nothing else "
        f"is said; on prompts competitors differ with sd {PROMPT_SD}, and intervals are "
        f"clustered by prompt. {arenas} pairs of boards a row. Of single changes, the "
        "share whose .95 interval excludes 0; of boards, the share that call any change; "
        "and both if V' - V alone were the variance.\n"
    )
    header = ["votes", "intervals", "boards", "V' - V: intervals", "V' - V: boards"]
    yield markdown(header, rows)


def called(weeks: Weeks, seed: int) -> list[float]:
    """Return the share of changes whose interval excludes 0, and whether any is called.

    First as they are, then with the difference of the variances alone.
    """
    before, now = weeks.draw(seed)
    former = as_former(board(before, combined=weeks.combined))
    changes = board(now, former, combined=weeks.combined).changes
    excluded = np.abs(changes.change) > changes.half
    return [excluded.mean(), changes.called.any(), *by_difference(changes)]


def by_difference(changes: Changes) -> tuple[float, float]:
    """Return the same by V' - V."""
    if not changes.has_former_votes:
        return np.nan, np.nan
    now, before = changes.variances
    variance = before - now
    is_known = variance > 0
    z = np.zeros(len(variance))
    z[is_known] = np.abs(changes.change[is_known]) / np.sqrt(variance[is_known])
    p = 2 * ndtr(-z)
    return float(np.mean(z > changes.width)), float(discoveries(p, SHARE).any())


def replaced(arenas: int) -> Iterable[str]:
    """Return the table of a competitor that became better."""
    rows = []
    for votes in (2000, 8000, 32_000):
        for focus in (False, True):
            rows.append(found_at(votes, focus, arenas // 2))
            print(rows[-1], file=sys.stderr, flush=True)
    yield "## One became better\n"
    yield (
        f"Of {N} competitors one is replaced by one {BETTER:.0f} Elo better under the same "
        "name, after the former board. Of its votes so many more, as a share of those that "
        f"it had: in what share of {arenas // 2} arenas its change is called. The new board "
        "is of all votes, so that its score moves by as much of the 60 as the new votes are "
        "of all.\n"
    )
    header = ["votes on each; the others"]
    yield markdown([*header, *(f"{more:.0%} more" for more in GROWTH)], rows)


GROWTH = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


def found_at(votes: int, focus: bool, arenas: int) -> list[str]:
    """Return in how many arenas the change is called, by how many votes came."""
    found = np.zeros(len(GROWTH))
    for seed in range(arenas):
        found += list(found_in(votes, focus, FIRST_SEED + seed))
    others = "meet it only" if focus else "get as many"
    each = 2 * votes // N
    return [f"{each:,}; {others}", *(f"{share:.2f}" for share in found / arenas)]


def found_in(votes: int, focus: bool, seed: int) -> Iterator[bool]:
    """Yield whether the change is called, by how many votes came."""
    rng = np.random.default_rng([seed, 37])
    people = crowd(rng)
    better = improved(people)
    first = cast(people, votes, rng)
    former = as_former(board(count(first)))
    for more in GROWTH:
        n_more = round(more * (2 * votes // N if focus else votes))
        week = cast(better, n_more, rng, with_first=focus)
        together = [np.append(a, b) for a, b in zip(first, week, strict=True)]
        changes = board(count(together), former).changes
        at = changes.names.index("model-00000")
        yield bool(changes.called[at] and changes.change[at] > 0)


def improved(people: People) -> People:
    """Return people to whose average vote the first competitor is better by so much."""
    before = ahead(people)

    def missing(logits: float) -> float:
        return ahead(favouring(people, logits)) - before - BETTER

    return favouring(people, brentq(missing, 0.0, 2.0))


def favouring(people: People, logits: float) -> People:
    """Return people to whom the first competitor is stronger by so many logits."""
    lead = people.lead.copy()
    lead[:, 0, 1:] += logits
    lead[:, 1:, 0] -= logits
    return People(lead, people.tie, people.position, people.activity)


def ahead(people: People) -> float:
    """Return by how many Elo points the first is ahead of the mean of the others."""
    strength = average_strength(people, people.activity)
    return ELO.points_per_logit * (strength[0] - strength[1:].mean())


def cast(people: People, votes: int, rng: Rng, with_first: bool = False) -> list:
    """Draw annotators, pairs and outcomes of votes; on the first competitor only, if so."""
    k = rng.integers(len(people.lead), size=votes)
    i = np.zeros(votes, int) if with_first else rng.integers(N, size=votes)
    j = (i + rng.integers(1, N, size=votes)) % N
    turned = rng.random(votes) < 1 / 2
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    return [k, i, j, draw_outcomes(people, k, people.lead[k, i, j], rng)]


def count(columns: list) -> Votes:
    """Count votes."""
    k, i, j, outcome = columns
    return count_votes(k, i, j, outcome, N, int(k.max()) + 1)


PARTS: dict[str, Callable[[int], Iterable[str]]] = {
    "nobody": nobody,
    "replaced": replaced,
}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--arenas", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [line for name in options.only for line in PARTS[name](options.arenas)]
    command = f"python benchmarks/since.py --arenas {options.arenas}"
    write_page("since", "What changed since the last board", parts, command)


if __name__ == "__main__":
    main()
