"""The paper's experiments: perturbed annotators, gradient descent, and how rankings and detections are scored."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from helpers import frame, panel
from hypothesis import given, strategies as st

import bayes_arena as ba
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import FLAT
from bayes_arena.paper import convergence as experiments
from bayes_arena.paper.convergence import LEARNING_RATE, C, convergence, descend, loss_and_gradient
from bayes_arena.paper.measures import consistency, detection, pairwise_consistency
from bayes_arena.paper.perturbation import KINDS, elo, fitted, perturb, stability
from bayes_arena.paper.summaries import figure6

FLAT_METHODS = {name: partial(fitted, model=name, prior="flat") for name in ("m-elo", "am-elo")}


def target_of(cells, model):
    return objective(cells, PRESETS[model], FLAT)


# --- measures ---------------------------------------------------------------------------------------------------------


def test_consistency_counts_pairs_ordered_alike():
    x = np.array([3.0, 2.0, 1.0, 0.0])
    assert consistency(x, 10 * x + 7) == 1
    assert consistency(x, -x) == 0
    assert consistency(x, np.array([2.0, 3.0, 1.0, 0.0])) == 5 / 6
    assert consistency(x, np.array([3.0, 2.0, 2.0, 0.0])) == 5 / 6  # a tie is no order of the two
    assert consistency(np.array([1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0])) == 1


def test_two_orders_one_way_and_three_the_other_are_the_papers_point_four():
    x = np.arange(7.0)
    assert pairwise_consistency(np.array([x, -x, x, -x, x])) == pytest.approx(0.4)


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_pairwise_consistency_is_the_mean_over_pairs(seed):
    scores = np.random.default_rng(seed).integers(0, 4, size=(4, 5)).astype(float)
    pairs = [
        np.mean([np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) for i, j in combinations(range(5), 2)])
        for x, y in combinations(scores, 2)
    ]
    assert pairwise_consistency(scores) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("scores", [np.ones((1, 3)), np.ones((2, 1)), np.ones(3), np.array([[1.0, np.nan], [1, 2]])])
def test_consistency_needs_two_finite_rankings(scores):
    with pytest.raises(ba.ModelError, match="finite scores"):
        pairwise_consistency(scores)
    with pytest.raises(ba.ModelError, match="3 and 2"):
        consistency(np.ones(3), np.ones(2))


def test_detection_known_answers():
    found = detection(["a", "b", "c"], ["b", "c", "d", "e"])
    assert (found.precision, found.recall) == (2 / 3, 1 / 2)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert detection("ab", "ab").f1 == 1
    assert detection("a", "b").f1 == 0
    nobody, missed, false = detection([], []), detection([], ["a"]), detection(["a"], [])
    assert (nobody.precision, nobody.recall, nobody.f1) == (1, 1, 1)
    assert (missed.precision, missed.recall, missed.f1) == (1, 0, 0)
    assert (false.precision, false.recall, false.f1) == (0, 1, 0)


# --- perturbation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("share", "size"), [(0, 0), (0.2, 1), (0.45, 2), (0.5, 3), (1, 5)])
def test_a_perturbation_keeps_every_vote_and_touches_nobody_else(four_outcomes, kind, share, size):
    before = four_outcomes.counts.copy()
    perturbed, who = perturb(four_outcomes, kind, share, seed=4)
    assert len(who) == len(set(who)) == size
    touched = np.isin(np.array(four_outcomes.annotators)[four_outcomes.annotator], who)
    np.testing.assert_array_equal(perturbed.counts[~touched], before[~touched])
    np.testing.assert_array_equal(perturbed.counts.sum(axis=1), before.sum(axis=1))
    assert (perturbed.counts >= 0).all()
    assert (perturbed.counts == np.rint(perturbed.counts)).all()
    assert (perturbed.counts[touched] != before[touched]).any() == (size > 0)
    np.testing.assert_array_equal(four_outcomes.counts, before)
    for name in ("a", "b", "annotator"):
        np.testing.assert_array_equal(getattr(perturbed, name), getattr(four_outcomes, name))


def test_the_seed_settles_who_and_what(four_outcomes):
    first, again, other = (perturb(four_outcomes, "mixed", 0.45, seed) for seed in (1, 1, 2))
    assert first[1] == again[1]
    np.testing.assert_array_equal(first[0].counts, again[0].counts)
    assert (first[0].counts != other[0].counts).any()
    assert len({perturb(four_outcomes, kind, 0.45, 1)[1] for kind in KINDS}) == 1


def test_flip_twice_is_the_identity(four_outcomes):
    once, who = perturb(four_outcomes, "flip", 0.5, seed=1)
    twice, again = perturb(once, "flip", 0.5, seed=1)
    assert who == again
    np.testing.assert_array_equal(twice.counts, four_outcomes.counts)


def test_equal_has_only_ties(four_outcomes):
    perturbed, _ = perturb(four_outcomes, "equal", 1, seed=1)
    np.testing.assert_array_equal(perturbed.counts[:, 2], four_outcomes.counts.sum(axis=1))


def test_random_never_keeps_the_winner_and_leaves_ties():
    votes = [("x", "y", "model_a", "k")] * 900 + [("y", "z", "tie", "k")] * 50 + [("x", "z", "both_bad", "k")] * 40
    cells, _ = perturb(ba.read_votes(frame(votes)), "random", 1, seed=2)
    by_pair = dict(zip(zip(cells.a.tolist(), cells.b.tolist(), strict=True), cells.counts.tolist(), strict=True))
    wins, turned, ties, bad = by_pair[0, 1]
    assert (wins, bad) == (0, 0)
    assert turned == pytest.approx(450, abs=5 * 15)  # five standard deviations of Binomial(900, 1/2)
    assert turned + ties == 900
    assert by_pair[1, 2] == [0, 0, 50, 0]
    assert by_pair[0, 2] == [0, 0, 0, 40]


def test_mixed_draws_one_of_the_three_for_each_vote():
    votes = [("x", "y", "model_a", "k")] * 1800 + [("x", "z", "both_bad", "k")] * 900
    cells, _ = perturb(ba.read_votes(frame(votes)), "mixed", 1, seed=2)
    wins, turned, ties, bad = cells.counts[0]
    assert (wins, bad) == (0, 0)
    assert turned == pytest.approx(900, abs=5 * 21)  # flip 1/3 and half of random's 1/3
    assert turned + ties == 1800
    np.testing.assert_allclose(cells.counts[1], [0, 0, 300, 600], atol=5 * 14)  # only equal makes both-bad a tie


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("shuffle", 0.1, 0), "one of"), (("flip", 1.1, 0), "between 0 and 1"), (("flip", 0.1, -1), "not negative")],
)
def test_impossible_perturbations(arena_cells, arguments, message):
    with pytest.raises(ba.ModelError, match=message):
        perturb(arena_cells, *arguments)


def test_perturbations_need_annotators_and_whole_votes(arena):
    with pytest.raises(ba.ModelError, match="no annotators"):
        perturb(ba.read_votes(arena.votes, annotator=False), "flip", 0.2, 0)
    with pytest.raises(ba.ModelError, match="fractional"):
        perturb(ba.read_votes(arena.votes.with_columns(w=0.5), weight="w"), "flip", 0.2, 0)


# --- gradient descent -------------------------------------------------------------------------------------------------


def by_vote(arena, cells, scores, theta):
    """The paper's equations 2 and 5, vote by vote; C for theta where there is none."""
    i, j = (np.array([cells.competitors.index(name) for name in arena.votes[side]]) for side in ("model_a", "model_b"))
    k = np.array([cells.annotators.index(name) for name in arena.votes["judge"]])
    w = arena.votes["winner"].replace_strict({"model_a": 1.0, "tie": 0.5, "model_b": 0.0}).to_numpy()
    p = 1 / (1 + np.exp(-(theta[k] if len(theta) else np.log(10) / 400) * (scores[i] - scores[j])))
    return -np.sum(w * np.log(p) + (1 - w) * np.log(1 - p))


