"""Whether there are enough votes."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers import frame
from scipy.stats import norm

import bayes_arena as ba


@pytest.fixture(scope="module")
def fit(arena_cells) -> ba.Fit:
    return ba.fit(arena_cells, model="bradley-terry")


@pytest.fixture(scope="module")
def undecided() -> ba.Fit:
    votes = ba.simulate(competitors=6, annotators=1, votes=200, strength_sd=0.6, seed=2).votes
    return ba.fit(ba.read_votes(votes), model="bradley-terry")


def test_it_agrees_with_the_tables(undecided):
    fit = undecided
    found, ranks = ba.enough(fit), ba.rank_probabilities(fit).set_index("competitor")
    assert found.leader == ba.leaderboard(fit)["competitor"][0]
    assert found.p_best == pytest.approx(ranks["p_best"][found.leader])
    drawn = ba.draw(fit).elo_strength
    lost = drawn.max(axis=1) - drawn[:, fit.cells.competitors.index(found.leader)]
    assert found.regret_elo == pytest.approx(400 / math.log(10) * lost.mean())
    order = np.argsort(-drawn.mean(axis=0))
    right = [(drawn[:, i] > drawn[:, j]).mean() for i, j in combinations(order, 2)]
    assert found.expected_tau == pytest.approx(2 * np.mean(right) - 1)
    assert (found.votes, found.goal, found.level) == (200, "best", 0.95)


@pytest.mark.parametrize("goal", ["best", "ranking"])
def test_what_is_reached_has_no_votes_to_go(undecided, goal):
    found = [ba.enough(undecided, goal=goal, level=level) for level in (0.4, 0.8, 0.9, 0.95)]
    reached = [one.p_best if goal == "best" else (1 + one.expected_tau) / 2 for one in found]
    assert [one.done for one in found] == [share >= one.level for share, one in zip(reached, found, strict=True)]
    assert [one.votes_to_go == 0 for one in found] == [one.done for one in found]
    assert len({one.done for one in found}) == 2
    assert [one.votes_to_go for one in found] == sorted(one.votes_to_go for one in found)


def test_votes_to_go_follow_the_square_root():
    """Of two competitors P(best) = Phi(d / s), and m times the votes make it Phi(sqrt(m) d / s)."""
    rows = [("x", "y", "model_a")] * 55 + [("x", "y", "model_b")] * 45
    fit = ba.fit(ba.read_votes(frame(rows)))
    z = ba.contrasts(fit, [("x", "y")])["z"][0]
    found = ba.enough(fit)
    assert found.p_best == pytest.approx(norm.cdf(z), abs=0.02)
    assert found.votes_to_go == pytest.approx(100 * ((norm.ppf(0.95) / z) ** 2 - 1), rel=0.12)
    assert ba.enough(fit, goal="ranking").votes_to_go == found.votes_to_go


def test_no_number_of_votes_is_estimated_for_what_is_level():
    fit = ba.fit(ba.read_votes(frame([("x", "y", "model_a"), ("x", "y", "model_b")] * 100)))
    found = ba.enough(fit, level=0.999)
    assert found.votes_to_go == math.inf
    assert "too many still needed for an estimate" in str(found)


def test_close_enough_is_about_the_regret(undecided):
    regret = ba.enough(undecided).regret_elo
    assert ba.enough(undecided, regret_elo=regret).close_enough
    assert not ba.enough(undecided, regret_elo=regret * 0.9).close_enough


def test_a_ranking_that_may_be_upside_down_has_no_sure_leader(fit):
    assert ba.enough(fit, level=0.7).done
    doubtful = ba.enough(replace(fit, mirror_probability=0.4), level=0.7)
    assert doubtful.votes_to_go == math.inf
    assert not doubtful.done
    assert doubtful.p_best <= 0.6
    assert doubtful.regret_elo > 10


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"goal": "order"}, "goal must be one of"), ({"level": 1.0}, "level"), ({"regret_elo": math.nan}, "regret_elo")],
)
def test_impossible_questions_are_refused(fit, wrong, said):
    with pytest.raises(ba.ModelError, match=said):
        ba.enough(fit, **wrong)


def test_it_reads_as_a_sentence(fit, undecided):
    assert str(ba.enough(fit)).startswith("Best at 95 %: enough votes. ")
    found = ba.enough(undecided, goal="ranking", level=0.95)
    said = f"Ranking at 95 %: not enough votes, about {float(f'{found.votes_to_go:.1e}'):,.0f} to go. "
    assert str(found).startswith(f"{said}{found.leader} is the best with probability {found.p_best:.2f}")
