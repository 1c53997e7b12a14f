import pytest

import bayes_arena as ba
from bayes_arena.palette import LIGHT
from tests.page.arenas import category_votes, fan_votes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
from matplotlib.colors import to_hex  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rating():
    return ba.rate(fan_votes())


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def diamonds(ax):
    """Rows and colour of the marked intervals."""
    (line,) = [line for line in ax.lines if line.get_marker() == "D"]
    return line.get_ydata().tolist(), to_hex(line.get_color())


def test_the_board_marks_who_may_be_the_best(rating):
    ax = ba.plots.board(rating)
    table = rating.leaderboard
    assert labels(ax) == table["competitor"].tolist()
    first = [row for row, rank in enumerate(table["rank_lower"]) if rank == 1]
    assert diamonds(ax) == (first, LIGHT["lead"])


def test_a_table_is_drawn_as_it_is(rating):
    table = ba.leaderboard(rating.fit, interval="posterior").head(4)
    assert labels(ba.plots.board(table)) == table["competitor"].tolist()


def test_votes_are_no_board():
    with pytest.raises(ba.errors.ModelError, match=r"no column 'competitor'"):
        ba.plots.board(ba.example_arena().votes)


@pytest.mark.parametrize("picture", [ba.plots.pairs, ba.plots.ranks])
def test_squares_are_in_the_order_of_the_board(rating, picture):
    ax = picture(rating)
    assert labels(ax) == rating.leaderboard["competitor"].tolist()
    shades = ax.images[0].get_array()
    assert shades.shape == (18, 18)
    if picture is ba.plots.pairs:
        assert (shades == -shades.T).all()


def test_cells_of_small_squares_have_numbers():
    votes = ba.simulate(competitors=4, annotators=5, votes=400, seed=0).votes
    ax = ba.plots.pairs(ba.fit(votes))
    assert len(ax.texts) >= 6


def test_odd_annotators_are_marked(rating):
    ax = ba.plots.annotators(rating)
    rows, colour = diamonds(ax)
    names = [labels(ax)[row] for row in rows]
    is_odd = rating.annotators["verdict"].isin(["anomalous", "has a favourite"])
    assert sorted(names) == sorted(rating.annotators["annotator"][is_odd])
    assert colour == LIGHT["odd"]


def test_favourites_have_a_row_each(rating):
    ax = ba.plots.favourites(rating)
    assert labels(ax) == ["fan: model-18"]
    (observed,) = diamonds(ax)[0]
    assert observed == 0


def test_who_votes_against_a_competitor_is_named_so(rating):
    table = rating.favourites.assign(direction="against")
    assert labels(ba.plots.favourites(table)) == ["fan: against model-18"]


def test_nobody_has_a_favourite():
    votes = ba.simulate(competitors=5, annotators=10, votes=800, seed=0).votes
    ax = ba.plots.favourites(ba.favourites(votes))
    assert ax.get_title(loc="left") == "Nobody has a favourite"


def test_without_annotators_there_is_none_to_draw():
    votes = ba.simulate(competitors=5, annotators=10, votes=800, seed=0).votes
    rating = ba.rate(votes.drop(columns="judge"))
    with pytest.raises(ba.errors.VotesError, match="No annotator was judged"):
        ba.plots.annotators(rating)
    assert labels(ba.plots.favourites(rating)) == []


def test_observed_scores_beside_predicted(rating):
    ax = ba.plots.observed(rating)
    low, high = ax.get_xlim()
    assert 40 < low < high < 105


def test_axes_that_are_given_are_drawn_into(rating):
    _, axes = plt.subplots(1, 2)
    assert ba.plots.board(rating, ax=axes[0]) is axes[0]
    assert ba.plots.observed(rating.fit, ax=axes[1]) is axes[1]


def test_a_dollar_in_a_name_is_a_dollar():
    votes = fan_votes().replace({"model-01": "$5_{million}$"})
    ax = ba.plots.board(ba.fit(votes))
    ax.figure.canvas.draw()
    assert r"\$5_{million}\$" in labels(ax)


def test_many_rows_keep_their_names_apart():
    votes = ba.simulate(competitors=150, annotators=5, votes=3000, seed=0).votes
    ax = ba.plots.board(ba.fit(votes))
    assert 50 <= len(ax.get_yticks()) < 150


def test_the_board_of_a_rating_is_drawn_on_its_scale():
    votes = ba.example_arena().votes
    rating = ba.rate(votes, elo=ba.EloScale(anchor=("model-18", 2000.0)))
    ax = ba.plots.board(rating)
    drawn = max(max(line.get_xdata(), default=0) for line in ax.lines)
    assert drawn == pytest.approx(2000)


def test_slices_show_ranks_and_who_surely_differs():
    votes = ba.read_votes(category_votes(), slices=("category",))
    model = ba.Model(ties="davidson", position="common", strength_by=("category",))
    fit = ba.fit(votes, model=model)
    ax = ba.plots.slices(fit, "category")
    names = [name.get_text() for name in ax.get_xticklabels()]
    column, row = names.index("code"), labels(ax).index("model 3")
    (text,) = [
        each.get_text() for each in ax.texts if each.get_position() == (column + 1, row)
    ]
    assert text == "1 ▲"
    assert ax.images[0].get_array()[row, column] >= 2
    with pytest.raises(ba.errors.ModelError, match="no strengths by"):
        ba.plots.slices(ba.fit(votes), "category")
