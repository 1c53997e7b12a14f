"""The Stable Arena: what is stored, what a round does, and what a file survives."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import COMMAND, assert_same, frame, run
from hypothesis import given, strategies as st
from strategies import votes

import bayes_arena as ba
from bayes_arena.arena.store import SCHEMA_VERSION
from bayes_arena.arena.votes import Addition, stored_cells
from bayes_arena.cli.output import rounded

LOYAL = ["anna", "ben", "cleo", "dora", "emil", "fay", "gus"]
ROWS = [("x", "y", "model_a", "k"), ("x", "y", "model_a", "k"), ("y", "z", "tie", "l"), ("z", "x", "both_bad", "k")]

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.errors.LeftOutEffectWarning")  # the first wins most


@pytest.fixture
def path(tmp_path) -> Path:
    ba.StableArena.create(tmp_path / "arena.duckdb").close()
    return tmp_path / "arena.duckdb"


@pytest.fixture
def uneven_arena(path):
    """Annotators who agree, and one who votes against them."""
    with ba.StableArena(path) as arena:
        arena.add(many(LOYAL, 30).vstack(many(["rex"], 20, against=True)))
        yield arena


def many(judges: list[str], each: int, *, against: bool = False) -> pl.DataFrame:
    """Votes by judges who mostly prefer x to y to z, or the reverse."""
    names = "zyx" if against else "xyz"
    rows = []
    for judge in judges:
        for number in range(each):
            a, b = [(0, 1), (1, 2), (0, 2)][number % 3]
            rows.append((names[a], names[b], "model_b" if number % 5 == 4 else "model_a", judge))
    return frame(rows)


@pytest.mark.slow
@given(
    votes(),
    st.sampled_from(["judges and weights", "judges", "nobody"]),
    st.booleans(),
    st.lists(st.integers(0, 40), max_size=3),
    st.integers(0, 2**32),
)
def test_cells_are_those_of_reading_all_votes_at_once(table, kind, ids, cuts, seed):
    rng = np.random.default_rng(seed)
    annotator = False if kind == "nobody" else None
    weight = None
    if kind == "judges and weights":
        table, weight = table.with_columns(w=pl.Series(rng.choice([0.0, 0.1, 1 / 3, 2.5], len(table)))), "w"
        table = table.with_columns(w=pl.when(pl.int_range(pl.len()) == 0).then(1.0).otherwise("w"))
    table = table.with_columns(id=pl.Series(rng.permutation(len(table)))).sample(fraction=1, shuffle=True, seed=1)
    ends = sorted({0, len(table), *(min(cut, len(table)) for cut in cuts)})
    parts = [table[first:last] for first, last in itertools.pairwise(ends)]
    if not ids:  # without ids only a longer version of what is there adds what is new
        parts = [table[:last] for last in ends[1:]]
    reading = {"annotator": annotator, "weight": weight}
    with tempfile.TemporaryDirectory() as folder, ba.StableArena.create(Path(folder) / "arena") as arena:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ba.errors.RepeatedVotesWarning)
            for part in [*parts, *parts[::-1]]:
                if weight is None or part["w"].sum() > 0:
                    arena.add(part, id="id" if ids else None, **reading)
        assert_same(arena.cells(), ba.read_votes(table, **reading))


@pytest.mark.slow
def test_adding_again_adds_nothing_even_after_closing(path, tmp_path):
    frame(ROWS).write_csv(tmp_path / "votes.csv")
    for expected in ((4, 0), (0, 4), (0, 4)):
        with ba.StableArena(path) as arena:
            added = arena.add(tmp_path / "votes.csv")
            assert (added.new, added.known) == expected
            assert arena.cells().n_votes == 4


@pytest.mark.slow
def test_votes_without_ids_that_are_alike_are_the_same_votes_and_it_says_so(path):
    with ba.StableArena(path) as arena:
        arena.add(frame(ROWS[:2]))
        with pytest.warns(ba.errors.RepeatedVotesWarning, match="2 of 5 votes equal stored votes"):
            added = arena.add(frame([*ROWS, ROWS[0]]))
        assert (added.new, added.known) == (3, 2)
        assert arena.cells().n_votes == 5
        with pytest.warns(ba.errors.UnusedColumnWarning, match="Column count looks like the weight but is not read"):
            assert arena.add(frame(ROWS[2:]).with_columns(count=pl.lit(2))).new == 0


@pytest.mark.slow
def test_votes_with_ids_may_be_alike(path):
    with ba.StableArena(path) as arena:
        first = frame(ROWS[:2]).with_columns(id=pl.Series([1, 2]))
        assert arena.add(first, id="id").new == 2
        assert arena.add(first.with_columns(id=pl.Series([2, 3])), id="id") == Addition(new=1, known=1, dropped={})
        assert arena.add(pl.concat([first, first]).with_columns(id=pl.lit("7")), id="id").new == 1
        assert arena.cells().n_votes == 4


@pytest.mark.slow
@pytest.mark.parametrize("engine", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
def test_ids_are_the_same_in_every_engine(path, engine):
    table = frame(ROWS).with_columns(id=pl.int_range(pl.len()))
    with ba.StableArena(path) as arena:
        arena.add(table, id="id")
        assert arena.add(engine(table), id="id").new == 0
        assert arena.add(pd.DataFrame(table.to_dict(as_series=False)).astype({"id": float}), id="id").new == 0


@pytest.mark.slow
def test_an_id_stands_for_one_vote(path):
    table = frame(ROWS).with_columns(id=pl.Series(["p", "q", "r", "r"]))
    with ba.StableArena(path) as arena:
        with pytest.raises(ba.errors.InvalidVotesError, match="1 ids are shared by different votes: 'r'"):
            arena.add(table, id="id")
        arena.add(table[:3], id="id")
        before = arena.cells()
        with pytest.raises(ba.errors.InvalidVotesError, match=r"1 votes have the id of a different stored vote: 'r'"):
            arena.add(frame([("new", "y", "tie", "new"), ROWS[3]]).with_columns(id=pl.Series(["s", "r"])), id="id")
        assert_same(arena.cells(), before)
        assert "new" not in arena.annotators()["annotator"].tolist()
        with pytest.raises(ba.errors.InvalidVotesError, match="row 1: missing id"):
            arena.add(frame(ROWS[:2]).with_columns(id=pl.Series(["t", None])), id="id")


@pytest.mark.slow
@pytest.mark.parametrize("other", [{"model_a": "z"}, {"winner": "model_b"}, {"judge": "l"}, {"w": 0.5}], ids=str)
def test_a_stored_id_that_returns_with_other_contents_is_refused(path, other):
    table = frame(ROWS[:1]).with_columns(id=pl.lit("p"), w=pl.lit(2.0))
    changed = table.with_columns(**{name: pl.lit(value) for name, value in other.items()})
    with ba.StableArena(path) as arena:
        with pytest.raises(ba.errors.InvalidVotesError, match="1 ids are shared by different votes: 'p'"):
            arena.add(pl.concat([table, changed]), id="id", weight="w")
        arena.add(table, id="id", weight="w")
        with pytest.raises(ba.errors.InvalidVotesError, match=r"1 votes have the id of a different stored vote: 'p'"):
            arena.add(changed, id="id", weight="w")
        assert_same(arena.cells(), ba.read_votes(table, weight="w"))
        assert arena.add(table, id="id", weight="w").known == 1


@pytest.mark.slow
def test_invalid_votes_are_refused_with_the_errors_of_read_votes(path):
    table = frame([*ROWS, ("x", "y", "undecided", "k"), ("x", "x", "tie", "k")])
    with pytest.raises(ba.errors.InvalidVotesError) as expected:
        ba.read_votes(table)
    with ba.StableArena(path) as arena:
        with pytest.raises(ba.errors.InvalidVotesError) as found:
            arena.add(table)
        assert str(found.value) == str(expected.value)
        with pytest.raises(ba.errors.NoVotesError, match="no votes in"):
            arena.cells()
        with pytest.warns(ba.errors.DroppedVotesWarning):
            added = arena.add(table, on_invalid="drop")
        assert added.dropped == {"competitor against itself": 1, "unknown winner": 1}
        assert_same(arena.cells(), ba.read_votes(frame(ROWS)))


@pytest.mark.slow
def test_all_votes_carry_the_same_columns(path):
    with ba.StableArena(path) as arena:
        arena.add(frame(ROWS))
        with pytest.raises(ba.errors.ColumnError, match=r"stored votes carry annotators, and the new .*annotator="):
            arena.add(frame(ROWS), annotator=False)
        with pytest.raises(ba.errors.ColumnError, match="new votes carry ids, and the stored votes do not"):
            arena.add(frame(ROWS).with_columns(id=pl.int_range(pl.len())), id="id")
        assert arena.cells().n_votes == 4


@pytest.mark.slow
def test_a_round_publishes_what_fit_gives(path, arena):
    with ba.StableArena(path) as stable:
        stable.add(arena.votes)
        published = stable.rate(level=0.5, elo=ba.EloScale(init=1500))
        fit = ba.fit(ba.read_votes(arena.votes))
        board = ba.leaderboard(fit, level=0.5, elo=ba.EloScale(init=1500))
        history = stable.history()
        assert history.columns.tolist() == ["round", "competitor", "elo", "lower", "upper", "rank"]
        names = ["competitor", "elo", "lower", "upper", "rank"]
        pd.testing.assert_frame_equal(history[names], board[names], check_dtype=False)
        status = stable.annotators().set_index("annotator")
        reliability = ba.annotators(fit).set_index("annotator").loc[status.index]
        for name in ("theta", "theta_paper", "p_negative", "verdict", "anomaly_probability", "votes"):
            pd.testing.assert_series_equal(status[name], reliability[name], check_dtype=False)
        assert published.fit.strength.tolist() == fit.strength.tolist()
        (about,) = stable.rounds().to_dict("records")
        assert about["model"] == "am-davidson"
        assert (about["votes"], about["competitors"], about["annotators"]) == (600, 6, 5)
        assert about["mean_loss"] == fit.mean_loss
        assert about["version"] == ba.__version__
        assert abs(pd.Timestamp.now("UTC").tz_localize(None) - about["time"]) < pd.Timedelta("1h")
        asked = json.loads(about["settings"])
        assert (asked["level"], asked["elo"]["init"]) == (0.5, 1500)
        assert asked["spreads"]["discrimination"] == fit.spreads.discrimination


@pytest.mark.slow
def test_the_papers_algorithm(uneven_arena):
    """Few votes wait, come back with more; whoever is at or below epsilon is published once and then excluded."""
    arena = uneven_arena
    first = arena.rate(delta=25, prior="flat", exclude="exclude")
    assert (first.waiting, dict(first.flagged)) == (("rex",), {})
    expected = ba.fit(ba.keep_annotators(arena.cells(), more_than=25), model="am-elo", prior="flat")
    assert first.fit.strength.tolist() == expected.strength.tolist()
    assert statuses(arena) == dict.fromkeys(LOYAL, "active") | {"rex": "waiting"}

    with pytest.warns(ba.errors.RepeatedVotesWarning, match="20 of 30"):
        arena.add(many(["rex"], 30, against=True))
    second = arena.rate(delta=25, prior="flat", exclude="exclude")
    assert (second.waiting, set(second.flagged)) == ((), {"rex"})
    assert "rex" in second.fit.cells.annotators
    assert statuses(arena)["rex"] == "excluded"

    third = arena.rate(delta=25, prior="flat", exclude="exclude")
    assert (third.excluded, third.waiting, dict(third.flagged)) == (("rex",), (), {})
    assert third.fit.strength.tolist() == first.fit.strength.tolist()
    assert arena.cells().n_annotators == 8  # their votes stay

    arena.readmit("rex")
    assert statuses(arena)["rex"] == "waiting"
    assert set(arena.rate(delta=25, prior="flat").flagged) == {"rex"}
    assert statuses(arena)["rex"] == "warned"
    log = arena.decisions()[["annotator", "decision", "round"]].values.tolist()
    assert log == [["rex", "excluded", 2], ["rex", "readmitted", 3], ["rex", "warned", 4]]
    assert arena.decisions()["reason"][0] == "theta (sum 1) not above 0"
    assert arena.history().groupby("round").size().tolist() == [3, 3, 3, 3]
    assert arena.rounds()[["waiting", "excluded", "flagged"]].values.tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
        [0, 0, 1],
    ]


def statuses(arena: ba.StableArena) -> dict[str, str]:
    return dict(arena.annotators()[["annotator", "status"]].values.tolist())


@pytest.mark.slow
def test_epsilon_is_on_the_papers_scale_and_a_warning_can_end(path, arena):
    theta = ba.annotators(ba.fit(ba.read_votes(arena.votes), prior="flat")).set_index("annotator")["theta_paper"]
    theta = theta.sort_values()
    with ba.StableArena(path) as stable:
        stable.add(arena.votes)
        for count in (2, 1):
            epsilon = float(theta.iloc[count - 1 : count + 1].mean())
            assert list(stable.rate(prior="flat", epsilon=epsilon).flagged) == theta.index[:count].tolist()
            warned = stable.annotators().query("status == 'warned'")["annotator"]
            assert set(warned) == set(theta.index[:count])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_papers_round_excludes_who_always_ties_whatever_the_sign_of_the_rounding(path, seed):
    """Theta is zero up to rounding, of either sign."""
    arena = ba.simulate(competitors=5, annotators=6, votes=600, discrimination_sd=0.2, seed=seed)
    who = arena.annotators[seed]
    votes = arena.votes.with_columns(winner=pl.when(judge=who).then(pl.lit("tie")).otherwise("winner"))
    with ba.StableArena(path) as stable:
        stable.add(votes)
        assert who in stable.rate(delta=50, prior="flat", exclude="exclude").flagged


@pytest.mark.slow
def test_a_model_without_discriminations_judges_nobody(uneven_arena):
    published = uneven_arena.rate(model="bradley-terry", epsilon=1e6, exclude="exclude")
    assert dict(published.flagged) == {}
    assert set(statuses(uneven_arena).values()) == {"active"}
    assert uneven_arena.annotators()["theta"].isna().all()


@pytest.mark.slow
def test_votes_without_annotators_are_rated(path):
    with ba.StableArena(path) as arena:
        arena.add(frame(ROWS), annotator=False)
        assert arena.rate().fit.model.name.startswith("davidson")
        assert arena.annotators().empty
        with pytest.raises(ba.ModelError, match="no annotators"):
            arena.rate(delta=1)


@pytest.mark.slow
def test_a_round_that_fails_leaves_no_trace(uneven_arena, monkeypatch):
    arena = uneven_arena
    for options, error in [
        ({"elo": ba.EloScale(anchor=("nobody", 1))}, ba.ModelError),
        ({"delta": 10_000}, ba.errors.NoVotesError),
        ({"exclude": "shoot"}, ba.ModelError),
        ({"epsilon": float("nan")}, ba.ModelError),
    ]:
        with pytest.raises(error):
            arena.rate(model="am-elo", **options)

    def no_room(*_):
        raise ba.errors.StoreError("the disk is full")

    monkeypatch.setattr("bayes_arena.arena.rounds.decide", no_room)  # the last step of the transaction
    with pytest.raises(ba.errors.StoreError, match="full"):
        arena.rate(model="am-elo")
    assert arena.rounds().empty
    assert arena.history().empty
    monkeypatch.undo()
    assert arena.rate(model="am-elo").number == 1


@pytest.mark.slow
def test_a_false_discovery_rate_judges_instead_of_epsilon(path):
    simulated = ba.simulate(competitors=6, annotators=8, votes=800, anomalous=1, discrimination_sd=0.2, seed=4)
    with ba.StableArena(path) as arena:
        arena.add(simulated.votes)
        round = arena.rate(fdr=0.05, exclude="exclude")
        assert tuple(round.flagged) == simulated.anomalous == ba.flag(round.fit, fdr=0.05)
        assert arena.decisions()["reason"][0].endswith("false discovery rate 0.05")
        assert arena.annotators().set_index("annotator")["verdict"][simulated.anomalous[0]] == "anomalous"


@pytest.mark.slow
def test_readmit_needs_somebody_excluded(uneven_arena):
    uneven_arena.rate(prior="flat", exclude="exclude")
    with pytest.raises(ba.ModelError, match=r"No annotator 'rexx' is excluded. Did you mean 'rex'"):
        uneven_arena.readmit("rexx")
    uneven_arena.readmit("rex")
    with pytest.raises(ba.ModelError, match="No annotator 'rex' is excluded"):
        uneven_arena.readmit("rex")


@pytest.mark.slow
def test_a_statement_that_fails_is_a_typed_error_and_ends_its_transaction(path):
    with ba.StableArena(path) as arena:
        with pytest.raises(ba.errors.StoreError, match="no_such_column"), arena._store.transaction() as session:
            session.insert("rating", {"no_such_column": [1]})
        assert arena.add(frame(ROWS)).new == 4


@pytest.mark.slow
def test_ctrl_c_in_a_statement_ends_the_command_in_one_line_and_changes_nothing(path, monkeypatch):
    """DuckDB takes the signal, and raises an error of its own."""

    def adds(*_, **__):
        with ba.StableArena(path) as arena, arena._store.transaction() as session:
            session.insert("competitor", {"code": [0], "name": ["x"]})
            threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
            session.rows("select count(*) from range(3000000) a, range(1000) b where a.range % 7 = b.range % 7")

    monkeypatch.setattr("bayes_arena.arena.stable_arena.StableArena.readmit", adds)
    done = run("arena", "readmit", path, "x")
    assert (done.returncode, done.stderr.splitlines()) == (130, ["bayes-arena: Interrupted."])
    with ba.StableArena(path) as arena, arena._store.read() as session:
        assert session.codes("competitor") == {}


@pytest.mark.slow
def test_another_process_is_told_who_has_the_file(path):
    with ba.StableArena(path) as arena:
        arena.add(frame(ROWS[:2]))
        frame(ROWS).write_csv(path.with_name("votes.csv"))
        command = [str(COMMAND), "arena", "add", path, path.with_name("votes.csv")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"in use by process {os.getpid()}" in done.stderr
        assert "wait until that process has ended" in done.stderr
        assert arena.cells().n_votes == 2


OPEN_TO_READ_AND_TO_WRITE = """
import sys, bayes_arena as ba
for read_only in (True, False):
    try:
        with ba.StableArena(sys.argv[1], read_only=read_only) as arena:
            print(arena.cells().n_votes)
    except ba.errors.StoreError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [True, False])
