"""Votes bought for one competitor: what they move, and what the default fit gives back.

    uv run python benchmarks/promotion.py [--seeds 2] [--competitors 40] [--only WORD ...]
    uv run python benchmarks/promotion.py --honest 100 > benchmarks/results/promotion_honest.md

Honest arena: 40 competitors, 150 annotators with tastes of sd .4, 8,000 votes; the target is 21st by truth. With other
numbers of competitors there are 200 votes for each, the target is in the middle, and real votes are left out.
``--only`` takes parts of the names of rows ("honest, fans"). Rows are an attack: accounts x (votes as an honest
annotator + votes on the target). Ranks of the target: by the truth, by Bradley-Terry and by the fit of the honest
votes, and, attacked, by Bradley-Terry, by the fit with robust=False, and by the default. "move": of the target, robust
against the fit of the honest votes, Elo points. "covers": whether the interval has the truth (on real votes, the fit of
the honest ones), or c: contested. "others": root mean square error of the other competitors' robust scores over that of
the fit of the honest votes. "honest": honest votes that do not count. "named": attackers and honest annotators named.
"seconds": CPU, of the fit, and of that with robust=False.

Then all attacks together. "all wins": every vote of the accounts on the target is for it, and they cast less than 40 %
of all votes. "within 2", "within 5": places from the rank by Bradley-Terry on the honest votes; "of its own": from the
rank by the fit of the honest votes, which may itself be places from Bradley-Terry's. "covers": or contested. "beyond
BT": further from the rank by Bradley-Terry on the honest votes than Bradley-Terry, by more than 2 places. "lost":
honest votes that do not count, median and largest share. "named": attacks in which somebody honest is.

On honest arenas: gates that open, the root mean square error of the fit over that with robust=False, and who is named.
``--honest``: so many of each kind, from seeds that nothing was chosen by. "named": arenas in which somebody is;
"reported": in which a competitor is; "discounted": in which votes do not count, and their share of the votes of all
arenas. "move": the largest of any competitor against the fit with robust=False, in half-widths of its interval there,
the median and the largest over arenas in which votes do not count, as both fits are the same in others; "beyond .1":
arenas in which it is more. Root mean square errors in Elo points and coverage of 95 % intervals, of the default and of
the fit with robust=False, are of all arenas, against the truth of the average that the board is about, in which an
account has 5 % at most.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from crowds import Crowd, HonestArena, cast_votes, draw_habits, draw_outcomes, honest_arena
from measuring import DATA, markdown, options_of, timed
from rigging import offered, with_votes
from true_boards import by_name, projected

import bayes_arena as ba
from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.crowd import Crowd as Average
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.likelihood.outcomes.likelihood import T
from bayes_arena.likelihood.predictor import lead
from bayes_arena.likelihood.problem import Problem
from bayes_arena.markup import percent
from bayes_arena.progress import report
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

COMPETITORS, VOTES_EACH = 40, 200
CROWD = Crowd(annotators=150, taste_sd=0.4)
PUSH = 1.5
"""Of soft votes, in logits."""


@dataclass(frozen=True)
class Attack:
    """How accounts vote.

    Attributes
    ----------
    name : str
    accounts, elsewhere, on : int
        Their number, votes of each as an honest annotator, and on the target.
    habit : str
        Of the votes on the target: "for", "against", "soft" (honest but for ``PUSH``), "side" (for it where it is
        shown first, else honest), "often" (for it in three of four), "never lose" (ties where it would lose).
    others : str
        Of the votes elsewhere: "honest", "copied" (always for the better by the board), "other" (by a ranking of their
        own), "ties", "decoys" (for one of five decoys), "reversed" (as an honest annotator, turned round).
    targets : int
        How many competitors each promotes: the target and its neighbours.
    rivals : bool
        Whether only against the five ranked above the target.
    meets : bool
        Whether votes elsewhere may be on the target, as they come: honest ones, which hide the others.
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
    Attack("on side A only", 20, 30, 30, "side"),
    Attack("on side A only", 60, 30, 30, "side"),
    Attack("eleven votes each", 109, 0, 11),
    Attack("light", 30, 8, 3),
    Attack("light", 120, 8, 3),
    Attack("decoys beside it", 500, 3, 2, others="decoys"),
    # invented against this method
    Attack("at the allowance", 60, 40, 6),
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
)
REAL = (
    ("LLMFAO", "llmfao.csv", 28, (Attack("light", 30, 8, 3), Attack("little among much", 20, 60, 5))),
    (
        "MT-bench",
        "mt_bench_human.csv",
        4,
        (
            Attack("light", 30, 8, 3),
            Attack("little among much", 20, 60, 5),
            Attack("only on the target", 10, 0, 60),
            Attack("soft, half of the votes", 20, 30, 30, "soft"),
        ),
    ),
)
"""Names, files, the target's rank, and attacks."""


