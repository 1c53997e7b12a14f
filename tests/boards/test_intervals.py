"""Intervals: formulas by hand, the default rule, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, ndtri, stdtrit

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import standing_of
from bayes_arena.votes.votes import kish
from tests.boards.arenas import columns, fitted

FLAT = {"model": "bradley-terry", "prior": "flat"}


def bread_and_scores(fit, votes):
    """Return the inverse information of Bradley-Terry, and the score of each vote."""
    index = {name: c for c, name in enumerate(fit.votes.competitors)}
    i = np.array([index[name] for name in votes["model_a"]])
    j = np.array([index[name] for name in votes["model_b"]])
    points = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}
    y = np.array([points[label] for label in votes["winner"]])
    p = expit(fit.strength[i] - fit.strength[j])
    contrast = np.eye(len(index))[i] - np.eye(len(index))[j]
    information = (contrast * (p * (1 - p))[:, None]).T @ contrast
    inverse = np.linalg.pinv(information, rcond=1e-9, hermitian=True)
    return inverse, contrast * (y - p)[:, None]


def test_the_sandwich_is_whites():
    votes, _ = columns(5, 300, tie=0.0)
    fit = ba.fit(votes, **FLAT)
    inverse, scores = bread_and_scores(fit, votes)
    expected = inverse @ scores.T @ scores @ inverse
    uncertainty = standing_of(fit, Look(interval="sandwich")).uncertainty
    np.testing.assert_allclose(uncertainty.covariance, expected, atol=1e-9)
    assert uncertainty.df == np.inf


def test_clusters_are_cr1_with_student_t():
    votes, _ = columns(5, 400, prompts=12, prompt_sd=0.7, tie=0.0)
    fit = ba.fit(votes, **FLAT)
    inverse, scores = bread_and_scores(fit, votes)
    _, prompt, sizes = np.unique(
        votes["prompt"], return_inverse=True, return_counts=True
    )
    totals = np.zeros((12, 5))
    np.add.at(totals, prompt, scores)
    expected = 12 / 11 * inverse @ totals.T @ totals @ inverse
    standing = standing_of(fit, Look(interval="clustered", cluster="prompt"))
    uncertainty = standing.uncertainty
    np.testing.assert_allclose(uncertainty.covariance, expected, atol=1e-9)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    assert uncertainty.df == pytest.approx(effective - 1)
    assert uncertainty.n_clusters == 12
    lower, upper = standing.bounds
    width = 2 * stdtrit(effective - 1, 0.975) * np.sqrt(np.diag(expected))
    np.testing.assert_allclose(upper - lower, width, atol=1e-8)


def test_kish_counts_equal_clusters_in_full():
    assert kish(np.full(7, 3.0)) == pytest.approx(7)
    assert kish(np.array([100.0, 1e-9])) == pytest.approx(1)


@pytest.mark.parametrize("model", ["bradley-terry", "davidson"])
def test_where_the_model_is_right_the_sandwich_is_the_posterior(model):
    """The prior's part is in it: else few votes would have intervals far too narrow."""
    rows = columns(8, 12_000, seed=4)[0]
    rows["model_a"] += ["rare"] * 3
    rows["model_b"] += ["m01", "m02", "m03"]
    rows["winner"] += ["model_a", "model_b", "model_a"]
    fit = ba.fit(rows, model=model)
    own = standing_of(fit, Look(interval="posterior")).uncertainty.sd
    other = standing_of(fit, Look(interval="sandwich")).uncertainty.sd
    rare = fit.votes.competitors.index("rare")
    assert 0.7 < other[rare] / own[rare] < 1.3
    if model == "davidson":  # half wins underdisperse
        np.testing.assert_allclose(np.delete(other / own, rare), 1, atol=0.05)


def test_repeating_prompts_are_clusters_by_default():
    fit = fitted(prompts=20, prompt_sd=1.0)
    board = ba.leaderboard(fit)
    assert board.attrs["interval"] == "clustered"
    assert board.attrs["notes"] == ("Intervals allow for new prompts like these.",)
    explicit = ba.leaderboard(fit, interval="clustered", cluster="prompt")
    assert board.equals(explicit)
    plain = ba.leaderboard(fit, interval="posterior")
    width = (board["upper"] - board["lower"]).mean()
    assert width > 1.2 * (plain["upper"] - plain["lower"]).mean()


