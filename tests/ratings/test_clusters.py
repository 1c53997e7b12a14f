"""Clusters of votes other than annotators: by hand, what changes nothing, the bootstrap, and intervals too narrow."""

import math
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import prompted, single_votes

import bayes_arena as ba
from bayes_arena.ratings.intervals.robust import Sandwich

BY_PROMPT = ba.Clustered(by="prompt")
DAVIDSON = ba.Model("davidson", ties="davidson")


@pytest.fixture(scope="module")
def cells():
    return prompted(prompts=15, votes=900, answers=1.5)


def renamed(cells: ba.Cells) -> ba.Cells:
    """The same votes under names of the prompts that sort the other way round."""
    codes = len(cells.slice_names["prompt"]) - 1 - cells.slices["prompt"]
    return replace(cells, slices={"prompt": codes})


def as_annotators(cells: ba.Cells) -> ba.Cells:
    """The same votes with the prompts for annotators."""
    names, codes = cells.slice_names["prompt"], cells.slices["prompt"]
    return replace(cells, annotators=names, annotator=codes, slices={}, slice_names={})


@pytest.mark.filterwarnings("ignore::bayes_arena.errors.LayoutWarning")
def test_scores_of_items_are_clustered_by_item_unless_another_interval_is_asked_for():
    right = np.random.default_rng(0).random((20, 3)) < [0.3, 0.5, 0.7]
    rows = [(item, f"m{system}", int(score)) for (item, system), score in np.ndenumerate(right)]
    fit = ba.fit(pl.DataFrame(rows, schema=["item", "model", "score"], orient="row"), method="map")
    table = ba.strengths(fit)
    assert table.equals(ba.strengths(fit, interval=ba.Clustered(by="item")))
    assert (table["sd"] != ba.strengths(fit, interval="laplace")["sd"]).all()


def test_two_competitors_on_three_prompts_by_hand():
    """Bradley-Terry without ties: d = logit(5 / 8); the score of a prompt is its wins less 5/8 of its votes."""
    outcome = np.array([0, 0, 1, 0, 1, 1, 0, 0])
    prompt = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    cells = single_votes(np.zeros(8, dtype=int), np.ones(8, dtype=int), outcome, prompt=prompt)
    fit = ba.fit(cells, model="m-elo", prior="flat")
    table = ba.contrasts(fit, [("0", "1")], interval=BY_PROMPT)
    scores = np.array([2 - 3 * 5 / 8, 1 - 2 * 5 / 8, 2 - 3 * 5 / 8])
    assert table.loc[0, "difference"] == pytest.approx(math.log(5 / 3))
    assert table.loc[0, "sd"] == pytest.approx(math.sqrt(3 / 2 * (scores**2).sum()) / (8 * 15 / 64))
    student = 4.302652729911275  # 97.5 % of Student's t with two degrees of freedom
    assert table.loc[0, "upper"] == pytest.approx(table.loc[0, "difference"] + student * table.loc[0, "sd"])
    assert table.attrs == {"level": 0.95, "interval": "clustered", "by": "prompt"}


def test_every_vote_its_own_prompt_is_the_sandwich(cells):
    rows = len(cells.a)
    alone = replace(
        cells,
        slices={"prompt": np.arange(rows)},
        slice_names={"prompt": tuple(f"{row:04}" for row in range(rows))},
    )
    for model in ("m-elo", ba.Model("davidson", ties="davidson", position="common")):
        fit = ba.fit(alone, model=model, method="map", answers=False)
        sandwich, clustered = (ba.strengths(fit, interval=interval)["sd"] for interval in ("sandwich", BY_PROMPT))
        np.testing.assert_allclose(clustered, math.sqrt(rows / (rows - 1)) * sandwich, rtol=1e-9)


def test_a_prompt_is_a_cluster_like_an_annotator(cells):
    """Where theta is fixed, prompts read as annotators give what prompts do."""
    with warnings.catch_warnings(action="error"):
        by_prompt = ba.leaderboard(ba.fit(cells, model="m-elo", answers=False), interval=BY_PROMPT)
        by_annotator = ba.leaderboard(ba.fit(as_annotators(cells), model="m-elo", answers=False), interval="clustered")
    np.testing.assert_allclose(by_prompt[["lower", "upper"]], by_annotator[["lower", "upper"]], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["m-elo", "am-davidson", ba.Model("soft", "annotator", position="annotator")])
