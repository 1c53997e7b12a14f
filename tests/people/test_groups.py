import dataclasses

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.boards.look import LOOK
from bayes_arena.boards.slices import level_gap_columns
from bayes_arena.errors import ModelError, VotesError
from bayes_arena.people.groups import smaller_group
from tests.helpers import real
from tests.people.arenas import camp_votes, votes_of

ANNOTATORS = 20


@pytest.fixture(scope="module")
def camps():
    return camp_votes()


@pytest.fixture(scope="module")
def found(camps):
    return ba.groups(camps)


CAMP = {f"judge {k:02d}" for k in range(6)}


def test_a_camp_is_found_and_what_it_prefers(found):
    assert found.p_value == 0.005
    assert set(found.members) == CAMP
    assert set(found.prefers) == {"model 0", "model 1"}
    assert set(found.over) == {"model 8", "model 9"}
    assert found.sentence == (
        "6 of 20 annotators rank differently: they prefer "
        f"{found.prefers[0]} and {found.prefers[1]} to {found.over[0]} and {found.over[1]} "
        "more than the others do."
    )
    assert found.reason == ""


def test_the_table_has_a_row_for_each_annotator(found):
    table = found.table
    assert list(table.columns) == ["annotator", "slope", "sd", "group"]
    assert len(table) == ANNOTATORS
    assert tuple(table["annotator"][:6]) == found.members
    assert table["group"].tolist() == ["smaller"] * 6 + ["larger"] * 14
    assert table["slope"][:6].min() > table["slope"][6:].max()
    assert (table["sd"] > 0).all()


def test_a_board_for_each_group(camps, found):
    votes = found.label(ba.read_votes(camps))
    fit = ba.fit(votes, model=ba.Model(strength_by=("annotator_group",)))
    board = ba.leaderboard(fit, by="annotator_group").set_index("competitor")
    smaller, larger = (
        board[board["annotator_group"] == group]["elo"]
        for group in ("smaller", "larger")
    )
    gap = (smaller - larger).sort_values()
    assert set(gap.index[:2]) == set(found.over)
    assert set(gap.index[-2:]) == set(found.prefers)
    columns = level_gap_columns(fit, "annotator_group", "smaller", "larger", LOOK)
    assert list(columns["competitor"]) == list(gap.index[::-1])
    np.testing.assert_allclose(columns["gap"], gap[::-1], atol=1e-6)
    assert columns["lower"][1] > 0 > columns["upper"][-2]


def test_without_two_groups_there_is_no_label():
    votes = ba.read_votes(votes_of(annotators=8, each=40))
    with pytest.raises(ModelError, match="No two groups"):
        ba.groups(votes).label(votes)


def test_nouns_are_frozen(found):
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p_value = 1.0


def test_a_fit_has_the_groups_of_its_votes(camps, found):
    votes = ba.read_votes(camps)
    for model in ("davidson", "am-davidson"):
        again = ba.groups(ba.fit(votes, model=model))
        assert again.members == found.members


def test_people_of_one_ranking_are_one_group():
    """Nor are those who guess, vote reversed or see only the sides."""
    planted = ("guesses", "reversed", "always ties", "first side")
    found = ba.groups(votes_of(annotators=16, each=80, planted=planted))
    assert found.p_value > 0.01
    assert (found.sentence, found.members, found.prefers) == ("", (), ())
    assert set(found.table["group"]) == {""}


@pytest.mark.slow
def test_single_tastes_make_no_groups():
    found = ba.groups(votes_of(annotators=30, each=150, taste=0.8))
    assert found.p_value <= 0.01
    assert found.members == ()
    text = "Annotators have tastes of their own; two groups cannot be told apart."
    assert found.sentence == text


@pytest.mark.slow
def test_who_shares_prompts_is_no_group():
    """Prompts of one's own look like a taste, unless all of a prompt turn together."""
    votes = camp_votes(camp=0, own_prompts=2)
    assert ba.groups(votes).sentence == ""
    assert ba.groups(votes, prompt=False).sentence != ""


@pytest.mark.slow
def test_a_camp_is_found_on_one_prompt_after_another():
    found = ba.groups(camp_votes(prompts=40))
    assert set(found.members) == CAMP


def test_of_few_prompts_nothing_can_be_said():
    found = ba.groups(camp_votes(prompts=6, n_votes=400))
    assert found.p_value is None
    assert found.reason.startswith("Fewer than 8 prompts repeat")
    assert (found.sentence, len(found.table)) == ("", 0)


def test_annotators_have_to_be_known(camps):
    with pytest.raises(VotesError, match="annotator="):
        ba.groups(camps.drop(columns="judge"))


def test_one_annotator_has_nobody_to_differ_from(camps):
    found = ba.groups(camps[camps["judge"] == "judge 00"])
    assert found.reason.startswith("There is one annotator")


@pytest.mark.slow
def test_names_sides_and_order_decide_nothing(camps, found):
    sides = camps.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    winner = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    votes = sides.assign(
        winner=camps["winner"].map(winner),
        model_a=sides["model_a"].map(lambda name: name[::-1]),
        model_b=sides["model_b"].map(lambda name: name[::-1]),
        judge=camps["judge"].map(lambda name: name[::-1]),
    )
    other = ba.groups(votes[::-1])
    assert {name[::-1] for name in other.members} == set(found.members)
    assert [name[::-1] for name in other.prefers] == list(found.prefers)
    slopes = other.table.set_index(other.table["annotator"].str[::-1])["slope"]
    here = found.table.set_index("annotator")["slope"]
    np.testing.assert_allclose(slopes[here.index], here, atol=1e-4)


@pytest.mark.parametrize("fewer", [0, 5])
def test_of_two_halves_that_of_fewer_votes_is_named(fewer):
    slope = np.repeat([-1.0, 1.0], 5) + 0.01 * np.arange(10)
    n_votes = np.full(10, 50.0)
    n_votes[fewer] = 40.0
    is_member, sign = smaller_group(slope, np.full(10, 0.1), n_votes)
    np.testing.assert_array_equal(is_member, np.arange(10) // 5 == fewer // 5)
    assert sign == (1 if fewer else -1)


def test_one_annotator_is_no_group():
    slope = np.append(np.linspace(-0.1, 0.1, 9), 3.0)
    is_member, _ = smaller_group(slope, np.full(10, 0.1), np.full(10, 50.0))
    assert not is_member.any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llmfao", "mt_bench_human"])
def test_of_real_votes_nothing_is_said(name):
    found = ba.groups(real(f"{name}.csv"))
    assert found.p_value > 0.05
    assert found.sentence == ""


def test_a_seed_is_a_whole_number(camps):
    with pytest.raises(ModelError, match="seed"):
        ba.groups(camps, seed=-1)
