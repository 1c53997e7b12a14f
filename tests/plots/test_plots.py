"""Pictures show the numbers of the tables, few or many, in their order; they are drawn where asked, and say nothing."""

import warnings
from dataclasses import replace
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import prompted
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

import bayes_arena as ba
from bayes_arena.plots.drawing import named, spread
from bayes_arena.plots.frontier import on_front
from bayes_arena.ratings.decision_draws import rank_shares
from bayes_arena.validation.prediction import grouped

pytestmark = pytest.mark.slow  # matplotlib takes half a second to import


@pytest.fixture(autouse=True)
def figures():
    mpl.use("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def few(arena_cells) -> ba.Fit:
    """Six competitors, and annotators one of whom votes at random."""
    return ba.fit(arena_cells, robust=False)


@pytest.fixture(scope="module")
def many() -> ba.Fit:
    votes = ba.simulate(competitors=130, annotators=2, votes=4000, seed=1).votes
    return ba.fit(ba.read_votes(votes, annotator=False), model="bradley-terry")


@pytest.fixture(params=["few", "many"])
def fit(request) -> ba.Fit:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def history() -> pd.DataFrame:
    rows = [(r, f"m{i}", 1000.0 - 10 * i + r, 990.0 - 10 * i, 1020.0 - 10 * i) for r in (1, 2, 3) for i in range(15)]
    table = pd.DataFrame(rows, columns=["round", "competitor", "elo", "lower", "upper"])
    table.attrs["level"] = 0.9
    return table


def labels(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def bars(ax: Axes) -> np.ndarray:
    """What error bars show, from the top: place, value, and the ends of its interval, shape (n, 4)."""
    found = []
    for points, _, (reach,) in ax.containers:
        ends = np.array(reach.get_segments())[:, :, 0]
        found.append(np.column_stack([points.get_ydata(), points.get_xdata(), ends]))
    every = np.vstack(found)
    return every[np.argsort(every[:, 0])]


def in_order(points) -> np.ndarray:
    return np.array(sorted(map(tuple, points)))


def test_the_board_is_the_leaderboard_with_its_rank_ranges(fit):
    table = ba.leaderboard(fit, level=0.9)
    ax = ba.plots.board(fit, level=0.9)
    assert labels(ax.yaxis) == list(table["competitor"])
    assert bars(ax)[:, 1:] == pytest.approx(table[["elo", "lower", "upper"]].to_numpy())
    assert ax.yaxis_inverted()
    ranges = [text.get_text() for text in ax.texts][: len(table)]
    assert ranges == [f"{a}" if a == b else f"{a}–{b}" for a, b in table[["rank_lower", "rank_upper"]].to_numpy()]
    assert "90 % intervals" in ax.get_xlabel()


@pytest.mark.parametrize("draw", [ba.plots.board, ba.plots.ranks])
def test_names_of_many_can_be_read_and_fit_their_rows(many, draw):
    ax = draw(many)
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.yaxis.get_ticklabels()]
    centers = np.array([(box.y0 + box.y1) / 2 for box in boxes])
    points = ax.yaxis.get_ticklabels()[0].get_fontsize()
    assert points >= 6
    assert np.all(np.abs(np.diff(centers)) * 72 / ax.figure.dpi >= points)
    assert min(box.x0 for box in boxes) >= 0


def test_ranks_are_those_of_the_table(fit):
    ax, table = ba.plots.ranks(fit), ba.rank_probabilities(fit, top=3)
    shares = np.asarray(ax.images[0].get_array())
    assert labels(ax.yaxis) == list(table["competitor"])[:: 1 if len(table) < 60 else 2]
    assert labels(ax.figure.axes[1].yaxis)[-3:] == ["50 %", "75 %", "100 %"]
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares.sum(axis=0) == pytest.approx(1)
    assert shares[:, 0] == pytest.approx(table["p_best"])
    assert shares[:, :3].sum(axis=1) == pytest.approx(table["p_top"])
    assert shares @ np.arange(1, len(shares) + 1) == pytest.approx(table["expected_rank"])


def test_where_the_direction_is_open_the_first_rank_is_the_verdicts(few):
    shares = np.asarray(ba.plots.ranks(replace(few, mirror_probability=0.4)).images[0].get_array())
    assert shares[:, 0].max() == pytest.approx(0.6, abs=0.02)


def test_who_ties_for_ranks_shares_them():
    shares = rank_shares(np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 1.0]]))
    assert shares == pytest.approx(np.array([[0.75, 0.25, 0], [0.25, 0.5, 0.25], [0, 0.25, 0.75]]))


