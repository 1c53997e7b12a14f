"""Robust intervals: dense formulas, clusters, the bootstrap, coverage, what changes nothing and what is refused."""

import json
import math
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from helpers import frame, in_full, panel, run
from scipy.linalg import null_space
from strategies import swapped

import bayes_arena as ba
from bayes_arena.cli.output import rounded
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.ratings.intervals.robust import Sandwich

ROBUST = (Sandwich(), ba.Clustered(), ba.Bootstrap(resamples=20))
FIVE_WINNERS = [
    ("x", "y", "model_a", "p"),
    ("x", "y", "model_b", "q"),
    ("y", "z", "model_a", "p"),
    ("y", "z", "tie", "q"),
    ("z", "x", "model_a", "r"),
]


@pytest.fixture(scope="module")
def m_elo(arena_cells):
    return ba.fit(arena_cells, model="m-elo", prior="flat")


@pytest.fixture(scope="module")
def dense(arena, arena_cells, m_elo):
    """Scores (600, 6) and Hessian (6, 6) of Bradley-Terry with half wins, written from the votes themselves."""
    order = {name: index for index, name in enumerate(arena_cells.competitors)}
    i = np.array([order[name] for name in arena.votes["model_a"]])
    j = np.array([order[name] for name in arena.votes["model_b"]])
    w = arena.votes["winner"].replace_strict({"model_a": 1.0, "tie": 0.5, "model_b": 0.0}).to_numpy()
    p = 1 / (1 + np.exp(m_elo.strength[j] - m_elo.strength[i]))
    design = np.eye(6)[i] - np.eye(6)[j]
    return (p - w)[:, None] * design, design.T @ ((p * (1 - p))[:, None] * design)


def test_sandwich_is_the_textbook_formula(m_elo, dense):
    scores, hessian = dense
    bread = np.linalg.pinv(hessian)
    covariance = bread @ scores.T @ scores @ bread
    table = ba.strengths(m_elo, interval="sandwich")
    np.testing.assert_allclose(table["sd"], np.sqrt(np.diag(covariance)), rtol=1e-8)
    np.testing.assert_allclose(table["upper"], table["strength"] + 1.959963984540054 * table["sd"], rtol=1e-9)
    against = np.eye(6) - np.eye(6)[2]
    table = ba.strengths(m_elo, reference=m_elo.cells.competitors[2], interval="sandwich")
    np.testing.assert_allclose(table["sd"], np.sqrt(np.diag(against @ covariance @ against.T)), rtol=1e-8, atol=1e-12)
    board = ba.leaderboard(m_elo, interval="sandwich").sort_values("competitor")
    width = 2 * 1.959963984540054 * 400 / math.log(10) * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(board["upper"] - board["lower"], width, rtol=1e-8)


def test_clustered_is_the_textbook_formula(arena, m_elo, dense):
    scores, hessian = dense
    judges = arena.votes["judge"].to_numpy()
    totals = np.array([scores[judges == judge].sum(axis=0) for judge in np.unique(judges)])
    bread = np.linalg.pinv(hessian)
    covariance = 5 / 4 * bread @ totals.T @ totals @ bread
    table = ba.strengths(m_elo, interval="clustered")
    np.testing.assert_allclose(table["sd"], np.sqrt(np.diag(covariance)), rtol=1e-8)
    student = 2.7764451051977987  # 97.5 % of Student's t with four degrees of freedom
    np.testing.assert_allclose(table["lower"], table["strength"] - student * table["sd"], rtol=1e-9)


MODELS = [
    ("am-elo", "flat"),
    ("am-elo", "default"),
    ("am-davidson", "default"),
    (ba.Model("rao-kupper", "annotator", "rao-kupper", "annotator", position="common"), "default"),
    (ba.Model("both bad", ties="davidson", both_bad="outcome", position="common"), "flat"),
    (ba.Model("drop", ties="drop"), "flat"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "prior"), MODELS, ids=lambda value: getattr(value, "name", value))
