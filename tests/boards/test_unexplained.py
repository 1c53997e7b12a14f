"""Pairs that no ranking explains."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayes_arena as ba
from bayes_arena.boards.surprise import tail_bounds
from bayes_arena.boards.unexplained import no_ranking_explains, pair_scores
from tests.boards.arenas import columns, of_wins
from tests.boards.test_samples import sampled
from tests.helpers import real

CYCLE = [("a", "b"), ("b", "c"), ("c", "a")]


def with_upsets(count, seed=0, **options):
    """Return votes of fifteen, and ``count`` that the weakest wins against the strongest."""
    votes, strength = columns(15, 4000, seed=seed, **options)
    worst, best = (f"m{c:02}" for c in (strength.argmin(), strength.argmax()))
    votes["model_a"] += [worst] * count
    votes["model_b"] += [best] * count
    votes["winner"] += ["model_a"] * count
    if "prompt" in votes:
        votes["prompt"] += ["p000"] * count
    return votes, worst, best


@pytest.mark.parametrize("options", [{}, {"prompts": 20, "prompt_sd": 0.7}])
def test_votes_of_one_ranking_have_no_such_pair(options):
    votes, _ = columns(8, 2000, seed=1, **options)
    found = ba.pairs(votes)
    assert not found["flagged"].any()
    assert found["p_unexplained"].min() > 0.05


def test_a_result_against_the_ranking_is_named():
    votes, worst, best = with_upsets(16)
    fit = ba.fit(votes)
    table = ba.pairs(fit)
    row = table[table["flagged"]]
    assert row[["first", "second"]].to_numpy().tolist() == [[best, worst]]
    assert row["points"].iloc[0] < row["expected"].iloc[0]
    (note,) = no_ranking_explains(fit)
    assert note.kind == "pairs"
    assert str(note).startswith(f"{worst} scores ")
    assert f" against {best} (" in str(note)
    assert str(note).endswith(" expected): no ranking explains that.")
    assert note in ba.rate(fit).notes


def test_a_cycle_is_no_ranking():
    fit = ba.fit(of_wins([(*pair, 60) for pair in CYCLE]))
    (note,) = no_ranking_explains(fit)
    assert "60 of 60" in str(note)
    assert "nor the results of 2 other pairs" in str(note)


def test_one_upset_in_a_few_votes_is_nothing():
    votes, *_ = with_upsets(4)
    assert not ba.pairs(votes)["flagged"].any()
    assert no_ranking_explains(ba.fit(of_wins([("a", "b", 400), ("b", "a", 1)]))) == ()


def test_points_are_wins_and_half_the_ties():
    votes, _ = columns(5, 400)
    table = ba.pairs(votes)
    row = table.iloc[0]
    points = 0.0
    for a, b, winner in zip(*votes.values(), strict=True):
        if {a, b} == {row["first"], row["second"]}:
            won = a if winner == "model_a" else b
            points += 0.5 if winner == "tie" else float(won == row["first"])
    assert row["points"] == points
    assert 0 < row["expected"] < row["votes"]
    back = ba.pairs(votes, between=(row["second"], row["first"])).iloc[0]
    assert back["points"] == row["votes"] - points
    assert back["expected"] == pytest.approx(row["votes"] - row["expected"])
    assert back["p_unexplained"] == pytest.approx(row["p_unexplained"])


def test_who_never_met_has_no_points():
    table = ba.pairs(of_wins([("a", "b", 8), ("b", "c", 3), ("b", "a", 2)]))
    table = table.set_index(["first", "second"])
    assert table.loc[("a", "c"), ["points", "expected"]].tolist() == [0, 0]
    tested = table["p_unexplained"].notna()
    assert tested.tolist() == [pair == ("a", "b") for pair in table.index]


def test_a_pair_that_links_two_groups_is_not_surprising():
    """All that is known of its gap are its own votes."""
    left = [(a, b, 10) for a, b in CYCLE] + [(b, a, 9) for a, b in CYCLE]
    right = [(a.upper(), b.upper(), n) for a, b, n in left]
    found = ba.pairs(of_wins([*left, *right, ("a", "A", 40)]))
    assert not found["flagged"].any()


def test_votes_on_one_prompt_count_for_less():
    votes, *_ = with_upsets(16, prompts=20, prompt_sd=1.5)
    apart = ba.pairs(votes, prompt=False)["p_unexplained"].min()
    together = ba.pairs(votes)["p_unexplained"].min()
    assert together > 10 * apart


def test_competitors_without_an_estimate_are_left_out():
    votes, worst, best = with_upsets(16)
    votes["model_a"] += ["loser"] * 6
    votes["model_b"] += [best] * 6
    votes["winner"] += ["model_b"] * 6
    with pytest.warns(ba.errors.ArenaWarning):
        fit = ba.fit(votes, prior="flat")
    found = pair_scores(fit)
    table = ba.pairs(fit)
    assert table[table["flagged"]]["second"].tolist() == [worst]
    assert len(found.code) == 105


@pytest.mark.slow
def test_samples_have_the_same_pairs():
    fit = ba.fit(with_upsets(16)[0])
    found, of_samples = pair_scores(fit), pair_scores(sampled(fit))
    np.testing.assert_array_equal(of_samples.flagged, found.flagged)
    np.testing.assert_allclose(
        of_samples.scores.expected, found.scores.expected, rtol=0.05
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llmfao", "mt_bench_human"])
def test_real_rankings_explain_all_pairs(name):
    assert no_ranking_explains(ba.fit(real(f"{name}.csv"))) == ()


def test_a_pair_is_held_to_all_other_votes():
    """Its chance is about that by the fit of all votes but its own."""
    votes, _ = columns(6, 3000, seed=3)
    read = ba.read_votes(votes, prompt=False)
    model = ba.Model("wins", ties="davidson")
    found = pair_scores(ba.fit(read, model=model))
    row = int(np.argmin(found.p_value))
    i, j = np.divmod(found.code[row], read.n_competitors)
    is_own = np.isin(read.i, (i, j)) & np.isin(read.j, (i, j))
    others = ba.fit(read.take(np.flatnonzero(~is_own)), model=model)
    C = others.marginals.board.covariance
    sd = np.sqrt(C[[i], [i]] + C[[j], [j]] - 2 * C[[i], [j]])
    full = ba.fit(read, model=model).marginals.board.value
    board = others.marginals.board.value
    moved = (board[i] - board[j]) - (full[i] - full[j])
    score, n = found.scores.won / found.scores.n, found.scores.n
    expected = found.scores.expected / n

    def expected_at(further):
        return expit(logit(expected[[row]]) + moved + further)

    high, low = tail_bounds(score[[row]], n[[row]], expected_at, sd)
    direct = 2 * min(high[0], low[0])
    assert np.log(found.p_value[row]) == pytest.approx(np.log(direct), abs=0.5)
