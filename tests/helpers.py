"""Votes and cells written by hand; the command: in this process, or on a terminal; what it prints, up to rounding."""

import contextlib
import io
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from subprocess import CompletedProcess
from typing import get_args
from unittest import mock

import numpy as np
import polars as pl
from crowds import Crowd, honest_arena
from rigging import rig
from scipy.sparse import csr_array

import bayes_arena as ba
from bayes_arena.__main__ import main
from bayes_arena.arrays import Ints
from bayes_arena.likelihood.outcomes.likelihood import Likelihood, likelihood
from bayes_arena.likelihood.specification import Ties
from bayes_arena.votes.cells import single_votes as one_by_one
from bayes_arena.votes.outcomes import OUTCOMES

COMMAND = Path(sys.executable).parent / "bayes-arena"
PAIRS = (("0", "1"), ("0", "2"), ("1", "2"))
FRACTION = re.compile(r"(?<![\w.-])-?\d+\.\d+(?:e[-+]?\d+)?(?!\.?\w)")
"""A number with a decimal point; counts, names and versions are words."""


def frame(rows: list[tuple[str, ...]]) -> pl.DataFrame:
    """Votes from (a, b, winner) or (a, b, winner, judge) rows."""
    names = ["model_a", "model_b", "winner", "judge"][: len(rows[0])]
    return pl.DataFrame(rows, schema=names, orient="row")


def assert_same(found: ba.Cells, expected: ba.Cells) -> None:
    """Assert that cells are the same to the last bit, in every field."""
    for one, other in zip(_arrays(found), _arrays(expected), strict=True):
        assert one[0] == other[0]
        np.testing.assert_array_equal(one[1], other[1], err_msg=one[0], strict=True)


def _arrays(cells: ba.Cells) -> Iterator[tuple[str, np.ndarray]]:
    for field in fields(cells):
        value = getattr(cells, field.name)
        for name, one in value.items() if isinstance(value, Mapping) else [("", value)]:
            yield f"{field.name} {name}", np.asarray(one)


def panel(judges: dict[str, tuple[int, int] | list[tuple[int, int]]]) -> ba.Cells:
    """Cells of three competitors from each judge's wins and losses of the first name on every pair."""
    rows = []
    for judge, counts in judges.items():
        counts = counts if isinstance(counts, list) else [counts] * 3
        for (a, b), (won, lost) in zip(PAIRS, counts, strict=True):
            rows += [(a, b, "model_a", judge)] * won + [(a, b, "model_b", judge)] * lost
    return ba.read_votes(frame(rows))


def single_votes(a: Ints, b: Ints, outcome: Ints, **slices: Ints) -> ba.Cells:
    """Votes one by one as cells, without annotators, sorted as cells are; of slices the codes."""
    names = sorted(map(str, np.unique(np.append(a, b))))
    order = np.lexsort([*reversed(slices.values()), b, a])
    return ba.Cells(
        competitors=tuple(names),
        annotators=(),
        a=a[order],
        b=b[order],
        annotator=np.zeros_like(a),
        counts=np.eye(4)[outcome[order]],
        slices={name: codes[order] for name, codes in slices.items()},
        slice_names={name: tuple(f"{code:04}" for code in range(codes.max() + 1)) for name, codes in slices.items()},
    )


