"""The verdict: one answer with the board."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.next_pairs import next_pair_columns
from bayes_arena.boards.pairs import gate
from bayes_arena.boards.standing import standing_of
from bayes_arena.boards.verdict import (
    candidates_of,
    first_is_settled,
    number_in_words,
    verdict_of,
)
from bayes_arena.errors import ArenaWarning
from tests.boards.arenas import CYCLE, columns, fitted, of_balanced_wins, of_wins


def words_of(sentence):
    return set(sentence.replace(",", " ").replace(".", " ").replace("(", " ").split())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Scores depend on the prior")
@pytest.mark.parametrize("kind", range(4))
def test_nobody_is_named_whom_the_ranks_exclude(kind):
    n, votes, spread = [(4, 8, 1), (6, 60, 1), (9, 300, 0.2), (25, 400, 0.1)][kind]
    for seed in range(10):
        fit = ba.fit(columns(n, votes, spread=spread, seed=seed)[0])
        standing = standing_of(fit, Look(min_votes=0))
        board = ba.leaderboard(fit, min_votes=0).set_index("competitor")
        sentence = verdict_of(standing)
        named = words_of(sentence) & set(board.index)
        assert (board.loc[sorted(named), "rank_lower"] == 1).all()
        candidates, _ = candidates_of(standing)
        assert len(candidates) == (board["rank_lower"] == 1).sum()
        if " is the best (" in sentence:
            assert board["p_best"].max() >= 0.95


def test_a_clear_leader():
    fit = fitted(5, 3000, spread=2.0, seed=1)
    leader = ba.leaderboard(fit)["competitor"][0]
    assert ba.verdict(fit) == f"{leader} is the best (P above 0.99)."


def test_a_likely_leader_and_how_many_others():
    standing = standing_of(fitted(8, 200, spread=0.6, seed=1))
    candidates, p_best = candidates_of(standing)
    assert 0.5 < p_best[0] < 0.95
    leader = standing.competitors[candidates[0]]
    sentence = verdict_of(standing)
    assert sentence.startswith(f"{leader} is probably the best (P {p_best[0]:.2f}).")
    assert sentence.endswith("cannot be ruled out. More votes would settle it.")


def test_an_open_race():
    sentence = ba.verdict(of_wins(CYCLE))
    assert sentence.startswith("The best is ")
    assert sentence.endswith("). More votes would settle it.")


@pytest.mark.slow
def test_where_many_are_alike_nobody_is_named():
    """With 300 of about the same strength each is unlikely to be the best."""
    fit = fitted(300, 2_000, spread=0.01)
    standing = standing_of(fit, Look(min_votes=0))
    assert standing.p_best.max() < 0.1
    assert verdict_of(standing).startswith("It is open who is the best")
    assert len(ba.next_pairs(fit, min_votes=0)) == 10


def test_prompts_are_what_lacks():
    fit = fitted(8, 3000, prompts=12, prompt_sd=1.0, spread=0.3)
    assert ba.verdict(fit).endswith(
        "More prompts would settle it; more votes on these 12 would not."
    )
    few_votes = fitted(8, 300, prompts=40, spread=0.3)
    assert "More votes" in ba.verdict(few_votes, interval="posterior")


def test_groups_that_never_met_have_no_best():
    votes = of_wins([("a", "b", 40), ("b", "a", 3), ("c", "d", 9), ("d", "c", 9)])
    with pytest.warns(ArenaWarning, match="never compared"):
        fit = ba.fit(votes)
    assert "Nobody is the best of all" in ba.verdict(fit)
    assert "2 groups" in ba.verdict(fit)


def test_options_that_are_not_about_the_question_change_nothing():
    fit = fitted(8, 200)
    assert ba.verdict(fit) == ba.verdict(fit, seed=0)
    assert ba.verdict(fit, interval="posterior") == ba.verdict(fit)


@pytest.mark.slow
def test_the_named_best_is_the_best():
    right = []
    for seed in range(120):
        votes, strength = columns(6, 400, seed=seed)
        standing = standing_of(ba.fit(votes), Look(min_votes=0))
        if standing.p_best.max() >= 0.95:
            right.append(standing.ranked[standing.p_best.argmax()] == strength.argmax())
    assert len(right) > 40
    assert np.mean(right) > 0.93


def test_at_a_low_level_somebody_alone_is_not_called_the_best():
    """At .5 one competitor is left whose rank range begins at 1, however unlikely."""
    fit = fitted(12, 300, spread=0.3, seed=2)
    standing = standing_of(fit, Look(level=0.5))
    candidates, p_best = candidates_of(standing)
    assert len(candidates) == 1 and p_best[0] < 0.5
    name = standing.competitors[candidates[0]]
    assert verdict_of(standing).startswith(
        f"{name} is the likeliest to be the best (P {p_best[0]:.2f}). More votes"
    )
    assert not first_is_settled(standing)


@pytest.mark.parametrize("wins", [3, 4, 5, 8, 20])
def test_the_best_passes_the_gate_and_no_other(wins):
    """Verdict, rank range, gate and proposals answer by one rule."""
    standing = standing_of(ba.fit(of_wins([("x", "y", wins)])))
    is_settled = gate(standing, ("x", "y"), "better") == "yes"
    assert (" is the best (" in verdict_of(standing)) == is_settled
    assert (standing.rank_ranges[1][0] == 1) == is_settled
    assert (len(next_pair_columns(standing)["first"]) == 0) == is_settled


def test_of_two_who_are_level_nobody_is_probably_the_best():
    votes = {"model_a": ["a"] * 30, "model_b": ["b"] * 30, "winner": ["tie"] * 30}
    verdict = ba.verdict(votes)
    assert verdict.startswith("The best is ")
    assert verdict.endswith(" (0.50). More votes would settle it.")


@pytest.mark.parametrize(("count", "words"), [(2, "two"), (9, "nine"), (10, "10")])
def test_small_numbers_are_words(count, words):
    assert number_in_words(count) == words


def test_a_name_stays_as_it_is_at_the_beginning_of_a_sentence():
    sentence = ba.verdict(ba.fit(of_wins([("x", "y", 3)])))
    assert sentence.startswith(
        "x is probably the best (P 0.96). y cannot be ruled out."
    )


def test_a_verdict_says_of_whom_where_somebody_without_a_rank_may_be_better():
    """Of nine votes the newcomer won all: it may be the best, and has no rank."""
    votes = of_balanced_wins([("a", "b", 30), ("b", "a", 10), ("new", "b", 9)])
    sentence = ba.verdict(votes)
    assert sentence.startswith(
        "Of the 2 competitors with 10 votes or more: a is the best"
    )
    lost = of_balanced_wins([("a", "b", 30), ("b", "a", 10), ("b", "new", 9)])
    assert ba.verdict(lost).startswith("a is the best")


def test_a_newcomer_behind_on_average_may_still_be_ahead():
    """Its mean is below the leader's, and the chance that it is ahead above 1 in 20."""
    votes = of_balanced_wins(
        [("a", "b", 40), ("b", "a", 10), ("new", "b", 2), ("b", "new", 1)]
    )
    standing = standing_of(ba.fit(votes))
    new = standing.competitors.index("new")
    assert standing.strength[new] < standing.strength.max()
    assert standing.p_unranked_ahead(standing.ranked[0]) > 0.05
    assert verdict_of(standing).startswith(
        "Of the 2 competitors with 10 votes or more: "
    )


def test_who_never_lost_is_named_where_that_has_no_finite_estimate():
    votes = of_balanced_wins([("a", "b", 30), ("b", "a", 10), ("top", "a", 12)])
    with pytest.warns(ArenaWarning, match="finite"):
        sentence = ba.verdict(ba.fit(votes, prior="flat"))
    assert sentence.startswith(
        "Of the 2 competitors with a finite estimate: a is the best"
    )
    assert sentence.endswith("top never lost.")


def test_no_votes_settle_what_annotators_are_divided_about():
    standing = standing_of(ba.fit(of_wins(CYCLE)))
    assert verdict_of(standing).endswith("More votes would settle it.")
    assert verdict_of(standing, is_divided=True).endswith(
        "About half of the annotators vote against the others: no votes settle that."
    )
