"""Leave-one-vote-out: exact over cells, aligned across models, honest about what cannot be compared."""

import warnings
from dataclasses import replace

import lazy_loader
import numpy as np
import polars as pl
import pytest
from helpers import frame, prompted

import bayes_arena as ba
from bayes_arena.fits import pointwise as pointwise_module
from bayes_arena.validation import leave_one_out
from bayes_arena.validation.leave_one_out import pointwise
from bayes_arena.votes.cells import with_counts

pytestmark = pytest.mark.slow  # imports ArviZ or PyMC

az = lazy_loader.load("arviz")
"""Not imported where only the quick tests are run: it takes seconds."""
DAVIDSON = ba.Model("davidson", ties="davidson")


@pytest.fixture(scope="module")
def fits(four_outcomes):
    return {
        "plain": ba.fit(four_outcomes, model=DAVIDSON, method="marginal"),
        "annotators": ba.fit(four_outcomes, model="am-davidson"),
    }


@pytest.mark.parametrize("name", ["plain", "annotators", "half wins"])
def test_columns_counted_as_often_as_cast_sum_to_the_loss(fits, four_outcomes, name):
    """At every draw the columns, each the density of one vote, add up to the log-likelihood of all votes."""
    from bayes_arena.likelihood.point import Point

    fit = fits[name] if name in fits else ba.fit(four_outcomes, model="am-elo")
    values, votes = pointwise(fit)
    draws = ba.draw(fit, size=len(values))
    for index in (0, 11):
        point = Point(draws.strength[index], draws.common[index], draws.own[index])
        assert -values[index] @ votes == pytest.approx(fit.target.loss(point), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "annotators"])
def test_over_cells_it_is_the_leave_one_out_of_every_single_vote(fits, name):
    values, votes = pointwise(fits[name])
    by_vote = np.repeat(values, votes.astype(int), axis=1)[None]
    tree = az.from_dict({"posterior": {"x": np.zeros((1, len(values)))}, "log_likelihood": {"vote": by_vote}})
    with warnings.catch_warnings(action="ignore"):
        reference = az.loo(tree, pointwise=True, reff=1.0)
    ours = ba.leave_one_out(fits[name])
    assert ours.total == pytest.approx(float(reference.elpd), abs=1e-9)
    assert ours.se == pytest.approx(float(reference.se), abs=1e-9)
    assert ours.p == pytest.approx(float(reference.p), abs=1e-9)
    np.testing.assert_allclose(np.repeat(ours.elpd, votes.astype(int)), reference.elpd_i, atol=1e-9)


@pytest.mark.slow
def test_comparison_table(fits):
    table = ba.compare(fits)
    assert table.columns.tolist()[:7] == ["name", "rank", "elpd_loo", "se", "elpd_diff", "dse", "weight"]
    assert table["rank"].tolist() == [1, 2]
    assert table["elpd_diff"][0] == table["dse"][0] == 0
    assert table["elpd_diff"][1] == pytest.approx(table["elpd_loo"][1] - table["elpd_loo"][0])
    assert table["weight"].sum() == pytest.approx(1)
    loo = {name: ba.leave_one_out(fit) for name, fit in fits.items()}
    best, other = table["name"]
    gap = np.repeat(loo[other].elpd - loo[best].elpd, loo[best].votes.astype(int))
    assert table["dse"][1] == pytest.approx(np.sqrt(len(gap)) * gap.std(ddof=1))


@pytest.mark.slow
def test_the_order_of_votes_does_not_reach_the_comparison(arena):
    """ArviZ aligns by position; here both models are evaluated on the same columns whatever the order of the file."""
    shuffled = arena.votes.sample(fraction=1, shuffle=True, seed=1)
    one = ba.fit(ba.read_votes(arena.votes), model=DAVIDSON)
    two = ba.fit(ba.read_votes(shuffled), model=DAVIDSON)
    table = ba.compare({"one": one, "two": two})
    assert table["dse"][1] == pytest.approx(0, abs=1e-9)
    assert table["elpd_diff"][1] == pytest.approx(0, abs=1e-9)


