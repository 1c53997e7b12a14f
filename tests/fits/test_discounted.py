"""Fits that leave votes out, beside everything else that a fit can be asked."""

import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from crowds import Crowd, honest_arena
from helpers import rigged_cells

import bayes_arena as ba
from bayes_arena.validation.prediction import predict
from bayes_arena.votes.cells import with_counts
from bayes_arena.votes.outcomes import BOTH_BAD, TIE

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
DAVIDSON = ba.Model("davidson", ties="davidson")
RIGGERS = ("rigger-00001", "rigger-00002", "rigger-00003")


def finite(table: pd.DataFrame) -> bool:
    return bool(np.isfinite(table.select_dtypes("number").to_numpy(dtype=float)).all())


def fractions(cells: ba.Cells) -> ba.Cells:
    return with_counts(cells, 0.37 * cells.counts)


def without_ties(cells: ba.Cells) -> ba.Cells:
    return with_counts(cells, cells.counts * [1, 1, 0, 0])


def ties_both_bad(cells: ba.Cells) -> ba.Cells:
    counts = cells.counts.copy()
    counts[::2, BOTH_BAD], counts[::2, TIE] = counts[::2, TIE], 0
    return with_counts(cells, counts)


def without_sides(cells: ba.Cells) -> ba.Cells:
    turned = cells.a > cells.b
    a, b = np.where(turned, cells.b, cells.a), np.where(turned, cells.a, cells.b)
    counts = np.where(turned[:, None], cells.counts[:, [1, 0, 2, 3]], cells.counts)
    return cells.take(slice(None), a=a, b=b, counts=counts, sided=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [fractions, without_ties, ties_both_bad, without_sides], ids=lambda kind: kind.__name__
)
def test_votes_of_every_kind_are_judged(rigged, kind):
    cells = kind(rigged)
    fit = ba.fit(cells, method="map")
    assert sorted(fit.trust.suspects) == list(RIGGERS)
    table = ba.annotators(fit)
    assert finite(table) and finite(ba.leaderboard(fit)) and np.isfinite(predict(fit, cells).log_p).all()
    assert set(table["annotator"]) == set(cells.annotators)


@pytest.mark.slow
@pytest.mark.parametrize(
    "interval", ["laplace", "sandwich", "clustered", ba.Bootstrap(5), ba.Bootstrap(5, by="annotator")], ids=str
)
def test_every_interval_is_of_the_votes_that_count(guarded, interval):
    """The same votes without those that do not count give the same board."""
    alone = ba.fit(guarded.cells, robust=False)
    board, expected = (ba.leaderboard(fit, interval=interval) for fit in (guarded, alone))
    assert finite(board) and board.equals(expected)
    if interval != "clustered":
        table = ba.annotators(guarded, interval=interval)
        assert finite(table) and table["annotator"][:3].tolist() == list(guarded.trust.suspects)


@pytest.mark.slow
def test_a_profile_is_of_the_votes_that_count(rigged, guarded):
    boards = [
        ba.leaderboard(ba.fit(cells, model="bradley-terry", guard=guard), interval="profile")
        for cells, guard in ((rigged, True), (guarded.cells, False))
    ]
    assert boards[0].equals(boards[1])


@pytest.mark.slow
def test_tables_are_of_those_whose_votes_count_and_predictions_know_the_others(guarded, rigged):
    assert set(ba.predictive_check(guarded, "annotator", draws=20)["annotator"]) == set(guarded.cells.annotators)
    assert finite(ba.win_probability(guarded)) and finite(ba.head_to_head(guarded))
    mine = np.isin(rigged.annotator, [rigged.annotators.index(name) for name in RIGGERS])
    theirs = rigged.take(mine)
    as_voted = theirs.counts[:, [0, 1]].argmax(axis=1)
    chosen = np.arange(len(as_voted))
    known, stranger = (
        np.exp(predict(guarded, theirs, new=new).log_p)[as_voted, chosen].mean() for new in (False, True)
    )
    assert known > 0.9 > 0.5 > stranger


