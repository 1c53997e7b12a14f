"""Boards of new prompts, these prompts and one category; who is better or worse where; answers that stand out."""

import numpy as np
import polars as pl
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.ratings import slices

VOTES, STRENGTH = answered_votes(votes=1600, answers_sd=0.5, seed=3)
CODER = f"m{STRENGTH.argmin()}"
MODEL = ba.Model("by category", ties="davidson", strength_by=("prompt", "category"))


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    """Two categories: who is weakest wins on all code, except on ``p003``, where everybody else does."""
    rows = []
    for a, b, winner, judge, prompt in VOTES.iter_rows():
        code = int(prompt[1:]) % 3 == 0
        if code and CODER in (a, b):
            winner = b if (a == CODER) == (prompt == "p003") else a
        rows.append((a, b, winner, judge, prompt, "code" if code else "prose"))
    return pl.DataFrame(rows, schema=[*VOTES.columns, "topic"], orient="row")


@pytest.fixture(scope="module")
def fit(votes) -> ba.Fit:
    return ba.fit(ba.read_votes(votes, prompt="prompt", slices={"category": "topic"}), model=MODEL)


def numbers(fit: ba.Fit, by: str, draws: np.ndarray) -> np.ndarray:
    """Deviations in every slice, shape (..., n_slices, n_competitors); every competitor is seen in all of them."""
    part = fit.target.numbering.parts[MODEL.strength_by.index(by)]
    return draws[..., part].reshape(*draws.shape[:-1], -1, fit.cells.n_competitors)


def test_one_board_by_hand(fit):
    """These prompts: r* where strengths are r and the means over categories, weighed by prompts, and over prompts."""
    category, prompt = (numbers(fit, by, fit.point.slices) for by in ("category", "prompt"))
    share = np.array([10, 20]) / 30
    by_hand = fit.strength + share @ category + prompt.mean(axis=0)
    found = fit.on("these prompts")
    np.testing.assert_allclose(fit.strength + found.view.slices @ fit.point.slices, by_hand)
    np.testing.assert_allclose(found.view.unseen, 0, atol=1e-12)
    in_code = fit.strength + category[0] + prompt[::3].mean(axis=0)
    found = fit.on("these prompts", ("category", "code"))
    np.testing.assert_allclose(fit.strength + found.view.slices @ fit.point.slices, in_code)
    board = ba.leaderboard(fit, over="these prompts", slice=("category", "code")).set_index("competitor")["elo"]
    exact = project(fit.target, fit.point, fit.cells.votes_by_annotator(), found.view).strength
    np.testing.assert_allclose(board.loc[list(fit.cells.competitors)], 1000 + 400 / np.log(10) * exact)


def test_boards_differ_as_they_should(fit, votes):
    boards = {
        name: ba.leaderboard(fit, **which).set_index("competitor").sort_index()
        for name, which in (
            ("new", {}),
            ("these", {"over": "these prompts"}),
            ("code", {"slice": ("category", "code")}),
            ("prose", {"slice": ("category", "prose")}),
        )
    }
    width = {name: (board["upper"] - board["lower"]).to_numpy() for name, board in boards.items()}
    assert (width["new"] > 1.05 * width["these"]).all()
    assert (width["code"] > width["new"]).all()
    assert boards["code"].loc[CODER, "elo"] > boards["prose"].loc[CODER, "elo"] + 100
    in_code = votes.filter(pl.col("topic") == "code")
    assert boards["code"]["votes"].sum() == 2 * len(in_code)
    assert boards["new"]["votes"].sum() == 2 * len(votes)


@pytest.mark.slow
def test_tables_of_ranks_follow_the_board(fit):
    probabilities = ba.rank_probabilities(fit, slice=("category", "code")).set_index("competitor")
    board = ba.leaderboard(fit, slice=("category", "code"))
    assert probabilities["p_best"].idxmax() == board.loc[0, "competitor"]
    assert probabilities.attrs.items() <= board.attrs.items()
    these, new = (ba.head_to_head(fit, over=over) for over in ("these prompts", "new prompts"))
    assert ((these["upper"] - these["lower"]) < (new["upper"] - new["lower"])).all()


