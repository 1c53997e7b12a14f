"""Layouts that do not say who was shown first: winner and loser, and tables of wins."""

import duckdb
import numpy as np
import polars as pl
import pytest
from helpers import frame, run

import bayes_arena as ba

MATCHES = [("A", "B")] * 8 + [("B", "A")] * 4 + [("A", "C")] * 3 + [("C", "A")] * 5
WON = pl.DataFrame(MATCHES, schema=["winner", "loser"], orient="row")
COUNTED = pl.DataFrame({"player1": ["B", "C"], "player2": ["A", "A"], "win1": [4, 5], "win2": [8, 3]})
JUDGED = WON.with_columns(judge=pl.Series([f"k{row % 4}" for row in range(len(WON))]))


@pytest.mark.parametrize("convert", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
@pytest.mark.parametrize("table", [WON, COUNTED], ids=["winner, loser", "table of wins"])
def test_both_layouts_need_no_flags_in_any_engine(table, convert):
    for source in (convert(table), duckdb.from_arrow(table.to_arrow())):
        cells = ba.read_votes(source)
        assert (cells.competitors, cells.n_votes, cells.sided) == (("A", "B", "C"), 20, False)
        assert cells.counts.tolist() == [[8, 4, 0, 0], [3, 5, 0, 0]]
    strengths = ba.strengths(ba.fit(cells, prior="flat"))["strength"]
    np.testing.assert_allclose(np.exp(strengths - strengths[0]), [1, 1 / 2, 5 / 3], rtol=1e-7)  # worked out by hand


def test_files_of_both_layouts(tmp_path):
    WON.write_csv(tmp_path / "won.csv")
    COUNTED.with_columns(draws=pl.lit(2)).write_csv(tmp_path / "counted.csv")
    assert "20 votes, 3 competitors" in run("rank", tmp_path / "won.csv").stdout
    assert ba.read_votes(tmp_path / "counted.csv").counts.tolist() == [[8, 4, 2, 0], [3, 5, 2, 0]]
    assert [ba.read_sequence(tmp_path / "won.csv").score.sum(), ba.read_votes(COUNTED.lazy()).n_votes] == [11, 20]


def test_nobody_is_said_to_win_for_being_first():
    report = (
        ba.check(WON.sample(60, with_replacement=True, seed=1).to_pandas())
        .set_index("check")
        .loc["first-position wins"]
    )
    assert report.to_list() == ["ok", "the votes do not say who was shown first", ""]


@pytest.mark.slow
def test_no_position_effect_without_sides(tmp_path):
    fit = ba.fit(JUDGED)
    assert (fit.model.name, fit.model.position) == ("am-davidson (no sides)", "none")
    assert "position" not in ba.annotators(fit)
    turned = JUDGED.select(winner="winner", loser="loser", judge="judge", model_a="loser", model_b="winner")
    assert ba.read_votes(turned).sided  # columns of sides come first
    with pytest.warns(ba.errors.LeftOutEffectWarning, match="names winners first"):
        assert ba.fit(turned).model.position == "none"
    with pytest.raises(ba.ModelError, match=r"position effect, and the votes do not say.*position='none'"):
        ba.fit(JUDGED, model=ba.Model("mine", position="common"))
    ba.save(fit, tmp_path / "fit.nc")
    assert not ba.load(tmp_path / "fit.nc").cells.sided
    assert not ba.keep_annotators(fit.cells, more_than=1).sided


def test_an_arena_refuses_votes_without_sides(tmp_path):
    with (
        ba.StableArena.create(tmp_path / "arena.duckdb") as arena,
        pytest.raises(ba.errors.ColumnError, match="shown first"),
    ):
        arena.add(WON)


def test_bad_counts_are_quoted():
    table = COUNTED.with_columns(win1=pl.Series([4.5, -1.0]))
    for source in (table, table.to_pandas(), table.cast(pl.String)):
        with pytest.raises(ba.errors.InvalidVotesError, match=r"row 1: bad count .*win1='-1") as error:
            ba.read_votes(source)
        assert "counts of wins and ties are numbers" in str(error.value)
    with pytest.raises(ba.errors.ColumnError, match="'win1' have no order"):
        ba.read_sequence(COUNTED)
    with pytest.raises(ba.errors.ColumnError, match="Several columns could be the count of ties: ties, draws"):
        ba.read_votes(COUNTED.with_columns(ties=1, draws=1))


def test_a_loser_beside_sides_changes_nothing():
    table = frame([("x", "y", "model_a"), ("y", "x", "model_b")]).with_columns(loser=pl.lit("y"))
    cells = ba.read_votes(table)
    assert (cells.sided, cells.counts.tolist()) == (True, [[1, 0, 0, 0], [0, 1, 0, 0]])


def test_a_tie_is_no_competitor_who_won():
    rows = pl.DataFrame({"winner": ["x", "Tie", "y"], "loser": ["y", "y", "z"]})
    with pytest.raises(ba.errors.InvalidVotesError, match=r"row 1: outcome for a name[^$]*model_a, model_b, winner"):
        ba.read_votes(rows)
    with pytest.warns(ba.errors.DroppedVotesWarning, match="outcome for a name"):
        assert ba.read_votes(rows, on_invalid="drop").competitors == ("x", "y", "z")


@pytest.mark.parametrize("spell", [str.title, str.upper])
def test_a_header_in_capitals_is_recognised(spell):
    tables = [
        pl.DataFrame({"winner": [*"AAB"], "loser": [*"BCC"], "judge": [*"xyx"]}),
        pl.DataFrame({"player1": ["A"], "player2": ["B"], "win1": [3], "win2": [2], "draws": [1]}),
        pl.DataFrame({"model_a": ["A"], "model_b": ["B"], "winner": ["model_a"]}),
    ]
    for table in tables:
        plain, spelt = ba.read_votes(table), ba.read_votes(table.rename(spell))
        assert (spelt.sided, spelt.annotators, spelt.counts.tolist()) == (
            plain.sided,
            plain.annotators,
            plain.counts.tolist(),
        )


def test_columns_spelt_as_usual_go_before_those_in_capitals():
    table = pl.DataFrame({"model_a": ["A"], "model_b": ["B"], "winner": ["model_a"], "Label": ["model_b"]})
    assert ba.read_votes(table).counts.tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize(("a", "b"), [("won", "lost"), ("lost", "won")])
def test_a_column_of_winners_named_by_hand_is_no_side(a, b):
    table = pl.DataFrame({"won": ["x", "y", "y"], "lost": ["y", "x", "z"]})
    cells = ba.read_votes(table, a=a, b=b, winner="won")
    assert not cells.sided
    assert cells.counts.tolist() == ba.read_votes(table.rename({"won": "winner", "lost": "loser"})).counts.tolist()
