"""Net agreement against brute force, verdicts on planted annotators, false discovery rates."""

import math
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from conftest import real_votes
from helpers import answered_votes, frame
from numpy.testing import assert_allclose, assert_array_equal

import bayes_arena as ba
from bayes_arena.fits.posterior_draws import draw_in_parts, draw_parameters
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.specification import Model
from bayes_arena.reliability import agreement
from bayes_arena.reliability.agreement import DRAWS, Agreement, draw_agreement, gauss_rule
from bayes_arena.reliability.flagging import discoveries
from bayes_arena.reliability.kinds import kinds

MODELS = [
    Model("am-elo", "annotator"),
    Model("am-davidson", "annotator", "davidson", "annotator", "tie", "annotator"),
    Model("both-bad", "annotator", "davidson", "annotator", "outcome", "common"),
    Model("rao-kupper", "annotator", "rao-kupper", "annotator", "tie", "annotator"),
    Model("ties alone", "fixed", "davidson", "annotator"),
    Model("side alone", "fixed", "half", position="annotator"),
]
TURNED = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
KINDS = ["reversed", "guesses", "always ties", "one-sided"]


def agreement_of(fit, of=None):
    """Of so few annotators that it comes in one part."""
    ((_, found),) = draw_agreement(fit, of)
    return found


def probabilities(model, eta, t, bad):
    """P(i), P(j) of one vote, written out."""
    if model.ties == "davidson":
        parts = [math.exp(eta / 2), math.exp(-eta / 2), math.exp(t), bad]
        return parts[0] / sum(parts), parts[1] / sum(parts)
    if model.ties == "rao-kupper":
        kappa = math.exp(t)
        return 1 / (1 + math.exp(kappa - eta)), 1 / (1 + math.exp(kappa + eta))
    return 1 / (1 + math.exp(-eta)), 1 / (1 + math.exp(eta))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_net_agreement_by_brute_force_over_pairs(four_outcomes, model):
    fit = ba.fit(four_outcomes, model=model)
    ours = agreement_of(fit)
    assert ours.net.shape == (DRAWS, 5)
    draws = ba.draw(fit, size=DRAWS)
    i, j = np.triu_indices(6, 1)
    for index in (0, 500, 999):
        common = dict(zip((term.name for term in fit.target.common), draws.common[index], strict=True))
        for k in (0, 4):
            own = dict(zip((term.name for term in fit.target.own), draws.own[index, k], strict=True))
            t = common.get("tie_propensity", 0.0) + own.get("tie_propensity", 0.0)
            bad = math.exp(common["both_bad"]) if "both_bad" in common else 0.0
            theta = own.get("discrimination", 1.0)
            differences = []
            for lead in np.abs(draws.strength[index, i] - draws.strength[index, j]):
                better, worse = probabilities(model, theta * lead, t, bad)
                differences.append(better - worse)
            assert ours.net[index, k] == pytest.approx(np.mean(differences), abs=2e-6)
            if model.position == "annotator":
                left, right = probabilities(model, common["position"] + own["position"], t, bad)
                assert ours.pull[index, k] == pytest.approx(left - right, abs=1e-6)


@pytest.mark.slow
def test_pairs_evenly_spaced_by_lead_stand_for_all(monkeypatch):
    arena = ba.simulate(competitors=20, annotators=3, votes=600, strength_sd=1.5, seed=1)
    fit = ba.fit(ba.read_votes(arena.votes), model="am-elo", robust=False)
    of_all = agreement_of(fit).net.mean(axis=0)
    monkeypatch.setattr(agreement, "PAIRS", 20)
    assert_allclose(agreement_of(fit).net.mean(axis=0), of_all, atol=0.004)


@pytest.mark.slow
def test_some_pairs_stand_for_all_where_annotators_disagree(monkeypatch, llmfao_50):
    fit = ba.fit(llmfao_50, robust=False, model=replace(PRESETS["am-davidson"], dimensions=2))
    some = agreement_of(fit)
    monkeypatch.setattr(agreement, "SOME_PAIRS", 10_000)
    of_all = agreement_of(fit)
    for ours, theirs in ((some.net, of_all.net), (some.consistency, of_all.consistency)):
        assert_allclose(ours.mean(axis=0), theirs.mean(axis=0), atol=0.006)