def test_what_is_not_comparable_is_refused(fits, four_outcomes, arena_cells):
    with pytest.raises(ba.ModelError, match="at least two fits"):
        ba.compare({"one": fits["plain"]})
    soft = ba.fit(four_outcomes, model="bradley-terry")
    with pytest.raises(ba.ModelError, match="not normalised"):
        ba.compare({"davidson": fits["plain"], "soft": soft})
    dropped = ba.fit(four_outcomes, model=ba.Model("drop", ties="drop"))
    with pytest.raises(ba.ModelError, match="are not comparable"):
        ba.compare({"davidson": fits["plain"], "drop": dropped})
    with pytest.raises(ba.ModelError, match="different votes"):
        ba.compare({"one": fits["plain"], "other": ba.fit(arena_cells, model=DAVIDSON)})


LEAVING_OUT = [
    (ba.Model("drop", ties="drop"), [1, 1, 0, 0]),
    (ba.Model("no bad", both_bad="drop"), [1, 1, 1, 0]),
    (ba.Model("davidson, no bad", "annotator", "davidson", both_bad="drop"), [1, 1, 1, 0]),
]


def seen_by_hand(cells: ba.Cells, seen: list[int]) -> ba.Cells:
    return with_counts(cells, cells.counts * seen)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "seen"), LEAVING_OUT, ids=lambda value: getattr(value, "name", ""))
def test_votes_that_the_model_leaves_out_are_not_scored(four_outcomes, model, seen):
    """Everything is as if they had not been in the file."""
    whole = ba.leave_one_out(ba.fit(four_outcomes, model=model, method="marginal"))
    without = ba.leave_one_out(ba.fit(seen_by_hand(four_outcomes, seen), model=model, method="marginal"))
    assert whole.votes.sum() == four_outcomes.counts.sum(axis=0) @ seen < four_outcomes.n_votes
    assert whole.total == pytest.approx(without.total, abs=1e-9)
    assert whole.se == pytest.approx(without.se, abs=1e-9)
    assert whole.p == pytest.approx(without.p, abs=1e-9)


@pytest.mark.slow
def test_a_comparison_is_that_of_the_votes_that_the_models_see(four_outcomes):
    models = {"alike": ba.Model("alike", ties="drop"), "own": ba.Model("own", "annotator", ties="drop")}
    decided = seen_by_hand(four_outcomes, [1, 1, 0, 0])
    tables = [
        ba.compare({name: ba.fit(cells, model=model, method="marginal") for name, model in models.items()})
        for cells in (four_outcomes, decided)
    ]
    assert tables[0]["votes"].tolist() == [decided.n_votes] * 2
    assert tables[0]["name"].tolist() == tables[1]["name"].tolist()
    np.testing.assert_allclose(tables[0].drop(columns="name"), tables[1].drop(columns="name"), atol=1e-6)


@pytest.mark.slow
def test_both_bad_votes_do_not_matter_to_models_without_ties(four_outcomes):
    """Whoever leaves out ties leaves them out too, whatever else they would count as."""
    one, other = (ba.fit(four_outcomes, model=ba.Model("drop", ties="drop", both_bad=bad)) for bad in ("tie", "drop"))
    assert ba.compare({"one": one, "other": other})["elpd_diff"][1] == 0


def test_models_that_see_different_votes_are_refused_with_their_numbers(fits, four_outcomes):
    decided, good = (int(four_outcomes.counts.sum(axis=0)[:count].sum()) for count in (2, 3))
    drop = ba.fit(four_outcomes, model=LEAVING_OUT[0][0])
    with pytest.raises(ba.ModelError, match=rf"600 of 600 votes.*{decided} of 600 votes.*ties='davidson'"):
        ba.compare({"davidson": fits["plain"], "drop": drop})
    no_bad = ba.fit(four_outcomes, model=ba.Model("no bad", ties="davidson", both_bad="drop"))
    with pytest.raises(ba.ModelError, match=rf"{good} of 600 votes.*both-bad votes as ties \(600 of 600"):
        ba.compare({"no bad": no_bad, "davidson": fits["plain"]})


