import numpy as np
import pytest

import bayes_arena as ba


def test_the_default_is_the_size_of_the_papers_table_1():
    cells = ba.read_votes(ba.simulate().votes)
    assert (cells.n_votes, cells.n_competitors, cells.n_annotators) == (4321, 20, 42)
    assert cells.votes_by_annotator().min() > 50
    ties = cells.counts[:, 2].sum() / cells.n_votes
    assert 0.25 < ties < 0.35


def test_the_seed_decides_every_vote():
    assert ba.simulate(seed=1).votes.equals(ba.simulate(seed=1).votes)
    assert not ba.simulate(seed=1).votes.equals(ba.simulate(seed=2).votes)


@pytest.mark.slow
def test_votes_follow_davidsons_model():
    arena = ba.simulate(competitors=2, annotators=1, votes=200_000, tie_propensity=0.7, seed=4)
    eta = arena.discrimination[0] * (arena.strength[0] - arena.strength[1])
    odds = np.array([np.exp(eta / 2), 0.7, np.exp(-eta / 2)])
    first = arena.votes["model_a"] == arena.competitors[0]
    winner = arena.votes["winner"]
    wins = ((winner == "model_a") & first) | ((winner == "model_b") & ~first)
    shares = [wins.mean(), (winner == "tie").mean()]
    np.testing.assert_allclose(shares, (odds / odds.sum())[:2], atol=4 * 0.5 / np.sqrt(200_000))


def test_anomalous_annotators_have_negative_discrimination():
    arena = ba.simulate(anomalous=4, seed=2)
    negative = [name for name, theta in zip(arena.annotators, arena.discrimination, strict=True) if theta < 0]
    assert list(arena.anomalous) == negative
    assert len(negative) == 4


@pytest.mark.slow
def test_the_example_shows_its_planted_annotators():
    arena = ba.example_arena()
    table = ba.annotators(ba.fit(ba.read_votes(arena.votes)))
    assert set(table["annotator"][:3]) == set(arena.anomalous)


@pytest.mark.parametrize(
    "bad", [{"competitors": 1}, {"annotators": 0}, {"votes": 3}, {"anomalous": 43}, {"strength_sd": -1}]
)
def test_impossible_arenas(bad):
    with pytest.raises(ba.ModelError):
        ba.simulate(**bad)