@pytest.mark.parametrize("n", [3, 35, 36, 41, 60, 171, 300])
def test_some_pairs_have_every_competitor_as_often_and_do_not_depend_on_slight_changes(n):
    strength = np.random.default_rng(n).permutation(np.arange(n))
    i, j = np.triu_indices(n, k=1)
    some = agreement._by_distance(strength, i, j, 600)
    assert len(np.unique(np.bincount(np.append(i[some], j[some]), minlength=n))) == 1
    assert min(500, len(i)) <= len(some) <= max(700, 3 * n)
    shaken = strength + np.random.default_rng(0).uniform(-0.4, 0.4, n)
    assert_array_equal(some, agreement._by_distance(shaken, i, j, 600))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_net_score_is_twice_the_expected_score_less_one(model):
    rng = np.random.default_rng(0)
    size = 1 + model.has_tie_outcome + (model.both_bad == "outcome")
    coordinates = rng.normal(scale=[[8.0], [1.0], [1.0]], size=(3, 200))[:size]
    assert_allclose(
        model.likelihood.net_score(coordinates), 2 * model.likelihood.expected_score(coordinates)[0] - 1, atol=1e-14
    )


def test_gauss_rules_are_exact_for_polynomials():
    points = np.random.default_rng(1).exponential(size=(3, 50))
    nodes, weights = gauss_rule(points, 4)
    for power in range(8):
        assert_allclose((weights * nodes**power).sum(axis=1), (points**power).mean(axis=1), rtol=1e-9)
    assert (nodes > points.min(axis=1, keepdims=True)).all() and (nodes < points.max(axis=1, keepdims=True)).all()


@pytest.mark.parametrize("points", [[[0.7]], [[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0, 2.0]]])
def test_gauss_rules_of_few_different_points_are_the_mean(points):
    nodes, weights = gauss_rule(np.array(points))
    assert_allclose((weights * np.tanh(3 * nodes)).sum(axis=1), np.tanh(3 * np.array(points)).mean(axis=1), atol=1e-12)


@pytest.mark.slow
def test_many_competitors_are_thinned_without_harm():
    arena = ba.simulate(competitors=300, annotators=4, votes=6000, seed=1)
    fit = ba.fit(ba.read_votes(arena.votes), model="am-elo", method="map")
    ours = agreement_of(fit).net[:3]
    strength, _, parts = draw_in_parts(fit, size=DRAWS)
    own = np.concatenate([own for _, own in parts], axis=1)
    i, j = np.triu_indices(300, 1)
    leads = np.abs(strength[:3, i] - strength[:3, j])
    exact = np.array([np.tanh(0.5 * leads * own[:3, k]).mean(axis=1) for k in range(4)]).T
    assert_allclose(ours, exact, atol=3e-3)


@pytest.mark.slow
def test_draws_in_parts_are_the_draws(arena_cells):
    fit = ba.fit(arena_cells)
    whole = ba.draw(fit, size=50, seed=4)
    strength, common, parts = draw_in_parts(fit, size=50, seed=4)
    assert_allclose(strength, whole.strength)
    assert_allclose(common, whole.common)
    assert_allclose(np.concatenate([own for _, own in parts], axis=1), whole.own)


@pytest.mark.slow
def test_columns_are_those_of_the_model(arena_cells):
    first = ["annotator", "verdict", "kind", "anomaly_probability"]
    net = ["net_agreement", "net_agreement_lower", "net_agreement_upper", "consistency"]
    theta = ["theta", "theta_lower", "theta_upper", "theta_paper", "p_negative"]
    side = ["position", "position_lower", "position_upper", "one_sided_probability"]
    full = ba.annotators(ba.fit(arena_cells, robust=False))
    assert full.columns.tolist() == [*first, *net, *theta, "tie_propensity", *side, "reward", "votes"]
    am_elo = ba.annotators(ba.fit(arena_cells, model="am-elo", prior="flat"))
    assert am_elo.columns.tolist() == [*first, *net, *theta, "reward", "votes"]
    ties = ba.annotators(ba.fit(arena_cells, model=MODELS[4]))
    assert ties.columns.tolist() == [*first, *net, "tie_propensity", "reward", "votes"]
    sides = ba.annotators(ba.fit(arena_cells, model=MODELS[5]))
    assert sides.columns.tolist() == [*first, *net, *side, "reward", "votes"]
    for table in (full, am_elo, ties, sides):
        assert table["votes"].sum() == 600
        assert table["reward"].sum() == pytest.approx(1)
        assert (table["net_agreement_lower"] < table["net_agreement"]).all()
        assert (table["net_agreement"] < table["net_agreement_upper"]).all()