@pytest.mark.parametrize(("model", "normalised"), [("m-elo", False), ("am-elo", False), ("am-elo", True)])
def test_loss_and_gradient_are_those_of_the_paper(arena, arena_cells, model, normalised):
    target = target_of(arena_cells, model)
    rng = np.random.default_rng(1)
    scores = rng.normal(size=6) * (200 if model == "m-elo" else 1)
    theta = rng.normal(1, 0.5, size=5) if model == "am-elo" else np.zeros(0)
    loss, *gradient = loss_and_gradient(target, scores, theta, normalised=normalised)

    def value(x):
        own = x[6:] / x[6:].sum() if normalised else x[6:]
        return by_vote(arena, arena_cells, x[:6], own)

    x = np.concatenate([scores, theta])
    assert loss == pytest.approx(value(x), rel=1e-12)
    steps = 1e-5 * np.eye(len(x)) * (100 if model == "m-elo" else 1)
    numeric = [(value(x + step) - value(x - step)) / (2 * step.sum()) for step in steps]
    np.testing.assert_allclose(np.concatenate(gradient), numeric, rtol=1e-5, atol=1e-6)


def test_the_first_step_of_adam_has_the_length_of_the_learning_rate(arena_cells):
    run = descend(arena_cells, model="m-elo", epochs=1)
    np.testing.assert_allclose(np.abs(run.scores[1] - run.scores[0]), LEARNING_RATE, rtol=1e-4)
    assert len(run.discrimination) == 0


