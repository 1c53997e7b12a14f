"""Camps of annotators: whether they are found, who belongs to them, and what their boards are worth.

    uv run python benchmarks/camps.py [--arenas 10] [REGIME ...] > benchmarks/results/camps.md

Arenas are those of ``camped.py``. A fit has as many directions as raise its evidence, two at most. Boards of the camps
found (declared, of language models beside people) are compared with what the members think on average, camp by camp,
where the camps are those that there are; "oracle" is am-davidson fitted to the votes of the true members alone. RMSE
and mean widths are in Elo points; standard errors over arenas are in parentheses.
"""

import warnings
import zlib
from dataclasses import replace

import numpy as np
from camped import REGIMES, Camped
from measuring import options_of
from true_boards import Boards, by_name

import bayes_arena as ba
from bayes_arena.inference.marginal.directions import with_directions
from bayes_arena.reliability.camps import Camps

HEADS = (
    "arenas",
    "0/1/2 directions",
    "several camps",
    "gain, median",
    "members right",
    "unsure",
    "board of",
    "coverage / oracle's",
    "RMSE / oracle's",
    "width / oracle's",
)


def fitted(cells: ba.Cells) -> ba.Fit:
    """Fit am-davidson with as many directions as raise the evidence."""
    fit = ba.fit(cells, model="am-davidson", robust=False)
    return replace(fit, mode=with_directions(fit.mode))


def matched(found: Camps, arena: Camped) -> dict[int, str]:
    """Return which of two camps found is which of the arena's; empty unless there are as many."""
    if len(found.names) != 2 or not arena.camp.any():
        return {}
    agree = float(((found.membership[:, 1] > 0.5) == (arena.camp == 1)).mean())
    return dict(enumerate(found.names if agree >= 0.5 else found.names[::-1]))


def rows(name: str, arenas: int) -> list[str]:
    """Return the rows of the table for a regime: one for every camp, or one where there are none."""
    directions, sizes, right, unsure, gains = [], [], [], [], []
    boards = {camp: (Boards(), Boards()) for camp in (0, 1)}
    for seed in range(arenas):
        arena = REGIMES[name](np.random.default_rng([zlib.crc32(name.encode()), seed]))
        fit = fitted(arena.cells)
        directions.append(fit.model.dimensions)
        found = ba.camps(fit, declared="programs" if arena.cells.programs else None)
        sizes.append(len(found.names))
        which = matched(found, arena)
        gains.append(max((one.gain(found.tried[0]) for one in found.tried[1:]), default=0.0))
        for camp, label in which.items():
            theirs = arena.cells.take(arena.camp[arena.cells.annotator] == camp)
            oracle, truth = ba.fit(theirs, model="am-davidson", robust=False), arena.truth(camp)
            for seen, one in zip(boards[camp], (found.of(label), oracle), strict=True):
                seen.add(by_name(one), truth)
        if which:
            place = found.names.index(which[1])
            right.append(float(((found.membership[:, place] > 0.5) == (arena.camp == 1)).mean()))
            unsure.append(float(found.unsure.mean()))
    along, several = np.bincount(directions, minlength=3), int(np.sum(np.array(sizes) > 1))
    head = f"{name} | {'/'.join(map(str, along))} | {several} of {arenas} | {np.median(gains):+.0f}"
    if not right:
        return [f"| {head} | | | | | | |"]
    members = f"{np.mean(right):.3f} | {np.mean(unsure):.2f}"
    lines = []
    for camp, (ours, oracle) in boards.items():
        first = f"{head} | {members} | others" if camp == 0 else " | | | | | | camp"
        ratio, widths = ours.rmse / oracle.rmse, f"{np.mean(ours.width):.0f} / {np.mean(oracle.width):.0f}"
        rmse = f"{ours.rmse:.1f} / {oracle.rmse:.1f} ({ratio:.2f})"
        lines.append(f"| {first} | {ours.coverage} / {oracle.coverage} | {rmse} | {widths} |")
    return lines


def main() -> None:
    parser = options_of(__doc__, arenas=10)
    parser.add_argument("regimes", nargs="*", default=list(REGIMES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"```\nuv run python benchmarks/camps.py --arenas {given.arenas}\n```\n\n# Camps: are they found?\n")
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}", flush=True)
    for name in given.regimes:
        print("\n".join(rows(name, given.arenas)), flush=True)


if __name__ == "__main__":
    main()