def prompted(*, prompts: int, votes: int, answers: float = 1.0, competitors: int = 6, seed: int = 0) -> ba.Cells:
    """Votes on prompts that recur; answers depart from the competitors' strengths by N(0, answers) in logits."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(-1, 1, competitors) + answers * rng.normal(size=(prompts, competitors))
    prompt, a = rng.integers(prompts, size=votes), rng.integers(competitors, size=votes)
    b = (a + rng.integers(1, competitors, size=votes)) % competitors
    eta = quality[prompt, a] - quality[prompt, b]
    weights = np.exp(np.array([eta / 2, -eta / 2, np.full(votes, -0.5)]))
    outcome = (rng.random(votes) > np.cumsum(weights / weights.sum(axis=0), axis=0)).sum(axis=0)
    return single_votes(a, b, outcome, prompt=prompt)


def every_likelihood() -> list[Likelihood]:
    """Every likelihood there is, those that know both-bad votes, and these with grades where they know them."""
    found = [likelihood(ties) for ties in get_args(Ties)]
    found += [one.with_both_bad for one in found if one.with_both_bad]
    return found + [one.with_grades(grades) for one in found if one.with_grades for grades in (2, 3)]


def run(*arguments: object, cwd: Path | None = None) -> CompletedProcess[str]:
    """Run the command in this process, on no terminal; what only a process of its own shows starts ``COMMAND``."""
    command = ["bayes-arena", *map(str, arguments)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", command),
        mock.patch.dict(os.environ, {"NO_COLOR": "1", "COLUMNS": "100"}),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return CompletedProcess(command, code, out.getvalue(), err.getvalue())


def run_on_terminal(*command: object, piped: bool = False, **environment: str) -> CompletedProcess[str]:
    """Run a command on a terminal, which shows its stderr, and its stdout unless that is piped."""
    import pty  # not on Windows

    leader, follower = pty.openpty()
    arguments = [str(each) for each in command]
    environment = os.environ | {"TERM": "xterm"} | environment
    stdout = subprocess.PIPE if piped else follower
    with subprocess.Popen(arguments, stdout=stdout, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        with contextlib.suppress(OSError):  # the other end has closed
            while part := os.read(leader, 65536):
                shown += part
        answer = process.stdout.read() if process.stdout else b""
    os.close(leader)
    return CompletedProcess(arguments, process.returncode, answer.decode(), shown.decode())


def differing(found: str, kept: str) -> list[tuple[str, str]]:
    """Lines that differ by more than rounding on another processor does: by more than the last digit of a number.

    A number may be as much longer or shorter as moves the others of its table; else spaces count, too.
    """
    moved = FRACTION.findall(found) != FRACTION.findall(kept)
    return [
        (line, other)
        for line, other in zip_longest(found.splitlines(), kept.splitlines(), fillvalue="")
        if line != other and not (moved and _alike(line, other))
    ]


def _alike(line: str, other: str) -> bool:
    words = [re.sub("[ ─]+", " ", FRACTION.sub("#", text)) for text in (line, other)]
    pairs = zip(*(map(Decimal, FRACTION.findall(text)) for text in (line, other)), strict=False)
    return words[0] == words[1] and all(abs(a - b) <= _last_digit(a, b) for a, b in pairs)


def _last_digit(*numbers: Decimal) -> Decimal:
    return Decimal(1).scaleb(min(number.as_tuple().exponent for number in numbers))


def sliced_votes(competitors: int, prompts: int, annotators: int, votes: int, seed: int = 0) -> ba.Cells:
    """Votes at random, each of a prompt, one of three categories and a length; without annotators if there are none."""
    rng = np.random.default_rng(seed)
    a, shift, prompt = (
        rng.integers(low, high, votes) for low, high in ((0, competitors), (1, competitors), (0, prompts))
    )
    return ba.Cells(
        competitors=tuple(f"c{index:02}" for index in range(competitors)),
        annotators=tuple(f"k{index:02}" for index in range(annotators)),
        a=a,
        b=(a + shift) % competitors,
        annotator=rng.integers(0, max(annotators, 1), votes),
        counts=np.eye(4)[rng.integers(0, 3, votes)],
        features={"length": rng.normal(size=votes)},
        slices={"prompt": prompt, "category": prompt % 3},
        slice_names={"prompt": tuple(f"p{index:03}" for index in range(prompts)), "category": ("x", "y", "z")},
    )


def answered_votes(
    competitors: int = 6,
    prompts: int = 30,
    annotators: int = 8,
    votes: int = 1500,
    *,
    answers_sd: float = 1.2,
    strength_sd: float = 1.0,
    seed: int = 0,
) -> tuple[pl.DataFrame, np.ndarray]:
    """Votes by Davidson's model on answers of known spread, theta = 1 and nu = 0.7, and the true strengths."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, strength_sd, competitors)
    strength -= strength.mean()
    answer = strength + rng.normal(0, answers_sd, (prompts, competitors))
    a, shift, prompt = (
        rng.integers(low, high, votes) for low, high in ((0, competitors), (1, competitors), (0, prompts))
    )
    b = (a + shift) % competitors
    eta = answer[prompt, a] - answer[prompt, b]
    chances = np.exp([eta / 2, -eta / 2, np.full(votes, np.log(0.7))])
    outcome = (rng.random(votes) > np.cumsum(chances / chances.sum(axis=0), axis=0)[:-1]).sum(axis=0)
    columns = {
        "model_a": [f"m{index}" for index in a],
        "model_b": [f"m{index}" for index in b],
        "winner": [("model_a", "model_b", "tie")[one] for one in outcome],
        "judge": [f"j{index:02}" for index in rng.integers(0, annotators, votes)],
        "prompt": [f"p{index:03}" for index in prompt],
    }
    return pl.DataFrame(columns), strength