@pytest.mark.slow
def test_descent_ends_where_newton_is_at_once(arena_cells, monkeypatch):
    run = descend(arena_cells, epochs=1500)
    fit = ba.fit(arena_cells, model="am-elo", prior="flat")
    assert run.discrimination.sum() == pytest.approx(1)
    assert run.loss[-1] == pytest.approx(fit.mean_loss, abs=1e-5)
    assert run.loss.min() >= fit.mean_loss - 1e-12
    np.testing.assert_allclose(5 * run.discrimination, fit.discrimination, atol=0.02)
    np.testing.assert_allclose((run.scores[-1] - run.scores[-1].mean()) / 5, fit.strength, atol=0.02)
    monkeypatch.setattr(experiments, "LEARNING_RATE", 1.0)  # the way is ten times as long in points
    plain = descend(arena_cells, model="m-elo", epochs=1500)
    points = C * (plain.scores[-1] - plain.scores[-1].mean())
    np.testing.assert_allclose(points, ba.fit(arena_cells, model="m-elo", prior="flat").strength, atol=1e-3)


@pytest.mark.slow
def test_normalisation_settles_the_direction():
    """From starts in both directions, only the normalised model ends in one ranking."""
    cells = panel({"good": (16, 4), "fine": (14, 6), "odd": (13, 7)})
    ends = {
        kept: pairwise_consistency(
            np.array([descend(cells, normalised=kept, epochs=400, seed=seed).scores[-1] for seed in range(6)])
        )
        for kept in (True, False)
    }
    assert ends[True] == 1
    assert ends[False] < 0.7


