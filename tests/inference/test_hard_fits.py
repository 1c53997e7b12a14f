"""Fits that are hard on the optimiser: large counts, valleys, annotators of one vote, annotators all alike."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import polars as pl
import psutil
import pytest
from helpers import frame
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.algebra import units
from bayes_arena.inference.marginal import gaussian
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.likelihood.derivatives import bend
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.specification import Model
from bayes_arena.threads import one_thread

SMALLEST_SPREAD = 0.01


def contradicting(seed: int, largest: int) -> ba.Cells:
    """Rows of one outcome each, whose counts make annotators contradict themselves and each other."""
    rng = np.random.default_rng(seed)
    competitors, annotators, size = rng.integers(3, 9), rng.integers(2, 9), rng.integers(5, 60)
    rows = []
    for _ in range(size):
        i, j = rng.choice(competitors, 2, replace=False)
        k, winner = rng.integers(annotators), ["model_a", "model_b", "tie"][rng.integers(3)]
        rows.append((f"m{i}", f"m{j}", winner, f"k{k}", float(rng.integers(1, largest))))
    names = ["model_a", "model_b", "winner", "judge", "votes"]
    return ba.read_votes(pl.DataFrame(rows, schema=names, orient="row"), weight="votes")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
@pytest.mark.parametrize("seed", [7, 14, 46])
def test_rows_of_a_hundred_thousand_votes(seed):
    """In version 0.1: a valley of more than 500 steps, a prior lost beside the votes, a step lost in rounding."""
    cells = contradicting(seed, 100_000)
    fit = ba.fit(cells, robust=False)
    assert fit.mode.gradient < 1e-8
    assert np.isfinite(ba.leaderboard(fit)[["elo", "lower", "upper"]]).all(axis=None)


@pytest.mark.parametrize("name", ["am-elo", "am-davidson"])
def test_the_bend_of_a_step_is_the_second_order_of_its_coordinates(arena_cells, name):
    target = objective(arena_cells, PRESETS[name], Prior())
    rng = np.random.default_rng(0)
    n, shape = target.n_competitors, target.start().own.shape
    point = Point(rng.normal(size=n), rng.normal(size=len(target.common)), 1 + rng.normal(size=shape))
    head, own = rng.normal(size=n + len(target.common)), rng.normal(size=shape)
    at = target.coordinates(point)
    second = 0.5 * (target.coordinates(point.moved(head, own)) + target.coordinates(point.moved(head, own, -1.0))) - at
    pulls = np.einsum("cdr,dr->cr", target.likelihood.rows(target.counts, at).hessian, second)
    bent = bend(target, point, head, own)
    for _ in range(3):
        d_head, d_own = rng.normal(size=len(head)), rng.normal(size=shape)
        slope = (
            target.coordinates(point.moved(d_head, d_own, 1e-6)) - target.coordinates(point.moved(d_head, d_own, -1e-6))
        ) / 2e-6
        expected = np.sum(slope * pulls)
        assert_allclose(bent.head @ d_head + np.sum(bent.own * d_own), expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("position", ["common", "annotator"])
def test_a_likelihood_without_information_ends(position):
    """Nobody ever voted for the other, who was never shown first: log-odds, sides and the threshold of ties run away.

    Rounding decides whether a curvature is left where Newton stops, and so which of three true sentences is said.
    """
    cells = ba.read_votes(frame([("x", "y", "model_a", "k")] * 904 + [("x", "y", "tie", "k")] * 96))
    model = Model("ties", "annotator", "rao-kupper", "annotator", position=position)
    true = "do not determine the parameters|no information|No finite maximum"
    with pytest.raises((ba.errors.NotIdentifiedError, ba.errors.NoMaximumWarning), match=true):
        ba.fit(cells, model=model, prior="flat")


@pytest.mark.slow
@pytest.mark.parametrize(("tie_propensity", "sd", "seed"), [(0.5, 0.2, 0), (0.5, 0.2, 1), (0.0, 0.0, 0)])
def test_of_one_vote_each_the_prior_says_how_annotators_differ(tie_propensity, sd, seed):
    arena = ba.simulate(annotators=600, votes=600, tie_propensity=tie_propensity, discrimination_sd=sd, seed=seed)
    cells = ba.read_votes(arena.votes)
    with pytest.warns(ba.errors.IdentificationWarning, match="600 annotators cast 600 votes.*--no-annotator"):
        fit = ba.fit(cells)
    assert 0.1 < fit.spreads.discrimination < 1.0
    plain = ba.fit(cells, model=Model("alike", ties="davidson", position="common"), method="marginal")
    boards = [ba.leaderboard(one).set_index("competitor").sort_index() for one in (fit, plain)]
    half = (boards[1]["upper"] - boards[1]["lower"]) / 2
    assert ((boards[0]["elo"] - boards[1]["elo"]).abs() / half).max() < 0.4  # on the scale of the average vote
    table = ba.annotators(fit)  # one vote makes nobody reliable
    assert set(table["verdict"]) == {"watch"}
    assert set(table["kind"]) == {""}


@pytest.mark.slow
def test_a_few_votes_each_are_not_one(recwarn):
    """Twelve annotators of two votes: too few to say much, but the hyperpriors do."""
    fit = ba.fit(ba.read_votes(ba.simulate(competitors=6, annotators=12, votes=26, seed=0).votes))
    assert fit.spreads.discrimination > 0.1
    assert not [warning for warning in recwarn if "alike" in str(warning.message)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The direction of the ranking")
@pytest.mark.parametrize("seed", range(2))
def test_nearly_half_of_the_annotators_reversed(seed):
    """Sweeps approach the end so slowly that they are combined; or else the mode would stand in, far from the truth."""
    rng, annotators, n = np.random.default_rng(seed), 2400, 20
    strength, k = rng.normal(0, 1, n), np.repeat(np.arange(annotators), 10)
    theta = np.where(rng.random(annotators) < 0.47, -1.0, 1.0) * (1 + 0.2 * rng.normal(size=annotators))
    i = rng.integers(n, size=len(k))
    j = (i + rng.integers(1, n, len(k))) % n
    eta = theta[k] * (strength[i] - strength[j])
    outcome = (np.column_stack([eta / 2, -eta / 2, np.full(len(k), -0.5)]) + rng.gumbel(size=(len(k), 3))).argmax(
        axis=1
    )
    winner = np.array(["model_a", "model_b", "tie"])[outcome]
    names = np.array([f"m{number:02d}" for number in range(n)])
    votes = pl.DataFrame({"model_a": names[i], "model_b": names[j], "winner": winner, "judge": k.astype(str)})
    fit = ba.fit(ba.read_votes(votes), robust=False, dimensions=0)
    assert fit.evidence == "variational"
    assert np.corrcoef(fit.strength, strength)[0, 1] > 0.98


@pytest.mark.slow
def test_thousands_of_one_vote_each(monkeypatch):
    """Their spreads are told by next to nothing, and approached slowly, but to the end."""
    cells = ba.read_votes(ba.simulate(annotators=10_000, votes=10_000, seed=5).votes)
    with pytest.warns(ba.errors.IdentificationWarning, match="what the prior expects"):
        fit = ba.fit(cells, robust=False, dimensions=0)
    assert fit.evidence == "variational"
    monkeypatch.setattr(gaussian, "NEAR", 0.1 * gaussian.NEAR)
    with pytest.warns(ba.errors.IdentificationWarning, match="what the prior expects"):
        end = ba.fit(cells, robust=False, dimensions=0)
    sd = np.sqrt(np.diag(end.board_covariance)).mean()
    assert np.abs(fit.strength - end.strength).max() < 0.05 * sd


@pytest.mark.slow
def test_annotators_who_are_all_alike():
    """A spread at its lower bound leaves the step and the stopping test; the intervals of strengths stay right."""
    rng = np.random.default_rng(0)
    size, annotators, n = 300_000, 4_000, 129
    activity = rng.pareto(1.2, annotators) + 0.2
    others = rng.choice(annotators, size - annotators, p=activity / activity.sum())
    k = np.concatenate([np.arange(annotators), others])
    strength = rng.normal(0, 0.6, n)
    i = rng.integers(n, size=size)
    j = (i + rng.integers(1, n, size)) % n
    eta = strength[i] - strength[j]
    outcome = (np.column_stack([eta / 2, -eta / 2, np.zeros(size)]) + rng.gumbel(size=(size, 3))).argmax(axis=1)
    winner = np.array(["model_a", "model_b", "tie"])[outcome]
    names = np.array([f"m{number:03d}" for number in range(n)])
    votes = pl.DataFrame({"model_a": names[i], "model_b": names[j], "winner": winner, "judge": k})
    fit = ba.fit(ba.read_votes(votes.with_columns(pl.col("judge").cast(pl.String))), robust=False)
    assert fit.spreads.tie_spread == pytest.approx(SMALLEST_SPREAD)
    table = ba.strengths(fit).set_index("competitor").loc[names]
    z = (table["strength"] - (strength - strength.mean())) / table["sd"]
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.2


@pytest.mark.slow
def test_votes_of_next_to_no_weight_have_a_gradient_of_next_to_nothing():
    votes = ba.simulate(competitors=5, annotators=8, votes=200, seed=2).votes.with_columns(weight=pl.lit(1e-6))
    with pytest.warns(ba.errors.IdentificationWarning, match="what the prior expects"):
        fit = ba.fit(ba.read_votes(votes, weight="weight"))
    assert fit.mode.gradient < 1e-2
    assert_allclose(fit.strength, 0, atol=0.01)


def test_a_fit_beyond_the_memory_is_refused_before_it_starts(monkeypatch):
    n = 4000
    names = [f"m{number:04d}" for number in range(n)]
    cells = ba.read_votes(pl.DataFrame({"model_a": names, "model_b": names[1:] + names[:1], "winner": "model_a"}))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=2**30))
    with pytest.raises(ba.errors.TooLargeError, match=r"takes some 1\.3 GiB of memory, and this machine has 1"):
        ba.fit(cells, model=ba.Model("threshold", ties="rao-kupper"))  # whose matrices are dense


def test_annotators_beyond_the_memory_are_refused_before_anything_is_fitted(monkeypatch):
    size = 6000
    names = np.array([f"m{number:03d}" for number in range(200)])
    row = np.arange(size)
    winner = np.where(row % 3, "model_a", "model_b")
    votes = {"model_a": names[row % 200], "model_b": names[(row + 1) % 200], "winner": winner}
    cells = ba.read_votes(pl.DataFrame(votes | {"judge": [f"k{number}" for number in row]}))
    monkeypatch.setattr("bayes_arena.memory.FREELY", 0)
    monkeypatch.setattr("bayes_arena.fits.fitting.find_marginal", lambda problem: pytest.fail("fitted"))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=2**20))
    with pytest.raises(ba.errors.TooLargeError, match="200 competitors and 6,000 annotators takes some"):
        ba.fit(cells)


@pytest.mark.slow
def test_no_array_is_as_large_as_annotators_times_competitors(monkeypatch):
    """3,000 annotators of two votes each: 300 x 3,000 x 3 numbers would take 21 MiB."""
    rng = np.random.default_rng(0)
    a = rng.integers(300, size=6_000)
    b = (a + rng.integers(1, 300, size=6_000)) % 300
    names = [tuple(f"{kind}{number:05d}" for number in range(size)) for kind, size in (("m", 300), ("k", 3_000))]
    counts = np.eye(4)[rng.choice(3, size=6_000)]
    cells = ba.Cells(*names, a, b, np.repeat(np.arange(3_000), 2), counts)
    target = objective(cells, PRESETS["am-davidson"], Prior())
    monkeypatch.setattr(units, "TOGETHER", 50_000)
    with one_thread():
        laplace_at(target, target.start(), np.full((300, 1), 300**-0.5)).own_covariance()  # compiles
    tracemalloc.start()
    with one_thread():
        laplace_at(target, target.start(), np.full((300, 1), 300**-0.5)).own_covariance()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 2**20
