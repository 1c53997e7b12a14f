"""Every table and figure of the paper."""

import sys

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.checks.held_out import auc, squared_error
from bayes_arena.errors import MissingPackageError, ModelError, VotesError
from bayes_arena.paper import TARGETS, reproduce
from bayes_arena.paper.figures import models_of_the_case
from bayes_arena.paper.methods import run_method
from bayes_arena.paper.perturb import perturb
from bayes_arena.paper.reproduce import Effort
from bayes_arena.paper.tables import prediction_columns
from tests.helpers import real

LITTLE = Effort(splits=2, shuffles=5, epochs=4, shares=(0.25,), seeds=(0, 1))


@pytest.fixture(scope="module")
def votes():
    arena = ba.simulate(competitors=6, annotators=8, votes=900, seed=1)
    return ba.read_votes(arena.votes)


@pytest.fixture(scope="module")
def results(votes):
    return {name: reproduce(name, votes, effort=LITTLE) for name in TARGETS}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_numbers_and_a_summary(results, name):
    result = results[name]
    assert result.name == name and name in result.tables
    assert len(result.tables[name])
    lengths = {len(values) for values in result.summary.values()}
    assert len(lengths) == 1
    if name not in ("fig1", "fig3"):  # there the paper prints no number
        assert "paper" in str(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TARGETS if name[:3] == "fig"])
def test_figures_are_drawn_if_asked(results, name, tmp_path):
    path = tmp_path / f"{name}.png"
    results[name].draw().savefig(path, dpi=30)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_tables_are_not_drawn_and_figures_need_matplotlib(votes, monkeypatch):
    result = reproduce("table1", votes)
    with pytest.raises(ModelError, match="is a table"):
        result.draw()
    figure = reproduce("fig4", votes, effort=LITTLE)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match="matplotlib"):
        figure.draw()


def test_the_example_has_the_size_of_table_1():
    summary = reproduce("table1", ba.example_arena().votes).summary
    assert summary["ours"] == summary["paper"]


@pytest.mark.slow
def test_perturbed_annotators_are_found_and_shown(results, votes):
    assert set(results["fig7"].tables["fig7"]["f1"]) == {1.0}
    theta = results["fig6"].tables["fig6_theta"]
    sums = theta.groupby("kind")["theta"].sum()
    np.testing.assert_allclose(sums, 1)
    assert theta.groupby("kind")["perturbed"].sum().tolist() == [2] * 4
    flipped = theta[(theta["kind"] == "flip") & theta["perturbed"]]
    assert (flipped["theta"] < 0).all()
    first_seed = perturb(votes, "flip", share=0.25, seed=0)
    assert sorted(flipped["annotator"]) == sorted(first_seed.annotators)


def test_wins_of_figure_4_are_those_of_the_votes(votes):
    table = reproduce("fig4", votes, effort=LITTLE).tables["fig4"]
    names = table["winner"].tolist()
    for winner in names[1:4]:
        for loser in names[1:4]:
            i, j = (votes.competitors.index(name) for name in (winner, loser))
            won = votes.counts[(votes.i == i) & (votes.j == j), 0].sum()
            won += votes.counts[(votes.i == j) & (votes.j == i), 1].sum()
            row = table.set_index("winner").loc[winner]
            assert row[f"over {loser}"] == won


def test_the_scores_of_table_2(votes):
    perfect = votes.counts[:, 0] / votes.counts.sum(axis=1)
    rows = votes.take(np.flatnonzero((votes.counts > 0).sum(axis=1) == 1))
    won = (rows.counts[:, [0, 2]] @ [1, 0.5]) / rows.counts.sum(axis=1)
    best_first = rows.counts[:, [0, 2, 1]]
    assert auc(won, best_first) == 1 and auc(-won, best_first) == 0
    assert auc(np.zeros(len(rows)), best_first) == 0.5
    assert squared_error(won, rows.counts) == 0
    assert squared_error(1 - won, rows.counts) < 1
    assert 0 < squared_error(perfect, votes.counts) < 0.3


def test_differences_are_from_m_elo(votes):
    table = prediction_columns(votes, 3, shuffles=3)
    m_elo, am_elo = map(table["method"].index, ("m-elo", "am-elo"))
    assert table["mse_diff"][m_elo] == table["mse_diff_se"][m_elo] == 0
    expected = table["mse"][am_elo] - table["mse"][m_elo]
    assert table["mse_diff"][am_elo] == pytest.approx(expected)


def test_elo_of_many_orders_is_near_m_elo(votes):
    elo = run_method("elo", votes, shuffles=50)
    m_elo = run_method("m-elo", votes, shuffles=0)
    assert np.corrcoef(elo.strength, m_elo.strength)[0, 1] > 0.99
    expected = m_elo.expected_score(votes)
    r = m_elo.strength
    np.testing.assert_allclose(
        expected, 1 / (1 + np.exp(r[votes.j] - r[votes.i])), atol=1e-9
    )


def test_impossible_requests(votes):
    with pytest.raises(ModelError, match="table1, table2, fig1"):
        reproduce("fig2", votes)
    with pytest.raises(VotesError, match="do not say who voted"):
        reproduce("table1", votes.collapse())
    with pytest.raises(VotesError, match="more than 1000 votes"):
        reproduce("table1", votes, delta=1000)


@pytest.mark.slow
def test_real_votes_show_what_the_paper_shows():
    votes = ba.read_votes(real("llmfao.csv"), prompt=False)
    effort = Effort(shuffles=50, shares=(0.25,), seeds=(0,))
    fitting = reproduce("fig3", votes, effort=effort).summary
    loss = dict(
        zip(fitting["method"], map(float, fitting["loss per vote"]), strict=True)
    )
    assert loss["am-elo"] < loss["m-elo"] < loss["elo"]
    prediction = reproduce("table2", votes, effort=effort).tables["table2"]
    mse = prediction.set_index("method")["mse"]
    assert mse["am-elo"] < mse["m-elo"] < mse["elo"]
    stable = reproduce("fig6", votes, effort=effort).tables["fig6"]
    flip = stable[stable["kind"] == "flip"].set_index("method")["consistency"]
    assert flip["am-elo"] > 0.99 > flip["m-elo"]


def test_the_case_of_the_paper_is_taken_where_its_models_are():
    """The paper's three models, best by Elo first."""
    names = ["claude", "gpt4all-13b-snoozy", "koala-13b", "vicuna-7b"]
    pairs = [(a, b) for a in names for b in names if a != b]
    votes = ba.read_votes([{"model_a": a, "model_b": b, "winner": a} for a, b in pairs])
    elo = np.array([1100.0, 900.0, 1000.0, 1050.0])
    case = models_of_the_case(votes, elo, elo)
    assert [votes.competitors[c] for c in case] == [
        "vicuna-7b", "koala-13b", "gpt4all-13b-snoozy"
    ]  # fmt: skip


def test_three_models_are_enough_for_figure_4():
    arena = ba.simulate(competitors=3, annotators=4, votes=300, seed=2)
    votes = ba.read_votes(arena.votes)
    assert sorted(models_of_the_case(votes, np.arange(3.0), np.arange(3.0))) == [
        0,
        1,
        2,
    ]
    with pytest.raises(ModelError, match="at least three"):
        two = votes.keep(competitors=votes.competitors[:2])
        models_of_the_case(two, np.arange(2.0), np.arange(2.0))
