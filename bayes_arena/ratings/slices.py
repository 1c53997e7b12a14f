"""Where a competitor is better or worse than overall: slice by slice, and answer by answer.

A vote compares two competitors, so only differences of the deviations u_{g,i} in slice g are identified. Listed is how
far competitor i deviates in g relative to the other competitors there, beyond its deviation in the average slice,

    d_{g,i} = (u_{g,i} - mean_i u_{g,i}) - mean_g (u_{g,i} - mean_i u_{g,i}),

in logits. mean_i is over the competitors seen in g, mean_g over slices. For answers and programs the term with mean_g
is left out: strengths are those that people see, whatever programs prefer. The tables have Wald's z and p
(:mod:`bayes_arena.ratings.estimates`), not corrected for multiple tests, and q, which is: the false discovery rate at
which a row would be listed (Benjamini & Hochberg, 1995, JRSS B 57).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_arena.arrays import DataFrame, Floats, Ints, sum_by, table_of
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import Interval, Quantity, require_level
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.threads import one_thread
from bayes_arena.votes.names import ANNOTATOR, PROGRAM, PROMPT
from bayes_arena.votes.outcomes import whole_counts

MOST = 5000
"""Largest number of answers in one table."""


@held
def slice_gaps(fit: Fit, kind: str, *, level: float = 0.95, interval: Interval | IntervalName = "laplace") -> DataFrame:
    """List by how much competitors are better or worse in a slice than overall.

    Parameters
    ----------
    fit : Fit
        A model with ``strength_by=(kind,)``.
    kind : str
        Kind of slice, such as ``"category"``, or ``"annotator"`` or ``"program"`` for their tastes.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        The slice, under the name of its kind, ``competitor, gap, sd, z, p, q, lower, upper, votes``, in logits, the
        clearest gap first. ``votes`` are the competitor's votes in the slice.

    Raises
    ------
    ModelError
        If the model has no strengths by such slices, or the level or interval is invalid.
    """
    code, competitor, place = numbers_of(fit, kind)
    return _table(fit, kind, code, competitor, place, "gap", level, interval, over_slices=kind != PROGRAM)


@held
def answers(
    fit: Fit,
    prompts: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    interval: Interval | IntervalName = "laplace",
) -> DataFrame:
    """List the answers that are much better or worse than their competitor usually is, the clearest first.

    Parameters
    ----------
    fit : Fit
        A model with answers.
    prompts : sequence of str, optional
        Prompts whose answers are listed; all by default.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``prompt, competitor, deviation, sd, z, p, q, lower, upper, votes``, in logits, the answer that stands out most
        clearly first.

    Raises
    ------
    ModelError
        If the model has no answers, a prompt is unknown, there are too many answers for one table, or the level or
        interval is invalid.
    """
    code, competitor, place = numbers_of(fit, PROMPT)
    names = fit.cells.slice_names[PROMPT]
    if prompts is not None:
        prompts = [prompts] if isinstance(prompts, str) else prompts
        unknown = [repr(name) for name in prompts if name not in names]
        if unknown:
            raise ModelError(f"There is no prompt {listing(unknown)}. Use names of fit.cells.slice_names['prompt'].")
        wanted = np.isin(code, [names.index(name) for name in prompts])
        code, competitor, place = code[wanted], competitor[wanted], place[wanted]
    if len(code) > MOST:
        raise ModelError(
            f"{len(code):,} answers are too many for one table. Name prompts with at most {MOST:,} (prompts=...)."
        )
    return _table(fit, PROMPT, code, competitor, place, "deviation", level, interval, over_slices=False)


def numbers_of(fit: Fit, kind: str) -> tuple[Ints, Ints, Ints]:
    """Return the slice, competitor and parameter index of each deviation in slices of a kind."""
    target, known = fit.target, fit.model.strength_by
    if kind not in known:
        raise ModelError(
            f"The model has no strengths by {kind!r} (its slices: {listing(map(repr, known)) or 'none'}). Fit "
            + ("with answers=True." if kind == PROMPT else f"a Model with strength_by=({kind!r},).")
        )
    row = known.index(kind)
    keys, part = target.numbering.keys[row], target.numbering.parts[row]
    code, competitor = np.divmod(keys, fit.cells.n_competitors)
    return code, competitor, np.arange(part.start, part.stop)


def _table(
    fit: Fit,
    kind: str,
    code: Ints,
    competitor: Ints,
    place: Ints,
    what: str,
    level: float,
    interval: Interval | IntervalName,
    *,
    over_slices: bool,
) -> DataFrame:
    require_level(level)
    cells, chosen, size = fit.cells, resolve_interval(interval), len(code)
    jacobian = np.eye(size) - (code[:, None] == code) / sum_by(code, np.ones(size), int(code.max(initial=0)) + 1)[code]
    if over_slices:
        same = competitor[:, None] == competitor
        jacobian = jacobian - (same / same.sum(axis=1, keepdims=True)) @ jacobian
    first = cells.n_competitors + len(fit.point.common)
    by_head = np.zeros((size, len(fit.point.head)))
    by_head[:, first + place] = jacobian

    def drawn(draws: Draws) -> Floats:
        return np.asarray(draws.slices[:, place] @ jacobian.T)

    with one_thread():
        quantity = Quantity(jacobian @ fit.point.slices[place], by_head, None, drawn)
        found = chosen.summarise(fit, quantity, level)
    seen = cells.annotator if kind == ANNOTATOR else cells.slice_rows([kind])[0]
    names, n = np.array(fit.mode.problem.slice_names[kind], dtype=object), cells.n_competitors
    there = seen >= 0  # false only for the program of votes cast by people
    total = cells.counts.sum(axis=1)[there]
    votes = np.zeros(len(names) * n)
    for one in (cells.a, cells.b):
        votes += sum_by(seen[there] * n + one[there], total, len(votes))
    columns = {
        what: found.value,
        "sd": found.sd,
        "z": found.z,
        "p": found.p,
        "q": _false_discoveries(found.p),
        "lower": found.lower,
        "upper": found.upper,
    }
    who = {kind: names[code], "competitor": np.array(cells.competitors, dtype=object)[competitor]}
    columns |= {"votes": whole_counts(votes[code * n + competitor])}
    table = table_of({**who, **columns}, level=level, **chosen.about(fit))
    return table.sort_values("z", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def _false_discoveries(p: Floats) -> Floats:
    """Return q of every p; NaN where p is."""
    from scipy.stats import false_discovery_control  # slow to import

    known, q = np.isfinite(p), np.full_like(p, np.nan)
    q[known] = false_discovery_control(p[known])
    return q
