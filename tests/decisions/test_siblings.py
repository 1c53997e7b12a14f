"""Scores pooled within providers, and the luck of the best of many."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.decisions.siblings import RADII, Families, _all_below, _given, expected_largest, pool
from bayes_arena.votes.outcomes import OUTCOMES

VARIANTS, OTHERS, VOTES = 27, 20, 100
POINTS = ba.EloScale().points_per_logit


def votes_for(strength: np.ndarray, rng: np.random.Generator) -> ba.Cells:
    """Votes of everybody against those that are no variants; these come first."""
    size = len(strength)
    a = np.repeat(np.arange(size), VOTES)
    b = rng.integers(OTHERS - 1, size=len(a))
    b += (a < OTHERS) & (b >= a)
    won = rng.random(len(a)) < 1 / (1 + np.exp(strength[b] - strength[a]))
    order = np.lexsort((b, a))
    return ba.Cells(
        competitors=tuple(f"c{index:02}" for index in range(size)),
        annotators=(),
        a=a[order],
        b=b[order],
        annotator=np.zeros_like(a),
        counts=np.eye(4)[np.where(won[order], 0, 1)],
    )


def arena(seed: int) -> tuple[ba.Fit, np.ndarray, dict[str, str]]:
    """Twenty competitors of ten providers and 27 variants of one, their true strengths, and who made them."""
    rng = np.random.default_rng(seed)
    family = np.append(np.arange(OTHERS) // 2, np.full(VARIANTS, OTHERS // 2))
    strength = rng.normal(0, 0.6, OTHERS // 2 + 1)[family] + rng.normal(0, 0.3, len(family))
    fit = ba.fit(votes_for(strength, rng), model="bradley-terry")
    provider = {name: f"p{each:02}" for name, each in zip(fit.cells.competitors, family, strict=True)}
    return fit, strength, provider


@pytest.fixture(scope="module")
def shown():
    return arena(0)


@pytest.fixture(scope="module")
def best_alone(shown):
    """The best variant among the others, the rest of them hidden; and its name."""
    fit, _, provider = shown
    cells = fit.cells
    best = OTHERS + int(np.argmax(fit.strength[OTHERS:]))
    rows = (cells.a < OTHERS) | (cells.a == best)
    names = (*cells.competitors[:OTHERS], cells.competitors[best])
    left = cells.take(rows, competitors=names, a=np.minimum(cells.a[rows], OTHERS))
    return ba.fit(left, model="bradley-terry"), provider, cells.competitors[best]


def test_the_largest_of_normal_numbers():
    assert np.allclose([expected_largest(n) for n in (1, 2, 3)], [0, np.pi**-0.5, 1.5 * np.pi**-0.5], atol=1e-6)


def test_siblings_are_drawn_together(shown):
    fit, _, provider = shown
    table = ba.siblings(fit, provider)
    of_one = table[table["provider"] == f"p{OTHERS // 2:02}"]
    assert of_one["pooled"].std() < 0.9 * of_one["elo"].std()
    assert (of_one["tested"] == VARIANTS).all()
    assert np.isclose(table["pooled"].mean(), 1000)
    assert 25 < table.attrs["within"] < 100 < 2 * table.attrs["between"]


def test_the_more_were_tested_the_less_the_best_is_believed(best_alone):
    fit, provider, best = best_alone
    rows = [
        ba.siblings(fit, provider, tested={provider[best]: size}).set_index("competitor").loc[best]
        for size in (1, 2, 27)
    ]
    assert rows[0].equals(ba.siblings(fit, provider).set_index("competitor").loc[best])
    assert rows[0]["inflation"] == 0 < rows[1]["inflation"] < rows[2]["inflation"]
    assert rows[0]["elo"] == rows[2]["elo"]
    assert rows[0]["pooled"] > rows[1]["pooled"] > rows[2]["pooled"]


def test_the_prior_of_the_fit_is_taken_out(shown):
    fit, _, provider = shown
    tight = ba.fit(fit.cells, model="bradley-terry", prior=ba.Prior(strength=0.4))
    tables = [ba.siblings(each, provider).set_index("competitor").sort_index() for each in (fit, tight)]
    moved = {column: abs(tables[0][column] - tables[1][column]).max() for column in ("elo", "pooled")}
    assert moved["pooled"] < 5 < 20 < moved["elo"]


def test_annotators_and_prompts_are_no_obstacle(arena_cells):
    fit = ba.fit(arena_cells, model="am-davidson", method="map")
    provider = {name: name[:1] for name in arena_cells.competitors}
    table = ba.siblings(fit, provider, elo=ba.EloScale(init=0))
    assert (table["lower"] < table["pooled"]).all() and (table["pooled"] < table["upper"]).all()
    board = ba.leaderboard(fit, elo=ba.EloScale(init=0)).set_index("competitor")["elo"]
    assert np.allclose(table["elo"], board[table["competitor"]])


ALIKE = [(a, b, winner, f"k{k}") for a, b in combinations("abcd", 2) for k in range(6) for winner in OUTCOMES[:2] * 3]


@pytest.mark.filterwarnings("ignore:The competitors fall into 2 groups")
@pytest.mark.parametrize("model", ["am-davidson", "bradley-terry"])
@pytest.mark.parametrize(
    "more",
    [
        pytest.param([("a", "c", "model_a", "k0")] * 3, id="alike"),
        pytest.param([("a", "z", "model_a", "k1")], id="one vote"),
        pytest.param([("y", "z", "model_b", "k2")] * 3, id="apart"),
        pytest.param([("y", "z", "model_b", f"k{k % 6}") for k in range(40)] + [("y", "a", "tie", "k1")], id="bridge"),
    ],
)
def test_what_is_hardly_known_stays_in_reach_of_the_plain_score(model, more):
    votes = pd.DataFrame(ALIKE + more, columns=["model_a", "model_b", "winner", "annotator"])
    fit = ba.fit(ba.read_votes(votes, annotator="annotator"), model=model, robust=False)
    provider = {name: "p" if name in "ayz" else "q" for name in fit.cells.competitors}
    table = ba.siblings(fit, provider, tested={"p": 10})
    assert (table["inflation"] >= 0).all()
    assert np.isclose(table["pooled"].mean(), 1000)
    moved, board = (table["pooled"] - table["elo"]).abs(), ba.leaderboard(fit).set_index("competitor")
    known = 0.5 * (board["upper"] - board["lower"]).reindex(table["competitor"]).to_numpy()
    assert (moved < np.maximum(120, known)).all() and moved[table["competitor"].isin(list("abcd"))].max() < 60


def test_an_estimate_at_infinity_is_not_pooled():
    votes = pd.DataFrame([("a", "b"), ("b", "c")] * 5, columns=["model_a", "model_b"]).assign(winner="model_a")
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(ba.read_votes(votes), model="bradley-terry", prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="no finite estimate to pool"):
        ba.siblings(fit, dict.fromkeys("abc", "p"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"provider": {"c00": "p"}}, "No provider is given for 'c01'"),
        ({"tested": {"p10": 26}}, r"'p10' \(26\)"),
        ({"tested": {"nobody": 30}}, "nobody"),
        ({"level": 1.0}, "level"),
    ],
)
def test_what_cannot_be_asked(shown, options, message):
    fit, _, provider = shown
    with pytest.raises(ba.ModelError, match=message):
        ba.siblings(fit, **{"provider": provider} | options)


@pytest.mark.slow
def test_the_best_is_overrated_by_what_is_predicted():
    errors, predicted, inside = [], [], []
    for seed in range(20):
        fit, strength, provider = arena(seed)
        best = OTHERS + int(np.argmax(fit.strength[OTHERS:]))
        row = ba.siblings(fit, provider, level=0.89).set_index("competitor").loc[fit.cells.competitors[best]]
        truth = 1000 + POINTS * (strength[best] - strength.mean())
        errors.append(row["elo"] - truth)
        predicted.append(row["inflation"])
        inside.append(row["lower"] < truth < row["upper"])
    error = np.std(errors) / np.sqrt(20)
    assert abs(np.mean(errors) - np.mean(predicted)) < 3 * error
    assert np.mean(predicted) > 30
    assert np.mean(inside) > 0.68  # .89 less three standard errors


def test_what_many_votes_say_stays_and_the_best_owes_little_to_luck():
    """Four providers of two; the best of three has E max of three standard errors too much, if these are small."""
    score = np.random.default_rng(0).normal(size=8)
    families = Families(list("abcd"), np.repeat(np.arange(4), 2), np.full(4, 3))
    likelihood = 1e4 * np.eye(8)
    found = pool(families, score, likelihood, likelihood @ score, np.eye(8))
    np.testing.assert_allclose(found.mean, score - score.mean(), atol=1e-2)
    np.testing.assert_allclose(found.sd, 0.01 * np.sqrt(7 / 8), rtol=0.02)
    within = found.spreads[1]
    luck = expected_largest(3) * 7 / 8 * (1e-4 / within - 1e-4 * within)
    np.testing.assert_allclose(found.inflation, luck, rtol=0.3)


def test_a_score_that_no_hidden_sibling_would_reach_says_nothing_of_them():
    """It is the score by its own votes that the others are below, however much of it is taken for luck."""
    likelihood, score = np.eye(20), np.append(6.0, np.zeros(19))
    alone, chosen = (
        _given(Families(list("abcdefghijklmnopqrst"), np.arange(20), tested), 0.8, likelihood, score, score)
        for tested in (np.ones(20, dtype=int), np.append(9, np.ones(19, dtype=int)))
    )
    near = (RADII > 0.3) & (RADII < 0.6)
    assert (alone[1][near, 0] < 2).all()
    np.testing.assert_allclose(chosen[1][near], alone[1][near], atol=1e-4)


@pytest.mark.parametrize("hidden", [0, 3])
def test_a_normal_variable_below_which_others_are_has_these_moments(hidden):
    def moment(power):
        weight = lambda z: z**power * norm.pdf(z) * norm.cdf(0.4 - 0.8 * z) ** hidden  # noqa: E731
        return quad(weight, -12, 12)[0]

    mean = moment(1) / moment(0)
    chance, shift, narrowed = _all_below(np.array([0.4, 0.0]), np.array([0.8, 0.0]), hidden)
    assert chance[0] - chance[1] == pytest.approx(np.log(moment(0)) + hidden * np.log(2), abs=1e-6)
    assert (shift[0], narrowed[0]) == pytest.approx((mean, moment(2) / moment(0) - mean**2 - 1), abs=1e-6)


def test_what_a_billion_votes_say_is_known_beside_what_nobody_compared():
    cells = ba.Cells(
        competitors=("a", "b", "c", "d"),
        annotators=(),
        a=np.array([0, 2]),
        b=np.array([1, 3]),
        annotator=np.zeros(2, int),
        counts=np.array([[6e8, 4e8, 0, 0], [6, 4, 0, 0]]),
    )
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = ba.fit(cells, model="bradley-terry")
    table = ba.siblings(fit, dict(zip("abcd", "xxyy", strict=True))).set_index("competitor")
    assert table.loc[["a", "b"], "pooled"].tolist() == pytest.approx(table.loc[["a", "b"], "elo"].tolist(), abs=0.1)
