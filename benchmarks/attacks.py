"""Votes that accounts cast to move one competitor, among honest ones.

After Min et al., "Improving Your Model Ranking on Chatbot Arena by Vote Rigging" (ICML 2025),
where accounts vote for a target and hide it by their votes elsewhere; most kinds were invented
against what finds them.  Accounts meet the pairs that honest annotators meet, as often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from arenas import People, Rng, average_strength, count_votes, draw_votes, of_rankings

from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

COMPETITORS, ANNOTATORS, VOTES = 40, 150, 8_000
TASTE = 0.4  # sd of honest tastes, in logits
PUSH = 1.5  # of soft votes, in logits


@dataclass(frozen=True)
class Attack:
    """How accounts vote.

    Attributes
    ----------
    name : str
    accounts, elsewhere, on : int
        Their number, and votes of each elsewhere and on the target.
    habit : str
        Of the votes on the target: "for", "against", "soft" (honest but for ``PUSH``),
        "side" (for it where it is shown first), "often" (in three of four), "never lose".
    others : str
        Of the votes elsewhere: "honest", "copied" (for the better by the truth), "other" (by
        a ranking of their own), "ties", "decoys" (for one of five), "reversed".
    targets : int
        How many competitors are promoted: the target and those ranked below it.
    rivals : bool
        Whether only against the five ranked above the target.
    meets : bool
        Whether votes elsewhere may be on the target, too.
    newcomer : bool
        Whether the target has twenty honest votes only.
    """

    name: str
    accounts: int
    elsewhere: int
    on: int
    habit: str = "for"
    others: str = "honest"
    targets: int = 1
    rivals: bool = False
    meets: bool = False
    newcomer: bool = False

    @property
    def is_all_wins(self) -> bool:
        """Whether all votes on the target are for it."""
        return self.habit == "for" and not self.meets


ATTACKS = (
    Attack("only on the target", 20, 0, 60),
    Attack("camouflage", 20, 100, 30),
    Attack("camouflage", 60, 100, 30),
    Attack("little among much", 20, 60, 5),
    Attack("little among much", 60, 60, 5),
    Attack("copies of the board", 20, 100, 6, others="copied"),
    Attack("soft, half of the votes", 20, 30, 30, "soft"),
    Attack("soft, half of the votes", 60, 30, 30, "soft"),
    Attack("soft, as it comes", 60, 60, 5, "soft"),
    Attack("on one side only", 20, 30, 30, "side"),
    Attack("on one side only", 60, 30, 30, "side"),
    Attack("eleven votes each", 109, 0, 11),
    Attack("light", 30, 8, 3),
    Attack("light", 120, 8, 3),
    Attack("decoys beside it", 500, 3, 2, others="decoys"),
    Attack("six among forty", 60, 40, 6),
    Attack("against it", 20, 60, 10, "against"),
    Attack("a portfolio of five", 30, 40, 4, targets=5),
    Attack("a ranking of their own", 40, 60, 8, others="other"),
    Attack("three of four", 30, 40, 20, "often"),
    Attack("never lose", 30, 60, 10, "never lose"),
    Attack("against five rivals", 20, 60, 12, rivals=True),
    Attack("ties elsewhere", 30, 60, 6, others="ties"),
    Attack("and honest votes on it", 60, 60, 5, meets=True),
    Attack("copies of it, too", 20, 100, 6, others="copied", meets=True),
    Attack("reversed, and against it", 20, 60, 10, "against", others="reversed"),
    Attack("newcomer of twenty votes", 5, 20, 10, newcomer=True),
)


@dataclass(frozen=True, eq=False)
class HonestArena:
    """Honest votes, the strengths behind them, and the middle competitor."""

    votes: Votes
    strength: np.ndarray
    target: int


def honest_arena(seed: int) -> HonestArena:
    """Draw an arena of annotators with tastes of their own."""
    rng = np.random.default_rng([seed, 23])
    n, size = COMPETITORS, ANNOTATORS
    strength = rng.normal(0, 0.8, n)
    people = crowd_around(strength, size, rng)
    rest = rng.choice(size, VOTES // 2, p=people.activity / people.activity.sum())
    k = np.append(np.arange(VOTES - len(rest)) % size, rest)
    i = rng.integers(n, size=VOTES)
    j = (i + rng.integers(1, n, size=VOTES)) % n
    board = average_strength(people, np.bincount(k, minlength=size))
    target = int(np.argsort(-board)[n // 2])
    return HonestArena(draw_votes(people, k, i, j, rng), strength, target)


def crowd_around(strength: np.ndarray, size: int, rng: Rng) -> People:
    """Draw people around a ranking, (n,), or each around one of their own, (size, n)."""
    theta = np.abs(rng.normal(1, 0.5, (size, 1)))
    own = theta * (strength + rng.normal(0, TASTE, (size, strength.shape[-1])))
    habits = {"tie": rng.normal(0, 0.8, size), "position": rng.normal(0, 0.3, size)}
    return of_rankings(own, rng, activity=rng.gamma(1.0, size=size), **habits)


def attacked(arena: HonestArena, attack: Attack, seed: int) -> Votes:
    """Return the votes with those of an attack among them; accounts come last."""
    rng = np.random.default_rng([seed, 7])
    n, size = COMPETITORS, ANNOTATORS
    k, i, j, outcome = single_votes(arena.votes)
    if attack.newcomer:
        on = np.flatnonzero((i == arena.target) | (j == arena.target))
        kept = np.delete(np.arange(len(k)), rng.permutation(on)[20:])
        k, i, j, outcome = (column[kept] for column in (k, i, j, outcome))
    account, aim, first, second = attackers_pairs(arena, attack, i, j, rng)
    chosen = attackers_votes(arena, attack, account, aim, first, second, rng)
    return count_votes(
        np.append(k, size + account),
        np.append(i, first),
        np.append(j, second),
        np.append(outcome, chosen),
        n,
        size + attack.accounts,
    )


def single_votes(votes: Votes) -> tuple[np.ndarray, ...]:
    """Return annotator, competitors and outcome of every vote."""
    row, outcome = np.nonzero(votes.counts)
    times = votes.counts[row, outcome].astype(int)
    row, outcome = np.repeat(row, times), np.repeat(outcome, times)
    return votes.annotator[row], votes.i[row], votes.j[row], outcome


def attackers_pairs(arena: HonestArena, attack: Attack, i, j, rng: Rng):
    """Return account, target (-1 elsewhere) and pair of every vote of an attack."""
    order = np.argsort(-arena.strength)
    rank = int(np.flatnonzero(order == arena.target)[0])
    aims = order[rank : rank + attack.targets]
    rivals = order[max(rank - 5, 0) : rank] if attack.rivals else order
    each = np.append(np.full(attack.elsewhere, -1), np.repeat(aims, attack.on))
    account = np.repeat(np.arange(attack.accounts), len(each))
    aim = np.tile(each, attack.accounts)
    decoy = np.full(len(aim), -1)
    if attack.others == "decoys":
        decoy = rng.choice(order[rank + 1 : rank + 6], attack.accounts)[account]
        aim = np.where(aim < 0, decoy, aim)
    row = np.empty(len(aim), int)
    for competitor in np.unique(aim):
        votes = np.flatnonzero(aim == competitor)
        if competitor >= 0:
            met = (i == competitor) & np.isin(j, rivals)
            met |= (j == competitor) & np.isin(i, rivals)
        else:
            met = np.full(len(i), True)
            if not attack.meets:
                met = ~np.isin(i, aims) & ~np.isin(j, aims)
        row[votes] = rng.choice(np.flatnonzero(met), len(votes))
    return account, aim, i[row], j[row]


def attackers_votes(
    arena: HonestArena, attack: Attack, account, aim, first, second, rng: Rng
) -> np.ndarray:
    """Return the outcome of every vote of an attack."""
    on = aim >= 0
    sign = np.where(first == aim, 1.0, -1.0)
    strength = arena.strength
    if attack.others == "other":
        strength = rng.permutation(strength)
    people = crowd_around(strength, attack.accounts, rng)
    eta = people.lead[account, first, second]
    eta = np.where(~on & (attack.others == "reversed"), -eta, eta)
    eta += PUSH * sign * (on & (attack.habit == "soft")) + people.position[account]
    logits = np.stack([eta / 2, -eta / 2, people.tie[account]])
    p = np.exp(logits - logits.max(axis=0))
    p /= p.sum(axis=0)
    outcome = (rng.random(len(eta)) > p.cumsum(axis=0)[:2]).sum(axis=0)

    won, lost = np.where(sign > 0, [[FIRST], [SECOND]], [[SECOND], [FIRST]])
    better = np.where(arena.strength[first] > arena.strength[second], FIRST, SECOND)
    elsewhere = {"copied": better, "ties": TIE}.get(attack.others, outcome)
    chosen = {
        "for": won,
        "against": lost,
        "soft": outcome,
        "side": np.where(sign > 0, won, outcome),
        "often": np.where(rng.random(len(eta)) < 0.75, won, outcome),
        "never lose": np.where(outcome == lost, TIE, outcome),
    }[attack.habit]
    return np.where(on, chosen, elsewhere)
