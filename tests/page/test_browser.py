"""The page in Debian's chromium: it shows, sorts, searches, and asks for nothing."""

import json
import shutil

import pytest

import bayes_arena as ba
from tests.page.arenas import HOSTILE, category_votes, fan_votes
from tests.people.arenas import camp_votes

pytestmark = pytest.mark.slow
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (360, 500, 1200)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser is here (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        options = {"executable_path": program, "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of an arena with a fan and a hostile name."""
    path = tmp_path_factory.mktemp("browser") / "page.html"
    ba.report(fan_votes(hostile=True), path, title="Test")
    return path


@pytest.fixture
def page(browser, path, request):
    """The page opened; what the browser logs and asks for is held against it."""
    page = browser.new_page(**getattr(request, "param", {}))
    logged, requested = [], []
    page.on("console", lambda message: logged.append(message.text))
    page.on("pageerror", lambda error: logged.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.set_default_timeout(10_000)
    page.goto(path.as_uri())
    yield page
    page.close()
    assert logged == []
    assert [url for url in requested if not url.startswith("data:")] == [path.as_uri()]


def column(page, number):
    cells = page.locator(f"table.board tbody tr:visible > *:nth-child({number})")
    return cells.all_inner_texts()


def test_the_board_sorts_by_every_column(page):
    names = column(page, 2)
    page.get_by_role("button", name="Rank", exact=True).click()
    assert column(page, 2) == names[::-1]
    page.get_by_role("button", name="Competitor").click()
    assert column(page, 2) == sorted(names, key=str.lower)
    page.get_by_role("button", name="Votes").first.focus()
    page.keyboard.press("Enter")
    votes = [int(text.replace(",", "")) for text in column(page, 7)]
    assert votes == sorted(votes, reverse=True)


def test_numbers_below_zero_sort_as_such(page):
    page.get_by_role("button", name="Agreement").click()
    texts = page.locator("table.people tbody td:nth-child(5)").all_inner_texts()
    agreement = [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts]
    assert agreement == sorted(agreement, reverse=True)
    assert agreement[-1] < 0


def test_competitors_are_searched(page):
    page.get_by_label("Find a competitor").fill("MODEL-03")
    assert column(page, 2) == ["model-03"]
    assert page.get_by_role("status").inner_text() == "1 of 18"


def test_a_hostile_name_is_text(page):
    assert page.title() == "Test"
    assert page.locator("table.board").get_by_text(HOSTILE).is_visible()


def test_a_keyboard_reaches_the_board_first(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the board"


def test_figures_stand_beside_their_names(page):
    names = page.locator("#ranks .names").first.bounding_box()
    plot = page.locator("#ranks .rows > svg").nth(1).bounding_box()
    assert names["y"] == pytest.approx(plot["y"], abs=1)
    assert names["height"] == pytest.approx(plot["height"], abs=1)
    assert plot["x"] > names["x"] + names["width"]


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_only_sorting_and_searching_are_missing(page):
    assert len(column(page, 2)) == 18
    assert not page.get_by_label("Find a competitor").is_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_as_wide_as_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    bar = page.locator("table.board .bar").first.bounding_box()
    assert bar["x"] + bar["width"] <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_names_stay_where_a_wide_table_is_scrolled(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(
        "document.querySelectorAll('.scroll').forEach(s => s.scrollLeft = 90)"
    )
    for names in ("#board tbody th", "#next tbody th", "#next td.name", ".people th"):
        box = page.locator(names).first.bounding_box()
        assert 0 <= box["x"] <= width - box["width"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("table", ["board", "people"])
def test_bars_are_as_wide_as_their_axis(page, width, table):
    page.set_viewport_size({"width": width, "height": 900})
    axis = page.locator(f"table.{table} .axis").bounding_box()
    bar = page.locator(f"table.{table} .bar").first.bounding_box()
    for name in ("x", "width"):
        assert bar[name] == pytest.approx(axis[name], abs=0.5)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "page", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True
)
def test_it_is_accessible(page, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(
        "document.querySelectorAll('details').forEach((d) => (d.open = true))"
    )
    findings = axe.Axe().run(page)
    assert findings.response["violations"] == [], findings.generate_report()


@pytest.fixture(scope="module")
def path_of_groups(tmp_path_factory):
    """The page of annotators who fall into two groups."""
    path = tmp_path_factory.mktemp("groups") / "page.html"
    ba.report(camp_votes(), path)
    return path


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_groups_fit_the_window_and_are_accessible(
    browser, path_of_groups, width, scheme
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path_of_groups.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    plot, names = page.locator(".gaps"), page.locator(".rows:has(.gaps) .names")
    plot, names = plot.bounding_box(), names.bounding_box()
    assert names["y"] == pytest.approx(plot["y"], abs=1)
    assert names["height"] == pytest.approx(plot["height"], abs=1)
    assert names["x"] + names["width"] < plot["x"]
    assert plot["x"] + plot["width"] <= width
    dots = page.locator(".gaps circle").all()
    x = [dot.bounding_box()["x"] for dot in dots]
    assert x == sorted(x, reverse=True)
    findings = axe.Axe().run(page)
    assert findings.response["violations"] == [], findings.generate_report()
    page.close()


@pytest.fixture(scope="module")
def path_of_long_names(tmp_path_factory):
    """The page of names of 200 characters without a space."""
    path = tmp_path_factory.mktemp("long") / "page.html"
    names = {"model-18": "W" * 200, "model-02": "x" * 200, "fan": "f" * 200}
    ba.report(fan_votes().replace(names), path, title="T" * 200)
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_names_of_any_length_fit_the_window(browser, path_of_long_names, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path_of_long_names.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_the_data_is_downloaded(page):
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the data").click()
    assert download.value.suggested_filename == "leaderboard.json"
    data = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert len(data["leaderboard"]) == 18


@pytest.fixture(scope="module")
def path_by_category(tmp_path_factory):
    """The page by category, one of which has a name of 60 characters."""
    path = tmp_path_factory.mktemp("category") / "page.html"
    votes = category_votes().replace({"chat": "c" * 60})
    ba.report(votes, path, by=["category", "language"])
    return path


@pytest.fixture
def by_category(browser, path_by_category, request):
    page = browser.new_page(**getattr(request, "param", {}))
    page.goto(path_by_category.as_uri())
    yield page
    page.close()


def test_tabs_show_one_board_and_obey_the_keyboard(by_category):
    tabs = by_category.locator("#by-1 [role=tab]")
    assert tabs.all_inner_texts() == ["<b>maths</b>", "c" * 60, "code"]
    tabs.first.focus()
    for key, chosen in (("ArrowRight", 1), ("End", 2), ("ArrowRight", 0)):
        by_category.keyboard.press(key)
        states = [tab.get_attribute("aria-selected") for tab in tabs.all()]
        assert states.index("true") == chosen and states.count("true") == 1
        assert by_category.evaluate("document.activeElement.id") == f"tab-0-{chosen}"
        panels = by_category.locator("#by-1 [role=tabpanel]:visible")
        assert panels.count() == 1
        assert panels.get_attribute("aria-labelledby") == f"tab-0-{chosen}"
    tabs.nth(2).click()
    shown = by_category.locator("#by-1 [role=tabpanel]:visible")
    assert "model 3 is the best" in shown.inner_text()
    assert by_category.locator("#by-2 [role=tabpanel]:visible").count() == 1


def test_the_matrix_sorts_by_the_rank_in_a_category(by_category):
    by_category.locator(".matrix").first.get_by_role("button", name="code").click()
    names = by_category.locator("#by-1 .matrix tbody th").all_inner_texts()
    assert names[0] == "model 3" and names[-1] == "newcomer"


@pytest.mark.parametrize("by_category", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_boards_open_one_by_one(by_category):
    assert by_category.locator("#by-1 table.board:visible").count() == 0
    by_category.locator("#by-1 summary").nth(2).click()
    board = by_category.locator("#by-1 table.board:visible")
    assert board.locator("tbody th").first.inner_text().startswith("model 3")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "by_category", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True
)
def test_categories_fit_the_window_and_are_accessible(by_category, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    by_category.set_viewport_size({"width": width, "height": 900})
    assert by_category.evaluate("document.documentElement.scrollWidth") <= width
    findings = axe.Axe().run(by_category)
    assert findings.response["violations"] == [], findings.generate_report()
