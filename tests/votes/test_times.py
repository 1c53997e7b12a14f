"""When votes were cast: what is read as a time, by which period, and what is refused."""

import re

import numpy as np
import polars as pl
import pytest
from helpers import run

import bayes_arena as ba
from bayes_arena.votes.periods import moments, periods


def votes(times: list[object], name: str = "tstamp") -> pl.DataFrame:
    size = len(times)
    names = [("x", "y"), ("y", "z"), ("z", "x")]
    pairs = {
        "model_a": [names[row % 3][0] for row in range(size)],
        "model_b": [names[row % 3][1] for row in range(size)],
    }
    return pl.DataFrame({**pairs, "winner": ["model_a", "model_b"] * (size // 2) + ["tie"] * (size % 2), name: times})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-03-01", "2026-03-01 00:00:00"),
        ("2026-03-01 12:30", "2026-03-01 12:30:00"),
        ("2026-03-01T12:30:15Z", "2026-03-01 12:30:15"),
        ("2026-03-01T12:30:15+02:00", "2026-03-01 10:30:15"),
        ("2026-03-01T12:30:15-0130", "2026-03-01 14:00:15"),
        ("2026-03", "2026-03-01 00:00:00"),
        ("1998", "1998-01-01 00:00:00"),
        ("1717156800", "2024-05-31 12:00:00"),
        ("1717156800123", "2024-05-31 12:00:00.123000"),
        ("17", None),
        ("2026-13-01", None),
        ("yesterday", None),
    ],
)
def test_what_is_a_time(written, meant):
    (found,) = pl.select(moments(pl.lit(written)).cast(pl.String)).to_series().str.strip_suffix(".000000")
    assert found == meant


def test_periods_count():
    assert np.diff(periods(["2024-W51", "2024-W52", "2025-W01"])).tolist() == [1, 1]
    assert np.diff(periods(["2024-02-28", "2024-03-01"])).tolist() == [2]
    assert np.diff(periods(["2024-12", "2025-02"])).tolist() == [2]
    assert np.diff(periods(["2024-Q4", "2025-Q1"])).tolist() == [1]
    with pytest.raises(ba.ModelError, match=r"Not periods of one kind.*'2024-12', '2025-W01'"):
        periods(["2024-12", "2025-W01"])


@pytest.mark.parametrize("column", ["tstamp", "timestamp", "created_at", "date"])
def test_usual_names_are_recognised(column):
    table = votes(["2024-05-31", "2024-06-01", "2024-06-02", "2025-01-01"], column)
    assert ba.read_votes(table).slice_names["time"][-1] == "2025"
    assert ba.read_votes(table, period="month").slice_names["time"] == ("2024-05", "2024-06", "2025-01")
    assert not ba.read_votes(table, time=False).slices
    assert list(ba.read_votes(table, slices=[column]).slices) == [column]
    assert not ba.read_votes(table.rename({column: "time"})).slices  # may as well be how long a vote took


def test_recognised_times_of_one_period_say_nothing():
    assert not ba.read_votes(votes([1717156800.5] * 4)).slices
    with pytest.raises(ba.ModelError, match="one period"):
        ba.fit(ba.read_votes(votes([1717156800.5] * 4), period="day"), drift=True)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["2024-05-31", "soon", "2999-01-01", "2024-06-01"], "no time until now, such as '2999-01-01' in 2 votes"),
        (["2024-05-31", None, "2024-06-01", "2024-06-01"], "empty in 1 votes"),
        ([12.5, 3.25, 1e12, 7.0], "such as '12.5' in 3 votes"),
    ],
)
def test_what_looks_like_times_but_is_none_does_not_stop_reading(times, said):
    with pytest.warns(ba.errors.UnusedColumnWarning, match=said):
        cells = ba.read_votes(votes(times))
    assert not cells.slices and cells.n_votes == 4


