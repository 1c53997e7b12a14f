import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.fits.scores import scores_of
from bayes_arena.people import tastes as tastes_room
from bayes_arena.people.tastes import (
    Tastes,
    chance_of_tastes,
    direction_of,
    largest_eigenvalue,
    signed_table,
)
from tests.people.arenas import votes_of


@pytest.fixture(scope="module")
def tastes():
    votes = ba.read_votes(votes_of(annotators=12, each=60))
    return Tastes(*scores_of(ba.fit(votes, model="am-davidson")))


@pytest.fixture(scope="module")
def table(tastes):
    return signed_table(tastes, np.arange(len(tastes.votes)))


def test_the_table_is_of_sums_by_annotator_and_competitor(tastes, table):
    votes = tastes.votes
    whole = np.zeros(table.shape)
    np.add.at(whole, (votes.annotator, votes.i), tastes.scores.residual)
    np.add.at(whole, (votes.annotator, votes.j), -tastes.scores.residual)
    whole /= np.sqrt(tastes.V[:, None] * tastes.D)
    np.testing.assert_allclose(table.as_cast.toarray(), whole, atol=1e-12)


def test_all_signs_turned_change_no_eigenvalue(table):
    turned = table.at(np.full(table.parts.shape[1], -1.0))
    assert largest_eigenvalue(turned) == largest_eigenvalue(table.as_cast)


def test_large_tables_have_the_same_eigenvalue(table, monkeypatch):
    small = largest_eigenvalue(table.as_cast)
    monkeypatch.setattr(tastes_room, "LARGEST_DENSE", 2)
    assert largest_eigenvalue(table.as_cast) == pytest.approx(small)


def test_a_slope_is_the_taste_of_its_annotator(tastes):
    """To first order, a residual is its variance times the shift of the lead."""
    direction = np.linspace(-1, 1, tastes.votes.n_competitors)
    lead = direction[tastes.votes.i] - direction[tastes.votes.j]
    own = np.linspace(-0.5, 2, tastes.votes.n_annotators)
    scores = tastes.scores
    won = scores.expected + scores.variance * lead * own[tastes.votes.annotator]
    shifted = Tastes(
        tastes.votes, scores.__class__(scores.n, won, scores.expected, scores.variance)
    )
    slope, sd = shifted.slopes(direction)
    np.testing.assert_allclose(slope, own)
    assert (sd > 0).all()


def test_the_direction_has_unit_mean_square(tastes, table):
    u, direction = direction_of(table, tastes)
    assert u @ u == pytest.approx(1)
    assert np.average(direction**2, weights=tastes.D) == pytest.approx(1)


def test_chance_alone_is_no_taste(table):
    assert chance_of_tastes(table, 0) > 0.05
