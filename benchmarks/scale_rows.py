"""The rows of ``scale.py``, each measured in processes of its own.

Every function returns seconds and what there is to say of a row, or why there is nothing: ``wall_s``, ``peak_mib``,
``said``, and for the floor ``bytes`` and ``exps``, or ``floor_s``. Votes are simulated once and kept in
``benchmarks/data``.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from boards import BY, write_votes as write_boards
from hard_fits import alike, disagreeing
from hundred_million import COMMAND, in_turn as processes_in_turn, measured as rank_process, write as write_plainly
from many_competitors import cast, check
from measuring import FILES, HERE, Clock, Unfinished, digits, forget_peak, in_own_process, peak_mib, timed
from nuts import OURS, sample
from nuts_programs import CHAINS, DRAWS
from simulated import fit_small_arenas, write_votes
from startup import bare_group_by, bare_process, in_turn, m_elo, program

import bayes_arena as ba
from bayes_arena.markup import percent

NODES, TUNE = 7, 300
"""Nodes of the average over a row of votes; draws to tune with, by default."""
LARGE, CROWD = 1_670_250, 61_003
LIMIT = 600.0
KEPT = HERE / "data"


def made(write: Callable[..., None], path: Path, *given: object) -> None:
    """Write votes in a process of its own."""
    KEPT.mkdir(exist_ok=True)
    if isinstance(found := in_own_process(write, path, *given, limit=LIMIT), Unfinished):
        raise RuntimeError(f"{path.name}: {found.why}")


def votes_file(votes: int, annotators: int, competitors: int = 129, opponents: int | None = None) -> list[Path]:
    """Return files of simulated votes, written when they are first asked for."""
    folder = KEPT / f"votes_{votes}_{competitors}_{opponents or 'all'}_{annotators}"
    if not folder.is_dir():
        partly = folder.with_suffix(".part")
        sizes = {"competitors": competitors, "opponents": opponents, "annotators": annotators}
        made(partial(write_votes, **sizes), partly, votes)
        partly.rename(folder)
    return sorted(folder.glob("*.parquet"))


def read_bytes(paths: list[Path], columns: int = 3) -> int:
    """Bytes of files, and of the codes of their columns, four for each value."""
    votes = pl.scan_parquet(paths).select(pl.len()).collect().item()
    return sum(path.stat().st_size for path in paths) + 4 * columns * votes


def held(cells: ba.Cells) -> int:
    """Bytes of the arrays of the cells."""
    return sum(getattr(cells, name).nbytes for name in ("a", "b", "annotator", "counts"))


def of_annotators_alike() -> Any:
    path = KEPT / "alike.parquet"
    if not path.is_file():
        made(_write_alike, path)
    return in_own_process(_fit_alike, path, limit=LIMIT)


def _write_alike(path: Path) -> None:
    alike(LARGE, CROWD).save(path)


def _fit_alike(path: Path) -> dict[str, Any]:
    fit_small_arenas()
    cells = ba.read_cells(path)
    clock = Clock()
    ba.fit(cells)
    return clock.lap() | {"bytes": held(cells), "exps": 2 * NODES * len(cells.a), "peak_mib": peak_mib()}


def of_directions() -> Any:
    return in_own_process(_fit_directions, limit=LIMIT)


def _fit_directions() -> dict[str, Any]:
    fit_small_arenas()
    cells = disagreeing(500_000, 3_000, 150)
    clock = Clock()
    fit = ba.fit(cells)
    found = clock.lap() | {"bytes": held(cells), "exps": 2 * NODES * len(cells.a), "peak_mib": peak_mib()}
    return found | {"said": f"{fit.model.dimensions} directions"}


def of_one_vote_each() -> Any:
    return in_own_process(_fit_one_vote_each, limit=LIMIT)


def _fit_one_vote_each() -> dict[str, Any]:
    fit_small_arenas()
    cells = ba.read_votes(ba.simulate(competitors=40, annotators=200_000, votes=200_000, seed=0).votes)
    clock = Clock()
    fit = ba.fit(cells)
    found = clock.lap() | {"bytes": held(cells), "exps": 2 * NODES * len(cells.a), "peak_mib": peak_mib()}
    return found | {"said": f"{fit.evidence}, {fit.mode.iterations} sweeps"}


def of_a_million_annotators() -> Any:
    paths = votes_file(10_000_000, 902_731)
    return in_own_process(_fit_million, paths, limit=LIMIT)


def _fit_million(paths: list[Path]) -> dict[str, Any]:
    fit_small_arenas()
    whole, phases = Clock(), []

    def phase[T](name: str, work: Callable[[], T]) -> T:
        forget_peak()
        found, wall, _ = timed(work)
        phases.append((name, wall, peak_mib()))
        return found

    cells = phase("read", lambda: ba.read_votes(paths))
    fit = phase("fit", lambda: ba.fit(cells))
    phase("annotators", lambda: ba.annotators(fit))
    phase("flag", lambda: ba.flag(fit))
    said = ", ".join(f"{name} {digits(wall)} s {peak / 2**10:.2f} GiB" for name, wall, peak in phases)
    work = {"bytes": read_bytes(paths, 4) + held(cells), "exps": 2 * NODES * len(cells.a)}
    return whole.lap() | work | {"said": said, "peak_mib": max(peak for _, _, peak in phases)}


def of_unused_annotators() -> Any:
    paths = votes_file(LARGE, CROWD)
    return in_own_process(_unused, paths[0], limit=LIMIT)


def _unused(path: Path) -> dict[str, Any]:
    within = {
        "bare": lambda: timed(lambda: bare_group_by(path))[1],
        "ours": lambda: timed(lambda: m_elo(path, annotator=False))[1],  # as `rank --model m-elo` reads it
        "kept": lambda: timed(lambda: m_elo(path))[1],
    }
    whole = {"bare": bare_process(path), "ours": program("rank", "--model", "m-elo", path)}
    within, whole = in_turn(within, 5), in_turn(whole, 3)
    times, kept = within["ours"] / within["bare"], within["kept"] / within["bare"]
    said = f"{times:.2f} x bare ({kept:.2f} x where annotators are kept); "
    said += f"as a process {whole['ours'] / whole['bare']:.2f} x (CPU)"
    return {"wall_s": within["ours"], "bytes": read_bytes([path]), "exps": 0, "said": said, "peak_mib": peak_mib()}


def of_sparse_graph(competitors: int) -> Callable[[], Any]:
    def measure() -> Any:
        return in_own_process(_sparse, votes_file(1_000_000, 0, competitors, 20), limit=LIMIT)

    return measure


def _sparse(paths: list[Path]) -> dict[str, Any]:
    fit_small_arenas(model="m-elo")
    return _fit_and_intervals(ba.read_votes(paths), model="m-elo")


def of_many_judged(competitors: int) -> Callable[[], Any]:
    """Take votes as ``many_competitors.py`` casts them, which are made in no time."""

    def measure() -> Any:
        return in_own_process(_many_judged, competitors, limit=LIMIT / 2)

    return measure


def _many_judged(competitors: int) -> dict[str, Any]:
    fit_small_arenas(robust=False)
    return _fit_and_intervals(cast("random", competitors, 100_000, 100, ties=True), robust=False)


def _fit_and_intervals(cells: ba.Cells, **options: Any) -> dict[str, Any]:
    whole, clock = Clock(), Clock()
    fit = ba.fit(cells, **options)
    parts = {"fit": clock.lap()}
    board = ba.leaderboard(fit)
    parts["intervals"] = clock.lap()
    found, peak = whole.lap(), peak_mib()
    _, off = check(fit, board)
    said = ", ".join(f"{name} {digits(part['wall_s'])} s" for name, part in parts.items())
    of_annotators = 2 if fit.target.own else 1  # exponentials: of a win, and of a tie
    work = {"bytes": held(cells), "exps": of_annotators * len(cells.a), "peak_mib": peak}
    return found | work | {"said": f"{said}; sds at most {percent(off.max(), '.2f')} from exact"}


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """Keep what is compiled in an empty folder, for processes started here."""
    with tempfile.TemporaryDirectory() as folder:
        before = dict(os.environ)
        os.environ |= {"NUMBA_CACHE_DIR": f"{folder}/numba", "PYTENSOR_FLAGS": f"base_compiledir={folder}/pytensor"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ |= before


def of_nuts() -> Any:
    if not FILES["LLMFAO"].is_file():
        return Unfinished("llmfao.csv is not in $BAYES_ARENA_DATA")
    with nothing_compiled():
        calls = [in_own_process(sample, OURS, "LLMFAO", seed, limit=LIMIT) for seed in (1, 2)]
    for call in calls:
        if isinstance(call, Unfinished):
            return call
    first, second = calls
    cells = ba.read_votes(FILES["LLMFAO"], prompt=False)
    gradients = second["gradients_a_draw"] * CHAINS * (DRAWS + TUNE)
    ratio = second["wall_s"] / second["sampling_s"]
    said = f"{ratio:.2f} x the sampling, {digits(second['sampling_s'])} s; first call ever {digits(first['wall_s'])} s"
    work = {"bytes": held(cells), "exps": 2 * gradients * len(cells.a)}
    return {"wall_s": second["wall_s"], "cpu_s": second["cpu_s"], **work, "said": said, "peak_mib": second["peak_mib"]}


def of_rank() -> Any:
    path = FILES["LLMFAO"]
    if not path.is_file():
        return Unfinished("llmfao.csv is not in $BAYES_ARENA_DATA")
    command = [sys.executable, "-m", "bayes_arena", "rank", str(path)]
    bare = [sys.executable, "-c", "import numpy, polars"]
    taken = processes_in_turn({"rank": command, "bare": bare}, 5)
    wall, cpu, gigabytes = (statistics.median(column) for column in zip(*taken["rank"], strict=True))
    floor, *_ = (statistics.median(column) for column in zip(*taken["bare"], strict=True))
    return {"wall_s": wall, "cpu_s": cpu, "peak_mib": gigabytes * 1e9 / 2**20, "floor_s": floor}


def of_a_hundred_million() -> Any:
    taken = {}
    for count in (10**7, 10**8):
        path = KEPT / f"votes_{count}.parquet"
        if not path.is_file():
            made(write_plainly, path, count, 0)
        taken[count] = rank_process([*COMMAND, str(path)])
    wall, cpu, gigabytes = taken[count]
    said = f"a tenth of them: {digits(taken[10**7][1])} CPU s, {taken[10**7][2] * 1e9 / 2**30:.2f} GiB"
    work = {"bytes": read_bytes([path]), "exps": 0, "said": said}
    return {"wall_s": wall, "cpu_s": cpu, "peak_mib": gigabytes * 1e9 / 2**20, **work}


def of_leave_one_out() -> Any:
    return in_own_process(_leave_one_out, votes_file(LARGE, CROWD), limit=LIMIT)


def _leave_one_out(paths: list[Path]) -> dict[str, Any]:
    fit_small_arenas()
    fit = ba.fit(ba.read_votes(paths), robust=False)
    before = peak_mib()
    clock = Clock()
    found = ba.leave_one_out(fit)
    taken, left_out = clock.lap(), len(found.votes if found.sampled is None else found.sampled)
    exps = 2 * found.n_draws * left_out
    said = f"{left_out:,} of {len(found.votes):,} kinds of votes left out, {found.n_draws:,} draws; "
    said += f"{before / 2**10:.2f} GiB before"
    return taken | {"bytes": 0, "exps": exps, "said": said, "peak_mib": peak_mib()}


def of_boards() -> Any:
    path = KEPT / "boards.parquet"
    if not path.is_file():
        made(write_boards, path, 10_000_000)
    return in_own_process(_boards, path, limit=LIMIT)


def _boards(path: Path) -> dict[str, Any]:
    fit_small_arenas(model="m-elo")
    clock = Clock()
    boards = ba.fit_many(path, BY, model="m-elo")
    found = clock.lap()
    cells = sum(len(board.cells.a) for board in boards.values())
    return found | {"bytes": read_bytes([path], 6), "exps": cells, "said": repr(boards), "peak_mib": peak_mib()}