def test_names_of_prompts_do_not_matter(model, arena_cells):
    codes = np.random.default_rng(0).integers(9, size=len(arena_cells.a))
    cells = replace(arena_cells, slices={"prompt": codes}, slice_names={"prompt": tuple("abcdefghi")})
    fit, other = (ba.fit(each, model=model, method="map", answers=False) for each in (cells, renamed(cells)))
    plain, turned = (ba.leaderboard(each, interval=BY_PROMPT) for each in (fit, other))
    np.testing.assert_allclose(turned[["lower", "upper"]], plain[["lower", "upper"]], rtol=1e-10)


def test_fractional_weights_scale_nothing_but_the_prior(cells):
    whole, half = (
        ba.fit(each, model="m-elo", prior="flat") for each in (cells, replace(cells, counts=0.5 * cells.counts))
    )
    for interval in (BY_PROMPT, ba.Bootstrap(resamples=5, by="prompt")):
        plain, halves = (ba.strengths(each, interval=interval)["sd"] for each in (whole, half))
        np.testing.assert_allclose(halves, plain, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "method"), [("m-elo", "map"), ("am-davidson", "map"), ("am-davidson", "marginal")])
def test_the_bootstrap_by_prompt_spreads_like_the_sandwich_by_prompt(model, method):
    cells = prompted(prompts=60, votes=2400, competitors=5)
    annotator = np.random.default_rng(1).integers(4, size=len(cells.a))
    order = np.lexsort([annotator, cells.b, cells.a])
    fit = ba.fit(
        replace(cells, annotators=tuple("pqrs"), annotator=annotator).take(order),
        model=model,
        method=method,
        answers=False,
    )
    drawn = ba.Bootstrap(resamples=400, seed=1, by="prompt").sampled(fit).samples
    bounds = ba.leaderboard(fit, interval=BY_PROMPT).sort_values("competitor")
    student = 2.0009953780882674  # 97.5 % of Student's t with 59 degrees of freedom
    sd = (bounds["upper"] - bounds["lower"]) / (2 * student * 400 / math.log(10))
    ratio = drawn.elo_strength.std(axis=0, ddof=1) / sd
    assert np.abs(ratio - 1).max() < 0.2
    assert ratio.mean() == pytest.approx(1, abs=0.08)


@pytest.mark.slow
def test_draws_by_prompt_spread_as_the_bounds_say(cells):
    fit = ba.fit(cells, model=ba.Model("davidson", ties="davidson"))
    drawn = ba.draw(BY_PROMPT.sampled(fit)).elo_strength
    board = ba.leaderboard(fit, interval=BY_PROMPT, level=0.8).sort_values("competitor")
    bounds = 1000 + 400 / math.log(10) * np.quantile(drawn, [0.1, 0.9], axis=0)
    width = np.ptp(bounds, axis=0)
    assert (np.abs(bounds - board[["lower", "upper"]].to_numpy().T) < 0.05 * width).all()


@pytest.mark.slow
def test_the_bootstrap_by_prompt_is_seeded_and_takes_whole_prompts(cells):
    fit = ba.fit(cells, model="m-elo", answers=False)
    tables = [ba.strengths(fit, interval=ba.Bootstrap(10, seed, by="prompt")) for seed in (5, 5, 6)]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])
    assert tables[0].attrs == {"level": 0.95, "interval": "bootstrap", "resamples": 10, "seed": 5, "by": "prompt"}
    with pytest.warns(ba.DependentVotesWarning):
        by_vote = ba.strengths(fit, interval=ba.Bootstrap(30))
    assert (ba.strengths(fit, interval=ba.Bootstrap(30, by="prompt"))["sd"] > by_vote["sd"]).mean() > 0.5


def test_clusters_that_are_not_there(cells):
    fit = ba.fit(cells, model="m-elo", answers=False)
    for interval in (ba.Clustered(), ba.Bootstrap(by="annotator")):
        with pytest.raises(ba.ModelError, match=r"by 'annotator': they carry prompt"):
            ba.leaderboard(fit, interval=interval)
    one = replace(cells, slices={"prompt": np.zeros_like(cells.a)}, slice_names={"prompt": ("only",)})
    with pytest.raises(ba.ModelError, match="every vote is on 'only'"):
        ba.leaderboard(ba.fit(one, model="m-elo", answers=False), interval=BY_PROMPT)