def test_a_single_vote_has_no_standard_error_to_give(arena):
    one = ba.read_votes(arena.votes.filter(pl.col("winner") != "tie").head(1))
    with pytest.raises(ba.ModelError, match="at least two votes"):
        ba.leave_one_out(ba.fit(one))
    assert "Pareto k, leave-one-vote-out" not in ba.diagnose(ba.fit(one))["check"].tolist()


def test_a_prior_flat_in_some_parameter_is_no_posterior_to_draw_from(four_outcomes):
    fit = ba.fit(four_outcomes, model=DAVIDSON, prior=ba.Prior(np.inf, hyper=None))
    with pytest.raises(ba.ModelError, match="draws from a posterior"):
        ba.leave_one_out(fit)
    assert "Pareto k, leave-one-vote-out" not in ba.diagnose(fit)["check"].tolist()


def test_a_flat_prior_leaves_no_posterior_to_draw_from(arena):
    with pytest.raises(ba.ModelError, match="draws from a posterior"):
        ba.leave_one_out(ba.fit(ba.read_votes(arena.votes), prior="flat"))


@pytest.mark.slow
def test_a_sampled_fit_gives_the_same_answer_as_its_gaussian_approximation(arena_cells):
    sampled = ba.fit(arena_cells, model=DAVIDSON, method="nuts", draws=400, tune=400, seed=1)
    gaussian = ba.fit(arena_cells, model=DAVIDSON, method="marginal")
    left, right = ba.leave_one_out(sampled), ba.leave_one_out(gaussian)
    assert left.total == pytest.approx(right.total, abs=1.0)
    assert left.p == pytest.approx(right.p, abs=1.0)


@pytest.mark.slow
def test_llmfao_supports_every_part_of_am_davidson(llmfao):
    """Published orders: per-annotator position effects, tie propensities and discriminations, each worth its place."""
    models = [
        "am-davidson",
        ba.Model("nu_k", "annotator", "davidson", "annotator"),
        ba.Model("common nu", "annotator", "davidson"),
        DAVIDSON,
    ]
    table = ba.compare(
        {getattr(m, "name", m): ba.fit(llmfao, model=m, method="marginal", dimensions=0, robust=False) for m in models}
    )
    assert table["name"].tolist() == ["am-davidson", "nu_k", "common nu", "davidson"]
    np.testing.assert_allclose(table["elpd_diff"][1:], [-46, -698, -930], atol=42)


@pytest.fixture(scope="module")
def cells():
    return prompted(prompts=12, votes=500)


def test_a_weight_is_an_exponent():
    """Against fits without one vote: a summed weight of 2.4 is two votes, and one that weighs .4."""
    rows = [("x", "y", "x"), ("y", "z", "y"), ("x", "z", "x"), ("y", "x", "y"), ("z", "x", "tie"), ("z", "y", "z")]
    weights = [2.4, 3.0, 1.5, 0.6, 1.0, 0.7]
    cells = ba.read_votes(frame(rows).with_columns(w=pl.Series(weights)), weight="w")
    fit = ba.fit(cells, model=DAVIDSON)
    loo = ba.leave_one_out(fit)
    assert loo.votes.sum() == pytest.approx(sum(weights))
    exact = 0.0
    for row, outcome in zip(*np.nonzero(cells.counts), strict=True):
        count = cells.counts[row, outcome]
        for times, weight in ((np.floor(count), 1.0), (1.0, count % 1)):
            if times and weight:
                counts = cells.counts.copy()
                counts[row, outcome] -= weight
                draws = ba.draw(ba.fit(replace(cells, counts=counts), model=DAVIDSON), size=4000)
                values, _ = pointwise(fit, draws)
                column = list(zip(*np.nonzero(cells.counts), strict=True)).index((row, outcome))
                exact += times * weight * np.log(np.exp(values[:, column]).mean())
    assert loo.total == pytest.approx(exact, abs=0.15)


def test_weights_of_one_half_halve_everything_but_what_is_left_out(cells):
    """Compared models keep their order, and are scored on half the votes."""
    half = replace(cells, counts=0.5 * cells.counts, slices={}, slice_names={})
    models = {"davidson": DAVIDSON, "sided": ba.Model("sided", ties="davidson", position="common")}
    table = ba.compare({name: ba.fit(half, model=model) for name, model in models.items()})
    assert table["votes"].tolist() == [250, 250]
    assert table["weight"].sum() == pytest.approx(1)