def test_every_model_agrees_with_its_dense_scores(four_outcomes, model, prior):
    """Dense scores from one-vote objectives; the inverse Hessian on the plane of the constraints by its null space."""
    fit = ba.fit(four_outcomes, model=model, prior=prior, method="map")
    target, n, count = fit.target, 6, fit.target.n_annotators
    _, arrow = gradient_and_hessian(target, fit.point)
    hessian, size, width = in_full(arrow), n + len(target.common), len(target.own)
    sums = np.zeros((1 + width, len(hessian)))
    sums[0, :n] = 1
    for q in range(width if count else 0):
        sums[1 + q, size + q :: width] = 1
    plane = null_space(sums)
    inverse = plane @ np.linalg.inv(plane.T @ hessian @ plane) @ plane.T
    projection = project(target, fit.point, four_outcomes.votes_by_annotator())
    jacobian = np.column_stack([projection.by_head, projection.by_own.reshape(n, -1)]) @ inverse

    no_prior = replace(
        target,
        strength_sd=math.inf,
        common=tuple(replace(term, sd=math.inf) for term in target.common),
        own=tuple(replace(term, sd=math.inf) for term in target.own),
    )
    variance, by_annotator = np.zeros(n), np.zeros((5, n))
    for outcome, row in zip(*np.nonzero(target.counts), strict=True):
        one = np.zeros_like(target.counts)
        one[outcome, row] = 1
        score, _ = gradient_and_hessian(replace(no_prior, counts=one), fit.point)
        influence = jacobian @ np.concatenate([score.head, score.own.ravel()])
        variance += target.counts[outcome, row] * influence**2
        by_annotator[target.tally.k[row]] += target.counts[outcome, row] * influence
    points = 2 * 1.959963984540054 * 400 / math.log(10)

    def widths(interval):
        board = ba.leaderboard(fit, interval=interval).sort_values("competitor")
        return board["upper"] - board["lower"]

    np.testing.assert_allclose(widths("sandwich"), points * np.sqrt(variance), rtol=1e-6)
    if count:
        clustered = points * np.sqrt(5 / 4 * (by_annotator**2).sum(axis=0)) * 2.7764451051977987 / 1.959963984540054
        np.testing.assert_allclose(widths("clustered"), clustered, rtol=1e-6)


def test_every_vote_its_own_cluster_is_the_sandwich(arena):
    alone = arena.votes.with_columns(judge=pl.int_range(pl.len()).cast(pl.String))
    fit = ba.fit(ba.read_votes(alone), model="m-elo", prior="flat")
    sandwich, clustered = (ba.strengths(fit, interval=interval)["sd"] for interval in ("sandwich", "clustered"))
    np.testing.assert_allclose(clustered, np.sqrt(600 / 599) * sandwich, rtol=1e-10)


def test_clusters_of_identical_votes_count_once(arena):
    repeated = pl.concat([arena.votes.with_columns(judge=pl.int_range(pl.len()).cast(pl.String))] * 4)
    fit = ba.fit(ba.read_votes(repeated), model="m-elo", prior="flat")
    sandwich, clustered = (ba.strengths(fit, interval=interval)["sd"] for interval in ("sandwich", "clustered"))
    np.testing.assert_allclose(clustered, 2 * np.sqrt(600 / 599) * sandwich, rtol=1e-10)
    once = ba.fit(ba.read_votes(arena.votes), model="m-elo", prior="flat")
    np.testing.assert_allclose(2 * sandwich, ba.strengths(once, interval="sandwich")["sd"], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "prior"), [("m-elo", "flat"), ("am-elo", "flat"), ("am-davidson", "default")])
