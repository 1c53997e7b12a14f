"""Whom annotators met, whichever way it is found."""

import numpy as np
import pytest

from bayes_arena.votes import tally
from bayes_arena.votes.tally import Met, Tally, tally_of


@pytest.mark.parametrize(("table", "empty"), [(10**6, 50), (10, 50), (1, 50), (10**6, 0)])
def test_every_row_finds_its_annotator_and_its_competitors(monkeypatch, table, empty):
    monkeypatch.setattr(tally, "TABLE", table)
    monkeypatch.setattr(tally, "EMPTY", empty)
    rng = np.random.default_rng(0)
    k, i = np.sort(rng.integers(0, 12, 60)), rng.integers(0, 7, 60)
    j = (i + rng.integers(1, 7, 60)) % 7
    met = Met.of(k, i, j)
    pairs = list(zip(met.annotator.tolist(), met.competitor.tolist(), strict=True))
    assert pairs == sorted(set(zip(k.tolist() * 2, [*i.tolist(), *j.tolist()], strict=True)))
    for of, competitor in ((met.of_i, i), (met.of_j, j)):
        np.testing.assert_array_equal(met.annotator[of], k)
        np.testing.assert_array_equal(met.competitor[of], competitor)


def test_no_rows_meet_no_competitor():
    none = np.empty(0, dtype=np.int64)
    assert not len(Met.of(none, none, none).annotator)


@pytest.mark.parametrize("by_side", [False, True])
@pytest.mark.parametrize("outcomes", [4, 8])
def test_pairs_have_the_votes_of_all_annotators_however_many_there_are(by_side, outcomes):
    rng = np.random.default_rng(0)
    i, counts = rng.integers(0, 5, 200), rng.integers(0, 3, (200, outcomes)).astype(float)
    j, nothing = (i + rng.integers(1, 5, 200)) % 5, np.empty((0, 200))
    votes = Tally(i, j, np.zeros_like(i), counts, nothing, nothing.astype(int))
    few, many = (tally_of(votes, size, by_annotator=False, by_side=by_side) for size in (5, 100))
    for name in ("i", "j", "k", "counts"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))
    assert few.counts.sum() == counts.sum() and (by_side or (few.i < few.j).all())