def test_theta_and_its_interval(arena_cells):
    table = ba.annotators(ba.fit(arena_cells, model="am-elo", prior="flat"))
    assert table["theta"].mean() == pytest.approx(1)
    assert table["theta_paper"].sum() == pytest.approx(1)
    # theta two and a half standard deviations above zero has probability Phi(-2.5) of being negative
    sd = (table["theta_upper"] - table["theta_lower"]) / (2 * 1.959963984540054)
    expected = [0.5 * math.erfc(z / math.sqrt(2)) for z in table["theta"] / sd]
    assert_allclose(table["p_negative"], expected, rtol=1e-9)


def test_a_model_without_annotators_says_nothing_about_them(arena_cells):
    fit = ba.fit(arena_cells, model="m-elo")
    with pytest.raises(ba.ModelError, match="has no parameters of annotators"):
        ba.annotators(fit)
    with pytest.raises(ba.ModelError, match="has no parameters of annotators"):
        ba.flag(fit)
    with pytest.raises(ba.ModelError, match="has no theta"):
        ba.flag_by_theta(fit)


def planted(seed: int) -> tuple[ba.Cells, dict[str, str]]:
    """An arena of 20 annotators, one of each kind of anomaly among the busiest; nobody else is bad."""
    arena = ba.simulate(annotators=20, votes=8000, discrimination_sd=0.2, tie_spread=0.3, seed=seed)
    busiest = arena.votes["judge"].value_counts(sort=True)["judge"][:4].sort()
    names = dict(zip(KINDS, busiest, strict=True))
    rng = np.random.default_rng(seed)
    judges, winner = arena.votes["judge"].to_list(), arena.votes["winner"].to_list()
    changed = []
    for judge, said in zip(judges, winner, strict=True):
        told = {
            names["reversed"]: TURNED[said],
            names["guesses"]: str(rng.choice(list(TURNED))),
            names["always ties"]: "tie",
            names["one-sided"]: "model_b" if rng.random() < 0.97 else said,
        }
        changed.append(told.get(judge, said))
    return ba.read_votes(arena.votes.with_columns(winner=pl.Series(changed))), names


@pytest.mark.slow
@pytest.mark.parametrize("method", ["map", "marginal"])
def test_planted_annotators_get_their_verdict_and_kind(method):
    cells, names = planted(seed=4)
    table = ba.annotators(ba.fit(cells, method=method, robust=False)).set_index("annotator")
    for kind, name in names.items():
        assert (table["verdict"][name], table["kind"][name]) == ("anomalous", kind)
    others = table.drop(list(names.values()))
    assert "anomalous" not in set(others["verdict"])
    assert set(others.loc[others["verdict"] == "reliable", "kind"]) == {""}
    assert (table.loc[names["reversed"], "net_agreement_upper"]) < 0
    assert table["tie_propensity"].idxmax() == names["always ties"]
    assert table["position"].idxmin() == names["one-sided"]
    assert table.loc[names["one-sided"], "position_upper"] < -1
    assert table.loc[names["reversed"], "reward"] == 0
    # theta cannot tell who always ties
    assert table.loc[names["always ties"], "p_negative"] < 0.5 < table.loc[names["always ties"], "anomaly_probability"]


@pytest.mark.slow
def test_flagged_annotators_and_the_rule_of_the_paper():
    cells, names = planted(seed=4)
    fit = ba.fit(cells, robust=False)
    table = ba.annotators(fit).set_index("annotator")
    flagged = ba.flag(fit, fdr=0.05)
    assert set(flagged) == set(names.values())
    assert (1 - table.loc[list(flagged), "anomaly_probability"]).mean() <= 0.05
    assert set(ba.flag(fit, fdr=0.01)) <= set(flagged)
    for rate in (0, 1, -0.1, float("nan")):
        with pytest.raises(ba.ModelError, match="between 0 and 1"):
            ba.flag(fit, fdr=rate)
    with pytest.warns(ba.errors.LeftOutEffectWarning, match="Sides matter"):  # one annotator always votes for a side
        paper = ba.fit(cells, model="am-elo", prior="flat")
    theta = ba.annotators(paper).set_index("annotator")["theta_paper"]
    assert ba.flag_by_theta(paper)[0] == theta.idxmin() == names["reversed"]
    assert set(ba.flag_by_theta(paper)) == set(theta.index[theta < 1e-9]) >= {names["always ties"]}
    assert set(ba.flag_by_theta(paper, epsilon=0.01)) == set(theta.index[theta < 0.01])
    with pytest.raises(ba.ModelError, match="finite"):
        ba.flag_by_theta(paper, epsilon=math.inf)