def test_bootstrap_spreads_like_the_sandwich(model, prior):
    arena = ba.simulate(competitors=6, annotators=5, votes=3000, seed=3)
    fit = ba.fit(ba.read_votes(arena.votes), model=model, prior=prior, method="map")
    drawn = ba.Bootstrap(resamples=300, seed=1).sampled(fit).samples
    board = ba.leaderboard(fit, interval="sandwich").sort_values("competitor")
    sd = (board["upper"] - board["lower"]) / (2 * 1.959963984540054 * 400 / math.log(10))
    ratio = drawn.elo_strength.std(axis=0, ddof=1) / sd
    assert np.abs(ratio - 1).max() < 0.2  # Monte Carlo error of a ratio: 4 %
    assert ratio.mean() == pytest.approx(1, abs=0.06)
    table = ba.leaderboard(fit, interval=ba.Bootstrap(resamples=300, seed=1)).sort_values("competitor")
    bounds = 1000 + 400 / math.log(10) * np.quantile(drawn.elo_strength, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(table[["lower", "upper"]].T, bounds, rtol=1e-12)


@pytest.mark.slow
def test_bootstrap_is_seeded(m_elo):
    tables = [ba.strengths(m_elo, interval=ba.Bootstrap(resamples=20, seed=seed)) for seed in (5, 5, 6)]
    np.testing.assert_array_equal(tables[0]["lower"], tables[1]["lower"])
    assert not np.array_equal(tables[0]["lower"], tables[2]["lower"])


def pseudo_true(arena: ba.Arena, cells: ba.Cells) -> np.ndarray:
    """Bradley-Terry strengths fitted to the expected score of every vote, which is what m-elo estimates."""
    strength = dict(zip(arena.competitors, arena.strength, strict=True))
    theta = dict(zip(arena.annotators, arena.discrimination, strict=True))
    rows = arena.votes
    lead = rows["model_a"].replace_strict(strength) - rows["model_b"].replace_strict(strength)
    eta = (rows["judge"].replace_strict(theta) * lead).to_numpy()
    total = np.exp(eta / 2) + np.exp(-eta / 2) + 1
    score = (np.exp(eta / 2) + 0.5) / total
    expected = pl.concat(
        [
            rows.with_columns(winner=pl.lit("model_a"), weight=pl.Series(score)),
            rows.with_columns(winner=pl.lit("model_b"), weight=pl.Series(1 - score)),
        ]
    )
    truth = ba.fit(ba.read_votes(expected, weight="weight"), model="m-elo", prior="flat")
    assert truth.cells.competitors == cells.competitors
    return truth.strength


@pytest.mark.slow
def test_sandwich_covers_where_laplace_overcovers():
    inside = {(interval, level): [] for interval in ("laplace", "sandwich") for level in (0.89, 0.95)}
    for seed in range(60):
        arena = ba.simulate(competitors=10, annotators=20, votes=1200, seed=500 + seed)
        fit = ba.fit(ba.read_votes(arena.votes), model="m-elo", prior="flat")
        truth = pseudo_true(arena, fit.cells)
        for interval, level in inside:
            table = ba.strengths(fit, interval=interval, level=level)
            inside[interval, level].append(((table["lower"] < truth) & (truth < table["upper"])).mean())
    covered = {key: np.mean(shares) for key, shares in inside.items()}
    assert covered["sandwich", 0.89] == pytest.approx(0.89, abs=0.025)
    assert covered["sandwich", 0.95] == pytest.approx(0.95, abs=0.02)
    assert covered["laplace", 0.89] > 0.93
    assert covered["laplace", 0.95] > 0.97


@pytest.mark.slow
def test_clustered_covers_where_votes_on_a_prompt_go_together():
    """Fifteen prompts, each with strengths of its own; the truth is that of prompts yet to come."""
    rng = np.random.default_rng(4)
    names, strength = np.array(list("abcdef")), np.linspace(-1, 1, 6)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    rows = []
    for first, second in combinations(range(6), 2):
        lead = strength[first] - strength[second] + math.sqrt(2) * nodes
        score = weights @ (1 / (1 + np.exp(-lead))) / weights.sum()
        rows += [(names[first], names[second], "model_a", score), (names[first], names[second], "model_b", 1 - score)]
    expected = pl.DataFrame(rows, schema=["model_a", "model_b", "winner", "weight"], orient="row")
    truth = ba.fit(ba.read_votes(expected, weight="weight"), prior="flat").strength
    inside = {"sandwich": [], "clustered": []}
    for _ in range(100):
        on_prompt = strength + rng.normal(0, 1, (15, 6))
        prompt, i = rng.integers(15, size=900), rng.integers(6, size=900)
        j = (i + rng.integers(1, 6, size=900)) % 6
        won = rng.random(900) < 1 / (1 + np.exp(on_prompt[prompt, j] - on_prompt[prompt, i]))
        winner = np.where(won, "model_a", "model_b")
        votes = pl.DataFrame({"model_a": names[i], "model_b": names[j], "winner": winner, "question_id": prompt})
        fit = ba.fit(ba.read_votes(votes, annotator="question_id"), model="bradley-terry", prior="flat")
        for interval, shares in inside.items():
            table = ba.strengths(fit, interval=interval)
            shares.append(((table["lower"] < truth) & (truth < table["upper"])).mean())
    assert np.mean(inside["clustered"]) == pytest.approx(0.95, abs=0.025)
    assert np.mean(inside["sandwich"]) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("interval", ROBUST, ids=lambda interval: interval.name)
@pytest.mark.parametrize(("model", "prior"), [("m-elo", "flat"), ("am-elo", "default")])
def test_order_and_sides_change_no_bit(arena, interval, model, prior):
    def board(votes):
        fit = ba.fit(ba.read_votes(votes), model=model, prior=prior, method="map")
        return ba.leaderboard(fit, interval=interval)

    reference = board(arena.votes)
    shuffled = arena.votes.sample(fraction=1, shuffle=True, seed=1)
    for votes in (shuffled, pl.concat([swapped(shuffled[:300]), shuffled[300:]])):
        np.testing.assert_array_equal(board(votes)[["lower", "upper"]], reference[["lower", "upper"]])


def test_large_arenas_go_in_pieces(m_elo, monkeypatch):
    whole = {interval: ba.leaderboard(m_elo, interval=interval) for interval in ("sandwich", "clustered")}
    monkeypatch.setattr("bayes_arena.ratings.intervals.robust.AT_ONCE", 1)
    for interval, board in whole.items():
        pieces = ba.leaderboard(m_elo, interval=interval)
        np.testing.assert_allclose(pieces[["lower", "upper"]], board[["lower", "upper"]], rtol=1e-12)


@pytest.mark.slow
def test_whole_weights_count_as_votes_and_fractions_only_in_clusters(arena):
    def fitted(weight, copies=1):
        votes = pl.concat([arena.votes.with_columns(w=pl.lit(weight))] * copies)
        return ba.fit(ba.read_votes(votes, weight="w"), model="m-elo", prior="flat")

    for interval in ROBUST:
        twice, copied = (ba.strengths(fit, interval=interval) for fit in (fitted(2.0), fitted(1.0, 2)))
        np.testing.assert_array_equal(twice, copied)
    third = ba.strengths(fitted(0.3), interval="clustered")
    np.testing.assert_allclose(third["sd"], ba.strengths(fitted(1.0), interval="clustered")["sd"], rtol=1e-6)
    for interval in ("sandwich", "bootstrap"):
        with pytest.raises(ba.ModelError, match="needs whole votes"):
            ba.strengths(fitted(0.3), interval=interval)


@pytest.mark.slow
@pytest.mark.parametrize("interval", ROBUST, ids=lambda interval: interval.name)
def test_posteriors_have_intervals_of_their_own(sampled_davidson, interval):
    fit = sampled_davidson
    for table in (ba.leaderboard, ba.strengths):
        with pytest.raises(ba.ModelError, match=r"method='map'"):
            table(fit, interval=interval)


@pytest.mark.slow
@pytest.mark.parametrize("interval", ROBUST, ids=lambda interval: interval.name)
def test_an_estimate_at_infinity_has_no_robust_interval(interval, tmp_path):
    rows = [("best", "x", "model_a", k) for k in "pqr"] + [("x", "y", w, "p") for w in ("model_a", "model_b")]
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(ba.read_votes(frame(rows)), model="m-elo", prior="flat")
    ba.save(fit, tmp_path / "fit.nc")
    for same in (fit, ba.load(tmp_path / "fit.nc")):
        with pytest.raises(ba.errors.NotIdentifiedError, match="prior='default'"):
            ba.leaderboard(same, interval=interval)


def test_clusters_have_to_be_known_and_more_than_one(arena):
    unknown = ba.fit(ba.read_votes(arena.votes, annotator=False), prior="flat")
    with pytest.raises(ba.ModelError, match="--annotator COLUMN"):
        ba.leaderboard(unknown, interval="clustered")
    one = ba.fit(ba.read_votes(arena.votes.with_columns(judge=pl.lit("only"))), model="m-elo", prior="flat")
    with pytest.raises(ba.ModelError, match="every vote is by 'only'"):
        ba.leaderboard(one, interval="clustered")


def test_a_competitor_of_a_single_cluster_is_named(arena):
    new = [("new", "model-1", w, "annotator-1") for w in ("model_a", "model_b", "tie", "model_a")]
    votes = pl.concat([arena.votes, frame(new)])
    fit = ba.fit(ba.read_votes(votes), model="m-elo", prior="flat")
    with pytest.warns(ba.errors.IdentificationWarning, match="All votes on new are in one cluster"):
        ba.leaderboard(fit, interval="clustered")


def test_clusters_without_a_vote_that_the_model_sees_do_not_count(arena):
    ties = [("model-1", "model-2", "tie", f"t{number}") for number in range(50)]
    model = ba.Model("drop", ties="drop")
    plain, more = (
        ba.strengths(ba.fit(ba.read_votes(votes), model=model, prior="flat"), interval="clustered")
        for votes in (arena.votes, pl.concat([arena.votes, frame(ties)]))
    )
    np.testing.assert_allclose(more["upper"], plain["upper"], rtol=1e-9)


@pytest.mark.slow
def test_resamples_without_an_estimate_are_reported():
    rows = [(a, b, w) for a, b in ("xy", "yz", "zx") for w in ("model_a", "model_b")] * 6
    few = [("new", "x", "model_a"), ("new", "y", "model_b"), ("new", "z", "tie")]
    fit = ba.fit(ba.read_votes(frame(rows + few)), prior="flat")
    with pytest.warns(
        ba.errors.IdentificationWarning, match=r"of 100 resamples .* no longer connected.* no finite estimate"
    ):
        ba.leaderboard(fit, interval=ba.Bootstrap(resamples=100, seed=1))
    sparse = ba.fit(ba.read_votes(frame(FIVE_WINNERS)), model="m-elo", prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="too many for a bootstrap"):
        ba.leaderboard(sparse, interval=ba.Bootstrap(resamples=50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrunk = ba.fit(ba.read_votes(frame(rows + few)), model="bradley-terry")
        board = ba.leaderboard(shrunk, interval=ba.Bootstrap(resamples=50))
    assert np.isfinite(board[["lower", "upper"]].to_numpy()).all()


@pytest.mark.parametrize("bad", [{"resamples": 1}, {"seed": -1}])
def test_impossible_bootstraps(bad):
    with pytest.raises(ba.ModelError, match="at least two resamples"):
        ba.Bootstrap(**bad)


@pytest.mark.slow
def test_rank_clusters_by_prompt(tmp_path, arena):
    votes = arena.votes.with_columns(question_id=pl.int_range(pl.len()) % 30)
    votes.write_csv(tmp_path / "votes.csv")
    options = ["--model", "bradley-terry", "--annotator", "question_id", "--interval", "clustered"]
    answer = json.loads(run("rank", tmp_path / "votes.csv", *options, "--format", "json").stdout)
    fit = ba.fit(ba.read_votes(tmp_path / "votes.csv", annotator="question_id"), model="bradley-terry")
    assert answer["leaderboard"] == rounded(ba.leaderboard(fit, interval="clustered").to_dict("records"))
    assert answer["interval"] == "clustered"
    assert "clustered intervals" in run("rank", tmp_path / "votes.csv", *options).stdout


@pytest.mark.slow
def test_rank_bootstraps_quietly(tmp_path, arena):
    arena.votes.write_csv(tmp_path / "votes.csv")
    options = ["--model", "m-elo", "--interval", "bootstrap", "--resamples", 10, "--seed", 3]
    done = run("rank", tmp_path / "votes.csv", *options, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    fit = ba.fit(ba.read_votes(tmp_path / "votes.csv"), model="m-elo")
    board = ba.leaderboard(fit, interval=ba.Bootstrap(resamples=10, seed=3))
    assert json.loads(done.stdout)["leaderboard"] == rounded(board.to_dict("records"))


@pytest.mark.slow
def test_the_bootstrap_stays_on_its_side_of_the_ranking():
    """Two camps of nearly equal weight: a resample that starts anew ends at the mirror image three times in ten."""
    cells = panel({"a": (20, 2), "b": (20, 2), "c": (2, 18), "d": (2, 18)})
    with warnings.catch_warnings(action="ignore", category=ba.ArenaWarning):
        fit = ba.fit(cells, model="am-elo", method="map")
        drawn = ba.Bootstrap(resamples=30).sampled(fit).samples
        board = ba.strengths(fit, interval=ba.Bootstrap(resamples=30))
    assert (drawn.strength @ fit.strength > 0).all()
    assert (board["sd"] < 0.5).all()


def test_real_votes_vary_as_was_measured(llmfao, llmfao_path):
    """Measured before: m-elo's sandwich is .76 of its quasi-posterior on LLMFAO, .82 on MT-bench; by question 1.42."""

    def ratio(cells, interval):
        fit = ba.fit(cells, model="m-elo", prior="flat")
        return float((ba.strengths(fit, interval=interval)["sd"] / ba.strengths(fit)["sd"]).mean())

    assert ratio(llmfao, "sandwich") == pytest.approx(0.76, abs=0.01)
    assert ratio(llmfao, "clustered") == pytest.approx(0.92, abs=0.01)
    mt_bench = llmfao_path.with_name("mt_bench_human.csv")
    if not mt_bench.is_file():
        pytest.skip("mt_bench_human.csv is not in $BAYES_ARENA_DATA")
    assert ratio(ba.read_votes(mt_bench, prompt=False), "sandwich") == pytest.approx(0.82, abs=0.01)
    assert ratio(ba.read_votes(mt_bench, prompt=False), "clustered") == pytest.approx(0.88, abs=0.01)
    assert ratio(ba.read_votes(mt_bench, annotator="question_id"), "clustered") == pytest.approx(1.42, abs=0.02)
