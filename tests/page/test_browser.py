"""The page in a browser, Debian's chromium: it shows, sorts and searches, is silent, and asks for nothing."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

import bayes_arena as ba

pytestmark = pytest.mark.slow
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"there is no browser: none of {', '.join(BROWSERS)} (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory, rigged) -> Path:
    """The page of a fit that discounts votes, with a hostile name and a column of prices."""
    names = ("<script>document.title='bad'</script>", *(f"model {letter}" for letter in "ABCDE"))
    renamed = replace(rigged, competitors=names)
    with pytest.warns(ba.DiscountedVotesWarning):
        fit = ba.fit(renamed)
    meta = pl.DataFrame({"model": names, "price": [3.0, 20.0, None, 1.5, 0.5, 100.0]})
    path = tmp_path_factory.mktemp("browser") / "page.html"
    ba.report(fit, title="Test", meta=meta).save(path)
    return path


@pytest.fixture
def shown(browser, path, request) -> Iterator[Page]:
    """The page opened, by default on a desktop; what the browser says and asks for is held against it."""
    page = browser.new_page(**getattr(request, "param", {}))
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda one: asked.append(one.url))
    page.set_default_timeout(10_000)
    page.goto(path.as_uri())
    yield page
    page.close()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"table.board tbody tr:visible > *:nth-child({number})").all_inner_texts()


def test_tables_sort_by_every_column(shown):
    names = column(shown, 2)
    rank = shown.get_by_role("button", name="Rank", exact=True)
    rank.click()
    assert column(shown, 2) == names[::-1]
    rank.click()
    assert column(shown, 2) == names
    shown.get_by_role("button", name="Competitor").click()
    assert column(shown, 2) == sorted(names)
    shown.get_by_role("button", name="Votes").first.focus()
    shown.keyboard.press("Enter")
    votes = [int(text.replace(",", "")) for text in column(shown, 7)]
    assert votes == sorted(votes, reverse=True)
    assert shown.locator("table.board th[aria-sort]").all_inner_texts() == ["Votes"]


def test_numbers_sort_as_numbers_and_what_is_not_known_comes_last(shown):
    price = shown.get_by_role("button", name="price")
    price.click()
    assert column(shown, 8) == ["100.0", "20.0", "3.0", "1.5", "0.5", "–"]
    price.click()
    assert column(shown, 8) == ["0.5", "1.5", "3.0", "20.0", "100.0", "–"]


def test_competitors_are_searched(shown):
    shown.get_by_label("Find a competitor").fill("MODEL B")
    assert column(shown, 2) == ["model B"]
    assert shown.get_by_role("status").inner_text() == "1 of 6"
    shown.get_by_label("Find a competitor").fill("")
    assert len(column(shown, 2)) == 6


def test_a_hostile_name_is_text(shown):
    assert shown.title() == "Test"
    assert shown.locator("table.board").get_by_text("<script>document.title='bad'</script>").is_visible()


def test_a_keyboard_reaches_the_ranking_first(shown):
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.textContent") == "Skip to the ranking"


def test_figures_are_drawn_beside_their_names(shown):
    names, plot = (
        shown.locator("#places .names").bounding_box(),
        shown.locator("#places .rows > svg").last.bounding_box(),
    )
    assert names["y"] == pytest.approx(plot["y"], abs=1)
    assert names["height"] == pytest.approx(plot["height"], abs=1)
    assert plot["x"] > names["x"] + names["width"]


def test_intervals_use_the_width_of_the_table_below_an_axis(shown):
    table, axis = (shown.locator(f"table.board{part}").bounding_box() for part in ("", " .axis"))
    bars = [one.bounding_box() for one in shown.locator("table.board .bar").all()]
    assert axis["width"] > 0.3 * table["width"]
    assert all((bar["x"], bar["width"]) == pytest.approx((axis["x"], axis["width"]), abs=1) for bar in bars)


@pytest.mark.parametrize("shown", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_everything_is_there_but_sorting_and_searching(shown):
    assert len(column(shown, 2)) == 6
    assert not shown.get_by_label("Find a competitor").is_visible()
    assert shown.locator("table.board button").count() == 0


@pytest.mark.parametrize("shown", [{"viewport": PHONE}], indirect=True)
def test_it_fits_a_phone(shown):
    assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    bar = shown.locator("table.board .bar").first.bounding_box()
    assert bar["x"] + bar["width"] <= PHONE["width"]  # in sight without scrolling
    headline, facts = (shown.locator(f".verdict {part}").bounding_box() for part in ("h2", ".facts"))
    assert headline["y"] < facts["y"] and facts["y"] + facts["height"] <= PHONE["height"]


@pytest.mark.parametrize(
    "shown",
    [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}],
    indirect=True,
    ids=["light", "dark"],
)
def test_it_is_accessible(shown):
    shown.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    found = Axe().run(shown)
    assert found.response["violations"] == [], found.generate_report()