def test_prompts_that_hardly_repeat_are_none():
    fit = fitted(votes=300, prompts=3_000)
    assert ba.leaderboard(fit).attrs["interval"] == "posterior"
    assert ba.leaderboard(fit).attrs["notes"] == ()


def test_few_prompts_are_all_that_the_board_is_about():
    attrs = ba.leaderboard(fitted(prompts=5)).attrs
    assert attrs["interval"] == "posterior"
    assert attrs["notes"][0].startswith("The board is about these 5 prompts only")


def test_annotators_can_be_clusters():
    fit = ba.fit(ba.example_arena().votes)
    board = ba.leaderboard(fit, cluster="annotator")
    assert (board.attrs["interval"], board.attrs["cluster"]) == (
        "clustered",
        "annotator",
    )


def test_who_was_seen_on_one_prompt_is_no_surer_for_it():
    rows = columns(5, 500, prompts=12)[0]
    rows["model_a"] += ["lone"] * 12
    rows["model_b"] += ["m01", "m02", "m03"] * 4
    rows["winner"] += ["model_a", "model_b"] * 6
    rows["prompt"] += ["p003"] * 12
    fit = ba.fit(rows)
    own = standing_of(fit, Look(interval="posterior"))
    standing = standing_of(fit)
    lone = fit.votes.competitors.index("lone")
    assert standing.uncertainty.sd[lone] >= 0.999 * own.uncertainty.sd[lone]
    assert any("'lone'" in str(note) for note in standing.notes)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"interval": "wald"}, "posterior, clustered, sandwich, bootstrap"),
        ({"interval": "profile"}, "strengths"),
        ({"interval": "posterior", "cluster": "prompt"}, "goes with"),
        ({"interval": "clustered"}, "neither prompts nor annotators"),
        ({"cluster": "annotator"}, "do not say who voted"),
        ({"cluster": "month"}, "no slice 'month'"),
        ({"level": 95}, "between 0 and 1"),
        ({"seed": -1}, "seed"),
        ({"min_votes": -1}, "min_votes"),
    ],
)
def test_what_makes_no_sense_is_refused(options, error):
    with pytest.raises(ba.ArenaError, match=error):
        ba.leaderboard(fitted(votes=100), **options)


def test_a_single_cluster_has_no_spread():
    votes = columns(votes=100)[0] | {"month": ["may"] * 100}
    with pytest.raises(ba.errors.ModelError, match="single cluster"):
        ba.leaderboard(ba.fit(votes, slices=("month",)), cluster="month")


def sampled(fit, size=100, seed=0):
    """Return a fit with draws of its Gaussian as if NUTS had sampled them."""
    draws = ba.draw(fit, 2 * size, seed)
    samples = {name: d.reshape(2, size, -1) for name, d in draws.items()}
    marginals = replace(fit.marginals, samples=samples)
    return replace(fit, method="nuts", marginals=marginals)


@pytest.mark.slow
def test_nuts_has_its_own_intervals_only():
    fit = sampled(fitted(prompts=20))
    board = ba.leaderboard(fit)
    assert board.attrs["interval"] == "posterior"
    assert "do not allow for new ones" in board.attrs["notes"][0]
    with pytest.raises(ba.errors.ModelError, match="posterior only"):
        ba.leaderboard(fit, interval="clustered")


@pytest.mark.slow
def test_nuts_has_the_samples_quantiles_and_ranks():
    fit = sampled(fitted())
    standing = standing_of(fit)
    lower, upper = standing.bounds
    expected = np.quantile(fit.marginals.board.samples, [0.025, 0.975], axis=0)
    np.testing.assert_allclose([lower, upper], expected)
    share = np.bincount(fit.marginals.board.samples.argmax(axis=1), minlength=6)
    np.testing.assert_allclose(
        standing.p_best, share[standing.ranked] / share.sum(), atol=1e-12
    )
    gaussian = ba.leaderboard(fitted())
    board = ba.leaderboard(fit)
    np.testing.assert_allclose(board["elo"], gaussian["elo"], atol=8)
    np.testing.assert_allclose(board["lower"], gaussian["lower"], atol=15)