def test_wins_are_those_of_the_table(few):
    ax, table = ba.plots.wins(few), ba.win_probability(few)
    names = labels(ax.yaxis)
    assert names == labels(ax.xaxis)
    assert names == list(table.mean(axis=1).sort_values(ascending=False).index)
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(table.loc[names, names].to_numpy())
    assert len(ax.texts) == len(names) ** 2


def test_annotators_are_those_of_the_table(discounted):
    table, ax = ba.annotators(discounted), ba.plots.annotators(discounted)
    drawn = np.vstack([one.get_offsets() for one in ax.collections if isinstance(one, PathCollection)])
    assert in_order(drawn) == pytest.approx(in_order(table[["theta", "tie_propensity"]].to_numpy()))
    suspects = table[table["verdict"] == "anomalous"]
    assert len(suspects) >= 3
    ax.figure.draw_without_rendering()
    written = [text for text in ax.texts if text.get_text()]
    assert {text.get_text() for text in written} == set(suspects["annotator"] + ", " + suspects["kind"])
    boxes = [text.get_window_extent() for text in written]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert min(box.x0 for box in boxes) > ax.get_window_extent().x1


def test_annotators_of_a_model_without_ties_stand_against_their_votes(arena_cells):
    fit = ba.fit(arena_cells, model="am-elo", robust=False)
    ax = ba.plots.annotators(fit)
    assert ax.get_ylabel() == "votes"
    with pytest.raises(ba.ModelError, match="has no parameters of annotators"):
        ba.plots.annotators(ba.fit(arena_cells, model="bradley-terry"))


def test_calibration_adds_up_to_the_votes(few, arena_cells):
    ax = ba.plots.calibration(few)
    _, score, tie = ax.lines
    wins, _, ties, bad = arena_cells.counts.sum(axis=0)
    n = arena_cells.n_votes
    assert len(score.get_xdata()) == 10
    assert np.mean(score.get_ydata()) == pytest.approx((wins + (ties + bad) / 2) / n, abs=0.01)
    assert np.mean(tie.get_ydata()) == pytest.approx((ties + bad) / n, abs=0.01)
    assert np.abs(score.get_xdata() - score.get_ydata()).max() < 0.15
    assert np.all(np.diff(score.get_xdata()) > 0)


def test_calibration_of_other_votes_needs_known_competitors(few, many):
    other = ba.read_votes(ba.simulate(competitors=6, annotators=5, votes=100, seed=9).votes)
    assert "100 votes given" in ba.plots.calibration(few, other).get_title(loc="left")
    with pytest.raises(ba.ModelError, match="does not know"):
        ba.plots.calibration(few, many.cells)


def test_answers_are_checked_on_other_votes_only():
    cells = prompted(prompts=5, votes=60)
    fit = ba.fit(cells, model=ba.Model("answers", strength_by=("prompt",)), method="map")
    with pytest.raises(ba.ModelError, match="follow the votes it was fitted to"):
        ba.plots.calibration(fit)
    assert ba.plots.calibration(fit, prompted(prompts=5, votes=60, seed=1)).lines


def test_groups_are_means_over_votes():
    predicted, votes = np.array([0.8, 0.2, 0.2, 0.8]), np.array([10.0, 30.0, 10.0, 30.0])
    groups = grouped(
        predicted, predicted * (1 - predicted), np.array([10.0, 3.0, 3.0, 26.0]), votes, size=3, level=0.95
    )
    assert groups["votes"] == pytest.approx([30, 20, 30])
    assert groups["predicted"] == pytest.approx([0.2, 0.5, 0.8])
    assert groups["observed"] == pytest.approx([3 / 30, 13 / 20, 26 / 30])
    assert groups["upper"] - groups["predicted"] == pytest.approx(1.96 * 0.4 / np.sqrt(groups["votes"]), rel=1e-3)


def test_rounds_are_lines_and_the_best_have_names(history):
    ax = ba.plots.rounds(history)
    assert [text.get_text() for text in ax.texts if text.get_text()] == [f"m{i}" for i in range(12)]
    best = ax.containers[0]
    assert best[0].get_xdata().tolist() == [1, 2, 3]
    assert best[0].get_ydata().tolist() == [1001, 1002, 1003]
    assert np.array(best[2][0].get_segments())[:, :, 1].tolist() == [[990, 1020]] * 3
    assert "90 % intervals" in ax.get_ylabel()
    assert "best 12 of the last round, of 15" in ax.get_title(loc="left")
    with pytest.raises(ba.ModelError, match="no round"):
        ba.plots.rounds(history[:0])


