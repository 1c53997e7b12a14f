"""A spread that the votes turn off belongs to few numbers, and swings before it settles."""

from dataclasses import replace

import pytest

import bayes_arena as ba
from bayes_arena.likelihood.presets import PRESETS


@pytest.mark.parametrize("seed", [1, 17, 24])
def test_a_spread_of_few_numbers_settles(seed: int) -> None:
    votes = ba.simulate(competitors=6, annotators=10, votes=1000, seed=seed).votes
    fit = ba.fit(ba.read_votes(votes), model=replace(PRESETS["am-davidson"], ties_by=("competitor",)))
    assert fit.spreads.spread("ties_by_competitor") < 0.15  # competitors tie alike
    assert fit.mode.iterations < 50