@pytest.mark.slow
def test_the_bootstrap_is_near_the_sandwich():
    fit = fitted(votes=800, **FLAT, tie=0.0)
    sandwich = standing_of(fit, Look(interval="sandwich")).uncertainty.sd
    bootstrap = standing_of(fit, Look(interval="bootstrap", seed=1)).uncertainty.sd
    assert np.abs(np.log(bootstrap / sandwich)).max() < 0.2
    again = standing_of(fit, Look(interval="bootstrap", seed=1)).uncertainty.sd
    np.testing.assert_array_equal(again, bootstrap)


@pytest.mark.slow
def test_the_bootstrap_of_clusters_is_near_the_clustered():
    fit = fitted(votes=1500, prompts=40, prompt_sd=1.0, **FLAT)
    clustered = standing_of(fit, Look(interval="clustered")).uncertainty
    bootstrap = standing_of(
        fit, Look(interval="bootstrap", cluster="prompt")
    ).uncertainty
    assert bootstrap.n_clusters == clustered.n_clusters == 40
    assert np.abs(np.log(bootstrap.sd / clustered.sd)).max() < 0.25


@pytest.mark.slow
def test_resamples_without_an_estimate_are_said():
    rows = columns(4, 60, tie=0.0, seed=2)[0]
    rows["model_a"] += ["rare", "rare"]
    rows["model_b"] += ["m01", "m02"]
    rows["winner"] += ["model_a", "model_b"]
    fit = ba.fit(rows, **FLAT)
    with pytest.raises(ba.errors.NotIdentifiedError, match="resamples"):
        ba.leaderboard(fit, interval="bootstrap")


@pytest.mark.slow
def test_intervals_hold_for_new_prompts():
    inside, plain = [], []
    for seed in range(40):
        votes, strength = columns(10, 1500, prompts=20, prompt_sd=0.5, seed=seed)
        fit = ba.fit(votes)
        for interval, hits in ((None, inside), ("posterior", plain)):
            standing = standing_of(fit, Look(interval=interval))
            lower, upper = standing.bounds
            truth = strength * (standing.strength @ strength) / (strength @ strength)
            hits.append(np.mean((lower <= truth) & (truth <= upper)))
    assert 0.91 < np.mean(inside) < 0.985
    assert np.mean(plain) < np.mean(inside) - 0.04


def test_the_level_is_the_quantile():
    fit = fitted()
    wide, narrow = (standing_of(fit, Look(level=level)) for level in (0.95, 0.5))
    ratio = (wide.bounds[1] - wide.strength) / (narrow.bounds[1] - narrow.strength)
    np.testing.assert_allclose(ratio, ndtri(0.975) / ndtri(0.75), rtol=1e-9)


@pytest.mark.slow
def test_few_clusters_are_said_to_be_few():
    votes = ba.example_arena().votes.assign(language=lambda x: np.arange(len(x)) % 2)
    fit = ba.fit(ba.read_votes(votes, slices=("language",)))
    few = "2 levels of language are few: how new ones differ they cannot tell."
    for interval in ("clustered", "bootstrap"):
        board = ba.leaderboard(fit, interval=interval, cluster="language")
        assert few in board.attrs["notes"]
    board = ba.leaderboard(fit, cluster="annotator")
    assert "Intervals allow for new annotators like these." in board.attrs["notes"]


def test_one_annotator_with_most_of_the_votes_is_said_to_be_so():
    votes = ba.example_arena().votes
    votes.loc[: len(votes) // 2, "judge"] = "annotator-01"
    board = ba.leaderboard(ba.fit(votes), cluster="annotator")
    few = "Few of the 42 annotators have most of the votes: how new ones differ they"
    assert any(note.startswith(few) for note in board.attrs["notes"])
