"""What a reader should know of the average that a ranking is about: whom the cap holds back, and what the middle says.

Everybody's average and the middle of the votes (:mod:`bayes_arena.inference.crowd`) are compared for models with
directions, in which annotators rank differently; without directions both have the same order. They disagree on a
competitor where each score lies outside the other's 95 % interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import listing
from bayes_arena.inference.estimand import View
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.population import Population
from bayes_arena.inference.projected import Projection
from bayes_arena.inference.projection import project
from bayes_arena.markup import percent
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells

MOVED = 0.05
"""Share of the average that the cap moves from some accounts to the others, from which it is said."""
CHEAP = 5_000_000
"""Pairs times annotators up to which the middle is compared: it takes a second."""
HALF_WIDTH = 1.96
"""Of a 95 % interval, in standard deviations."""


def said_of_middle(mode: Mode, cells: Cells, view: View, board: Callable[[], Projection]) -> tuple[str, ...]:
    """Return sentences on the middle of the votes, for the board of a view; none where there is nothing to say."""
    target = mode.problem.objective
    if not target.n_annotators or not target.directions or view.crowd.middle:
        return ()
    if cells.n_competitors**2 / 2 * target.n_annotators > CHEAP:
        return ("Whether the middle of the votes ranks otherwise was not looked at: fit.of('the middle') tells.",)
    return _middle(mode, cells, view, board())


def said_of_population(people: Population | None, cells: Cells) -> tuple[str, ...]:
    """Say from which groups of a population nobody voted."""
    if people is None:
        return ()
    silent = {kind: people.unheard(kind, cells.slice_names[kind]) for kind in people.kinds}
    return tuple(
        "Nobody voted from "
        f"{listing(f'{name!r} ({percent(part)} of the population)' for name, part in unheard.items())} by {kind!r}, "
        f"but from {listing(map(repr, cells.slice_names[kind]))}. "
        "What they prefer is taken to differ from the others as groups do, and widens the intervals."
        for kind, unheard in silent.items()
        if unheard
    )


def said_of_cap(cells: Cells, view: View) -> tuple[str, ...]:
    """Say which accounts the cap holds back, where that matters; groups of a population have their shares anyway."""
    if view.crowd.strata:
        return ()
    cast = view.crowd.votes(cells.votes_by_annotator())
    part, share = cast / cast.sum(), view.crowd.shares(cells.votes_by_annotator())
    excess = part - share
    if excess[excess > 0].sum() < MOVED:
        return ()
    order = [k for k in np.argsort(-excess, kind="stable") if excess[k] > 0]
    each = listing(
        f"{cells.annotators[k]} (cast {percent(part[k])} of the votes, counts {percent(share[k])})" for k in order
    )
    return (
        f"No account counts more than {percent(share.max())} of the average: {each}. "
        "fit.of('everybody', cap=1) has no such limit.",
    )


def _middle(mode: Mode, cells: Cells, view: View, everybody: Projection) -> tuple[str, ...]:
    """Say on whom the middle of the votes disagrees with everybody's average."""
    target, votes = mode.problem.objective, cells.votes_by_annotator()
    scores, sds = list[Floats](), list[Floats]()
    with one_thread():
        middle = project(target, mode.point, votes, replace(view, crowd=replace(view.crowd, middle=True)))
        for board in (everybody, middle):
            variance = mode.laplace.variance(board.by_head, board.own) + board.variance_by_mean(view.unseen)
            scores.append(board.strength)
            sds.append(np.sqrt(np.maximum(variance, 0.0)))
    gap = np.abs(scores[1] - scores[0]) / (HALF_WIDTH * np.maximum(*sds))
    places = [1 + (score > score[:, None]).sum(axis=1) for score in scores]
    order = [i for i in np.argsort(-gap, kind="stable") if gap[i] > 1]
    if not order:
        return ()
    each = listing(f"{cells.competitors[i]} (rank {places[0][i]}, in the middle {places[1][i]})" for i in order)
    return (
        f"The middle 60 % of the votes disagrees with everybody's average by more than their intervals on {each}. Some "
        "annotators weigh heavily there: see fit.of('the middle') and camps(fit).",
    )