def test_seeds_give_starts(arena_cells):
    first, again, other = (descend(arena_cells, epochs=3, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.scores, again.scores)
    assert (first.scores[0] != other.scores[0]).all()


@pytest.mark.slow
def test_convergence_table(arena_cells):
    table = convergence(arena_cells, starts=3, epochs=20, seed=7)
    runs = [descend(arena_cells, epochs=20, seed=seed) for seed in (7, 8, 9)]
    own = table[table["method"] == "am-elo"]
    assert own["epoch"].tolist() == list(range(21))
    np.testing.assert_allclose(own["loss"], np.mean([run.loss for run in runs], axis=0))
    assert own["consistency"].iloc[-1] == pairwise_consistency(np.array([run.scores[-1] for run in runs]))
    rows = table.set_index("method")
    for model in ("m-elo", "am-elo"):
        newton, fit = rows.loc[f"newton {model}"], ba.fit(arena_cells, model=model, prior="flat")
        assert newton["loss"] == pytest.approx(fit.mean_loss, abs=1e-10)
        assert newton["consistency"] == 1
        assert 1 < newton["epoch"] < 20
    assert rows.loc["elo", "loss"] > rows.loc["newton m-elo", "loss"]


def test_convergence_compares_several_starts_of_one_arena(arena_cells):
    with pytest.raises(ba.ModelError, match="two starts"):
        convergence(arena_cells, starts=1)
    apart = ba.read_votes(frame([("x", "y", "model_a", "k"), ("u", "v", "tie", "k")]))
    with pytest.raises(ba.errors.NotIdentifiedError, match="never compared"):
        convergence(apart, epochs=1)


@pytest.mark.slow
def test_figure_5_on_real_votes(llmfao_50):
    free = [descend(llmfao_50, normalised=False, epochs=300, seed=seed).scores[-1] for seed in range(5)]
    assert pairwise_consistency(np.array(free)) == pytest.approx(0.4)  # two mirror orders
    for model in ("m-elo", "am-elo"):
        runs = [descend(llmfao_50, model=model, seed=seed) for seed in range(2)]
        assert consistency(*(run.scores[-1] for run in runs)) > 0.99
        fit = ba.fit(llmfao_50, model=model, prior="flat")
        assert fit.mode.iterations < 10
        assert all(fit.mean_loss < run.loss.min() - 1e-9 for run in runs)


# --- stability --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_stability_table():
    cells = ba.read_votes(ba.simulate(competitors=8, annotators=12, votes=1200, seed=1).votes)
    methods = {**FLAT_METHODS, "elo": elo}
    table = stability(cells, kinds=("flip", "equal"), shares=(0.0, 0.25), seeds=(0, 1), methods=methods)
    assert list(table.columns) == ["kind", "share", "seed", "method", "consistency", "warned"]
    assert len(table) == 2 * 2 * 2 * 3
    assert (table.loc[table["share"] == 0, "consistency"] == 1).all()
    perturbed, _ = perturb(cells, "flip", 0.25, 1)
    row = table.query("kind == 'flip' and share == 0.25 and seed == 1 and method == 'm-elo'")
    before, after = (ba.fit(votes, model="m-elo", prior="flat").strength for votes in (cells, perturbed))
    assert row["consistency"].item() == consistency(before, after) < 1
    again = stability(cells, kinds=("flip",), shares=(0.25,), seeds=(1,), methods=FLAT_METHODS)
    assert again.loc[again["method"] == "m-elo", "consistency"].item() == row["consistency"].item()


def test_a_ranking_that_the_votes_do_not_settle_is_marked():
    cells = panel({f"k{index}": (8, 2) for index in range(5)})
    table = stability(cells, kinds=("flip",), shares=(0.4,), seeds=(0,), methods=FLAT_METHODS).set_index("method")
    assert not table.loc["m-elo", "warned"]
    assert table.loc["am-elo", "warned"]


def test_the_ratio_of_inconsistencies():
    import pandas as pd

    rows = [("flip", 0.1, "m-elo", 0.8), ("flip", 0.3, "m-elo", 0.6), ("flip", 0.1, "am-elo", 1.0)]
    rows += [("flip", 0.3, "am-elo", 0.9), ("flip", 0.45, "am-elo", 0.0), ("flip", 0.45, "m-elo", 0.5)]
    table = pd.DataFrame(rows, columns=["kind", "share", "method", "consistency"])
    assert figure6(table)["flip, ≤ 35 % (ratio)"] == ["0.700 (1.00)", f"0.950 ({0.05 / 0.3:.2f})"]
    assert figure6(table.assign(consistency=1.0))["flip, ≤ 35 % (ratio)"] == ["1.000 (–)"] * 2


@pytest.mark.slow
def test_figure_6_flipped_annotators_of_real_votes(llmfao):
    cells = ba.keep_annotators(llmfao, more_than=19)
    table = stability(cells, kinds=("flip", "random"), shares=(0.15, 0.35), seeds=(0, 1), methods=FLAT_METHODS)
    lost = 1 - table.groupby(["kind", "method"])["consistency"].mean()
    assert lost["flip", "am-elo"] < 0.04 * lost["flip", "m-elo"]
    assert lost["random", "am-elo"] < 0.6 * lost["random", "m-elo"]
