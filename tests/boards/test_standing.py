"""Draws that all answers share, and what votes count for."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import standing_of
from bayes_arena.boards.verdict import candidates_of, verdict_of
from tests.boards.arenas import columns, fitted, of_wins

ARENAS = 40
BOUNDS = ["elo", "lower", "upper", "rank_lower", "rank_upper", "p_best"]


def small_arena(seed):
    """Return a fit of a small arena of any kind, with a newcomer in every other."""
    rng = np.random.default_rng(seed)
    n, votes = int(rng.integers(2, 9)), int(rng.integers(30, 300))
    prompts = int(rng.choice([0, 12]))
    rows, _ = columns(n, votes, prompts=prompts, prompt_sd=0.6, spread=0.4, seed=seed)
    if seed % 2:
        new = {
            "model_a": "new",
            "model_b": "m00",
            "winner": "model_a",
            "prompt": "p000",
        }
        for name, values in rows.items():
            values.append(new[name])
    return ba.fit(rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(ARENAS))
def test_verdict_board_and_proposals_agree(seed):
    fit = small_arena(seed)
    standing = standing_of(fit)
    board = ba.leaderboard(fit).set_index("competitor")
    candidates = {standing.competitors[c] for c in candidates_of(standing)[0]}
    assert candidates == set(board.index[board["rank_lower"] == 1])
    words = verdict_of(standing).replace(".", " ").replace(",", " ").split()
    assert set(words) & set(board.index) <= candidates
    shares = ba.rank_probabilities(fit)
    ranked = board[board["rank"].notna()]
    np.testing.assert_array_equal(shares[1], ranked.loc[shares.index, "p_best"])
    proposed = ba.next_pairs(fit)
    assert {*proposed["first"], *proposed["second"]} <= set(ranked.index)


@pytest.mark.slow
def test_a_weight_is_as_many_votes():
    rows = pd.DataFrame(columns(4, 90, prompts=10, prompt_sd=0.5)[0])
    weighted = ba.read_votes(rows.assign(weight=2.0), weight="weight")
    twice = ba.read_votes(pd.concat([rows, rows]))
    for interval in ("posterior", "clustered", "sandwich"):
        one = ba.leaderboard(ba.fit(weighted), interval=interval)
        two = ba.leaderboard(ba.fit(twice), interval=interval)
        np.testing.assert_allclose(one[BOUNDS], two[BOUNDS], atol=1e-6)
        assert one["votes"].tolist() == two["votes"].tolist()


@pytest.mark.slow
def test_votes_twice_are_no_new_prompts():
    """Of a flat prior: copies of votes narrow all intervals but the clustered."""
    rows = pd.DataFrame(columns(4, 150, prompts=12, prompt_sd=0.5)[0])
    narrowing = {}
    for interval in ("posterior", "clustered", "sandwich"):
        sd = [
            standing_of(
                ba.fit(votes, model="bradley-terry", prior="flat"),
                Look(interval=interval),
            ).uncertainty.sd
            for votes in (rows, pd.concat([rows, rows]))
        ]
        narrowing[interval] = sd[0] / sd[1]
    np.testing.assert_allclose(narrowing["posterior"], np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(narrowing["sandwich"], np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(narrowing["clustered"], 1, rtol=1e-6)


def test_fewer_prompts_than_competitors_have_draws():
    fit = fitted(14, 400, prompts=9, prompt_sd=0.7)
    standing = standing_of(fit)
    assert standing.uncertainty.n_clusters == 9
    assert np.isfinite(standing.draws).all()
    assert standing.p_best.sum() == pytest.approx(1)


def test_draws_are_those_of_the_intervals():
    fit = fitted(5, 400, prompts=20, prompt_sd=1.0)
    standing = standing_of(fit)
    lower, upper = np.quantile(standing.draws, [0.025, 0.975], axis=0)
    bounds = [bound[standing.ranked] for bound in standing.bounds]
    width = (bounds[1] - bounds[0]).mean()
    np.testing.assert_allclose([lower, upper], bounds, atol=0.04 * width)


def test_a_competitor_without_a_rank_changes_no_other_chance():
    """Its few votes move the others' scores hardly, and it takes no share of P(best)."""
    rows, _ = columns(5, 600, seed=1)
    alone = ba.leaderboard(ba.fit(rows))
    for name, value in (("model_a", "new"), ("model_b", "m00"), ("winner", "tie")):
        rows[name] = [*rows[name], value]
    board = ba.leaderboard(ba.fit(rows))
    assert board["competitor"][5] == "new"
    np.testing.assert_allclose(board["p_best"][:5], alone["p_best"], atol=0.02)
    assert board["p_best"][:5].sum() == pytest.approx(1)


def test_the_number_of_votes_that_pairs_ask_for_settles_them():
    """Under a flat prior, where votes come as they came (here: each counts as more)."""
    votes = of_wins([("a", "b", 14), ("b", "a", 10)])
    options = {"model": "bradley-terry", "prior": "flat"}
    more = ba.pairs(ba.fit(votes, **options))["more_votes"][0]
    rows = pd.DataFrame(votes)
    for extra, is_settled in ((more, True), (more - 2, False)):
        weighted = rows.assign(weight=1 + extra / len(rows))
        fit = ba.fit(ba.read_votes(weighted, weight="weight"), **options)
        assert (ba.pairs(fit)["lower"][0] > 0) == is_settled


def test_another_seed_moves_ranks_by_little_and_scores_not():
    fit = fitted(8, 400)
    first, second = ba.leaderboard(fit), ba.leaderboard(fit, seed=7)
    assert first["elo"].equals(second["elo"]) and first["lower"].equals(second["lower"])
    assert not first["p_best"].equals(second["p_best"])
    np.testing.assert_allclose(first["p_best"], second["p_best"], atol=0.03)
    assert first.equals(ba.leaderboard(fit))