def test_an_annotator_has_one_opinion_whenever_asked():
    table = votes(["2024-05-31", "2024-06-01"] * 6).with_columns(judge=pl.lit("j"), prompt=pl.lit("p"))
    with pytest.warns(ba.errors.RepeatedVotesWarning):
        timed, plain = (ba.read_votes(table, dedupe=True, prompt="prompt", **how) for how in ({}, {"time": False}))
    assert timed.n_votes == plain.n_votes == 3


def test_cells_with_times_merge_or_leave_them_out():
    table = votes([f"2024-0{1 + row // 6}-15" for row in range(48)])
    whole, halves = ba.read_votes(table, period="month"), [table[:24], table[24:]]
    merged = ba.merge(*(ba.read_votes(half, period="month") for half in halves))
    assert merged.slice_names == whole.slice_names
    np.testing.assert_array_equal(merged.counts, whole.counts)
    with pytest.warns(ba.errors.UnusedColumnWarning, match="by month, without any"):
        assert not ba.merge(merged, ba.read_votes(table, time=False)).slices


def test_the_period_follows_from_span_and_votes():
    days = [f"2024-01-{day:02}" for day in range(1, 29)]
    assert len(ba.read_votes(votes(days * 40)).slice_names["time"]) == 28
    weeks = ba.read_votes(votes(days * 5)).slice_names["time"]
    assert weeks[0] == "2024-W01" and len(weeks) == 4
    years = [f"{year}-06-01" for year in range(1900, 2000)]
    assert ba.read_votes(votes(years)).slice_names["time"][0] == "1900"


def test_the_same_votes_by_time_make_the_same_fit():
    table = votes([f"2024-0{1 + row // 6 % 6}-15" for row in range(144)])
    one, other = (ba.fit(ba.read_votes(table, **how)) for how in ({}, {"time": False}))
    np.testing.assert_array_equal(one.strength, other.strength)


def test_bad_times_are_refused_with_their_rows():
    table = votes(["2024-05-31", "soon", "2999-01-01", "2024-06-01"])
    with pytest.raises(ba.errors.InvalidVotesError, match="not a time") as refused:
        ba.read_votes(table, time="tstamp")
    said = str(refused.value)
    assert re.search(r"row 1: not a time \(.*'soon'\)", said) and "row 2: time in the future" in said
    with pytest.warns(ba.errors.DroppedVotesWarning):
        kept = ba.read_votes(table, time="tstamp", on_invalid="drop")
    assert kept.dropped == {"not a time": 1, "time in the future": 1}


def test_options_that_make_no_sense():
    table = votes(["2024-05-31", "2024-06-01"], "when")
    with pytest.raises(ba.errors.ColumnError, match=r"no column is called tstamp.*time='\.\.\.'"):
        ba.read_votes(table, period="day")
    with pytest.raises(ba.ArenaError, match="decade"):
        ba.read_votes(table, time="when", period="decade")
    with pytest.raises(ba.VotesError, match="need the times"):
        ba.read_votes(table, time=False, period="day")
    with pytest.raises(ba.ModelError, match="one period"):
        ba.fit(ba.read_votes(table, time="when", period="year"), drift=True)


@pytest.mark.slow
def test_the_command_ranks_as_of_a_date(tmp_path):
    rng = np.random.default_rng(0)
    table = votes([f"2024-{1 + row % 12:02}-10" for row in range(600)])
    shuffled = table.with_columns(winner=pl.Series(rng.choice(["model_a", "model_b", "tie"], 600)))
    shuffled.write_csv(tmp_path / "votes.csv")
    done = run("rank", tmp_path / "votes.csv", "--period", "month", "--drift", "--at", "2024-06-30")
    assert done.returncode == 0, done.stderr
    assert "drift" in done.stdout and "2024-06" in done.stdout
    done = run("rank", tmp_path / "votes.csv", "--drift", "--no-time")
    assert done.returncode != 0 and "--time" in done.stderr
