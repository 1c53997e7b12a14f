"""The page by category: the numbers of the boards, marks, and what is refused."""

import json
import re

import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError
from tests.page.arenas import CATEGORIES, category_votes
from tests.page.test_report import data_in, text_of

MATHS = CATEGORIES[2]


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    path = tmp_path_factory.mktemp("slices") / "page.html"
    ba.report(category_votes(), path, by=["category", "language"])
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def fit():
    """A fit of the same votes, as `boards --by category` makes it."""
    votes = ba.read_votes(category_votes(), slices=("category",))
    model = ba.Model(ties="davidson", position="common", strength_by=("category",))
    return ba.fit(votes, model=model)


def matrix_of(html):
    """The texts of the first matrix: by competitor, its cells."""
    body = html.split('<table class="matrix"')[1].split("</table>")[0]
    rows = re.findall("<tr>(.*?)</tr>", body.split("<tbody>")[1], re.DOTALL)
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row) for row in rows]
    return {text_of(first): [text_of(cell) for cell in row] for first, *row in cells}


def test_cells_are_those_of_the_boards(html, fit):
    matrix = matrix_of(html)
    whole = ba.leaderboard(category_votes()).set_index("competitor")
    table = ba.leaderboard(fit, by="category").set_index(["category", "competitor"])
    # Levels are in the order of their names: "<b>maths</b>" comes first.
    levels = [MATHS, "chat", "code"]
    for name in (f"model {number}" for number in range(8)):
        rows = [whole.loc[name], *(table.loc[(level, name)] for level in levels)]
        for cell, row in zip(matrix[name], rows, strict=True):
            numbers = f"{row['rank']:.0f} {row['elo']:.0f}"
            assert re.sub("[▲▼] ", "", cell) == numbers


def test_who_surely_differs_is_marked(html, fit):
    matrix = matrix_of(html)
    assert ["▲" in cell for cell in matrix["model 3"]] == [False, False, False, True]
    marked = [
        name for name, row in matrix.items() for cell in row if re.search("[▲▼]", cell)
    ]
    gaps = ba.slice_gaps(fit, "category")
    assert sorted(marked) == sorted(gaps["competitor"][gaps["flagged"]])
    assert 'aria-label="surely stronger than over all votes"' in html


def test_where_nobody_differs_that_is_said(tmp_path):
    ba.report(category_votes(0.0), tmp_path / "page.html", by="category")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Nobody is surely stronger or weaker there" in html
    assert not re.search("[▲▼]", html.split("<body>")[1].split("<script>")[0])


def test_who_was_not_seen_or_has_no_rank_stands_without_numbers(html):
    whole, maths, chat, code = matrix_of(html)["newcomer"]
    assert (maths, code) == ("–", "–")
    assert whole.startswith("– ") and chat.startswith("– ")


def test_every_category_has_its_board_and_leader(html):
    text = text_of(html)
    assert "By category" in text and "By language" in text
    summaries = re.findall("<summary>(.*?)</summary>", html)
    assert summaries[:5] == ["&lt;b&gt;maths&lt;/b&gt;", "chat", "code", "de", "en"]
    assert re.search(r"votes\. model 3 is the best \(P above 0\.99\)\.", text)
    assert "<b>maths" not in html


def test_the_data_has_the_boards_by_category(html, fit):
    data = data_in(html)
    assert list(data["boards"]) == ["category", "language"]
    table = ba.leaderboard(fit, by="category")
    rows = data["boards"]["category"]
    assert [row["competitor"] for row in rows] == table["competitor"].tolist()
    assert rows[0]["elo"] == pytest.approx(table["elo"][0])
    flagged = [row for row in data["slice_gaps"]["category"] if row["flagged"]]
    assert ("code", "model 3") in [(r["category"], r["competitor"]) for r in flagged]


def test_a_rating_takes_one_slice_as_text(tmp_path):
    votes = ba.read_votes(category_votes(), slices=("category",))
    rating = ba.rate(votes)
    rating.report(tmp_path / "page.html", by="category")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count('<table class="matrix"') == 1
    rating.report(tmp_path / "plain.html")
    plain = (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "matrix" not in plain and "tablist" not in plain
    assert "boards" not in json.dumps(data_in(plain))


def test_what_has_no_page_by_slice_is_refused(tmp_path):
    path = tmp_path / "page.html"
    votes = category_votes()
    rating = ba.rate(ba.read_votes(votes, slices=("category",)))
    with pytest.raises(
        ModelError, match=r"no slice 'categroy'.*Did you mean 'category'"
    ):
        rating.report(path, by="categroy")
    votes["row"] = [f"r{number % 31}" for number in range(len(votes))]
    with pytest.raises(ModelError, match="'row' has 31 levels, and a page shows 30"):
        ba.report(votes, path, by="row")
    votes["judge"] = [f"h{number % 9}" for number in range(len(votes))]
    with pytest.raises(ModelError, match="combined board has no boards by slice"):
        ba.report(votes, path, by="category", combined=True)
    assert not path.exists()
