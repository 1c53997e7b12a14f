"""Judging by the right split: whole prompts or annotators left out, and what is said of splits by vote."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers import prompted

import bayes_arena as ba
from bayes_arena.validation.cross_validation import split_groups
from bayes_arena.validation.prediction import predict_cells
from bayes_arena.votes.cells import with_counts

MODEL = ba.Model("davidson", ties="davidson")
DAVIDSON = partial(ba.fit, model=MODEL)
SOFT = partial(ba.fit, model="bradley-terry", answers=False)


@pytest.fixture(scope="module")
def cells():
    return prompted(prompts=12, votes=500)


def test_splits_leave_out_whole_prompts(cells):
    seen = []
    for kept, left_out in split_groups(cells, "prompt", splits=4, test=0.25, seed=1):
        parts = [set(part.slice_names["prompt"]) for part in (kept, left_out)]
        assert [len(part) for part in parts] == [9, 3]
        assert not parts[0] & parts[1]
        assert kept.n_votes + left_out.n_votes == cells.n_votes
        assert kept.competitors == left_out.competitors == cells.competitors
        seen.append(frozenset(parts[1]))
    assert len(set(seen)) > 1


@pytest.mark.slow
def test_every_vote_of_a_prompt_left_out_is_scored_once(cells):
    """As many folds as prompts: the mean and its clustered error from the votes of every prompt by hand."""
    table = ba.kfold(cells, {"davidson": DAVIDSON}, over="prompt", folds=12)
    sums, votes = np.zeros(12), np.zeros(12)
    for prompt in range(12):
        inside = (cells.slices["prompt"] == prompt)[:, None]
        log_p = predict_cells(DAVIDSON(with_counts(cells, cells.counts * ~inside)), cells).log_p
        sums[prompt] = ((cells.counts * inside)[:, :3].T * log_p).sum()
        votes[prompt] = (cells.counts * inside).sum()
    assert table.loc[0, "log_score"] == pytest.approx(sums.sum() / 500)
    error = np.sqrt(12 / 11 * ((sums - votes * sums.sum() / 500) ** 2).sum()) / 500
    assert table.loc[0, "log_score_se"] == pytest.approx(error)


def test_fractional_weights_only_scale_what_is_split_by_prompt(cells):
    models, flat = {"flat": partial(ba.fit, model=MODEL, prior="flat")}, {"over": "prompt"}
    half = replace(cells, counts=0.5 * cells.counts)
    for judge in (partial(ba.kfold, folds=4), partial(ba.held_out, splits=2)):
        whole, halves = (judge(votes, models, **flat).drop(columns="name") for votes in (cells, half))
        np.testing.assert_allclose(halves, whole, rtol=1e-6, atol=1e-12)


@pytest.mark.slow
def test_a_split_by_vote_says_that_it_is_of_these_prompts(cells):
    with pytest.warns(ba.DependentVotesWarning, match=r"further votes on these prompts.*over='prompt'"):
        table = ba.held_out(cells, {"soft": SOFT}, splits=2)
    assert table.attrs == {"over": "vote", "question": "another vote on the same prompts"}
    table = ba.held_out(cells, {"soft": SOFT}, splits=2, over="prompt")
    assert table.attrs == {"over": "prompt", "question": "a vote on a new prompt"}
    once = replace(
        cells,
        slices={"prompt": np.arange(len(cells.a))},
        slice_names={"prompt": tuple(f"{row:04}" for row in range(len(cells.a)))},
    )
    other = replace(cells, slices={"category": cells.slices["prompt"]}, slice_names={"category": ("x",) * 12})
    for votes in (once, other):
        with warnings.catch_warnings(action="error"):
            ba.held_out(votes, {"soft": SOFT}, splits=2)


def test_the_groups_have_to_be_there(cells, arena_cells):
    with pytest.raises(ba.ModelError, match=r"by 'language': they carry prompt.*--slice language"):
        ba.kfold(cells, {"soft": SOFT}, over="language")
    with pytest.raises(ba.ModelError, match=r"they carry annotator.*--prompt COLUMN"):
        ba.held_out(arena_cells, {"soft": SOFT}, over="prompt")
    with pytest.raises(ba.ModelError, match="number of prompts, 12, not 13"):
        ba.kfold(cells, {"soft": SOFT}, over="prompt", folds=13)
    with pytest.raises(ba.ModelError, match=r"some of 12 prompts on each side, not 0\.01"):
        ba.held_out(cells, {"soft": SOFT}, over="prompt", test=0.01)


@pytest.mark.slow
def test_annotators_left_out_at_random_are_somebody_new(arena_cells):
    models = {"am": partial(ba.fit, model="am-davidson")}
    table = ba.held_out(arena_cells, models, over="annotator", splits=2, test=0.4)
    logs = []
    for kept, left_out in split_groups(arena_cells, "annotator", splits=2, test=0.4, seed=0):
        log_p = predict_cells(models["am"](kept), left_out, new=True).log_p
        logs.append((left_out.counts[:, :3].T * log_p).sum() / left_out.n_votes)
    assert table.loc[0, "log_score"] == pytest.approx(np.mean(logs))


def test_few_groups_are_not_split_more_often_than_they_can_be(arena_cells):
    thirds = np.arange(len(arena_cells.a)) % 3
    cells = replace(arena_cells, slices={"language": thirds}, slice_names={"language": ("de", "en", "fr")})
    with pytest.raises(ba.ModelError, match=r"3 ways, not 4\. Leave each out once: kfold"):
        ba.held_out(cells, {"soft": SOFT}, splits=4, test=0.3, over="language")