def test_processes_may_read_together_but_not_while_one_may_write(path, read_only):
    with ba.StableArena(path) as arena:
        arena.add(frame(ROWS))
    with ba.StableArena(path, read_only=read_only) as arena:
        command = [sys.executable, "-c", OPEN_TO_READ_AND_TO_WRITE, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert arena.cells().n_votes == 4
    reader, writer = done.stdout.splitlines()
    assert (reader == "4.0") == read_only, done.stderr
    refused = rf"in use by process {os.getpid()} \(.*One process can write to an arena, or several can read it"
    assert all(re.search(refused, said) for said in ([writer] if read_only else [reader, writer]))


@pytest.mark.slow
def test_what_is_open_to_be_read_is_not_written(path):
    with ba.StableArena(path, read_only=True) as arena:
        with pytest.raises(ba.errors.StoreError, match="open for reading only"):
            arena.add(frame(ROWS))
        with pytest.raises(ba.errors.StoreError, match="open with another read_only="):
            ba.StableArena(path)
    ba.StableArena(path).close()


def in_threads(*tasks: Callable[[], object]) -> list[object]:
    """Run tasks at once, each in a thread of its own, and return their answers."""
    ready = threading.Barrier(len(tasks))

    def run(task: Callable[[], object]) -> object:
        ready.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


@pytest.mark.slow
def test_threads_that_read_one_arena_get_the_tables_of_one_thread(uneven_arena):
    for _ in range(2):
        uneven_arena.rate(model="m-elo")
    tables = (uneven_arena.history, uneven_arena.annotators, uneven_arena.rounds, uneven_arena.decisions)
    expected = [table() for table in tables]

    def read(first: int) -> list[bool]:
        return [tables[number % 4]().equals(expected[number % 4]) for number in range(first, first + 60)]

    assert in_threads(*(partial(read, first) for first in range(4))) == [[True] * 60] * 4


@pytest.mark.slow
def test_threads_that_write_one_arena_wait_for_one_another(path):
    batches = [many([judge], 30).with_columns(id=judge + pl.int_range(pl.len()).cast(pl.String)) for judge in LOYAL]
    with ba.StableArena(path) as arena:
        added = in_threads(*(partial(arena.add, batch, id="id") for batch in batches))
        assert added == [Addition(new=30, known=0, dropped={})] * len(batches)
        assert_same(arena.cells(), ba.read_votes(pl.concat(batches)))


@pytest.mark.slow
def test_a_reader_sees_one_committed_state(uneven_arena):
    before = uneven_arena.cells()
    with uneven_arena._store.transaction() as session:
        session.execute("delete from cell")
        assert_same(uneven_arena.cells(), before)
        session.execute("insert into cell from (select 0, 1, 0, 0, 0, 1, 1)")
    with uneven_arena._store.read() as session:
        first = stored_cells(session)
        assert first.n_votes == 1
        uneven_arena.add(frame([("new", "newer", "tie", "newest")]))
        assert_same(stored_cells(session), first)


@pytest.mark.slow
def test_of_two_rounds_at_once_the_later_is_refused(uneven_arena, monkeypatch):
    def slow_fit(*arguments, **options):
        monkeypatch.undo()
        uneven_arena.rate(model="m-elo")
        return ba.fit(*arguments, **options)

    monkeypatch.setattr("bayes_arena.arena.stable_arena.fit", slow_fit)
    with pytest.raises(ba.errors.StoreError, match=r"published round 1 first. Rate again"):
        uneven_arena.rate(model="m-elo")
    assert uneven_arena.rounds()["round"].tolist() == [1]
    assert uneven_arena.rate(model="m-elo").number == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["md:x", "postgres:x", ":memory:"])
