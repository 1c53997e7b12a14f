"""Facts about competitors on the page: columns, filters, links, and score against price."""

import re

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.page.about import choices_of, links_of
from bayes_arena.page.scatter import PriceAxis, side_of
from tests.page.arenas import HOSTILE, fan_votes
from tests.page.test_browser import WIDTHS, browser  # noqa: F401

ABOUT = [
    {
        "model": HOSTILE if number == 1 else f"model-{number:02d}",
        "maker": ("Acme", "<b>Bolt</b>", "")[number % 3],
        "price": 0.1 * number**2,
        "url": "javascript:alert(1)" if number == 2 else f"https://{number}.example",
    }
    for number in range(1, 18)
]


@pytest.fixture(scope="module")
def rating():
    return ba.rate(fan_votes(hostile=True), about=ABOUT)


@pytest.fixture(scope="module")
def path(rating, tmp_path_factory):
    path = tmp_path_factory.mktemp("about") / "page.html"
    rating.report(path)
    return path


@pytest.fixture(scope="module")
def html(path):
    return path.read_text(encoding="utf-8")


def test_the_columns_of_facts_follow_and_missing_ones_are_dashes(html):
    row = re.search(r">model-04</a></th>.*?</tr>", html, re.DOTALL)[0]
    assert '<td class="fact">&lt;b&gt;Bolt' in row and '<td class="num">1.6</td>' in row
    row = re.search(r'<th scope="row">model-18.*?</tr>', html, re.DOTALL)[0]
    assert row.endswith('<td class="num">–</td></tr>')


def test_only_addresses_of_the_web_are_links(html):
    assert '<a href="https://4.example" rel="noopener noreferrer">model-04</a>' in html
    assert 'href="javascript' not in html
    assert links_of(["a", "b", "c"], ["HTTPS://x", "data:x", None]) == {
        "a": "HTTPS://x"
    }


def test_columns_of_few_values_that_repeat_are_filters(html):
    assert html.count("<select") == 1
    assert (
        "<option>&lt;b&gt;Bolt&lt;/b&gt;</option><option>Acme</option></select>" in html
    )
    assert choices_of(["a", "b", None]) == ()
    assert choices_of([*"abcdefghijklm" * 2]) == ()
    assert choices_of(["b", "a", "a", None]) == ("a", "b")


def test_score_against_price_says_what_the_table_says(html, rating):
    section = re.search(r'<section id="price".*?</section>', html, re.DOTALL)[0]
    frontier = rating.frontier
    listed = frontier[frontier["p_frontier"] >= 0.05]
    assert section.count('<tr><th scope="row">') + section.count('class="top"') == len(
        listed
    )
    assert section.count("<circle") == len(frontier)
    probable = frontier["p_frontier"] >= 0.5
    assert section.count('dy="-.4em"') == sum(probable)  # names
    assert "<script>" not in section
    assert '<a href="#price">' in html


def test_wide_prices_have_a_logarithmic_axis():
    wide = PriceAxis.of(np.array([0.1, 2.0, 30.0]))
    assert wide.is_log and wide.ticks == pytest.approx([0.1, 1, 10])
    assert wide.share(1.0) - wide.share(0.1) == pytest.approx(
        wide.share(10) - wide.share(1)
    )
    free = PriceAxis.of(np.array([0.0, 2.0, 30.0]))
    assert not free.is_log and free.ticks[0] == 0
    narrow = PriceAxis.of(np.array([1.0, 12.0]))
    assert narrow.ticks == pytest.approx([1, 2, 5, 10])


def test_a_page_without_facts_has_nothing_of_them(rating, tmp_path):
    ba.rate(rating.fit).report(tmp_path / "plain.html")
    plain = (tmp_path / "plain.html").read_text(encoding="utf-8")
    for mark in ("filters", "data-fact", 'class="fact"', "noopener", "figcaption"):
        assert mark not in plain


def test_one_price_is_no_figure(rating, tmp_path):
    ba.rate(rating.fit, about=ABOUT[3:4]).report(tmp_path / "one.html")
    assert 'id="price"' not in (tmp_path / "one.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_filters_hide_the_others(browser, path):  # noqa: F811
    page = browser.new_page()
    page.goto(path.as_uri())
    page.get_by_label("maker").select_option("Acme")
    assert page.locator("#board tbody tr:visible").count() == 5
    assert page.locator(".filters [role=status]").inner_text() == "5 of 18"
    page.get_by_label("Find a competitor").fill("model-1")
    assert page.locator("#board tbody tr:visible").count() == 2
    page.get_by_role("button", name="price").first.click()
    assert page.locator("#board tbody th:visible").all_inner_texts() == [
        "model-15",
        "model-12",
    ]
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_facts_fit_the_window_and_are_accessible(browser, path, width, scheme):  # noqa: F811
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    size = {"width": width, "height": 900}
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    findings = axe.Axe().run(page)
    assert findings.response["violations"] == [], findings.generate_report()
    page.close()


def test_names_in_the_figure_stay_within_it():
    assert [side_of(share) for share in (0.1, 0.5, 0.9)] == ["start", "middle", "end"]