@pytest.fixture(scope="module")
def many():
    """Votes of annotators with few each, by two models."""
    cells = ba.read_votes(ba.simulate(competitors=8, annotators=150, votes=4000, seed=2).votes)
    models = {"am-davidson": "am-davidson", "davidson": DAVIDSON}
    return {name: ba.fit(cells, model=model, robust=False) for name, model in models.items()}


def test_a_sample_of_the_votes_estimates_the_sum(many, monkeypatch):
    """Within the standard error that is stated; the sample is left out of 4000 draws."""
    fit = many["am-davidson"]
    monkeypatch.setattr(leave_one_out, "DRAWS", 4000)
    exact, away = ba.leave_one_out(fit), []
    for seed in range(8):
        monkeypatch.setattr(leave_one_out, "SEED", seed)
        loo = ba.leave_one_out(fit, sample=300)
        away.append((loo.total - exact.total) / loo.sampling_se)
        assert loo.sampling_se < 0.08 * exact.se
        assert loo.se == pytest.approx(np.hypot(exact.se, loo.sampling_se), rel=0.01)
    assert 0.4 < np.sqrt(np.mean(np.square(away))) < 1.6
    assert loo.p == pytest.approx(exact.p, rel=0.1)
    assert ba.leave_one_out(fit, sample=300).total == loo.total


def test_a_sample_of_all_votes_is_all_of_them(many):
    fit = many["davidson"]
    exact, whole = ba.leave_one_out(fit), ba.leave_one_out(fit, sample=10**6)
    np.testing.assert_array_equal(exact.elpd, whole.elpd)
    with pytest.raises(ba.ModelError, match="sample must be 'auto', None, or at least 2"):
        ba.leave_one_out(fit, sample=1)
    with pytest.raises(ba.ModelError, match="sample is for single votes"):
        ba.leave_one_out(fit, over="annotator", sample=300)


def test_models_are_compared_on_the_same_sample_and_it_is_said(many, monkeypatch):
    exact = ba.compare(many)
    assert "sampled" not in exact.attrs
    monkeypatch.setattr(leave_one_out, "LARGEST", 1000)
    monkeypatch.setattr(leave_one_out, "SAMPLED", 400)
    with pytest.warns(ba.errors.SampledVotesWarning, match="400 of these were left out.*--sample 1600.* to halve it"):
        table = ba.compare(many)
    assert table.attrs["sampled"] == 400
    assert table["name"].tolist() == exact["name"].tolist()
    np.testing.assert_allclose(table["elpd_diff"], exact["elpd_diff"], atol=3 * table["se"].max() / 10)
    np.testing.assert_allclose(table["weight"], exact["weight"], atol=0.1)
    with pytest.warns(ba.errors.SampledVotesWarning, match="includes"):
        loo = ba.leave_one_out(many["davidson"])
    found = ba.diagnose(many["davidson"])["found"].iloc[-1]
    assert f"of {loo.votes[loo.sampled].sum():.0f} votes" in found


def test_how_much_is_computed_at_once_changes_nothing(many, monkeypatch):
    monkeypatch.setattr(leave_one_out, "DRAWS", 200)
    whole = ba.leave_one_out(many["am-davidson"])
    monkeypatch.setattr(pointwise_module, "AT_ONCE", 20_000)
    parts = ba.leave_one_out(many["am-davidson"])
    np.testing.assert_array_equal(parts.elpd, whole.elpd)
    np.testing.assert_array_equal(parts.pareto_k, whole.pareto_k)


def test_groups_of_one_vote_are_votes(cells):
    rows = len(cells.a)
    alone = replace(
        cells,
        slices={"row": np.arange(rows)},
        slice_names={"row": tuple(f"{row:04}" for row in range(rows))},
    )
    fit = ba.fit(alone, model=DAVIDSON)
    by_vote, by_group = ba.leave_one_out(fit), ba.leave_one_out(fit, over="row")
    np.testing.assert_allclose(by_group.elpd, by_vote.elpd, rtol=1e-12)
    assert by_group.se == pytest.approx(by_vote.se)