def test_what_a_ranking_is_over_stands_on_rankings_alone(fit):
    assert ba.leaderboard(fit).attrs["over"] == "new prompts"
    about = ba.leaderboard(fit, over="these prompts", slice=("category", "code")).attrs
    assert (about["over"], about["slice"]) == ("these prompts", "category: code")
    for table in (ba.strengths(fit), ba.contrasts(fit), ba.slice_gaps(fit, "category"), ba.answers(fit)):
        assert table.attrs == {"level": 0.95, "interval": "laplace"}


@pytest.mark.slow
def test_gaps_between_slices(fit, votes):
    table = ba.slice_gaps(fit, "category")
    first = table.iloc[0]
    assert first["competitor"] == CODER
    assert first["p"] < 0.01
    gap = table.pivot_table(index="category", columns="competitor", values="gap").to_numpy()
    u = numbers(fit, "category", fit.point.slices)
    centred = u - u.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(gap, centred - centred.mean(axis=0), atol=1e-12)
    drawn = numbers(fit, "category", ba.draw(fit).slices)
    drawn = drawn - drawn.mean(axis=2, keepdims=True)
    sd = table.pivot_table(index="category", columns="competitor", values="sd").to_numpy()
    np.testing.assert_allclose((drawn - drawn.mean(axis=1, keepdims=True)).std(axis=0), sd, rtol=0.05)
    of_coder = votes.filter((pl.col("model_a") == CODER) | (pl.col("model_b") == CODER), pl.col("topic") == "code")
    assert table.set_index(["category", "competitor"]).loc[("code", CODER), "votes"] == len(of_coder)


def test_answers_that_stand_out(fit, monkeypatch):
    table = ba.answers(fit)
    assert table["z"].abs().is_monotonic_decreasing
    first = table.iloc[0]
    assert (first["prompt"], first["competitor"], first["deviation"] < 0) == ("p003", CODER, True)
    u = numbers(fit, "prompt", fit.point.slices)
    by_hand = (u - u.mean(axis=1, keepdims=True))[fit.cells.slice_names["prompt"].index("p003")]
    some = ba.answers(fit, ["p003"]).sort_values("competitor")
    np.testing.assert_allclose(some["deviation"], by_hand, atol=1e-12)
    with pytest.raises(ba.ModelError, match="There is no prompt 'p999'"):
        ba.answers(fit, ["p003", "p999"])
    monkeypatch.setattr(slices, "MOST", 10)
    assert len(ba.answers(fit, ["p003"])) == 6
    with pytest.raises(ba.ModelError, match="180 answers are too many for one table"):
        ba.answers(fit)


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ({"over": "all prompts"}, "over must be 'new prompts' or 'these prompts', not 'all prompts'"),
        ({"slice": "category"}, r"slice must be a kind and a name, such as \('category', 'coding'\), not 'category'"),
        ({"slice": ("category", "cod")}, "There is no category 'cod'. Did you mean 'code'"),
        ({"slice": ("category", "xyz")}, "There is no category 'xyz'. Use one of 'code', 'prose'"),
        ({"slice": ("language", "de")}, r"no strengths by 'language' \(its slices: 'prompt', 'category'\)\. Use"),
        ({"slice": ("annotator", "j00")}, "There is no ranking for one annotator"),
    ],
)
def test_boards_that_cannot_be(fit, which, message):
    with pytest.raises(ba.ModelError, match=message):
        ba.leaderboard(fit, **which)


def test_without_answers_there_is_one_board(fit):
    plain = ba.fit(fit.cells, model=ba.Model("plain", ties="davidson"))
    with pytest.raises(ba.ModelError, match=r"does not distinguish prompts.*answers=True"):
        ba.leaderboard(plain, over="these prompts")
    with pytest.raises(ba.ModelError, match=r"no strengths by 'prompt' \(its slices: none\). Fit with answers=True"):
        ba.answers(plain)


@pytest.mark.slow
def test_draws_from_elsewhere_say_what_they_rank(fit):
    back = ba.from_posterior(ba.to_datatree(fit), fit.cells, model=MODEL)
    board = ba.leaderboard(back, slice=("category", "code"))
    assert ba.leaderboard(back).attrs["over"] == "new prompts"
    assert board.attrs["slice"] == "category: code"
    expected = ba.leaderboard(fit, slice=("category", "code"))
    columns = [table.set_index("competitor")["elo"].sort_index() for table in (board, expected)]
    np.testing.assert_allclose(*columns, atol=6)
