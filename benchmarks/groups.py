"""Two groups of annotators: how often they are said falsely, found, and told rightly.

    python benchmarks/groups.py [--arenas 40] [--only false camps cost]

Simulated arenas (``arenas.py``), and LLMFAO and MT-bench where ``$BAYES_ARENA_DATA`` (else
``../shared/data``) has them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from arenas import (
    Arena,
    People,
    Rng,
    camp,
    crowd,
    draw_arena,
    draw_on_prompts,
    of_rankings,
    thetas,
)
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.people.groups import SURE

FIRST_SEED = 6_000  # seeds of other pages are below
ANNOTATORS = 40
SHARES = ["p up to .05", "p up to .01"]
type Draw = Callable[[int], Arena]

HOMOGENEOUS: dict[str, Draw] = {
    "one ranking, skills of sd .3": partial(draw_arena, crowd, 4000),
    "30 % guess": partial(draw_arena, partial(crowd, bad=0.3, kind="guess"), 4000),
    "15 % reversed": partial(draw_arena, partial(crowd, bad=0.15), 4000),
    "800 votes": partial(draw_arena, crowd, 800),
    "three prompts of their own": partial(draw_on_prompts, crowd, 4000, own=3),
    "60 prompts": partial(draw_on_prompts, crowd, 4000),
}
CAMPS: dict[str, tuple[float, Draw]] = {
    "20 %": (0.2, partial(draw_arena, partial(camp, share=0.2), 4000)),
    "30 %": (0.3, partial(draw_arena, partial(camp, share=0.3), 4000)),
    "20 %, 60 prompts": (0.2, partial(draw_on_prompts, partial(camp, share=0.2), 4000)),
    "30 %, 60 prompts": (0.3, partial(draw_on_prompts, partial(camp, share=0.3), 4000)),
    "30 %, 12 prompts": (
        0.3,
        partial(draw_on_prompts, partial(camp, share=0.3), 4000, prompts=12),
    ),
    "30 %, three prompts of their own": (
        0.3,
        partial(draw_on_prompts, partial(camp, share=0.3), 4000, own=3),
    ),
    "10 %": (0.1, partial(draw_arena, partial(camp, share=0.1), 4000)),
    "30 %, 800 votes": (0.3, partial(draw_arena, partial(camp, share=0.3), 800)),
}


def falsely_said(arenas: int) -> Iterable[str]:
    """Return the table of arenas in which annotators share one ranking."""
    rows, n_said = [], 0
    for name, draw in HOMOGENEOUS.items():
        found = [ba.groups(draw(FIRST_SEED + seed).votes) for seed in range(arenas)]
        p = np.array([groups.p_value for groups in found])
        said = sum(bool(groups.members) for groups in found)
        n_said += said
        rows.append(
            [name, f"{np.mean(p <= 0.05):.2f}", f"{np.mean(p <= SURE):.2f}", said]
        )
    yield "## One ranking\n"
    yield (
        f"40 annotators on 20 competitors, 4,000 votes where nothing else is said; "
        f"competitors differ by prompt with sd .7. {arenas} arenas a row: share with p up "
        f"to .05 and .01, and arenas of two groups: {n_said} of {arenas * len(rows)}.\n"
    )
    yield markdown(["arena", *SHARES, "two groups"], rows)


def camps(arenas: int) -> Iterable[str]:
    """Return the table of camps: how often they are found, and told rightly."""
    rows = []
    for name, (share, draw) in CAMPS.items():
        size = round(share * ANNOTATORS)
        results = [told(draw(FIRST_SEED + seed), size) for seed in range(arenas)]
        p, right, true = np.array(results).T
        is_found = np.isfinite(right)
        cells = [np.mean(p <= 0.05), np.mean(p <= SURE), np.mean(is_found)]
        cells += [right[is_found].mean(), true[is_found].mean()]
        rows.append([name, *(f"{cell:.2f}" for cell in cells)])
        print(rows[-1], file=sys.stderr, flush=True)
    yield "## A camp whose ranking correlates .3 with the others'\n"
    yield (
        f"As above, {arenas} arenas a row: share with p up to .05 and .01, and of two "
        "groups; of these, annotators in the right group, and arenas in which members "
        "truly prefer both named competitors to both others more than the rest do.\n"
    )
    header = ["camp", *SHARES, "two groups", "members right", "all four true"]
    yield markdown(header, rows)


def told(arena: Arena, size: int) -> tuple[float, float, float]:
    """Return p, the share of annotators placed rightly, and whether preferences are true.

    The last two are nan where there are no two groups.  The first annotators are the camp.
    """
    groups = ba.groups(arena.votes)
    if not groups.members:
        return groups.p_value, np.nan, np.nan
    in_camp = np.arange(ANNOTATORS) < size
    right = np.mean(np.isin(arena.votes.annotators, groups.members) == in_camp)
    lead = arena.people.lead
    more = lead[in_camp].mean(axis=0) - lead[~in_camp].mean(axis=0)
    codes = [arena.votes.competitors.index(name) for name in groups.prefers]
    others = [arena.votes.competitors.index(name) for name in groups.over]
    return groups.p_value, right, float((more[np.ix_(codes, others)] > 0).all())


def cost(arenas: int) -> Iterable[str]:
    """Return the table of real votes, and of many annotators: what is said, at what cost."""
    rows = []
    for name in ("llmfao", "mt_bench_human"):
        if (DATA / f"{name}.csv").is_file():
            votes = ba.read_votes(DATA / f"{name}.csv")
            rows.append(timed(f"{name}, by prompt", votes))
            rows.append(timed(f"{name}, by vote", votes.collapse(annotators=True)))
    people = partial(many, annotators=5000)
    rows.append(
        timed("5,000 annotators, 60,000 votes", draw_arena(people, 60_000, 1).votes)
    )
    yield "## Real votes, and what it costs\n"
    yield "CPU seconds of the groups, beside the fit of am-Davidson that they start from.\n"
    yield markdown(["votes", "p", "two groups", "fit", "groups"], rows)


def many(rng: Rng, annotators: int) -> People:
    """Draw many annotators of one ranking."""
    return of_rankings(thetas(rng, annotators) * rng.normal(size=20), rng)


def timed(name: str, votes: ba.Votes) -> list[object]:
    """Return a row of the table of costs."""
    start = time.process_time()
    fit = ba.fit(votes, model="am-davidson")
    middle = time.process_time()
    groups = ba.groups(fit)
    seconds = middle - start, time.process_time() - middle
    said = "yes" if groups.members else "no"
    return [name, f"{groups.p_value:.3f}", said, *(f"{s:.2f}" for s in seconds)]


PARTS: dict[str, Callable[[int], Iterable[str]]] = {
    "false": falsely_said,
    "camps": camps,
    "cost": cost,
}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--arenas", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [line for name in options.only for line in PARTS[name](options.arenas)]
    command = f"python benchmarks/groups.py --arenas {options.arenas}"
    write_page("groups", "Two groups of annotators", parts, command)


if __name__ == "__main__":
    main()