@pytest.mark.parametrize("seed", range(8))
def test_theta_of_ties_only_is_zero_and_not_above_it(seed):
    """Rounding gives it either sign; the paper keeps theta > epsilon."""
    arena = ba.simulate(competitors=6, annotators=8, votes=900, discrimination_sd=0.2, seed=seed)
    who = arena.annotators[seed]
    votes = arena.votes.with_columns(winner=pl.when(judge=who).then(pl.lit("tie")).otherwise("winner"))
    fit = ba.fit(ba.read_votes(votes), model="am-elo", prior="flat")
    assert abs(fit.discrimination[fit.cells.annotators.index(who)]) < 1e-9
    assert who in ba.flag_by_theta(fit)
    assert who not in ba.flag_by_theta(fit, epsilon=-1e-5)


def test_arithmetic_of_false_discovery_rates():
    anomaly = np.array([0.25, 1.0, 0.90625, 0.5, 0.9375])
    # 1 - A sorted: 0, 1/16, 3/32, 1/2, 3/4, the last two too large; means up to each: 0, 1/32, 5/96
    assert discoveries(anomaly, 0.03).tolist() == [1]
    assert discoveries(anomaly, 1 / 32).tolist() == [1, 4]
    assert discoveries(anomaly, 0.06).tolist() == [1, 4, 2]
    assert discoveries(anomaly, 0.3).tolist() == [1, 4, 2]
    assert discoveries(np.array([0.95, 0.5, 0.9, 0.75]), 0.4).tolist() == [0, 2]
    assert discoveries(np.array([0.5, 0.1]), 0.3).tolist() == []
    assert discoveries(np.array([0.95, 1.0, 0.95, 0.95]), 0.03).tolist() == [1]  # not two of the three alike


@pytest.mark.slow
def test_names_do_not_matter(arena):
    new = {name: f"{'zyxwv'[index]}-judge" for index, name in enumerate(arena.annotators)}
    renamed = arena.votes.with_columns(pl.col("judge").replace(new))
    left, right = (
        ba.annotators(ba.fit(ba.read_votes(votes))).set_index("annotator") for votes in (arena.votes, renamed)
    )
    right = right.loc[[new[name] for name in left.index]]
    assert_allclose(right["theta"], left["theta"], atol=1e-6)
    # the rest is drawn: by name, so the draws are others
    sd = (left["net_agreement_upper"] - left["net_agreement_lower"]) / 3.92
    assert (np.abs(right["net_agreement"].to_numpy() - left["net_agreement"]) < 0.2 * sd).all()
    assert_allclose(right["anomaly_probability"], left["anomaly_probability"], atol=0.06)


@pytest.mark.slow
def test_the_bar_is_taken_draw_by_draw(arena_cells):
    fit = ba.fit(arena_cells, model="am-elo", robust=False)
    net = agreement_of(fit, kinds(fit)).net
    by_hand = [np.mean([row[k] < 0.2 * np.median(np.abs(row)) for row in net]) for k in range(5)]
    table = ba.annotators(fit).set_index("annotator").loc[list(arena_cells.annotators)]
    assert_allclose(table["anomaly_probability"], by_hand)


@pytest.mark.slow
def test_a_sampled_fit_is_read_from_its_draws(arena_cells):
    fit = ba.fit(arena_cells, robust=False)
    sampled = replace(fit, samples=ba.draw(fit, size=300, seed=9))
    agreement = agreement_of(sampled)
    assert agreement.net.shape == (300, 5)
    i, j = np.triu_indices(6, 1)
    draws, index = sampled.samples, 123
    lead = np.abs(draws.strength[index, i] - draws.strength[index, j])
    column = [term.name for term in fit.target.common].index("tie_propensity")
    for k in range(5):
        e, nu = draws.own[index, k, 0] * lead, np.exp(draws.common[index, column] + draws.own[index, k, 1])
        exact = np.mean(2 * np.sinh(e / 2) / (2 * np.cosh(e / 2) + nu))
        assert agreement.net[index, k] == pytest.approx(exact, abs=2e-6)
    table = ba.annotators(sampled).set_index("annotator").loc[list(arena_cells.annotators)]
    assert_allclose(table["net_agreement"], agreement_of(sampled, kinds(sampled)).net.mean(axis=0), rtol=1e-5)
    assert_allclose(table["theta"], draws.own[:, :, 0].mean(axis=0))
    assert ba.flag_by_theta(sampled, epsilon=1.0) == tuple(table["theta"].sort_values().index)