def attacked(cells: ba.Cells, strength: Floats, target: int, attack: Attack, seed: int) -> tuple[ba.Cells, set[str]]:
    """Return the votes with those of an attack among them, and the names of its accounts."""
    rng = np.random.default_rng([seed, 7])
    n, order = cells.n_competitors, np.argsort(-strength)
    rank = int(np.flatnonzero(order == target)[0])
    aims = order[rank : rank + attack.targets]
    account = np.repeat(np.arange(attack.accounts), attack.elsewhere + attack.on * attack.targets)
    each = np.concatenate([np.full(attack.elsewhere, -1), np.repeat(aims, attack.on)])
    aim = np.tile(each, attack.accounts)
    others = np.arange(n) if attack.meets else np.setdiff1d(np.arange(n), aims)
    row = _among(cells, others, len(aim), rng)
    for one in np.unique(aim[aim >= 0]):
        row[aim == one] = _on(cells, one, order[max(rank - 5, 0) : rank] if attack.rivals else None, aim == one, rng)
    habits = draw_habits(replace(CROWD, taste_sd=0.0), attack.accounts, rng)
    mine = strength + rng.normal(0, CROWD.taste_sd, (attack.accounts, n))
    if attack.others == "other":
        mine = np.tile(rng.permutation(strength), (attack.accounts, 1))
    a, b = cells.a[row], cells.b[row]
    first = np.where(a == aim, 1.0, -1.0)
    leads = mine[account, a] - mine[account, b] + PUSH * first * ((aim >= 0) & (attack.habit == "soft"))
    leads = np.where((aim < 0) & (attack.others == "reversed"), -leads, leads)
    outcome = draw_outcomes(leads, habits, account, rng)
    won = np.where(first > 0, WIN, LOSS)
    lost = WIN + LOSS - won
    on = aim >= 0
    if attack.others == "copied":
        outcome = np.where(on, outcome, np.where(strength[a] > strength[b], WIN, LOSS))
    if attack.others == "ties":
        outcome = np.where(on, outcome, TIE)
    if attack.others == "decoys":
        decoys = order[rank + 1 : rank + 6]
        mine_is = rng.choice(decoys, attack.accounts)[account]
        for decoy in decoys:
            some = ~on & (mine_is == decoy)
            row[some] = _on(cells, decoy, None, some, rng)
        outcome = np.where(on, outcome, np.where(cells.a[row] == mine_is, WIN, LOSS))
    match attack.habit:
        case "for":
            outcome = np.where(on, won, outcome)
        case "against":
            outcome = np.where(on, lost, outcome)
        case "often":
            outcome = np.where(on & (rng.random(len(aim)) < 0.75), won, outcome)
        case "side":
            outcome = np.where(on & (first > 0), won, outcome)
        case "never lose":
            outcome = np.where(on & (outcome == lost), TIE, outcome)
    found, names = with_votes(cells, row, account, outcome)
    return found, set(names)