def drifting(
    competitors: int = 5,
    periods: int = 6,
    votes: int = 600,
    *,
    annotators: int = 0,
    step: float = 0.3,
    gaps: bool = False,
    truth: np.ndarray | None = None,
    seed: int = 0,
) -> ba.Cells:
    """Votes by Davidson's model over months, with strengths (periods, competitors) or walks by N(0, step).

    With ``gaps`` the third month has no votes, and the first competitor none in the second either.
    """
    rng = np.random.default_rng(seed)
    if truth is None:
        truth = np.cumsum(
            np.vstack([rng.normal(0, 0.7, competitors), rng.normal(0, step, (periods - 1, competitors))]), 0
        )
    periods, competitors = truth.shape
    time, a = rng.integers(periods, size=votes), rng.integers(competitors, size=votes)
    b = (a + rng.integers(1, competitors, size=votes)) % competitors
    if gaps:
        kept = (time != 2) & ((time != 1) | ((a != 0) & (b != 0)))
        time, a, b = time[kept], a[kept], b[kept]
    eta = truth[time, a] - truth[time, b]
    chances = np.exp([eta / 2, -eta / 2, np.full(len(a), -0.5)])
    outcome = (rng.random(len(a)) > np.cumsum(chances / chances.sum(axis=0), axis=0)[:-1]).sum(axis=0)
    names, code = np.unique([f"{2024 + month // 12}-{month % 12 + 1:02}" for month in time], return_inverse=True)
    return ba.Cells(
        competitors=tuple(f"c{index:02}" for index in range(competitors)),
        annotators=tuple(f"k{index:02}" for index in range(annotators)),
        a=a,
        b=b,
        annotator=rng.integers(0, max(annotators, 1), len(a)),
        counts=np.eye(4)[outcome],
        slices={"time": code},
        slice_names={"time": tuple(map(str, names))},
    )


RIGGERS = tuple(f"rigger-{number:05d}" for number in range(1, 5))
"""Accounts of :func:`rigged_cells`."""


def rigged_cells(*, annotators: int = 30, competitors: int = 6, votes: int = 1500) -> ba.Cells:
    """Honest votes, and 160 of four accounts that always vote for one competitor, the last but one."""
    arena = honest_arena(Crowd(annotators=annotators), competitors=competitors, votes=votes, seed=1)
    return rig(arena.cells, "t-abstain", arena.ranked(competitors - 1), accounts=4, votes=40, seed=1).cells


def table_of(cells: ba.Cells) -> pl.DataFrame:
    """Cells as one row a vote."""
    row, outcome = one_by_one(cells)
    names, judges = np.array(cells.competitors, dtype=object), np.array(cells.annotators, dtype=object)
    parts = names[cells.a[row]], names[cells.b[row]], np.array(OUTCOMES, dtype=object)[outcome]
    return frame(list(zip(*parts, judges[cells.annotator[row]], strict=True)))


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let writing fail as it does on a full disk; what is imported meanwhile is not cached, as it would be cut off."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    cached, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = cached


def in_full(hessian) -> np.ndarray:
    """A Hessian with units as a dense matrix, in the order (head, own)."""
    units = hessian.units
    full = np.zeros((len(units.dense) + len(units.tail),) * 2)
    across, own = (csr_array(one).toarray() for one in (units.towards(hessian.across), units.blocks(hessian.own)))
    full[np.ix_(units.dense, units.dense)] = hessian.in_full()
    full[np.ix_(units.tail, units.dense)], full[np.ix_(units.dense, units.tail)] = across, across.T
    full[np.ix_(units.tail, units.tail)] = own
    return full