@pytest.mark.slow
def test_sparse_annotators():
    arena = ba.simulate(competitors=6, annotators=150, votes=4500, anomalous=10, discrimination_sd=0.2, seed=5)
    fit = ba.fit(ba.read_votes(arena.votes), robust=False)
    table = ba.annotators(fit).set_index("annotator")
    wrong = set(ba.flag(fit, fdr=0.1)) - set(arena.anomalous)
    assert len(ba.flag(fit, fdr=0.1)) >= 5 and len(wrong) <= 2
    assert table.loc[list(arena.anomalous), "anomaly_probability"].mean() > 0.5


@pytest.mark.slow
def test_the_anomalous_annotators_of_llmfao(llmfao):
    fit = ba.fit(llmfao, robust=False)
    table = ba.annotators(fit).set_index("annotator")
    assert (table.loc[["worker_11", "worker_20"], "anomaly_probability"] > 0.9).all()
    assert {"worker_11", "worker_20"} <= set(ba.flag(fit))


@pytest.mark.slow
def test_nobody_is_anomalous_in_mt_bench():
    fit = ba.fit(ba.read_votes(real_votes("mt_bench_human.csv"), prompt=False), robust=False)
    assert set(ba.annotators(fit)["verdict"]) == {"reliable"}
    assert ba.flag(fit, fdr=0.2) == ()


@pytest.mark.slow
def test_dropped_annotators_take_their_votes_with_them(arena, arena_cells):
    fewer = ba.drop_annotators(arena_cells, arena.anomalous)
    left = arena.votes.filter(~pl.col("judge").is_in(arena.anomalous))
    assert fewer.n_votes == len(left)
    np.testing.assert_array_equal(ba.fit(fewer).strength, ba.fit(ba.read_votes(left)).strength)
    with pytest.raises(ba.ModelError, match="is called nemo"):
        ba.drop_annotators(arena_cells, ["nemo"])
    with pytest.raises(ba.errors.NoVotesError, match="None of the"):
        ba.drop_annotators(arena_cells, arena_cells.annotators)


def test_no_number_is_missing_where_the_estimate_lies_at_infinity():
    rows = [("x", "y", "model_a", "p"), ("y", "z", "model_a", "p"), ("x", "z", "model_a", "p")]
    rows += [("z", "y", "tie", "q"), ("x", "y", "model_b", "q"), ("y", "x", "model_a", "q")]
    votes = pl.DataFrame(rows, schema=["model_a", "model_b", "winner", "judge"], orient="row")
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(ba.read_votes(votes), model="am-davidson", prior="flat")
    assert not ba.annotators(fit).drop(columns=["kind", "verdict"]).isna().to_numpy().any()


def test_a_fit_says_in_a_line_what_it_is(arena_cells):
    assert repr(ba.fit(arena_cells, model="am-elo", prior="flat")) == (
        "Fit(am-elo, flat prior, map: 600 votes, 6 competitors, 5 annotators)"
    )


@pytest.mark.slow
def test_the_most_suspect_come_first():
    cells, names = planted(seed=4)
    table = ba.annotators(ba.fit(cells, method="map", robust=False))
    assert (table["anomaly_probability"] >= table["one_sided_probability"] - 1e-9).all()
    rounded = {"trust": -table["anomaly_probability"].round(6), "net": table["net_agreement"].round(6)}
    expected = table.assign(**rounded).sort_values(["trust", "net"], kind="stable")
    assert table["annotator"].tolist() == expected["annotator"].tolist()
    assert set(table["annotator"][:4]) == set(names.values())


@pytest.mark.slow
@pytest.mark.parametrize("model", [MODELS[1], MODELS[2]], ids=["both-bad a tie", "both-bad an outcome"])
def test_both_bad_votes_are_ties_of_an_annotator_who_always_ties(model):
    arena = ba.simulate(competitors=5, annotators=6, votes=900, discrimination_sd=0.1, seed=2)
    lazy = arena.annotators[0]
    says = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("tie")).otherwise(pl.lit("both_bad"))
    winner = pl.when(pl.col("judge") == lazy).then(says).otherwise("winner")
    cells = ba.read_votes(arena.votes.with_columns(winner=winner))
    table = ba.annotators(ba.fit(cells, model=model, method="map", robust=False))
    assert table.iloc[0][["annotator", "verdict", "kind"]].tolist() == [lazy, "anomalous", "always ties"]


