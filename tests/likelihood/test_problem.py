"""Votes, a model and a prior as one: what is counted once."""

from dataclasses import replace

import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes import cells
from bayes_arena.votes.tally import tally_of


@pytest.fixture
def counted(arena_cells, monkeypatch):
    """Fresh cells, and a note of every tally: of which competitors in which order, and what it keeps apart."""
    notes = []

    def noted(rows, size, **apart):
        notes.append((rows.i.tobytes(), len(rows.features), len(rows.slices), *apart.values()))
        return tally_of(rows, size, **apart)

    monkeypatch.setattr(cells, "tally_of", noted)
    return arena_cells.take(slice(None)), notes


def test_other_spreads_count_no_vote_again(counted):
    cells, notes = counted
    problem = Problem.of(cells, "am-davidson", "default")
    wider = replace(problem, prior=ba.Prior(strength=2.0))
    assert wider.objective.tally is problem.objective.tally
    assert (problem.objective.strength_sd, wider.objective.strength_sd) == (1.0, 2.0)
    assert len(notes) == 1


@pytest.mark.parametrize("model", ["am-elo", "am-davidson"])
def test_a_marginal_fit_counts_the_votes_once_for_what_it_keeps_apart(counted, model):
    """And once more in the order in which its mode is looked for."""
    cells, notes = counted
    ba.fit(cells, model=model, robust=False)
    assert len(notes) == len(set(notes))


def test_one_annotator_has_no_directions():
    cells = ba.read_votes(frame([("x", "y", "x", "j"), ("y", "z", "y", "j")]))
    with pytest.raises(ba.ModelError, match="One annotator alone cannot disagree"):
        ba.fit(cells, dimensions=1)


def test_a_spread_that_no_model_has_is_refused():
    assert ba.Prior().spread("strength_by_age") == 1.0
    with pytest.raises(ba.ModelError, match=r"No spread is called 'age'.*'strength_by_age'"):
        ba.Prior().spread("age")
