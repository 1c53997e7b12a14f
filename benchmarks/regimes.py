"""Do the intervals of the default fit cover? Every simulated arena of the benchmarks, in one table.

    uv run python benchmarks/regimes.py [--arenas 20] [--only drift grades]

The generators are those of the benchmarks named in the table, which say what they draw, and compare models. Here it is
the fit as it comes, of an arena a seed; the truth is the Bradley-Terry projection of the average vote that the board is
about. Errors in brackets are over arenas.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial

import calibration
import criteria
import dissenters
import drift
import grades
import numpy as np
import population
from measuring import markdown, options_of
from true_boards import PER_LOGIT, average_score, measured, projected, with_error

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.progress import report

Case = tuple[ba.Fit, Floats]
"""A fit, and the true board in Elo points."""


def crowd(name: str, seed: int) -> Case:
    """Return an arena of ``calibration.py --default``, with riggers or without."""
    arena, cells = calibration.drawn(name, seed)
    return ba.fit(cells), PER_LOGIT * calibration.truths(arena, calibration.CROWDS[name], seed)[0]


def dissent(name: str, seed: int) -> Case:
    """Return an arena of ``dissent.py``."""
    arena = dissenters.draw(dissenters.REGIMES[name], seed)
    fit = ba.fit(arena.cells)
    return fit.of("everybody", cap=1), PER_LOGIT * arena.strength


def graded(ties: str, count: int, seed: int) -> Case:
    """Return an arena of ``grades.py`` whose annotators have an emphasis of their own."""
    arena = grades.graded_arena(seed, ties, count, own=grades.OWN, theta=0.3)
    return ba.fit(arena.cells, model=grades.model(ties, count, "annotator")), PER_LOGIT * arena.board()


def moving(half: bool, seed: int) -> Case:
    """Return an arena of ``drift.py``, of now."""
    cells, truth = drift.moved_by(half, seed)
    i, j = np.triu_indices(truth.shape[1], 1)
    now = projected(average_score((truth[-1, i] - truth[-1, j])[None], np.array([drift.TIE])), truth.shape[1])
    return ba.fit(cells, drift=True), now


def judged(board: str, seed: int) -> Case:
    """Return an arena of ``criteria.py``."""
    arena = criteria.draw(seed)
    fit = ba.fit(ba.read_votes(arena.votes))
    return fit if board == "overall" else fit.on(slice=("criterion", board)), arena.truth[board]


def grouped(seed: int, **how: float | str) -> Case:
    """Return an arena of ``population.py``, for the population."""
    arena = population.draw(seed, **how)
    return ba.fit(arena.cells, model=population.MODEL).of_population(population.shares()), arena.truth


KINDS: dict[str, dict[str, Callable[[int], Case]]] = {
    "calibration": {name: partial(crowd, name) for name in calibration.CROWDS},
    "dissent": {name: partial(dissent, name) for name in dissenters.REGIMES},
    "grades": {
        f"{ties}, {1 + 2 * count} outcomes": partial(graded, ties, count)
        for ties in grades.LOG_TIES
        for count in (2, 3)
    },
    "drift": {"steps of .15 a month": partial(moving, False), "half by 100 Elo midway": partial(moving, True)},
    "criteria": {name: partial(judged, name) for name in ("overall", criteria.CRITERIA[0])},
    "population": {name: partial(grouped, **how) for name, how in population.CASES.items()},
}


def covered(case: Callable[[int], Case], arenas: int, name: str) -> list[str]:
    """Return what intervals cover in some arenas, and the processor's seconds for each."""
    start, narrow, wide = time.process_time(), list[float](), list[float]()
    for seed in range(arenas):
        report(name, seed, arenas)
        _, of_95, of_89 = measured(*case(seed))
        narrow.append(of_89.mean())
        wide.append(of_95.mean())
    return [with_error(narrow), with_error(wide), f"{(time.process_time() - start) / arenas:.1f}"]


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__, arenas=20)
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"The default fit, {options.arenas} arenas a row\n")
    print(markdown(["benchmark", "arena", "89 %", "95 %", "CPU s an arena"], []), flush=True)
    for kind in options.only:
        for name, case in KINDS[kind].items():
            print(f"| {' | '.join([kind, name, *covered(case, options.arenas, name)])} |", flush=True)
    report("")


if __name__ == "__main__":
    main()
