"""Verdicts on several criteria of one comparison: told apart, pooled, and not taken for independent votes."""

import numpy as np
import polars as pl
import pytest
from criteria import CRITERIA, draw
from true_boards import average_score, projected

import bayes_arena as ba
from bayes_arena.fits.posterior_draws import draw_in_parts
from bayes_arena.inference.change import POINTS
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.inference.projection import project
from bayes_arena.likelihood import numbering


@pytest.fixture(scope="module")
def arena():
    return draw(0, comparisons=500)


@pytest.fixture(scope="module")
def cells(arena) -> ba.Cells:
    return ba.read_votes(arena.votes, layout="criteria")


@pytest.fixture(scope="module")
def fit(cells) -> ba.Fit:
    return ba.fit(cells, robust=False, dimensions=0)


@pytest.mark.slow
def test_the_default_tells_criteria_and_comparisons_apart(fit):
    assert fit.model.strength_by == ("criterion", "item") and fit.model.ties_by == ("criterion",)
    assert fit.model.name == "am-davidson with criteria"
    taken = {choice.what: choice.taken for choice in fit.plan.choices}
    assert taken["by criterion"] == "strengths, ties, theta" and taken["by item"] == "strengths"
    assert fit.target.numbering.elimination.by == "annotator"  # with the comparisons inside
    assert len(fit.target.numbering.elimination.units.dense) < 100


@pytest.mark.slow
def test_comparisons_inside_annotators_change_nothing_but_the_time(monkeypatch):
    """The same fit where only comparisons are eliminated, and annotators are left."""
    cells = ba.read_votes(draw(1, comparisons=150).votes, layout="criteria")
    inside = ba.fit(cells, robust=False, dimensions=0)
    one, scores = inside.target.numbering.elimination, ba.leaderboard(inside)
    monkeypatch.setattr(numbering, "_with_nested", lambda _, by, kinds: kinds[by])
    apart = ba.fit(cells, robust=False, dimensions=0)
    other = apart.target.numbering.elimination
    assert (one.by, other.by) == ("annotator", "item") and len(other.units.dense) > 2 * len(one.units.dense)
    np.testing.assert_allclose(inside.board, apart.board, atol=1e-9)
    assert inside.mode.free_energy == pytest.approx(apart.mode.free_energy, abs=1e-8)
    np.testing.assert_allclose(scores[["lower", "upper"]], ba.leaderboard(apart)[["lower", "upper"]], atol=1e-6)


@pytest.mark.slow
def test_draws_without_comparisons_are_those_of_the_gaussian(fit):
    """Of all strengths, all annotators' numbers, and of the first annotator's plus what they have in common."""
    strength, common, parts = draw_in_parts(fit, size=2000)
    own = np.concatenate([drawn for _, drawn in parts], axis=1) - fit.point.own
    together = common - fit.point.common + own[:, 0, 1:]  # theta is first
    n, c = len(fit.strength), common.shape[1]
    by_head, by_own = np.eye(c, n + c, n), np.zeros((c, *own.shape[1:]))
    by_own[:, 0, 1:] = np.eye(c)
    expected = np.sqrt(fit.laplace.variance(by_head, by_own))
    np.testing.assert_allclose(
        strength.std(axis=0) / np.sqrt(fit.laplace.strength_covariance().diagonal()), 1, atol=0.07
    )
    np.testing.assert_allclose(
        own.std(axis=0) / np.sqrt(np.einsum("kqq->kq", fit.laplace.own_covariance())), 1, atol=0.08
    )
    np.testing.assert_allclose(together.std(axis=0) / expected, 1, atol=0.07)
    np.testing.assert_allclose(own.sum(axis=1), 0, atol=1e-9)


@pytest.mark.slow
def test_verdicts_of_one_comparison_are_not_so_many_votes(arena, cells, fit):
    model = ba.Model("criteria", discrimination="annotator", ties="davidson", strength_by=("criterion",))
    naive = ba.fit(cells, model=model, robust=False)
    wide, narrow = (ba.leaderboard(one).eval("upper - lower").mean() for one in (fit, naive))
    assert wide > 1.1 * narrow
    assert fit.spreads.spread("strength_by_item") == pytest.approx(0.7, abs=0.25)


def test_boards_by_criterion_are_near_the_truth(arena, fit):
    for name in CRITERIA:
        board = ba.leaderboard(fit, slice=("criterion", name)).set_index("competitor").loc[list(fit.cells.competitors)]
        true = arena.truth[name] - arena.truth[name].mean() + 1000
        assert np.mean((board["lower"] <= true) & (true <= board["upper"])) > 0.7
        assert np.corrcoef(board["elo"], true)[0, 1] > 0.8