def _among(cells: ba.Cells, some: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Draw battles among some competitors."""
    weight = cells.counts.sum(axis=1) * (np.isin(cells.a, some) & np.isin(cells.b, some))
    return np.asarray(rng.choice(len(weight), size, p=weight / weight.sum()))


def _on(cells: ba.Cells, target: int, against: Ints | None, which: np.ndarray, rng: np.random.Generator) -> Ints:
    """Draw battles of a competitor."""
    if against is None:
        return offered(cells, int(which.sum()), rng, [target])
    met = np.flatnonzero(
        ((cells.a == target) & np.isin(cells.b, against)) | ((cells.b == target) & np.isin(cells.a, against))
    )
    return np.asarray(rng.choice(met, int(which.sum())))


def fitted(cells: ba.Cells, *, robust: bool = False) -> ba.Fit:
    """Fit with directions by evidence."""
    return ba.fit(cells, robust="auto" if robust else False, answers=False)


def bradley_terry(cells: ba.Cells) -> Floats:
    """Return the strengths of Bradley-Terry."""
    return find_mode(Problem.of(cells, "bradley-terry", "default")).point.strength


def board(fit: ba.Fit) -> Floats:
    """Return Elo scores in the order of the competitors' names."""
    return by_name(fit)["elo"].to_numpy()


def truth(arena: HonestArena) -> Floats:
    """Return the true scores: the Bradley-Terry projection of what the annotators' votes are expected to be."""
    cells, n = arena.cells, len(arena.strength)
    i, j = np.triu_indices(n, 1)
    share = Average().shares(cells.votes_by_annotator())
    score = np.zeros(len(i))
    for k, part in enumerate(share):
        mine, theta = arena.strength + arena.taste[k], arena.habits.discrimination[k]
        z = np.array([theta * lead(mine, i, j), np.full(len(i), arena.habits.log_tie_propensity[k])])
        score += part * davidson.LIKELIHOOD.expected_score(z[: T + 1])[0]
    return 1000 + projected(score, n)


def place(score: Floats, one: int) -> int:
    """Return the rank of a competitor."""
    return int((score > score[one]).sum()) + 1


@dataclass(frozen=True, eq=False)
class Case:
    """An arena, what is known of it, and its fit before it is attacked."""

    cells: ba.Cells
    strength: Floats
    true: Floats
    honest: Floats
    target: int
    real: bool = False


def simulated(seed: int, competitors: int) -> Case:
    """Return the honest arena."""
    arena = honest_arena(CROWD, competitors=competitors, votes=VOTES_EACH * competitors, strength_sd=0.8, seed=seed)
    true = truth(arena)
    target = int(np.argsort(-true)[competitors // 2])
    return Case(arena.cells, arena.strength, true, board(fitted(arena.cells)), target)


def real(file: str, rank: int) -> Case:
    """Return real votes."""
    cells = ba.read_votes(DATA / file)
    fit = fitted(cells)
    score = board(fit)
    return Case(cells, fit.strength, score, score, int(np.argsort(-score)[rank - 1]), real=True)


@dataclass(frozen=True)
class Outcome:
    """What came of an attack: places from the honest rank by the default and by Bradley-Terry, and who suffers.

    Attributes
    ----------
    off, usual : int
        From the rank by Bradley-Terry on the honest votes: the default, and Bradley-Terry.
    own : int
        The default, from the rank by the fit of the honest votes.
    """

    all_wins: bool
    off: int
    own: int
    usual: int
    covers: bool
    lost: float
    named: bool


def row(case: Case, attack: Attack, seed: int) -> tuple[str, Outcome]:
    """Return a line of the table, and what came of the attack."""
    cells, riggers = attacked(case.cells, case.strength, case.target, attack, seed)
    fit, _, plain_s = timed(lambda: fitted(cells))
    result, _, robust_s = timed(lambda: fitted(cells, robust=True))
    t, found, score = case.target, result.promotions, board(result)
    name = cells.competitors[t]
    interval = by_name(result).loc[name]
    told, who = ba.integrity(result).set_index("competitor").loc[name], ba.promoters(result)
    named = set(who["annotator"][who["named"]])
    inside = interval["lower"] <= case.true[t] <= interval["upper"]
    others = np.arange(len(case.true)) != t
    rmse = [float(np.std((one - case.true)[others])) for one in (score, np.asarray(case.honest))]
    honest = ~np.isin(cells.annotators, list(riggers))[cells.annotator]
    lost = float((cells.counts - result.cells.counts)[honest].sum())
    before, usual, after = (place(one, t) for one in (bradley_terry(case.cells), bradley_terry(cells), score))
    own, contested = place(case.honest, t), not np.isnan(told["contested"])
    came = Outcome(
        all_wins=attack.habit == "for" and not attack.meets and case.cells.n_votes > 0.6 * cells.n_votes,
        off=abs(after - before),
        own=abs(after - own),
        usual=abs(usual - before),
        covers=bool(inside or contested),
        lost=lost / case.cells.n_votes,
        named=bool(named - riggers),
    )
    line = (
        f"| {attack.name}, {attack.accounts} x ({attack.elsewhere} + {attack.on}) | {seed} | {place(case.true, t)} "
        f"| {before} / {own} | {usual} "
        f"| {place(board(fit), t)} (q {fit.model.dimensions}) | **{after}** (q {result.model.dimensions}) "
        f"| {score[t] - case.honest[t]:+.0f} "
        f"| {'yes' if inside else 'no'}{' c' if contested else ''} "
        f"| {f'{rmse[0] / rmse[1]:.2f}' if not case.real else f'{rmse[0]:.0f} Elo'} "
        f"| {found.alike[t]:.1f} / {found.weighted[t]:.1f} / {found.difference[t]:.1f} "
        f"| {found.is_open.sum() - found.is_open[t]} | {lost:.0f} | {len(named & riggers)} / {len(named - riggers)} "
        f"| {robust_s:.1f} / {plain_s:.1f} |"
    )
    return line, came


def together(outcomes: list[Outcome]) -> str:
    """Return the table of all attacks together."""
    rows = []
    for name, some in {
        "all wins": [one for one in outcomes if one.all_wins],
        "others": [one for one in outcomes if not one.all_wins],
    }.items():
        if some:
            lost = [one.lost for one in some]
            counts = (
                sum(one.off <= 2 for one in some),
                sum(one.off <= 5 for one in some),
                sum(one.own <= 2 for one in some),
                sum(one.own <= 5 for one in some),
                sum(one.covers for one in some),
                sum(one.off > one.usual + 2 for one in some),
            )
            shares = f"{percent(float(np.median(lost)), '.1f')} / {percent(max(lost), '.1f')}"
            rows.append([name, len(some), *counts, shares, sum(one.named for one in some)])
    heads = ["votes", "attacks", "within 2", "within 5", "2 of its own", "5 of its own"]
    return markdown([*heads, "covers", "beyond BT", "lost", "named"], rows)


def honest_cases(seed: int, competitors: int) -> Iterator[tuple[str, Callable[[], HonestArena]]]:
    """Yield honest arenas: people who differ, but have nothing in mind."""

    def made(crowd: Crowd) -> Callable[[], HonestArena]:
        votes = VOTES_EACH * competitors
        return partial(honest_arena, crowd, competitors=competitors, votes=votes, strength_sd=0.8, seed=100 + seed)

    for sd in (0.0, 0.4, 0.8):
        yield f"tastes of {sd}", made(replace(CROWD, taste_sd=sd))
    yield "light accounts", made(Crowd(annotators=2000, taste_sd=0.4))
    yield "visitors", made(replace(CROWD, visitors=500))
    yield "camps, 30 %", made(replace(CROWD, camp_sd=0.4, camp_share=0.3))
    yield "guessers and adversaries", made(replace(CROWD, guessers=0.1, adversaries=0.05))
    yield "one in seven reversed", made(replace(CROWD, annotators=42, adversaries=1 / 7))
    for name in ("fans, 5 %", "fans, 20 %", "hype", "specialists", "heavy voter"):
        yield name, partial(special, name, 100 + seed, competitors)


def special(name: str, seed: int, competitors: int) -> HonestArena:
    """Return an honest arena in which some have favourites, or meet some competitors more often than others do."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 0.8, competitors)
    a = rng.integers(competitors, size=VOTES_EACH * competitors)
    b = (a + rng.integers(1, competitors, size=VOTES_EACH * competitors)) % competitors
    names = [f"model-{number:03d}" for number in range(1, competitors + 1)]
    arena = cast_votes(CROWD, names, r - r.mean(), a, b, seed=seed)
    if name.startswith("fans"):
        share = 0.05 if name == "fans, 5 %" else 0.2
        taste = np.array(arena.taste)
        taste[: int(share * len(taste)), int(np.argsort(r)[competitors // 2])] += 2.0
        return recast(arena, taste, *_flat(arena), rng)
    a, b, k = _flat(arena)
    if name == "hype":  # three of ten cannot stop trying the new one
        curious = (k < 45) & (rng.random(len(a)) < 0.5)
        a = np.where(curious, 5, a)
        b = np.where(curious & (b == 5), 6, b)
    elif name == "specialists":  # everybody knows ten competitors
        known = np.argsort(rng.random((k.max() + 1, competitors)), axis=1)[:, :10]
        first = rng.integers(10, size=len(a))
        a, b = known[k, first], known[k, (first + rng.integers(1, 10, size=len(a))) % 10]
    elif name == "heavy voter":
        k = np.where(rng.random(len(a)) < 0.2, 0, k)
    return recast(arena, np.array(arena.taste), a, b, k, rng)


def _flat(arena: HonestArena) -> tuple[Ints, Ints, Ints]:
    """Return competitors and annotator of every vote."""
    cells = arena.cells
    times = cells.counts.sum(axis=1).astype(int)
    return tuple(np.repeat(one, times) for one in (cells.a, cells.b, cells.annotator))  # type: ignore[return-value]


def recast(arena: HonestArena, taste: Floats, a: Ints, b: Ints, k: Ints, rng: np.random.Generator) -> HonestArena:
    """Return the arena with other tastes, battles and votes."""
    mine = arena.strength + taste
    outcome = draw_outcomes(mine[k, a] - mine[k, b], arena.habits, k, rng)
    key = (a * len(arena.strength) + b) * len(taste) + k
    at, cell = np.unique(key, return_inverse=True)
    counts = np.zeros((len(at), 4))
    np.add.at(counts, (cell, outcome), 1.0)
    cells = replace(
        arena.cells,
        a=at // len(taste) // len(arena.strength),
        b=at // len(taste) % len(arena.strength),
        annotator=at % len(taste),
        counts=counts,
    )
    return replace(arena, cells=cells, taste=taste)


def honest_row(name: str, cells: ba.Cells, true: Floats | None, seed: int) -> str:
    """Return a line of the table of honest arenas."""
    fit, _, plain_s = timed(lambda: fitted(cells))
    result, _, robust_s = timed(lambda: fitted(cells, robust=True))
    found, score, robust = result.promotions, board(fit), board(result)
    if true is None:
        table = by_name(fit)
        outside = ((robust < table.lower) | (robust > table.upper)).sum()
        ratio = f"{outside} outside, largest move {np.abs(robust - score).max():.0f} Elo"
    else:
        after, before = (float(np.std(one - true)) for one in (robust, score))
        ratio = f"{after / before:.3f}"
    largest = max(found.alike.max(), found.weighted.max()), np.abs(found.difference).max()
    return (
        f"| {name} | {seed} | {fit.model.dimensions} | {found.is_open.sum()} | {largest[0]:.1f} / {largest[1]:.1f} "
        f"| {ratio} | {found.promoters.named.sum()} | {result.votes_discounted:.0f} "
        f"| {robust_s:.2f} / {plain_s:.1f} |"
    )


def honest_summary(size: int, competitors: int, first: int = 1000) -> None:
    """Print the table of many honest arenas of each kind; where all votes count in full both fits are the same."""
    heads = ["arenas", "named", "reported", "discounted", "move, half-widths", "beyond .1"]
    fits = ["RMSE", "robust=False", "ratio", "coverage", "robust=False"]
    print(markdown(["honest arena", *heads, *fits], []), flush=True)
    for name, _ in honest_cases(first, competitors):
        found = []
        for seed in range(first, first + size):
            report(name, seed - first, size)
            found.append(compared(dict(honest_cases(seed, competitors))[name]()))
        named, is_open, share, move, *others = np.array(found).T
        errors, inside = [np.sqrt(one.mean()) for one in others[:2]], [one.mean() for one in others[2:]]
        moves = move[share > 0]
        cells = [
            name,
            str(size),
            f"{named.sum():.0f}",
            f"{is_open.sum():.0f}",
            f"{(share > 0).sum()} ({percent(share.mean(), '.2f')})",
            f"{np.median(moves):.2f} / {moves.max():.2f}" if len(moves) else "",
            f"{(move > 0.1).sum()}",
            *(f"{one:.1f}" for one in errors),
            f"{errors[0] / errors[1]:.3f}",
            *(f"{one:.3f}" for one in inside),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    report("")


def compared(arena: HonestArena) -> tuple[float, ...]:
    """Return who is named, reported and discounted in an arena, and how both fits differ and meet the truth."""
    result, true = fitted(arena.cells, robust=True), truth(arena)
    found, discounted = result.promotions, result.votes_discounted
    plain = fitted(arena.cells) if discounted else result
    after, before = boards = [by_name(one) for one in (result, plain)]
    move = (2 * (after["elo"] - before["elo"]).abs() / (before["upper"] - before["lower"])).max()
    errors = (((one["elo"] - true) ** 2).mean() for one in boards)
    inside = (((one["lower"] <= true) & (true <= one["upper"])).mean() for one in boards)
    somebody, some = found.promoters.named.any(), found.is_open.any()
    return float(somebody), float(some), discounted / arena.cells.n_votes, float(move), *errors, *inside


def newcomer(case: Case, seed: int) -> tuple[Case, Attack]:
    """Return an arena in which the target has twenty honest votes, and five accounts promote it."""
    rng = np.random.default_rng(seed)
    on = (case.cells.a == case.target) | (case.cells.b == case.target)
    votes = np.flatnonzero(on)
    left = np.ones(len(on), dtype=bool)
    left[rng.permutation(votes)[20:]] = False
    cells = case.cells.take(left)
    return replace(case, cells=cells, honest=board(fitted(cells))), Attack("new, twenty votes", 5, 20, 10)


def main() -> None:
    """Print the tables."""
    parser = options_of(__doc__, seeds=2, first=0, competitors=COMPETITORS)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--honest", type=int, default=0, help="arenas of each kind that nobody attacks, instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.honest:
        print("# Honest arenas\n")
        print(f"By `uv run python benchmarks/promotion.py --honest {options.honest}`, which explains the columns.\n")
        honest_summary(options.honest, options.competitors)
        return
    known_real = REAL if DATA.exists() and options.competitors == COMPETITORS else ()
    outcomes = list[Outcome]()

    def attack_row(case: Case, attack: Attack, seed: int) -> None:
        line, came = row(case, attack, seed)
        outcomes.append(came)
        print(line, flush=True)

    seeds = range(options.first, options.first + options.seeds)

    def asked(name: str) -> bool:
        return any(word in name for word in options.only)

    print("| honest arena | seed | q | gates | largest g, h | RMSE over without | named | not counted | seconds |")
    print("|" + "---|" * 9)
    for name, file, _, _ in known_real:
        if asked(f"honest, {name}"):
            print(honest_row(name, ba.read_votes(DATA / file), None, 0), flush=True)
    for seed in seeds:
        for name, make in honest_cases(seed, options.competitors):
            if asked(f"honest, {name}"):
                arena = make()
                print(honest_row(name, arena.cells, truth(arena), seed), flush=True)
    print(
        "\n| attack | seed | true | honest | BT | fit | robust | move | covers | others | g1 / g2 / h | more gates "
        "| honest | named | seconds |"
    )
    print("|" + "---|" * 15)
    attacks = [attack for attack in ATTACKS if asked(attack.name)]
    for seed in seeds if attacks or asked("new, twenty votes") else ():
        case = simulated(seed, options.competitors)
        for attack in attacks:
            attack_row(case, attack, seed)
        if asked("new, twenty votes"):
            attack_row(*newcomer(case, seed), seed)
    for name, file, rank, known in known_real:
        those = [replace(attack, name=f"{name}, {attack.name}") for attack in known]
        if those := [attack for attack in those if asked(attack.name)]:
            case = real(file, rank)
            for seed in seeds:
                for attack in those:
                    attack_row(case, attack, seed)
    print(f"\n{together(outcomes)}")


if __name__ == "__main__":
    main()
