"""Rankings as weighted pairs."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import bayes_arena as ba


def long(ranks: dict[str, dict[str, float]], **columns: object) -> pl.DataFrame:
    rows = [(ranking, name, rank) for ranking, order in ranks.items() for name, rank in order.items()]
    return pl.DataFrame(rows, schema=["ranking", "competitor", "rank"], orient="row").with_columns(**columns)


FIVE = {"one": dict(zip("abcde", [1, 2, 2, 4, 5], strict=True)), "two": {"b": 1.5, "a": 2.5}}


def test_a_ranking_is_its_pairs():
    cells = ba.read_rankings(long(FIVE))
    one = cells.take(cells.slices["ranking"] == cells.slice_names["ranking"].index("one"))
    two = cells.take(cells.slices["ranking"] == cells.slice_names["ranking"].index("two"))
    assert len(one.a) == 10
    assert_allclose(one.counts.sum(axis=0), [9 * 9 / 19, 0, 9 / 19, 0])  # 1, 2, 2, 4, 5: 3 * 18 / 114 each
    assert_allclose(two.counts, [[0, 1, 0, 0]])  # a pair is a vote
    assert not cells.sided
    assert cells.n_votes == pytest.approx(90 / 19 + 1)
    assert cells.design_effect == pytest.approx(11 / (90 / 19 + 1))


def test_rows_of_wmt_are_rankings_with_empty_places():
    table = pl.DataFrame(
        {
            "judgeId": ["j", "k"],
            "system1Id": ["a", "b"],
            "system1rank": [1, 2],
            "system2Id": ["b", "c"],
            "system2rank": [2, 2],
            "system3Id": ["c", "a"],
            "system3rank": [-1, 3],
        }
    )
    with pytest.raises(ba.InvalidVotesError, match=r"row 0: no rank \(competitor='c', rank='-1', annotator='j'"):
        ba.read_rankings(table)
    with pytest.warns(ba.DroppedVotesWarning, match=r"Left out 1 of 6 rows: 1 × no rank"):
        cells = ba.read_rankings(table, on_invalid="drop")
    assert cells.annotators == ("j", "k")
    assert_allclose(np.sort(cells.counts.sum(axis=1)), [2 / 3, 2 / 3, 2 / 3, 1])
    assert cells.dropped == {"no rank": 1}


def test_rankings_of_several_annotators_may_bear_one_name():
    table = pl.concat([long(FIVE, judge=pl.lit(name)) for name in ("j", "k")])
    cells = ba.read_rankings(table)
    assert cells.slice_names["ranking"] == ("one/j", "one/k", "two/j", "two/k")
    assert cells.n_votes == pytest.approx(2 * (90 / 19 + 1))
    with pytest.raises(ba.InvalidVotesError, match="twice in a ranking × 14"):
        ba.read_rankings(table, annotator=False)


def test_names_are_found_or_named():
    table = long(FIVE).rename({"ranking": "heat", "competitor": "runner", "rank": "place"})
    with pytest.raises(ba.ColumnError, match="No ranking column recognised"):
        ba.read_rankings(table)
    cells = ba.read_rankings(table, ranking="heat", competitor="runner", rank="place")
    assert_allclose(cells.counts, ba.read_rankings(long(FIVE)).counts)
    assert_allclose(
        cells.counts, ba.read_rankings(table.to_pandas(), ranking="heat", competitor="runner", rank="place").counts
    )


def test_nobody_is_ranked_alone():
    with pytest.raises(ba.NoVotesError, match="No ranking has two competitors"):
        ba.read_rankings(long({"one": {"a": 1}}))


@pytest.mark.slow
def test_the_information_of_pairs_is_that_of_rankings():
    """The spread of estimates over simulated sets of rankings in random order is what the standard errors say."""
    rng, names = np.random.default_rng(2), np.array(list("abcdefg"))
    estimates, sds = [], []
    for _ in range(200):
        order = rng.permuted(np.tile(np.arange(7), (300, 1)), axis=1)[:, :5]
        columns = {"ranking": np.repeat(np.arange(300), 5), "competitor": names[order.ravel()]}
        table = pl.DataFrame(columns | {"rank": np.tile(np.arange(5), 300)})
        fit = ba.fit(ba.read_rankings(table), model="bradley-terry", prior="flat", method="map")
        estimates.append(fit.strength)
        sds.append(ba.strengths(fit)["sd"])
    ratio = np.sqrt(np.mean(np.square(estimates))) / np.sqrt(np.mean(np.square(sds)))
    assert ratio == pytest.approx(1, abs=0.05)