def test_verdicts_and_kinds_by_hand(monkeypatch):
    """A_k of .6, .2, .05 and .7; a pull of .4 decides nothing; four ties in five are not always."""
    rows = [("x", "y", winner, judge) for judge in "pqrst" for winner in ["x", "y"] + ["tie"] * 8]
    fit = ba.fit(ba.read_votes(frame(rows)), method="map", robust=False)
    net = np.full((100, 5), 0.5, dtype=np.float32)
    net[:60, 0] = net[80:, 1] = net[70:75, 2] = 0.01
    net[:, 4] = 0.3
    consistency = net.copy()
    net[:70, 3] = -0.3  # of .5
    net[70:, 3] = -0.2
    pull = np.full((100, 5), 0.1, dtype=np.float32)
    pull[:, 4] = -0.4
    monkeypatch.setattr(
        "bayes_arena.reliability.annotators.draw_agreement",
        lambda fit, of: [(slice(0, 5), Agreement(net, consistency, pull, pull, np.zeros(5)))],
    )
    table = ba.annotators(fit).set_index("annotator").loc[list("pqrst")]
    assert_allclose(table["anomaly_probability"], [0.6, 0.2, 0.05, 0.7, 0])
    assert table["verdict"].tolist() == ["anomalous", "watch", "reliable", "anomalous", "reliable"]
    assert table["kind"].tolist() == ["guesses", "guesses", "", "reversed", ""]
    pull[:, 4] = -0.6
    row = ba.annotators(fit).iloc[0]
    assert row[["annotator", "verdict", "kind", "one_sided_probability"]].tolist() == ["t", "anomalous", "one-sided", 1]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.89])
def test_intervals_of_annotators_have_the_level_asked_for(arena_cells, level):
    fit = ba.fit(arena_cells, method="map")
    asked, usual = ba.annotators(fit, level=level), ba.annotators(fit)
    ratio = NormalDist().inv_cdf(0.5 + level / 2) / 1.959963984540054
    reliable = asked["verdict"] == "reliable"  # that of others is a mixture
    for name, rtol in (("theta_", 1e-9), ("net_agreement_", 0.15), ("position_", 0.1)):
        width, wide = ((table[f"{name}upper"] - table[f"{name}lower"])[reliable] for table in (asked, usual))
        assert_allclose(width, ratio * wide, rtol=rtol)


@pytest.mark.slow
def test_net_agreement_lies_in_its_interval_at_infinity_too():
    """Three annotators in two minds, and one of a single mind, whose theta has no finite estimate."""
    votes = {"j": (1, 1), "k": (1, 1), "l": (5, 0), "m": (1, 1)}
    rows = [("x", "y", side, k) for k, (won, lost) in votes.items() for side in "x" * won + "y" * lost]
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(ba.read_votes(frame(rows)), model="am-elo", prior="flat")
    table = ba.annotators(fit)
    assert (table["net_agreement"] >= table["net_agreement_lower"]).all()
    assert (table["net_agreement"] <= table["net_agreement_upper"]).all()


@pytest.mark.slow
def test_net_agreement_beside_answers_is_that_on_new_prompts():
    """D_k by hand, every pair's votes imagined on many prompts; and about as large as without answers."""
    cells = ba.read_votes(answered_votes(answers_sd=1.6, seed=3)[0], prompt="prompt")
    fit, plain = ba.fit(cells), ba.fit(cells, answers=False)
    found, rng, size = agreement_of(fit).net.mean(axis=0), np.random.default_rng(1), 2000
    r, common, own, _ = draw_parameters(fit, size=size)
    labels = [effect.name for effect in fit.target.own]
    theta, tie = (own[:, :, labels.index(name)] for name in ("discrimination", "tie_propensity"))
    tie = tie + common[:, [[effect.name for effect in fit.target.common].index("tie_propensity")]]
    total = np.zeros(len(found))
    pairs = list(combinations(range(6), 2))
    for i, j in pairs:
        gap = np.diff(rng.normal(0, fit.spreads.spread("strength_by_prompt"), (2, size)), axis=0).T
        nu = np.exp(tie + rng.normal(0, fit.spreads.spread("ties_by_prompt"), (size, 1)))
        half = theta * (np.abs(r[:, [i]] - r[:, [j]]) + gap) / 2
        total += (2 * np.sinh(half) / (2 * np.cosh(half) + nu)).mean(axis=0)
    np.testing.assert_allclose(found, total / len(pairs), atol=0.02)
    assert found.mean() == pytest.approx(agreement_of(plain).net.mean(), abs=0.03)
