"""Rankings as weighted pairs."""

import numpy as np
import polars as pl
import pytest
from helpers import run
from numpy.testing import assert_allclose

import bayes_arena as ba


def read(source: object, **options: object) -> ba.Cells:
    return ba.read_votes(source, layout="rankings", **options)


def long(ranks: dict[str, dict[str, float]], **columns: object) -> pl.DataFrame:
    rows = [(ranking, name, rank) for ranking, order in ranks.items() for name, rank in order.items()]
    return pl.DataFrame(rows, schema=["ranking", "competitor", "rank"], orient="row").with_columns(**columns)


FIVE = {"one": dict(zip("abcde", [1, 2, 2, 4, 5], strict=True)), "two": {"b": 1.5, "a": 2.5}}


def test_a_ranking_is_its_pairs():
    cells = read(long(FIVE))
    one = cells.take(cells.slices["ranking"] == cells.slice_names["ranking"].index("one"))
    two = cells.take(cells.slices["ranking"] == cells.slice_names["ranking"].index("two"))
    assert len(one.a) == 10
    assert_allclose(one.counts.sum(axis=0), [9 * 9 / 19, 0, 9 / 19, 0])  # 1, 2, 2, 4, 5: 3 * 18 / 114 each
    assert_allclose(two.counts, [[0, 1, 0, 0]])  # a pair is a vote
    assert not cells.sided
    assert cells.n_votes == pytest.approx(90 / 19 + 1)
    assert cells.design_effect == pytest.approx(11 / (90 / 19 + 1))


WMT = pl.DataFrame(
    {
        "judgeId": ["j", "k"],
        "system1Id": ["a", "b"],
        "system1rank": [1, 2],
        "system2Id": ["b", "c"],
        "system2rank": [2, 2],
        "system3Id": ["c", "a"],
        "system3rank": [-1, 3],
        "system4Id": [None, None],
        "system4rank": [-1, -1],
    }
)


def test_rows_of_wmt_are_rankings_with_empty_places():
    cells = ba.read_votes(WMT, layout="wmt-rankings")
    assert cells.annotators == ("j", "k")
    assert_allclose(np.sort(cells.counts.sum(axis=1)), [2 / 3, 2 / 3, 2 / 3, 1])


def test_a_column_for_every_competitor():
    table = pl.DataFrame({"prompt": ["p", "p", "q"], "rank_A": [1, 2, 1], "rank_B": [2, 2, None], "rank_C": [3, 1, 2]})
    cells = ba.read_votes(table, layout="rank-columns", prompt="prompt")
    assert (cells.competitors, cells.slice_names["prompt"]) == (("A", "B", "C"), ("p", "q"))
    assert cells.slice_names["ranking"] == ("0", "1", "2")
    assert_allclose(cells.n_votes, 3 * 0.75 + 3 * 2 / 3 + 1)
    assert_allclose(cells.counts.sum(axis=0), [3 * 0.75 + 1, 2 * 2 / 3, 2 / 3, 0])


def test_ranks_of_a_board_are_no_rankings():
    """Nor are ranks beside a pair."""
    table = pl.DataFrame({"competitor": ["x"], "rank_best": [1], "rank_worst": [2], "rank_mean": [1]})
    with pytest.raises(ba.errors.ColumnError, match="as the pair of competitors"):
        ba.read_votes(table)
    with pytest.raises(ba.errors.ColumnError, match="as the winner"):
        ba.read_votes(table.rename({"competitor": "model_a"}).with_columns(model_b=pl.lit("y")))


def test_rankings_of_several_annotators_may_bear_one_name():
    table = pl.concat([long(FIVE, judge=pl.lit(name)) for name in ("j", "k")])
    for annotator in (None, False):
        cells = read(table, annotator=annotator)
        assert cells.slice_names["ranking"] == ("one/j", "one/k", "two/j", "two/k")
        assert cells.n_votes == pytest.approx(2 * (90 / 19 + 1))
    apart = read(
        long({"one": FIVE["two"]}, judge=pl.lit("ann")).vstack(long({"two": FIVE["two"]}, judge=pl.lit("ben")))
    )
    assert apart.slice_names["ranking"] == ("one", "two")


def test_who_has_no_rank_was_not_ranked_and_other_faults_are_refused():
    table = long({"one": {"a": 1, "b": 2, "c": None, "d": -1}})
    assert read(table).competitors == ("a", "b")
    for rows, match in (
        (long({"one": {"a": 1, "": 2}}), "a rank has no competitor"),
        (pl.concat([long({"one": {"a": 1, "b": 2}}), long({"one": {"a": 3}})]), "several scores for a on one"),
        (table.with_columns(rank=pl.Series(["first", "2", "3", "4"])), "'first' is not a rank"),
    ):
        with pytest.raises(ba.VotesError, match=match):
            read(rows)


@pytest.mark.parametrize("names", [("ranking_id", "model"), ("ranking", "system")])
def test_rankings_by_other_names_and_in_pandas(names):
    table = long(FIVE).rename(dict(zip(("ranking", "competitor"), names, strict=True)))
    for source in (table, table.to_pandas(), table.lazy()):
        with pytest.warns(ba.errors.LayoutWarning, match="Read as rankings: .* won by the lower rank"):
            assert_allclose(ba.read_votes(source).counts, read(long(FIVE)).counts)


def test_nobody_is_ranked_alone():
    with pytest.raises(ba.VotesError, match="no ranking has at least two competitors"):
        read(long({"one": {"a": 1}}))


@pytest.mark.slow
def test_rankings_on_the_command_line(tmp_path):
    WMT.with_columns(sentence=pl.Series([7, 8])).write_csv(tmp_path / "wmt.csv")
    done = run("check", tmp_path / "wmt.csv", "--prompt", "sentence", "--layout", "wmt-rankings")
    assert "4 votes worth 3.0, 3 competitors, 2 annotators, 2 prompts" in done.stdout


@pytest.mark.slow
def test_the_information_of_pairs_is_that_of_rankings():
    """The spread of estimates over simulated sets of rankings in random order is what the standard errors say."""
    rng, names = np.random.default_rng(2), np.array(list("abcdefg"))
    estimates, sds = [], []
    for _ in range(100):
        order = rng.permuted(np.tile(np.arange(7), (300, 1)), axis=1)[:, :5]
        columns = {"ranking": np.repeat(np.arange(300), 5), "competitor": names[order.ravel()]}
        table = pl.DataFrame(columns | {"rank": np.tile(np.arange(5), 300)})
        fit = ba.fit(read(table), model="bradley-terry", prior="flat", method="map")
        estimates.append(fit.strength)
        sds.append(ba.strengths(fit)["sd"])
    ratio = np.sqrt(np.mean(np.square(estimates))) / np.sqrt(np.mean(np.square(sds)))
    assert ratio == pytest.approx(1, abs=0.05)