@pytest.mark.slow
def test_people_who_judge_one_comparison_discriminate_alike(arena):
    """Of one comparison nothing tells how clearly somebody sees from how different the answers were."""
    once = arena.votes.head(200).with_columns(judge=pl.format("u{}", pl.int_range(pl.len())))
    plan = ba.choose(ba.read_votes(once, layout="criteria"))
    assert plan.problem.model.discrimination == "fixed"
    assert plan.problem.model.name == "am-davidson (same theta) with criteria"
    assert "hardly anybody judged two comparisons" in {one.what: one.why for one in plan.choices}["annotators"]
    fit = ba.fit(plan.problem.cells, robust=False)
    assert fit.evidence == "variational" and fit.spreads.spread("strength_by_item") > 0.3


def test_how_alike_they_rank(fit):
    table = ba.slice_similarity(fit, "criterion")
    assert len(table) == 10 and (table["other"] == "overall").sum() == 4
    assert (table["lower"] <= table["correlation"]).all() and (table["correlation"] <= table["upper"]).all()
    with pytest.raises(ba.ModelError, match="no strengths by 'item'"):
        ba.slice_similarity(fit, "item")


@pytest.mark.slow
def test_a_long_file_is_read_alike(arena, cells, fit):
    long = arena.votes.with_row_index("item").unpivot(
        [f"{name}_winner" for name in CRITERIA],
        index=["item", "model_a", "model_b", "judge"],
        variable_name="criterion",
        value_name="winner",
    )
    long = long.with_columns(pl.col("criterion").str.strip_suffix("_winner"))
    same = ba.fit(ba.read_votes(long, slices=["criterion", "item"]), robust=False, dimensions=0)
    np.testing.assert_allclose(same.board, fit.board, atol=1e-8)


def test_a_flat_prior_and_one_criterion_are_as_before(arena, cells):
    assert ba.choose(cells, prior="flat").problem.model.name == "am-elo"
    one = ba.read_votes(arena.votes, layout="criteria", where="criterion == 'style'")
    assert ba.choose(one).problem.model.name == "am-davidson"


@pytest.mark.slow
def test_the_board_of_a_slice_has_its_ties():
    """Where nearly all verdicts tie, sides are close: on the scale of the other slice's ties gaps would be tripled."""
    rng = np.random.default_rng(0)
    n, size, ties = 8, 4_000, {"few": -3.0, "many": 2.0}
    strength, names = rng.normal(0, 0.8, n), np.array([f"m{one}" for one in range(n)])
    parts = []
    for topic, tie in ties.items():
        a, k = rng.integers(n, size=size), rng.integers(20, size=size)
        b = (a + rng.integers(1, n, size=size)) % n
        eta = strength[a] - strength[b]
        outcome = (np.column_stack([eta / 2, -eta / 2, np.full(size, tie)]) + rng.gumbel(size=(size, 3))).argmax(axis=1)
        winner = np.array(["model_a", "model_b", "tie"])[outcome]
        columns = {"model_a": names[a], "model_b": names[b], "winner": winner, "judge": [f"u{one}" for one in k]}
        parts.append(pl.DataFrame(columns | {"topic": [topic] * size}))
    by = {"strength_by": ("topic",), "ties_by": ("topic",)}
    fit = ba.fit(ba.read_votes(pl.concat(parts), slices=["topic"]), model=ba.Model("x", ties="davidson", **by))
    i, j = np.triu_indices(n, k=1)
    for topic, tie in ties.items():
        within = fit.on(slice=("topic", topic))
        truth = projected(average_score((strength[i] - strength[j])[None], np.full(1, tie)), n) / POINTS
        assert within.board @ truth / (truth @ truth) == pytest.approx(1, abs=0.1)
        votes = fit.cells.votes_by_annotator()
        drawn = project_draws(
            fit.target,
            fit.point.strength[None],
            fit.point.common[None],
            fit.point.own[None],
            votes,
            fit.point.slices[None],
            view=within.view,
        )
        np.testing.assert_allclose(drawn[0], within.board, atol=1e-6)
        move = rng.normal(0, 1e-4, len(fit.point.head))
        ahead, behind = (
            project(fit.target, fit.point.moved(move, 0 * fit.point.own, side), votes, within.view).strength
            for side in (1.0, -1.0)
        )
        np.testing.assert_allclose((ahead - behind) / 2, within.projection.by_head[:] @ move, atol=1e-9)


@pytest.mark.slow
def test_on_which_criteria_people_see_clearly_is_found():
    sharpness = np.array([1.5, 1.5, 0.5, 0.5])
    cells = ba.read_votes(draw(3, comparisons=1500, sharpness=tuple(sharpness)).votes, layout="criteria")
    result = ba.fit(cells, robust=False, dimensions=0)
    found = ba.effects(result).set_index("effect").filter(like="discrimination", axis=0)
    order = [f"discrimination_by_criterion: {name}" for name in CRITERIA]
    estimate, sd = (found.loc[order, name].to_numpy() for name in ("estimate", "sd"))
    assert estimate.sum() == pytest.approx(0.0, abs=1e-9)  # relative to the average criterion
    assert (estimate * (sharpness - 1) > 0).all()
    assert (np.abs(estimate) > 2 * sd).all()
    clear, dim = (result.on(slice=("criterion", name)).board for name in (CRITERIA[0], CRITERIA[2]))
    assert np.std(clear) > 2 * np.std(dim)
