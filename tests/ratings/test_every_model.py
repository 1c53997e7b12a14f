"""Every model of the grid has a board and draws: what is left out of imagined votes leaves annotators their axis."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.inference.projection import project_draws
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