def test_a_path_is_a_path(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ba.StableArena.create(name) as arena:
        arena.add(frame(ROWS))
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with ba.StableArena(name) as arena:
        assert arena.cells().n_votes == 4
        with arena._store.read() as session:
            for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
                assert session.rows("select current_setting(?)", [setting]) == [(False,)]


def test_a_file_that_cannot_be_created_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(ba.errors.StoreError, match=r"Cannot write .*No such file or directory"):
        ba.StableArena.create(tmp_path / "absent" / "arena.duckdb")
    monkeypatch.setattr("bayes_arena.arena.store.SCHEMA", "create table arena (nonsense);")
    with pytest.raises(ba.errors.StoreError, match="Cannot use"):
        ba.StableArena.create(tmp_path / "arena.duckdb")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_of_two_writers_in_a_process_one_is_refused(path):
    with ba.StableArena(path) as arena, ba.StableArena(path) as other:
        with arena._store.transaction(), pytest.raises(ba.errors.StoreError, match="another part of this program"):
            other.add(frame(ROWS))
        assert arena.add(frame(ROWS)).new == 4
        assert other.add(frame(ROWS)).new == 0


@pytest.mark.slow
def test_files_that_are_no_arena(path, tmp_path):
    with pytest.raises(ba.errors.StoreError, match=r"No arena at .*arena init"):
        ba.StableArena(tmp_path / "absent")
    with pytest.raises(ba.errors.StoreError, match="already exists"):
        ba.StableArena.create(path)
    (tmp_path / "text").write_text("not a database" * 1000)
    with pytest.raises(ba.errors.StoreError, match="not a valid DuckDB"):
        ba.StableArena(tmp_path / "text")
    for statement in ("select 1", "create table votes (x integer)"):
        with duckdb.connect(tmp_path / "other.duckdb") as connection:
            connection.execute(statement)
        with pytest.raises(ba.errors.StoreError, match="There is no arena in"):
            ba.StableArena(tmp_path / "other.duckdb")
    for version in (SCHEMA_VERSION - 2, SCHEMA_VERSION + 1):
        with duckdb.connect(path) as connection:
            connection.execute("update arena set schema_version = ?", [version])
        with pytest.raises(
            ba.errors.StoreError, match=rf"schema version {version}, .* reads {SCHEMA_VERSION}\. Install"
        ):
            ba.StableArena(path)
    with duckdb.connect(path) as connection:
        connection.execute("delete from arena")
    with pytest.raises(ba.errors.StoreError, match="There is no arena in"):
        ba.StableArena(path)
    path.unlink()
    path.with_name(path.name + ".wal").touch()
    with pytest.raises(ba.errors.StoreError, match="wal' already exists"):
        ba.StableArena.create(path)


def cli(*arguments: object) -> tuple[int, str, str]:
    done = run("arena", *arguments)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_the_commands(tmp_path):
    path, votes_file = tmp_path / "arena.duckdb", tmp_path / "votes.csv"
    many(LOYAL, 30).vstack(many(["rex"], 20, against=True)).write_csv(votes_file)
    assert cli("rate", path)[0] == 2
    assert cli("init", path) == (0, "", "")
    (added,) = json.loads(cli("add", path, votes_file, "--format", "json")[1])["added"]
    assert added == {"new": 230, "known": 0, "invalid": 0}
    answer = json.loads(cli("rate", path, "--prior", "flat", "--exclude", "--level", 0.9, "--format", "json")[1])
    assert (answer["level"], answer["interval"]) == (0.9, "laplace")
    assert (answer["round"], answer["decision"], list(answer["flagged"])) == (1, "excluded", ["rex"])
    fit = ba.fit(ba.read_votes(votes_file), prior="flat")
    assert answer["leaderboard"] == rounded(ba.leaderboard(fit, level=0.9).to_dict("records"))
    shown = cli("rate", path, "--model", "m-elo")[1]
    assert "arena.duckdb, round 2: 210 votes, 3 competitors, 7 annotators" in shown
    assert "1 left out as excluded: rex" in shown
    answer = json.loads(cli("annotators", path, "--format", "json")[1])
    assert (answer["annotators"][0]["annotator"], answer["annotators"][0]["status"]) == ("rex", "excluded")
    assert re.search(r"rex +\d+ +excluded .* [01]\.\d{3} +-\d\.\d\d +-\d\.\d\d ", cli("annotators", path)[1])
    assert answer["decisions"][0]["decision"] == "excluded"
    assert cli("readmit", path, "rex") == (0, "", "")
    code, out, err = cli("readmit", path, "rex")
    assert (code, out, err) == (2, "", "bayes-arena: No annotator 'rex' is excluded.\n")
    cli("history", path, "-o", tmp_path / "history.csv")
    assert pl.read_csv(tmp_path / "history.csv").columns == ["round", "competitor", "elo", "lower", "upper", "rank"]
    answer = json.loads(cli("history", path, "--format", "json")[1])
    assert [row["round"] for row in answer["history"]] == [1] * 3 + [2] * 3
    assert [row["settings"]["exclude"] for row in answer["rounds"]] == ["exclude", "warn"]
    assert "round  competitor" in cli("history", path)[1]


@pytest.mark.slow
def test_a_killed_writer_loses_and_breaks_nothing():
    script = Path(__file__).parents[2] / "benchmarks" / "store_kills.py"
    command = [sys.executable, str(script), "--hits", "3", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 in a transaction: no damage" in done.stdout


@pytest.mark.slow
def test_it_asks_for_pairs_by_the_votes_of_all_who_are_not_excluded(path, uneven_arena):
    everybody = ba.fit(uneven_arena.cells(), model="bradley-terry")
    uneven_arena.rate(prior="flat", exclude="exclude")
    asked = uneven_arena.next_pairs(6, goal="ranking", seed=3)
    counted = ba.fit(ba.drop_annotators(uneven_arena.cells(), ["rex"]))
    assert asked.equals(ba.next_pairs(counted, 6, goal="ranking", seed=3))
    assert not asked.equals(ba.next_pairs(everybody, 6, goal="ranking", seed=3))
    uneven_arena.close()
    answer = json.loads(
        run("arena", "next", path, "-n", 6, "--goal", "ranking", "--seed", 3, "--format", "json").stdout
    )
    assert answer["pairs"] == asked.to_dict("records")
    assert (answer["goal"], answer["seed"]) == ("ranking", 3)