@pytest.mark.parametrize("table", [ba.leaderboard, ba.strengths, ba.contrasts])
@pytest.mark.parametrize("interval", ["laplace", "sandwich"])
def test_intervals_that_overlook_prompts_say_how_much_too_narrow_they_are(cells, table, interval):
    fit = ba.fit(cells, model=DAVIDSON)
    with pytest.warns(ba.DependentVotesWarning, match="clustered by prompt") as caught:
        plain = table(fit, interval=interval)
    assert caught[0].filename == __file__
    keys = [name for name in ("competitor", "opponent") if name in plain]
    widths = [
        (each["upper"] - each["lower"]).to_numpy()
        for each in (table(fit, interval=BY_PROMPT).sort_values(keys), plain.sort_values(keys))
    ]
    expected = np.median(widths[0] / widths[1]) * 1.959963984540054 / 2.1447866879169273  # t, 14
    said = float(str(caught[0].message).split(" times")[0].rsplit(" ", 1)[1])
    assert said == pytest.approx(expected, abs=0.06)
    assert said > 1.5


def test_two_prompts_are_enough_to_be_told_of(cells):
    two = replace(cells, slices={"prompt": cells.slices["prompt"] % 2}, slice_names={"prompt": ("x", "y")})
    lost = np.where((two.slices["prompt"] == 1)[:, None], cells.counts[:, [1, 0, 2, 3]], cells.counts)
    with pytest.warns(ba.DependentVotesWarning, match="clustered by prompt"):
        ba.leaderboard(ba.fit(replace(two, counts=lost), model=DAVIDSON))


def test_nothing_is_said_where_nothing_is_overlooked(cells):
    alike = prompted(prompts=15, votes=900, answers=0.0)
    without = replace(cells, slices={}, slice_names={})
    rows = len(cells.a)
    once = replace(
        cells,
        slices={"prompt": np.arange(rows)},
        slice_names={"prompt": tuple(f"{row:04}" for row in range(rows))},
    )
    category = replace(cells, slices={"category": cells.slices["prompt"]}, slice_names={"category": ("x",) * 15})
    with warnings.catch_warnings(action="error"):
        for votes in (alike, without, once, category):
            ba.leaderboard(ba.fit(votes, model=DAVIDSON))
        for interval in (BY_PROMPT, ba.Bootstrap(5, by="prompt")):
            ba.leaderboard(ba.fit(cells, model=DAVIDSON), interval=interval)


def test_posteriors_that_overlook_prompts_are_told_too(cells):
    fit = ba.fit(cells, model=DAVIDSON)
    with pytest.warns(ba.DependentVotesWarning, match="times as large"):
        ba.leaderboard(replace(fit, samples=ba.draw(fit), method="posterior"))


def rankings(weight: float) -> ba.Cells:
    """Two hundred rankings of five among eight competitors (Plackett-Luce) as ten weighted pairs each."""
    rng = np.random.default_rng(2)
    pairs = np.array([(first, second) for first in range(5) for second in range(first + 1, 5)])
    rows = []
    for ranking in range(200):
        chosen = rng.choice(8, 5, replace=False)
        order = chosen[np.argsort(-(np.linspace(-1, 1, 8)[chosen] + rng.gumbel(size=5)))]
        rows += [(*sorted(pair), int(pair[0] > pair[1]), ranking) for pair in order[pairs].tolist()]
    a, b, outcome, ranking = np.array(rows).T
    cells = single_votes(a, b, outcome, ranking=ranking)
    return replace(cells, counts=weight * cells.counts)


def test_rankings_are_clusters_whose_pairs_want_a_weight():
    """Ten pairs of one ranking are worth about six votes: weighted so, nothing is too narrow."""
    with pytest.warns(ba.DependentVotesWarning, match=r"Votes share rankings.*clustered --by ranking\)\.$"):
        ba.strengths(ba.fit(rankings(1.0), model="m-elo", prior="flat"))
    with warnings.catch_warnings(action="error"):
        fit = ba.fit(rankings(0.6), model="m-elo", prior="flat")
        plain, clustered = (ba.strengths(fit, interval=each)["sd"] for each in ("laplace", ba.Clustered("ranking")))
    assert np.median(clustered / plain) == pytest.approx(1, abs=0.1)


ANSWERS = ba.Model("answers", ties="davidson", strength_by=("prompt",), ties_by=("prompt",))


def test_answers_in_the_model_are_no_oversight(cells):
    fit = ba.fit(cells, model=ANSWERS, method="map")
    with warnings.catch_warnings(action="error"):
        ba.leaderboard(fit)


@pytest.mark.parametrize("interval", [BY_PROMPT, Sandwich(), ba.Bootstrap(5, by="prompt")])
def test_a_model_with_answers_has_the_intervals_of_its_posterior(cells, interval):
    with pytest.raises(ba.ModelError, match=r"'answers' has them by prompt.*answers=False"):
        ba.strengths(ba.fit(cells, model=ANSWERS, method="map"), interval=interval)