def test_the_front_is_who_nobody_cheaper_beats():
    scores, prices = np.array([[3.0, 2.0, 2.5, 2.0, 1.0]]), np.array([5.0, 2.0, 2.0, 3.0, 1.0])
    assert on_front(scores, prices).tolist() == [[True, False, True, False, True]]


def test_cost_draws_scores_at_costs_and_names_who_has_none(few):
    table = ba.leaderboard(few)
    names = list(table["competitor"])
    costs = {name: float(10 - place) for place, name in enumerate(names[:-1])} | {"somebody else": 3.0}
    ax = ba.plots.cost(few, costs)
    front, possible, other = (one[0].get_xydata() for one in ax.containers)
    drawn = np.vstack([front, possible, other])
    expected = [(costs[name], score) for name, score in zip(names[:-1], table["elo"], strict=False)]
    assert in_order(drawn) == pytest.approx(in_order(expected))
    assert len(front) == len(names) - 1  # the better, the dearer
    assert f"without a cost: {names[-1]}" in ax.get_title(loc="left")
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts if text.get_text()}
    best, worst = names[0], names[-2]
    assert heights[best] > 0.8 and heights[worst] < 0.2  # beside their points
    frame = ba.plots.cost(few, pl.DataFrame({"competitor": list(costs), "dollars": list(costs.values())}))
    assert frame.get_xlabel() == "dollars"
    assert frame.containers[0][0].get_xydata() == pytest.approx(front)


@pytest.mark.parametrize(
    ("costs", "match"),
    [
        ({"nobody": 1.0}, "No competitor has a cost"),
        ({"model-1": -1.0}, "model-1: -1"),
        (pd.DataFrame({"name": ["model-1"], "cost": [1.0]}), "one of them `competitor`"),
        (3, "mapping of names"),
    ],
)
def test_costs_that_cannot_be_drawn_are_refused(few, costs, match):
    with pytest.raises(ba.ModelError, match=match):
        ba.plots.cost(few, costs)


def test_strengths_over_time_have_bands_and_names():
    periods, rows = ("2025-01", "2025-02", "2025-03"), []
    for place, period in enumerate(periods):
        for rank in range(9):
            elo = 1000.0 - 10 * rank + place
            rows.append({"period": period, "competitor": f"m{rank}", "elo": elo, "lower": elo - 5, "upper": elo + 5})
    ax = ba.plots.history(pd.DataFrame(rows))
    assert [label.get_text() for label in ax.get_xticklabels()] == list(periods)
    named = {text.get_text() for text in ax.texts}
    assert {f"m{rank}" for rank in range(7)} <= named and "m8" not in named
    assert len(ax.collections) == 7 and len(ax.lines) >= 9


def test_every_picture_goes_where_it_is_told_to_and_says_nothing(few, history, capsys):
    draws = [ba.plots.board, ba.plots.ranks, ba.plots.wins, ba.plots.annotators, ba.plots.calibration]
    settings = dict(mpl.rcParams)
    figure, given = plt.subplots(1, len(draws) + 2)
    with warnings.catch_warnings(action="error"):
        drawn = [draw(few, ax=ax) for draw, ax in zip(draws, given, strict=False)]
        drawn.append(ba.plots.rounds(history, ax=given[-2]))
        drawn.append(ba.plots.cost(few, dict.fromkeys(few.cells.competitors, 1.0), ax=given[-1]))
    assert all(ax is other and ax.get_title(loc="left") for ax, other in zip(drawn, given, strict=True))
    assert plt.get_fignums() == [figure.number]
    assert dict(mpl.rcParams) == settings
    assert capsys.readouterr() == ("", "")


def test_names_are_drawn_as_they_are():
    assert plt.figure().text(0, 0, named("$a$ and $b"))._preprocess_math(named("$a$"))[0] == "$a$"
    assert named("a\nb") == r"a\nb"
    assert named("a" * 30 + "b" * 30) == "a" * 19 + "…" + "b" * 20


def test_labels_move_no_more_than_they_must():
    assert spread(np.array([0.9, 0.1, 0.5]), 0.1) == pytest.approx([0.9, 0.1, 0.5])
    assert spread(np.array([0.5, 0.5]), 0.1) == pytest.approx([0.45, 0.55])
    assert spread(np.array([0.0, 1.0, 1.0]), 0.1).max() <= 1
