"""Arguments of another kind than is wanted, and messages of any length: one typed error each, and a short one."""

import multiprocessing
import queue

import pandas as pd
import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba

VOTES = frame([("x", "y", "x"), ("y", "x", "x"), ("x", "z", "tie"), ("z", "y", "y")])


@pytest.fixture(scope="module")
def fit():
    return ba.fit(ba.read_votes(VOTES), model="bradley-terry", robust=False)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda fit: ba.leaderboard(fit.plan), "fit of leaderboard must be a result of fit, or votes, not Plan"),
        (lambda fit: ba.report([3]), "fit of report must be a result of fit, or votes, not list"),
        (lambda fit: ba.versus(None, "x", "y"), "not NoneType"),
        (
            lambda fit: ba.plots.calibration(fit, 3),
            "votes of calibration must be cells from read_votes, or votes, not int",
        ),
        (lambda fit: ba.online_elo(fit.cells), "votes of online_elo must be votes in order, from read_sequence"),
        (lambda fit: ba.save(fit, 3), "path of save must be the path of a file, not int"),
        (lambda fit: ba.load(3), "path of load must be the path of a file, not int"),
        (lambda fit: ba.fit(fit.cells, model=3), "model of fit must be the name of a preset, or a Model, not int"),
    ],
)
def test_another_kind_than_is_wanted_is_refused_by_name(fit, call, said):
    with pytest.raises(ba.ModelError, match=said):
        call(fit)


@pytest.mark.slow
def test_votes_are_fitted_where_a_fit_is_wanted(tmp_path):
    VOTES.write_csv(path := tmp_path / "votes.csv")
    board = ba.leaderboard(ba.fit(VOTES))
    for votes in (VOTES.to_pandas(), ba.read_votes(VOTES), path, str(path), [path]):
        assert ba.leaderboard(votes).equals(board) and ba.leaderboard(fit=votes).equals(board)
    with pytest.raises(ba.VotesError, match=r"No file at 'no\.csv'"):
        ba.leaderboard("no.csv")


def test_tables_are_of_the_kind_of_the_dataframe_that_is_passed():
    board = ba.leaderboard(VOTES.lazy())
    assert board.equals(pl.DataFrame(ba.leaderboard(ba.fit(VOTES)).to_dict("list")))
    assert ba.check(VOTES.to_arrow()).column("check").to_pylist() == ba.check(VOTES)["check"].to_list()
    chances = ba.win_probability(fit=VOTES)
    assert chances.columns == ["competitor", "x", "y", "z"] and chances["competitor"].to_list() == ["x", "y", "z"]


def test_functions_of_a_fit_are_its_methods(fit):
    assert fit.leaderboard(level=0.9).equals(ba.leaderboard(fit, level=0.9))
    assert str(fit.verdict()) == str(ba.verdict(fit))
    for name in ("leaderbord", "read_votes", "Model", "plots", "__array__"):
        with pytest.raises(AttributeError, match=f"A Fit has no '{name}'"):
            getattr(fit, name)


def test_a_fit_prints_what_a_reader_wants_first(fit):
    text = str(fit)
    board = ba.leaderboard(fit)
    places = [text.index(part) for part in (repr(fit), str(ba.verdict(fit)), f"{board['elo'][2]:.1f}", repr(fit.plan))]
    assert places == sorted(places)
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(frame([("x", "y", "x")]), prior="flat")
    assert f"Warning: {fit.warnings[0]}" in str(fit) and "Nothing can be decided" in str(fit)


def test_options_of_reading_are_sent_where_they_belong(fit):
    said = r"fit has no option 'annotator', .*: fit\(read_votes\(votes, annotator=\.\.\., time=\.\.\.\)\)"
    with pytest.raises(ba.ModelError, match=said):
        ba.fit(VOTES, annotator="judge", time="when")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        ba.leaderboard(fit, colour="red")
    with pytest.raises(TypeError, match="positional"):
        ba.leaderboard(fit, 0.9)
    with pytest.raises(TypeError, match="fit"):
        ba.leaderboard()


@pytest.mark.parametrize(
    "option",
    [
        {"outcomes": "x"},
        {"outcomes": {"draw": ["tie"]}},
        {"prompt": 3},
        {"prompt": [3]},
        {"where": 3},
        {"a": 3, "b": 4},
        {"winner": ["x"]},
        {"annotator": True},
        {"weight": 2.0},
        {"slices": 3},
        {"features": 3},
        {"layout": 3},
        {"programs": 3},
        {"weights": []},
        {"on_invalid": []},
    ],
    ids=str,
)
def test_options_of_reading_are_of_their_kind(option):
    with pytest.raises(ba.VotesError, match=f"^({'|'.join(option)}) ") as error:
        ba.read_votes(VOTES, **option)
    assert len(str(error.value)) < 200


def test_what_was_simulated_is_no_votes_but_has_some():
    with pytest.raises(ba.VotesError, match=r"Pass its votes, \.votes"):
        ba.fit(ba.example_arena())


def test_messages_are_short_and_keep_their_remedy():
    with pytest.raises(ba.errors.ColumnError) as error:
        ba.read_votes(VOTES, a="x" * 10**6, b="y")
    assert len(str(error.value)) < 1000
    with pytest.raises(ba.VotesError) as error:
        ba.read_votes(VOTES, where="(" * 10**6)
    assert len(str(error.value)) < 1000
    with pytest.raises(ba.errors.InvalidVotesError, match=r"on_invalid='drop'") as error:
        ba.read_votes(VOTES.vstack(frame([("x", "y", "z" * 10**6)])))
    assert len(str(error.value)) <= 3010


def in_a_fork(work):
    """Return what work says in a forked process, or that it waited for ever."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=lambda: answers.put(work()))
    process.start()
    try:
        return answers.get(timeout=60)
    except queue.Empty:
        return "waited for ever"
    finally:
        process.kill()
        process.join()


def said(work):
    try:
        return repr(work())
    except ba.ArenaError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_after_votes_were_read_says_so(fit, tmp_path):
    assert in_a_fork(lambda: said(lambda: len(ba.leaderboard(ba.fit(fit.cells, robust=False))))) == "3"
    for work in (lambda: ba.read_votes(VOTES), lambda: fit.cells.save(tmp_path / "x.parquet")):
        assert in_a_fork(lambda work=work: said(work)).startswith("ForkError: This process was forked")
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        assert "was opened before this process was forked" in in_a_fork(lambda: said(arena.history))


def test_a_table_prints_its_head_whole_and_names_what_is_left_out(fit, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    board = ba.leaderboard(fit)
    lines = repr(board).splitlines()
    assert "..." not in repr(board) and max(map(len, lines)) <= 60
    assert lines[0].split()[:3] == ["rank", "competitor", "elo"] and f"{board['elo'][2]:.1f}" in lines[4]
    assert "Not shown in 60 columns:" in repr(board) and "ties." in lines[-1]
    assert repr(board[["rank", "competitor"]]) == repr(pd.DataFrame(board[["rank", "competitor"]]))  # it fits
    assert repr(pd.concat([board] * 30, ignore_index=True)).endswith("... and 70 more rows")