@pytest.mark.slow
def test_comparisons_say_how_many_votes_do_not_count():
    cells = rigged_cells(annotators=12, competitors=4, votes=200)
    davidson, everybody = (ba.fit(cells, model=DAVIDSON, guard=guard) for guard in (True, False))
    table = ba.compare({"davidson": davidson, "again": davidson})
    assert table["votes"].tolist() == [200, 200] and table.attrs["not_counted"] == 120
    with pytest.raises(
        ba.ModelError, match=r"\(200 and 320\)\. Fit both .* both with robust=True or both with guard=F"
    ):
        ba.compare({"some": davidson, "all": everybody})


@pytest.mark.slow
def test_held_out_votes_are_those_of_everybody(rigged):
    """Left out or not, an annotator's votes are predicted: by their favour, where they were left out."""
    fast = {"guarded": functools.partial(ba.fit, method="map")}
    assert finite(ba.held_out(rigged, fast, splits=2))
    assert finite(ba.kfold(rigged, fast, over="annotator", folds=2))


def test_a_competitor_that_no_vote_counts_on_is_named(rigged):
    names, rigger = (*rigged.competitors, "newcomer"), rigged.annotators.index(RIGGERS[0])
    parts = {"a": [6, 6], "b": [0, 1], "annotator": [rigger, rigger], "counts": np.eye(4)[[0, 1]]}
    cells = ba.Cells(
        names,
        rigged.annotators,
        **{name: np.concatenate([getattr(rigged, name), more]) for name, more in parts.items()},
    )
    fit = ba.fit(cells, method="map")
    assert "No vote on 'newcomer' counts, so nothing is known of their strength." in fit.warnings
    board = ba.leaderboard(fit).set_index("competitor")
    assert board["votes"]["newcomer"] == 0 and finite(board)
    assert board["upper"]["newcomer"] - board["lower"]["newcomer"] > 100  # points, of the prior


def test_where_nobody_is_judged_no_table_judges_either():
    fit = ba.fit(honest_arena(Crowd(annotators=60, camp_sd=1.0), competitors=20, votes=6000, seed=2).cells)
    assert fit.model.name == "bradley-terry" and "nobody is judged" in fit.trust.unjudged
    assert ba.flag(fit) == () and finite(ba.leaderboard(fit))
    with pytest.raises(ba.ModelError, match="nobody is judged"):
        ba.annotators(fit)
    sampled = dataclasses.replace(fit, samples=ba.draw(fit, size=100))
    found = [ba.leaderboard(one).attrs["interval"] for one in (fit, sampled)]
    assert found == ["clustered", "quantiles"]  # a sampled fit has no others


@pytest.mark.parametrize(
    "outcome", [0, TIE, BOTH_BAD], ids=["the first always wins", "all votes are ties", "all are both bad"]
)
def test_votes_that_are_all_alike_say_nothing_against_anybody(rigged, outcome):
    counts = np.zeros_like(rigged.counts)
    counts[:, outcome] = rigged.counts.sum(axis=1)
    fit = ba.fit(with_counts(rigged, counts), method="map")
    assert not fit.trust.left_out.any() and finite(ba.leaderboard(fit)) and finite(ba.annotators(fit))


def test_of_few_annotators_nobody_is_left_out():
    few = honest_arena(Crowd(annotators=4), competitors=5, votes=200, seed=1).cells
    fit = ba.fit(few, method="map")
    assert fit.trust.kinds is None and fit.trust.counted is few
    names = (*few.annotators, "absent-1", "absent-2")  # as where votes were left out
    fit = ba.fit(few.take(slice(None), annotators=tuple(sorted(names))), method="map")
    assert fit.trust.kinds is None


@pytest.mark.slow
def test_slices_and_features_come_along(rigged):
    rng = np.random.default_rng(0)
    size = len(rigged.a)
    carried = rigged.take(
        slice(None),
        slices={"prompt": rng.integers(0, 30, size)},
        slice_names={"prompt": tuple(f"{number:02d}" for number in range(30))},
        features={"length": rng.normal(size=size)},
    )
    model = ba.Model("all", "annotator", "davidson", "annotator", style=("length",), strength_by=("prompt",))
    fit = ba.fit(carried, model=model, robust=True)
    assert sorted(fit.trust.suspects) == list(RIGGERS)
    assert finite(ba.leaderboard(fit)) and finite(ba.annotators(fit)) and finite(ba.style_effects(fit))
    assert np.isfinite(predict(fit, carried).log_p).all()