@pytest.mark.parametrize("model", [DAVIDSON, ba.Model("sided", ties="davidson", position="common")])
def test_prompts_left_out_one_at_a_time_are_folds_of_one_prompt(cells, model):
    """By importance sampling, or by a fit without the prompt where that fails: each vote is predicted as by kfold."""
    loo = ba.leave_one_out(ba.fit(cells, model=model), over="prompt")
    folds = ba.kfold(cells, {"m": lambda votes: ba.fit(votes, model=model)}, over="prompt", folds=12)
    assert loo.total / 500 == pytest.approx(folds.loc[0, "log_score"], abs=0.003)
    assert loo.se / 500 == pytest.approx(folds.loc[0, "log_score_se"], rel=0.05)
    assert loo.pareto_k.max() <= 0.5
    assert loo.total < ba.leave_one_out(ba.fit(cells, model=model)).total


def test_a_split_by_vote_crowns_who_knows_the_prompts(cells):
    """Numbers of every prompt's own, here as an annotator's, gain by vote and are no use on another prompt."""
    names, codes = cells.slice_names["prompt"], cells.slices["prompt"]
    votes = replace(cells, annotators=names, annotator=codes)
    models = {"alike": DAVIDSON, "own": ba.Model("own", "annotator", "davidson", "annotator", position="annotator")}
    fits = {name: ba.fit(votes, model=model, method="marginal") for name, model in models.items()}
    with pytest.warns(ba.DependentVotesWarning, match="further votes on these prompts"):
        by_vote = ba.compare(fits)
    by_prompt = ba.compare(fits, over="prompt")
    assert by_vote["name"][0] == "own"
    assert by_prompt["name"][0] == "alike" or by_prompt["elpd_diff"][1] > -2 * by_prompt["dse"][1]
    assert by_vote.attrs == {"over": "vote", "question": "another vote by the same annotators and on the same prompts"}
    assert by_prompt.attrs == {"over": "prompt", "question": "a vote on a new prompt"}


def test_a_group_that_a_model_has_numbers_of_is_left_to_folds(fits, cells):
    with pytest.raises(ba.ModelError, match=r"parameters of every annotator.*kfold\(cells, models, over="):
        ba.leave_one_out(fits["annotators"], over="annotator")
    assert ba.leave_one_out(fits["plain"], over="annotator").total < ba.leave_one_out(fits["plain"]).total
    one = replace(cells, slices={"prompt": np.zeros_like(cells.a)}, slice_names={"prompt": ("only",)})
    with pytest.raises(ba.ModelError, match="prompts needs at least two"):
        ba.leave_one_out(ba.fit(one, model=DAVIDSON), over="prompt")


def test_votes_on_other_prompts_are_other_votes(cells):
    other = replace(cells, slices={"prompt": cells.slices["prompt"][::-1].copy()})
    named = replace(cells, slice_names={"prompt": tuple("abcdefghijkl")})
    fit = ba.fit(cells, model=DAVIDSON)
    for votes in (other, named, replace(cells, slices={}, slice_names={})):
        with pytest.raises(ba.ModelError, match="different votes"):
            ba.compare({"one": fit, "other": ba.fit(votes, model=DAVIDSON)})


def test_stacking_weights_are_at_the_top_of_the_mixture(fits):
    """Where a weight is positive, its model's density over the mixture's averages one; elsewhere less."""
    third = ba.fit(fits["plain"].cells, model=ba.Model("sided", ties="davidson", position="common"))
    every = fits | {"sided": third}
    weight = ba.compare(every).set_index("name")["weight"]
    loo = {name: ba.leave_one_out(fit) for name, fit in every.items()}
    density = {name: np.exp(one.elpd) for name, one in loo.items()}
    mixture = sum(weight[name] * density[name] for name in every)
    votes = loo["plain"].votes
    for name in every:
        average = votes @ (density[name] / mixture) / votes.sum()
        assert average == pytest.approx(1, abs=1e-5) if weight[name] > 1e-6 else average <= 1 + 1e-5
