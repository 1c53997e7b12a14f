"""Whose votes count: attacks, honest arenas, camps, and what the result says."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from crowds import Crowd, honest_arena
from rigging import rig

import bayes_arena as ba
from bayes_arena.trust.judging import judge

CROWD = Crowd(annotators=60)


@pytest.fixture(scope="module")
def honest():
    return honest_arena(CROWD, competitors=20, votes=6000, seed=1)


def found(rigged):
    """Who was left out: of the riggers, and of the others."""
    judgement = judge(rigged.cells)
    riggers = np.isin(rigged.cells.annotators, rigged.riggers)
    return judgement, judgement.left_out[riggers], judgement.left_out[~riggers]


def rank_of(name, fit):
    return int(ba.leaderboard(fit).set_index("competitor")["rank"][name])


@pytest.mark.slow
def test_everybody_counts_among_honest_annotators(honest):
    judgement = judge(honest.cells)
    assert not judgement.left_out.any()
    assert judgement.counted is honest.cells
    assert judgement.said == judgement.campaigns == judgement.drips == ()
    guarded, plain = ba.fit(honest.cells), ba.fit(honest.cells, guard=False)
    assert np.array_equal(guarded.strength, plain.strength)


@pytest.mark.slow
def test_the_best_and_the_worst_of_many_annotators_have_no_campaign():
    """With thousands of annotators of a few votes each, honest votes against the odds are many."""
    arena = ba.simulate(competitors=10, annotators=15_000, votes=60_000, tie_spread=0.8, position_spread=0.2, seed=7)
    judgement = judge(ba.read_votes(arena.votes))
    assert judgement.said == ()
    assert judgement.kinds.likely_aims == ()


@pytest.mark.parametrize(
    "strategy",
    [
        "t-abstain",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("t-normal50", "hate", "omni-bt", "copycat")),
    ],
)
def test_riggers_are_left_out_and_the_target_stays_where_it_was(honest, strategy):
    target = honest.ranked(10)
    before = rank_of(target, ba.fit(honest.cells))
    rigged = rig(honest.cells, strategy, target, accounts=5, votes=100)
    _, riggers, others = found(rigged)
    assert riggers.all()
    assert others.sum() <= 1
    with pytest.warns(ba.SuspectVotesWarning, match="Left out"):
        fit = ba.fit(rigged.cells)
    assert abs(rank_of(target, fit) - before) <= 1
    assert abs(rank_of(target, ba.fit(rigged.cells, guard=False)) - before) > 1
    assert set(rigged.riggers) <= set(ba.flag(fit))


def test_the_tables_name_whom_somebody_favours_and_pay_nothing_for_it(honest):
    target = honest.ranked(12)
    rigged = rig(honest.cells, "t-abstain", target, accounts=3, votes=80)
    with pytest.warns(ba.SuspectVotesWarning, match=f"240 votes of 3 annotators who favour '{target}'"):
        fit = ba.fit(rigged.cells)
    table = ba.annotators(fit).set_index("annotator")
    assert set(table.index) == set(rigged.cells.annotators)
    suspects = table.loc[list(rigged.riggers)]
    assert (suspects["kind"] == f"favours {target}").all()
    assert (suspects["verdict"] == "anomalous").all()
    assert (suspects["favour_probability"] > 0.99).all()
    assert (suspects["reward"] == 0).all()
    assert (suspects["votes"] == 80).all()
    assert table["reward"].sum() == pytest.approx(1)
    assert not table.select_dtypes("number").isna().to_numpy().any()


@pytest.mark.slow
def test_their_votes_are_predicted_with_their_favour(honest):
    target = honest.ranked(12)
    rigged = rig(honest.cells, "t-abstain", target, accounts=3, votes=80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ba.SuspectVotesWarning)
        fit = ba.fit(rigged.cells)
    from bayes_arena.validation.prediction import predict

    mine = rigged.cells.take(np.isin(np.array(rigged.cells.annotators)[rigged.cells.annotator], rigged.riggers))
    for_target = np.where(np.array(mine.competitors)[mine.a] == target, 1.0, 0.0)
    assert np.abs(predict(fit, mine).score - for_target).max() < 0.25


def test_neither_the_order_nor_the_names_of_annotators_matter(honest):
    rigged = rig(honest.cells, "t-abstain", honest.ranked(10), accounts=3, votes=60).cells
    judgement = judge(rigged)
    size = rigged.n_annotators
    turned = rigged.take(
        np.lexsort((rigged.b, rigged.a, size - 1 - rigged.annotator)),
        annotators=tuple(f"z{k:03d}" for k in range(size)),
        annotator=np.sort(size - 1 - rigged.annotator),
    )
    other = judge(turned)
    assert np.array_equal(judgement.left_out, other.left_out[::-1])
    np.testing.assert_allclose(judgement.kinds.favour, other.kinds.favour[::-1], atol=1e-3)


@pytest.mark.slow
def test_small_accounts_that_push_a_competitor_have_no_say_on_it(honest):
    target = honest.ranked(15)
    rigged = rig(honest.cells, "t-abstain", target, accounts=80, votes=3)
    judgement, riggers, others = found(rigged)
    (drip,) = judgement.drips
    assert (rigged.cells.competitors[drip.competitor], drip.down, drip.accounts, drip.votes) == (target, False, 80, 240)
    assert not riggers.any() and not others.any()  # none of them can be told from somebody honest
    with pytest.warns(ba.SuspectVotesWarning, match="80 small accounts"):
        fit = ba.fit(rigged.cells)
    assert abs(rank_of(target, fit) - rank_of(target, ba.fit(honest.cells))) <= 1


def test_nobody_is_judged_where_annotators_form_camps():
    cells = honest_arena(replace(CROWD, camp_sd=1.0), competitors=20, votes=6000, seed=2).cells
    with pytest.warns(ba.SuspectVotesWarning, match="form camps"):
        fit = ba.fit(cells)
    assert fit.model.name == "bradley-terry"
    assert fit.trust.unjudged in fit.warnings
    assert ba.flag(fit) == ()
    assert ba.leaderboard(fit).attrs["interval"] == "clustered"
    with pytest.raises(ba.ModelError, match="guard=False"):
        ba.annotators(fit)


def test_camps_show_among_few_competitors():
    """With eight of them, an annotator alone has five degrees of freedom: too few to belong clearly to a camp."""
    cells = honest_arena(Crowd(annotators=150, camp_sd=0.8), competitors=8, votes=9000, seed=5).cells
    assert "form camps" in judge(cells).unjudged


@pytest.mark.slow
def test_honest_annotators_do_not_guess_because_a_bloc_made_the_ranking(honest):
    rigged = rig(honest.cells, "omni-bt", honest.ranked(10), accounts=300, votes=25)
    judgement = judge(rigged.cells)
    assert "agree with each other" in judgement.unjudged
    assert not judgement.left_out.any()


@pytest.mark.slow
def test_nobody_is_judged_where_a_bloc_outvotes_the_others(honest):
    rigged = rig(honest.cells, "omni-bt", honest.ranked(10), accounts=30, votes=200)
    with pytest.warns(ba.SuspectVotesWarning, match=r"pull together .* cast 5\d%"):
        fit = ba.fit(rigged.cells)
    assert (fit.model.name, ba.flag(fit)) == ("bradley-terry", ())


def test_the_guard_is_the_default_of_presets_that_know_annotators_alone(arena_cells):
    assert ba.fit(arena_cells).trust is not None
    for plain in (
        {"guard": False},
        {"model": "m-elo"},
        {"model": "am-elo", "prior": "flat"},
        {"model": ba.Model("own")},
    ):
        assert ba.fit(arena_cells, **plain).trust is None
    assert ba.fit(arena_cells, model=ba.Model("own"), guard=True).trust is not None
    with pytest.raises(ba.ModelError, match="guard"):
        ba.fit(arena_cells, guard="yes")
