"""Who is the best, in a sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import RIGGERS, frame, run

import bayes_arena as ba
from bayes_arena.cli.output import rounded
from bayes_arena.decisions.verdict import likely_best
from bayes_arena.inference.views import Estimand


def duels(won: dict[str, int], lost: int = 0) -> ba.Fit:
    """Fit votes on pairs such as ``"xy"``: so many wins of the first, each with some losses."""
    rows = [(a, b, winner) for (a, b), n in won.items() for winner in ["model_a"] * n + ["model_b"] * lost]
    return ba.fit(ba.read_votes(frame(rows)))


def test_one_leads():
    assert ba.verdict(duels({"xy": 90, "xz": 90, "yz": 50}, lost=20)) == "x leads (P(best) 1.00)."


def test_the_best_is_one_of_few():
    fit = duels({"xy": 20, "yx": 20, "xw": 90, "xv": 90, "yw": 90, "yv": 90, "vw": 20, "wv": 20}, lost=20)
    assert ba.verdict(fit) in ("The best is one of x and y (P 1.00).", "The best is one of y and x (P 1.00).")


def test_not_enough_votes_to_say():
    said = ba.verdict(duels({"xy": 10, "yz": 10, "zx": 10, "xw": 10, "wz": 10, "yw": 10}, lost=10))
    assert said.startswith("Not enough votes to say which is the best: the likeliest is ")


def test_what_the_ranking_is_about_is_said():
    fit = replace(duels({"xy": 90}, lost=20), estimand=Estimand())
    assert ba.verdict(fit) == "x leads on new prompts (P(best) 1.00)."


def test_who_won_by_votes_that_do_not_count_does_not_lead(discounted, rigged):
    best = {ba.enough(fit).leader for fit in (discounted, ba.fit(ba.drop_annotators(rigged, RIGGERS)))}
    assert len(best) == 1 and ba.enough(discounted).leader in ba.verdict(discounted)
    board, places = (table(discounted).set_index("competitor") for table in (ba.leaderboard, ba.rank_probabilities))
    assert ba.tiers(discounted).set_index("competitor")["rank_worst"].to_dict() == board["rank_worst"].to_dict()
    assert ba.enough(discounted).p_best == pytest.approx(places["p_best"].max(), abs=0.02)


def test_nobody_leads_in_a_ranking_that_may_be_upside_down():
    fit = duels({"xy": 90, "xz": 90, "yz": 50}, lost=20)
    assert ba.verdict(replace(fit, mirror_probability=0.3)).startswith("The best is one of x and z")


@pytest.mark.parametrize(
    ("p_best", "named"),
    [
        ([0.02, 0.96, 0.02], [1]),
        ([0.5, 0.1, 0.4], []),  # of three, three are no answer
        ([0.495, 0.005, 0.5], [2, 0]),
        ([0.3, 0.3, 0.395, 0.005], [2, 0, 1]),
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
def test_the_command_says_it_with_tiers(votes_file, arena_cells):
    fit = ba.fit(arena_cells, model="bradley-terry")
    answer = json.loads(run("verdict", votes_file, "--model", "bradley-terry", "--format", "json").stdout)
    assert answer["verdict"] == ba.verdict(fit)
    found = ba.enough(fit)
    assert answer["enough"] == rounded({name: getattr(found, name) for name in answer["enough"]})
    assert answer["tiers"] == rounded(ba.tiers(fit).to_dict("records"))
    done = run("verdict", votes_file, "--model", "bradley-terry", "--goal", "ranking", "--level", "0.9")
    said = " ".join(done.stdout.split())  # a title is as wide as its table
    assert f"{ba.verdict(fit)} {ba.enough(fit, goal='ranking', level=0.9)}" in said


def test_the_command_knows_no_verdict_without_a_finite_estimate(tmp_path):
    path = tmp_path / "votes.csv"
    frame([("x", "y", "model_a")]).write_csv(path)
    done = run("verdict", path, "--prior", "flat")
    assert done.returncode == 2
    assert "Use prior='default'" in done.stderr
