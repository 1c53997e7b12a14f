"""Whom annotators met, whichever way it is found."""

import numpy as np
import pytest

from bayes_arena.votes import tally
from bayes_arena.votes.tally import Met


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
