"""Every model of the grid has a board and draws: what is left out of imagined votes leaves annotators their axis."""

import numpy as np
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.errors import ModelError
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.likelihood.specification import CHOICES, Model


@pytest.mark.parametrize("theta", CHOICES["discrimination"])
@pytest.mark.parametrize("position", CHOICES["position"])
@pytest.mark.parametrize("ties", CHOICES["ties"])
def test_board_and_draws(four_outcomes, ties, position, theta):
    fit = ba.fit(four_outcomes, model=Model("one", theta, ties, position=position), method="map")
    board = ba.leaderboard(fit).set_index("competitor")["elo"].loc[list(four_outcomes.competitors)]
    point, votes = fit.point, four_outcomes.votes_by_annotator()
    drawn = project_draws(fit.target, point.strength[None], point.common[None], point.own[None], votes)[0]
    np.testing.assert_allclose(ba.EloScale().points(drawn, four_outcomes.competitors), board, atol=0.01)


TABLES = [
    ba.leaderboard,
    ba.strengths,
    ba.contrasts,
    ba.effects,
    ba.head_to_head,
    ba.win_probability,
    ba.rank_probabilities,
    ba.pairs,
    ba.annotators,
]


@pytest.fixture(scope="module", params=["map", "marginal"])
def sliced(request) -> ba.Fit:
    own = {"discrimination": "annotator", "ties": "davidson", "tie_propensity": "annotator", "position": "annotator"}
    slices = {"strength_by": ("prompt", "annotator"), "ties_by": ("competitor", "prompt")}
    slices |= {"discrimination_by": ("prompt",)}
    cells = ba.read_votes(answered_votes(votes=800)[0], prompt="prompt")
    return ba.fit(cells, model=Model("slices", **own, **slices), method=request.param)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_tables_of_a_model_with_slices(sliced, table):
    found = table(sliced)
    numbers = found.select_dtypes("number")
    assert len(found)
    assert np.isfinite(numbers.to_numpy()).all()


@pytest.mark.slow
def test_draws_of_a_model_with_slices_are_about_its_board(sliced):
    board = ba.leaderboard(sliced).set_index("competitor").loc[list(sliced.cells.competitors)]
    drawn = ba.draw(sliced, size=2000).elo_strength
    spread = (board["upper"] - board["lower"]).to_numpy() / 2 / 1.96
    points = ba.EloScale().points(drawn.mean(axis=0), sliced.cells.competitors)
    np.testing.assert_allclose(points, board["elo"], atol=4 * spread.max() / np.sqrt(2000))
    np.testing.assert_allclose(ba.EloScale().points_per_logit * drawn.std(axis=0), spread, rtol=0.08)


@pytest.mark.parametrize("interval", ["sandwich", "clustered", "bootstrap"])
def test_robust_intervals_are_not_of_strengths_by_slice(sliced, interval):
    for table in (ba.leaderboard, ba.rank_probabilities):  # their sd would be a third of the estimate's
        with pytest.raises(ModelError, match=r"them by prompt, annotator, competitor.*answers=False"):
            table(sliced, interval=interval)


def test_a_slice_may_be_named_by_its_number(sliced):
    numbered = ba.read_votes(answered_votes(votes=300)[0].with_columns(turn=1), slices={"turn": "turn"}, prompt=False)
    fit = ba.fit(numbered, model=Model("turns", strength_by=("turn",)))
    assert ba.leaderboard(fit, slice=("turn", 1)).equals(ba.leaderboard(fit, slice=("turn", "1")))
    with pytest.raises(ModelError, match="There is no turn '3'"):
        ba.leaderboard(fit, slice=("turn", 3))
