"""Who is the best, in a sentence."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers import RIGGERS, frame, run
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.cli.output import rounded
from bayes_arena.decisions.verdict import chance, likely_best, more, order_of
from bayes_arena.inference.estimand import Estimand
from bayes_arena.ratings.decision_draws import decision_strengths


def duels(won: dict[str, int], lost: int = 0) -> ba.Fit:
    """Fit votes on pairs such as ``"xy"``: so many wins of the first, each with some losses."""
    rows = [(a, b, winner) for (a, b), n in won.items() for winner in ["model_a"] * n + ["model_b"] * lost]
    return ba.fit(ba.read_votes(frame(rows)))


def test_one_leads():
    assert str(ba.verdict(duels({"xy": 90, "xz": 90, "yz": 50}, lost=20))) == "x leads (P(best) above 0.999)."


def test_the_best_is_one_of_few():
    fit = duels({"xy": 20, "yx": 20, "xw": 90, "xv": 90, "yw": 90, "yv": 90, "vw": 20, "wv": 20}, lost=20)
    found = ba.verdict(fit)
    assert str(found) in (f"The best is one of {names} (P above 0.999)." for names in ("x and y", "y and x"))
    assert sorted(found.named) == ["x", "y"] and found.probability > 0.999 > 0.95 > found.p_best


def test_not_enough_votes_to_say():
    found = ba.verdict(duels({"xy": 10, "yz": 10, "zx": 10, "xw": 10, "wz": 10, "yw": 10}, lost=10))
    assert not found.named and found.probability == found.p_best
    assert str(found).startswith("Not enough votes to say which is the best: the likeliest is ")


def test_what_the_ranking_is_about_is_said():
    fit = replace(duels({"xy": 90}, lost=20), estimand=Estimand(slice=("topic", "code")))
    assert str(ba.verdict(fit)) == "x leads on topic: code (P(best) above 0.999)."


@pytest.mark.slow
def test_who_won_by_votes_that_do_not_count_does_not_lead(discounted, rigged):
    found, honest = (ba.verdict(fit) for fit in (discounted, ba.fit(ba.drop_annotators(rigged, RIGGERS))))
    assert found.leader == honest.leader and found.leader in str(found)
    assert found.p_best == pytest.approx(ba.rank_probabilities(discounted)["p_best"].max(), abs=0.02)


def test_groups_that_no_vote_connects_have_no_best_of_all():
    """The largest group is told of, and none of another is among those who may be the best of it."""
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = duels({"ab": 90, "xy": 90, "xz": 90, "yz": 90}, lost=20)
    found = ba.verdict(fit)
    assert str(found) == (
        "No votes connect 2 groups of competitors, so nobody is the best of all; of the largest group, 3 of 5, "
        "this can be said. x leads (P(best) above 0.999)."
    )
    assert (found.named, found.votes_to_name > 0) == (("x",), False)
    table = ba.leaderboard(fit).set_index("competitor")[["rank_lower", "rank_upper"]]
    assert table.loc["a"].tolist() == [1, 4] and table.loc["b"].tolist() == [2, 5]
    assert table.loc["x"].tolist() == [1, 3] and table.loc["z"].tolist() == [3, 5]


@pytest.mark.parametrize(
    ("p", "level", "said"),
    [
        (0.9499, 0.95, "0.94"),
        (0.95, 0.95, "0.95"),
        (0.9749, 0.975, "0.974"),
        (0.29, 0.95, "0.29"),
        (0.9969, 0.95, "0.996"),
        (1, 0.9, "above 0.999"),
    ],
)
def test_a_probability_as_text_reaches_a_level_only_if_it_does(p, level, said):
    assert chance(p, level) == said


def test_nobody_leads_in_a_ranking_that_may_be_upside_down():
    fit = duels({"xy": 90, "xz": 90, "yz": 50}, lost=20)
    assert str(ba.verdict(replace(fit, mirror_probability=0.3))).startswith("The best is one of x and z")


@pytest.mark.parametrize(
    ("p_best", "named"),
    [
        ([0.02, 0.96, 0.02], [1]),
        ([0.5, 0.1, 0.4], []),  # of three, three are no answer
        ([0.495, 0.005, 0.5], [2, 0]),
        ([0.3, 0.3, 0.395, 0.005], [2, 0, 1]),
        ([0.5, 0.488, 0.006, 0.006], [0, 1, 2]),  # 0.988 is too little, 0.99 is enough
        ([0.3, 0.3, 0.2, 0.195, 0.005], []),  # four of five are too many
        ([0.3, 0.3, 0.2, 0.195, *[0.005 / 16] * 16], [0, 1, 2, 3]),  # but not of twenty
        ([1.0, 0.0], [0]),
        ([0.5, 0.5], []),
    ],
)
def test_the_smallest_set_is_named_if_it_is_small(p_best, named):
    assert likely_best(np.array(p_best)).tolist() == named


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory, arena):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    arena.votes.write_csv(path)
    return path


@pytest.mark.slow
def test_the_command_says_the_same(votes_file, arena_cells):
    fit = ba.fit(arena_cells, model="bradley-terry")
    found, board = ba.verdict(fit, level=0.9), ba.leaderboard(fit, level=0.9)
    asked = ("rank", votes_file, "--model", "bradley-terry", "--level", 0.9)
    answer = json.loads(run(*asked, "--format", "json").stdout)
    assert answer["verdict"]["sentence"] == str(found)
    numbers = {name: getattr(found, name) for name in ("probability", "leader", "p_best", "votes_to_name", "votes")}
    assert {name: answer["verdict"][name] for name in numbers} == rounded(numbers)
    shared = ["rank", "competitor", "elo", "rank_lower", "rank_upper"]
    assert [{name: row[name] for name in shared} for row in answer["leaderboard"]] == rounded(
        board[shared].to_dict("records")
    )
    plain, explained = (run(*asked, *more).stdout for more in ((), ("--explain",)))
    assert str(found) in plain and "Elo points behind" not in plain
    assert f"Whoever takes {found.leader} for the best loses {found.regret_elo:.1f} Elo points on average." in explained


def test_the_command_knows_no_verdict_without_a_finite_estimate(tmp_path):
    path = tmp_path / "votes.csv"
    frame([("x", "y", "model_a")]).write_csv(path)
    done = run("rank", path, "--prior", "flat", "--explain", "--format", "json")
    assert done.returncode == 0 and "No finite" in done.stderr
    assert json.loads(done.stdout)["verdict"] is None


@pytest.fixture(scope="module")
def fit(arena_cells) -> ba.Fit:
    return ba.fit(arena_cells, model="bradley-terry")


@pytest.fixture(scope="module")
def undecided() -> ba.Fit:
    votes = ba.simulate(competitors=6, annotators=1, votes=200, strength_sd=0.6, seed=2).votes
    return ba.fit(ba.read_votes(votes), model="bradley-terry")


def test_it_agrees_with_the_tables(undecided):
    fit = undecided
    found, ranks = ba.verdict(fit), ba.rank_probabilities(fit).set_index("competitor")
    assert found.leader == ba.leaderboard(fit)["competitor"][0]
    assert found.p_best == pytest.approx(ranks["p_best"][found.leader])
    drawn = decision_strengths(fit)
    lost = drawn.max(axis=1) - drawn[:, fit.cells.competitors.index(found.leader)]
    assert found.regret_elo == pytest.approx(400 / math.log(10) * lost.mean())
    order = np.argsort(-drawn.mean(axis=0))
    right = [(drawn[:, i] > drawn[:, j]).mean() for i, j in combinations(order, 2)]
    assert found.expected_tau == pytest.approx(2 * np.mean(right) - 1)
    assert (found.votes, found.level) == (200, 0.95)


def test_what_is_reached_has_no_votes_to_go(undecided):
    found = [ba.verdict(undecided, level=level) for level in (0.4, 0.8, 0.9, 0.95)]
    assert [one.votes_to_name == 0 for one in found] == [one.p_best >= one.level for one in found]
    assert [one.votes_to_rank == 0 for one in found] == [(1 + one.expected_tau) / 2 >= one.level for one in found]
    for to_go in ([one.votes_to_name for one in found], [one.votes_to_rank for one in found]):
        assert to_go == sorted(to_go) and to_go[0] == 0 < to_go[-1]


def test_votes_to_go_follow_the_square_root():
    """Of two competitors P(best) = Phi(d / s), and m times the votes make it Phi(sqrt(m) d / s)."""
    rows = [("x", "y", "model_a")] * 55 + [("x", "y", "model_b")] * 45
    fit = ba.fit(ba.read_votes(frame(rows)))
    z = ba.contrasts(fit, [("x", "y")])["z"][0]
    found = ba.verdict(fit)
    assert found.p_best == pytest.approx(norm.cdf(z), abs=0.02)
    assert found.votes_to_name == pytest.approx(100 * ((norm.ppf(0.95) / z) ** 2 - 1), rel=0.12)
    assert found.votes_to_rank == found.votes_to_name


def test_no_number_of_votes_is_estimated_for_what_is_level():
    fit = ba.fit(ba.read_votes(frame([("x", "y", "model_a"), ("x", "y", "model_b")] * 100)))
    found = ba.verdict(fit, level=0.999)
    assert found.votes_to_name == math.inf
    assert "To name the best at 99.9 %, no number of votes like these can be estimated." in found.explained


def test_a_ranking_that_may_be_upside_down_has_no_sure_leader(fit):
    assert len(ba.verdict(fit, level=0.7).named) == 1
    doubtful = ba.verdict(replace(fit, mirror_probability=0.4), level=0.7)
    assert doubtful.votes_to_name == math.inf
    assert doubtful.p_best <= 0.6
    assert doubtful.regret_elo > 10
    ranks = ba.leaderboard(replace(fit, mirror_probability=0.4), level=0.7)
    assert (ranks["rank_lower"] == 1).all() and (ranks["rank_upper"] == 6).all()


@pytest.mark.parametrize("level", [0, 1.0, math.nan])
def test_impossible_levels_are_refused(fit, level):
    with pytest.raises(ba.ModelError, match="level"):
        ba.verdict(fit, level=level)


def test_votes_to_go_are_orders_of_magnitude_in_words():
    assert [more(votes, 100) for votes in (0, 40, 120, 900, 5_000)] == [
        "there are enough votes",
        "it would take less than half as many votes again",
        "it would take about as many votes again",
        "it would take several times as many votes",
        "it would take more than ten times as many votes",
    ]
    assert [order_of(votes) for votes in (1, 54, 999, 54_000, 1e9)] == [
        "a few",
        "dozens",
        "hundreds",
        "tens of thousands",
        "millions",
    ]
