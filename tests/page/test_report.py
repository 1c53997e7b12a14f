"""The page as text: what it says, that names are text, and that it needs nothing else."""

import re
import warnings
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import polars as pl
import pytest
from helpers import RIGGERS, frame, run, single_votes, table_of

import bayes_arena as ba
from bayes_arena.page.annotators import judged, pseudonymous
from bayes_arena.page.board import board_of, kinds_of, settled_of, win_chances
from bayes_arena.page.contents import for_readers
from bayes_arena.page.figures import Axis, square, win_shades
from bayes_arena.page.observed import fitted
from bayes_arena.ratings.decision_draws import rank_shares

HOSTILE = ("<script>alert(1)</script>", '" onmouseover="alert(1)', "{{ 7 * 7 }}", "turned \u202e text", "a" * 300)


def text_of(html: str) -> str:
    """What a reader of the page sees, on one line."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", body).replace("&nbsp;", " ").replace("&#39;", "'").split())


@pytest.fixture(scope="module")
def page(discounted) -> str:
    about = {"title": "Which is best?", "source": "votes.csv", "command": "bayes-arena report votes.csv"}
    return ba.report(discounted, names=True, **about).html


@pytest.fixture(scope="module")
def plain(arena_cells) -> ba.Fit:
    return ba.fit(arena_cells, model="bradley-terry")


@pytest.fixture(scope="module")
def hostile() -> ba.Fit:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, 400)
    b = (a + rng.integers(1, 5, 400)) % 5
    names = np.array(HOSTILE, dtype=object)
    winner = np.where(rng.random(400) < np.where(a < b, 0.7, 0.3), "model_a", "model_b")
    judges = [f"<b>judge</b> {k}" for k in rng.integers(0, 6, 400)]
    return ba.fit(frame(list(zip(names[a], names[b], winner, judges, strict=True))), robust=False)


@pytest.mark.slow
def test_it_says_the_verdict_first_how_sure_it_is_and_what_was_left_out(page, discounted):
    text, found = text_of(page), ba.verdict(discounted)
    sure = f"How sure: {found.leader} is"
    parts = ("Which is best?", found.headline, sure, "Who else may be first:", "Left out:", "P(best)")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    said = text[places[4] : text.index("Ranking", places[4])]
    assert f"{discounted.votes_discounted:,.0f} of {discounted.cast.n_votes:,.0f} votes, on model-003, by" in said


def test_nothing_left_out_is_said_and_doubts_stand_below_the_verdict(plain):
    text = text_of(
        ba.report(plain, notes=["Half of the votes are from May. Read all with --where, or where=None."]).html
    )
    assert "Left out: none of 600 votes." in text
    verdict = text.index(ba.verdict(plain).headline)
    assert verdict < text.index("Keep in mind Half of the votes are from May. Ranking")


def test_warnings_are_shown_without_their_remedies():
    said = [
        "No estimate exists (x: a (7B)). Use prior='default', or leave out few (keep_annotators, --delta).",
        "Scores of different groups are not comparable; see `bayes-arena check`.",
        "Compile with --fast.",
        "Scores of different groups are not comparable; see `bayes-arena check`.",
        "The board differs (p 0.01) from that of the middle (--of middle).",
    ]
    assert for_readers(said) == (
        "No estimate exists (x: a (7B)).",
        "Scores of different groups are not comparable.",
        "The board differs (p 0.01) from that of the middle.",
    )


def test_every_part_is_there_in_its_order(page):
    parts = ["ranking", "wins", "places", "fit", "people", "settled"]
    assert re.findall(r'<section id="([\w-]+)"', page) == parts
    assert set(re.findall(r'href="#([\w-]+)"', page)) <= set(re.findall(r'id="([\w-]+)"', page))
    assert "bayes-arena report votes.csv" in page and f"bayes-arena {ba.__version__}" in page


def test_its_numbers_are_those_of_the_tables(discounted):
    board = board_of(discounted, 0.95, ba.EloScale(), ())
    table = ba.leaderboard(discounted)
    for row, expected in zip(board.rows, table.itertuples(), strict=True):
        assert row.items() >= {name: getattr(expected, name) for name in table}.items()
    assert sum(row["p_best"] for row in board.rows) == pytest.approx(1)
    first, *others = names = board.names
    wins = [ba.versus(discounted, first, other).expected_score for other in others]
    assert win_chances(discounted, board)[0, 1:] == pytest.approx(wins)
    places, ranks = rank_shares(board.strength), ba.rank_probabilities(discounted).set_index("competitor")
    assert places.sum(axis=0) == pytest.approx(np.ones(len(names)))
    assert places @ np.arange(1, len(names) + 1) == pytest.approx(ranks.loc[names, "expected_rank"].to_numpy())


def test_what_is_settled_is_what_the_tables_say(discounted):
    found = settled_of(discounted, board_of(discounted, 0.95, ba.EloScale(), ()), 0.95)
    table = ba.pairs(discounted)
    assert found.unsettled == (~table["settled"]).sum()
    pairs = {(one.competitor, one.opponent): one.p_better for one in table.itertuples() if not one.settled}
    assert {(a, b): p for a, b, p in found.nearest}.items() <= pairs.items()


def test_where_the_direction_is_open_wins_are_as_open_as_places(plain):
    mirrored = replace(plain, mirror_probability=0.4)
    board = board_of(mirrored, 0.95, ba.EloScale(), ())
    first, last = board.names[0], board.names[-1]
    found = win_chances(mirrored, board)
    assert found[0, -1] == pytest.approx(ba.versus(mirrored, first, last).expected_score)
    assert found[0, -1] < 0.6 < win_chances(plain, board)[0, -1]
    assert found + found.T == pytest.approx(np.ones_like(found))


def test_groups_that_no_vote_connects_are_not_settled():
    won = [("a", "b", "model_a")] * 40 + [("x", "y", "model_a")] * 40
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = ba.fit(ba.read_votes(frame(won)), model="bradley-terry")
    found = settled_of(fit, board_of(fit, 0.7, ba.EloScale(), ()), 0.7)
    assert (found.connected, found.unsettled) == (False, (~ba.pairs(fit, level=0.7)["settled"]).sum()) == (False, 4)
    assert "or no votes connect the two" in text_of(ba.report(fit, level=0.7).html)


def test_two_competitors_are_compared_once_and_equals_have_one_score():
    fit = ba.fit(ba.read_votes(frame([("a", "b", "tie")] * 4 + [("b", "a", "tie")] * 4)), model="bradley-terry")
    text = text_of(ba.report(fit).html)
    assert "All have the same score, 1000." in text and "a is expected to win 50 against b, a tie counting half" in text


def test_suspects_are_named_with_reasons_unless_they_have_few_votes(page, discounted):
    text, table = text_of(page), ba.annotators(discounted)
    suspects = table[table["verdict"] == "anomalous"]
    assert set(suspects["annotator"]) >= set(RIGGERS)
    for row in suspects.itertuples():
        assert (f"{row.annotator} anomalous {row.kind} " in text) == (row.votes > 50)


@pytest.mark.slow
def test_nobody_is_judged_by_few_votes():
    few = ba.report(ba.fit(ba.simulate(competitors=4, annotators=6, votes=240).votes, robust=False), names=True).html
    assert "None of 6 annotators has more than 50 votes" in few and "anomalous" not in few


def test_competitors_on_which_votes_do_not_count_are_shown_with_both_ranks(page, discounted, plain):
    row = ba.integrity(discounted).iloc[0]
    assert (row["competitor"], row["rank"], row["rank_alike"]) == ("model-003", 4, 2)
    shown = text_of(page).split("Competitors on which votes do not count")[1]
    assert f"model-003 4 2 {row['votes']} {row['discounted']:.0f}" in shown
    assert "model-001" not in shown.split("What the votes settle")[0]
    assert "Competitors on which votes do not count" not in ba.report(plain).html
    assert f"{discounted.cast.n_votes:,.0f} votes" in text_of(page)


@pytest.mark.slow
def test_pseudonyms_leave_no_name_of_an_annotator(page, discounted, rigged, tmp_path):
    names = rigged.annotators
    hidden = ba.report(discounted).html
    assert any(f">{name}<" in page for name in names)
    assert not any(name in hidden for name in names)
    assert re.search(r">annotator \d+<", hidden)
    assert page.count("<tr") == hidden.count("<tr")
    path = tmp_path / "votes.csv"
    table_of(rigged).write_csv(path)
    page = tmp_path / "page.html"
    asked = ("--keep", "annotator-00001", "--keep=annotator-00002", "--drop", RIGGERS[0])
    done = run("report", path, "--method", "map", *asked, "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert not any(name in text for name in names)
    assert "--keep NAME --keep=NAME --drop NAME -o" in text
    run("report", path, "--method", "map", *asked, "--names", "-o", page)
    assert "--keep annotator-00001 --keep=annotator-00002 --drop rigger-00001" in page.read_text()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.DiscountedVotesWarning")
def test_a_pseudonymous_fit_names_nobody_in_its_tables_or_its_plan(rigged):
    fit = ba.fit(rigged, method="map", keep=["annotator-00001"], drop=["annotator-00002"])
    hidden, table = pseudonymous(fit, judged(fit, 0.95))
    said = [*hidden.kept, *hidden.dropped, *hidden.warnings, repr(hidden.plan), hidden._repr_html_()]
    said += [*ba.promoters(hidden)["annotator"], *ba.integrity(hidden)["largest_account"]]
    said += [*ba.annotators(hidden)["annotator"]]
    assert list(table["annotator"]) == list(ba.annotators(hidden)["annotator"])
    assert not any(name in text for name in rigged.annotators for text in said)
    assert len(hidden.kept) == len(hidden.dropped) == 1 and hidden.kept[0] in hidden.cells.annotators
    assert (hidden.cells.counts == fit.cells.counts).all() and hidden.promotions is fit.promotions


@pytest.mark.slow
def test_programs_keep_their_names_among_pseudonyms(arena_cells):
    fit = ba.fit(replace(arena_cells, programs=(arena_cells.annotators[0],)), method="map", robust=False)
    html = ba.report(fit).html
    assert [name in html for name in arena_cells.annotators] == [True] + [False] * (arena_cells.n_annotators - 1)


@pytest.mark.slow
def test_names_are_text(hostile):
    html = ba.report(
        hostile, names=True, title=HOSTILE[0], source=HOSTILE[1], notes=[HOSTILE[0]], command=HOSTILE[2]
    ).html
    assert html.count("<script") == 1
    assert "<b>judge" not in html and "onmouseover=&#34;" in html
    assert HOSTILE[2] in html and "\u202e" not in html and "turned \\u202e text" in html


def test_nothing_is_loaded_or_run_but_what_the_policy_names(hostile):
    html = ba.report(hostile).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(inside.encode()).digest()).decode()}'" in policy
    assert not re.search(r"""\s(style|on\w+|src|srcset)=["']""", html)
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', html))


@pytest.mark.slow
def test_the_same_fit_gives_the_same_page(arena_cells, plain):
    assert ba.report(plain).html == ba.report(ba.fit(arena_cells, model="bradley-terry")).html


def test_it_is_saved_and_shown_in_a_notebook(plain, tmp_path):
    page = ba.report(plain)
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert len(repr(page)) < 80
    assert page._repr_html_().startswith("<iframe") and "<script>" not in page._repr_html_()


def test_level_and_scale_are_the_readers(plain):
    html = ba.report(plain, level=0.8, elo=ba.EloScale(init=0, anchor=(plain.cells.competitors[0], 1500))).html
    assert "80 % interval" in text_of(html) and ">1500<" in html
    with pytest.raises(ba.ModelError, match="level"):
        ba.report(plain, level=95)


class TestWithoutAnnotators:
    def test_it_says_why_nothing_is_said_of_them(self, plain):
        assert "treats all annotators as equally reliable" in text_of(ba.report(plain).html)
        unknown = ba.fit(frame([("x", "y", "model_a"), ("y", "z", "model_b"), ("x", "z", "tie")] * 5))
        assert "do not name their annotators" in text_of(ba.report(unknown).html)


def test_an_estimate_at_infinity_has_no_page():
    with warnings.catch_warnings(action="ignore"):
        fit = ba.fit(frame([("x", "y", "model_a")] * 3), prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="prior='default'"):
        ba.report(fit)


class TestMeta:
    def table(self, fit, **columns) -> pl.DataFrame:
        return pl.DataFrame({"model": fit.cells.competitors, **columns})

    def test_its_columns_stand_in_the_table(self, plain, tmp_path):
        (tmp_path / "models.csv").write_text("Model,price $/M,licence\nmodel-1,$2.50,open\nelsewhere,9,closed\n")
        text = text_of(ba.report(plain, meta=tmp_path / "models.csv").html)
        assert re.search(r"Votes price \$/M licence", text)
        assert re.search(r"model-1 \d+ .* \$2\.50 open", text) and "elsewhere" not in text

    def test_the_cheapest_that_is_not_told_from_the_first_is_named(self):
        fit = ba.fit(frame([("x", "y", "model_a"), ("x", "y", "model_b")] * 30 + [("x", "z", "model_a")] * 60))
        first, second = board_of(fit, 0.95, ba.EloScale(), ()).names[:2]
        meta = pl.DataFrame({"name": [first, second, "z"], "cost": [10.0, 2.0, 1.0]})
        said = text_of(ba.report(fit, meta=meta).html)
        assert (
            f"The votes cannot tell {second} from {first}, and by cost it is 80 % cheaper (2.0 against 10.0)." in said
        )
        dear = meta.with_columns(cost=pl.Series([1.0, 2.0, 0.5]))
        assert "cheaper" not in ba.report(fit, meta=dear).html  # z is, and worse

    @pytest.mark.parametrize(
        ("meta", "error", "said"),
        [
            ({"who": ["model-1"]}, ba.errors.ColumnError, "Rename one of who to 'competitor'"),
            ({"name": ["model-1"], "model": ["x"]}, ba.errors.ColumnError, "More than one column"),
            ({"name": ["model-1", "model-1"]}, ba.VotesError, "More than one row for 'model-1'"),
            ({"name": ["x"]}, ba.VotesError, "None of 'x' is a competitor"),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, plain, meta, error, said):
        with pytest.raises(error, match=said):
            ba.report(plain, meta=pl.DataFrame(meta))


@pytest.fixture(scope="module")
def sliced() -> ba.Cells:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 600)
    b = (a + rng.integers(1, 4, 600)) % 4
    cells = single_votes(a, b, rng.integers(0, 3, 600), category=rng.integers(0, 3, 600))
    return replace(cells, slice_names={"category": ("<i>art</i>", "coding", "law")})


@pytest.mark.slow
class TestSlices:
    def test_boards_by_slice_are_those_of_the_fit(self, sliced):
        fit = ba.fit(sliced, model=ba.Model("sliced", strength_by=("category",)))
        html = ba.report(fit).html
        panels = re.findall(r"<figcaption><strong>(.*?)</strong> (\d+) votes", html)
        assert {name for name, _ in panels} == {"&lt;i&gt;art&lt;/i&gt;", "coding", "law"}
        assert sum(int(votes) for _, votes in panels) == 600
        (kind,) = kinds_of(fit, board_of(fit, 0.95, ba.EloScale(), ()), 0.95, ba.EloScale())
        for panel in kind.panels:
            board = ba.leaderboard(fit, slice=("category", panel.name)).set_index("competitor")
            names = ba.leaderboard(fit)["competitor"]
            assert [score for _, score, _ in panel.intervals] == board.loc[names, "elo"].tolist()
        within = text_of(ba.report(fit.on(slice=("category", "coding"))).html)
        assert "category: coding" in within and "By category" not in within

    def test_slices_that_are_not_told_apart_are_named(self, sliced):
        html = ba.report(ba.fit(sliced, model="bradley-terry")).html
        assert "The votes also carry category" in html and 'id="by-1"' not in html


def test_observed_and_predicted_are_sums_over_votes():
    cells = ba.read_votes(frame([("x", "y", "model_a")] * 30 + [("y", "x", "model_a")] * 20 + [("x", "y", "tie")] * 10))
    fit = ba.fit(cells, model=ba.Model("davidson", ties="davidson"), prior="flat")
    found = fitted(fit, 0.95)
    (scores,), (ties,) = found.scores, found.ties
    assert (scores.votes, scores.observed, ties.observed) == (60, pytest.approx(35 / 60), pytest.approx(1 / 6))
    assert scores.predicted == pytest.approx(35 / 60, abs=1e-6)  # as many numbers as outcomes
    assert ties.predicted == pytest.approx(1 / 6, abs=1e-6)
    half = 1.96 * np.sqrt((30 + 10 / 4) / 60 - (35 / 60) ** 2) / np.sqrt(60)
    assert scores.upper - scores.lower == pytest.approx(2 * half, rel=1e-3)
    assert (found.pairs, found.outside, found.furthest) == (1, 0, [])
    assert found.said.startswith("The fit is good")


def test_pairs_that_depart_from_the_model_are_named():
    wins = {("x", "y"): (60, 20), ("y", "z"): (60, 20), ("x", "z"): (5, 75), ("w", "z"): (40, 40), ("w", "x"): (40, 40)}
    rows = [(*pair, side) for pair, (won, lost) in wins.items() for side in ["model_a"] * won + ["model_b"] * lost]
    found = fitted(ba.fit(frame(rows)), 0.95)
    assert {found.furthest[0]["first"], found.furthest[0]["second"]} == {"x", "z"}
    assert found.outside >= 1 and abs(found.furthest[0]["z"]) > 3
    assert found.said.startswith("The fit is not good")


def test_cells_of_a_figure_are_those_of_the_matrix():
    score = np.random.default_rng(0).random((7, 7))
    shades, drawn = win_shades(score), square(win_shades(score), "")
    for name, path in re.findall(r'<path d="([^"]*)" class="(\w+)"', drawn):
        shade = int(path[1:]) * (1 if path[0] == "w" else -1)
        runs = re.findall(r"M(\d+) (\d+)h(\d+)", name)
        covered = {(int(y), int(x) + step) for x, y, width in runs for step in range(int(width))}
        assert covered == set(map(tuple, np.argwhere(shades == shade).tolist()))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (832.1, 1211.7), (-3.0, -2.99), (5.0, 5.0)])
def test_an_axis_has_few_round_numbers(low, high):
    axis = Axis.over(low, high)
    assert 1 <= len(axis.ticks) <= 7
    assert axis.low < low <= high < axis.high
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


@pytest.fixture(scope="module")
def files(tmp_path_factory, arena):
    folder = tmp_path_factory.mktemp("report")
    arena.votes.write_csv(folder / "votes.csv")
    return folder


class TestCommand:
    def test_it_writes_the_page_and_says_so(self, files):
        done = run("report", "votes.csv", "--model", "bradley-terry", "--title", "Mine", "--level", ".9", cwd=files)
        assert (done.returncode, done.stdout) == (0, "")
        assert re.search(r"Wrote report\.html, \d+ kB", done.stderr)
        text = text_of((files / "report.html").read_text(encoding="utf-8"))
        assert "Mine votes.csv: 600 votes on 6 competitors" in text and "90 % interval" in text
        assert "bayes-arena report votes.csv --model bradley-terry" in text

    @pytest.mark.slow
    def test_strict_ends_with_a_code_of_its_own_after_the_page(self, files):
        (files / "users.csv").write_text((files / "votes.csv").read_text().replace("judge", "user_id", 1))
        done = run("report", "users.csv", "--model", "bradley-terry", "--strict", "-o", "strict.html", cwd=files)
        assert done.returncode == 3 and "Warning" in done.stderr and (files / "strict.html").exists()

    def test_bad_input_ends_with_a_message_and_leaves_no_file(self, files):
        done = run("report", "votes.csv", "--model", "bradley-terry", "--meta", "votes.csv", "-o", "no.html", cwd=files)
        assert done.returncode == 2 and "No column" in done.stderr
        assert not (files / "no.html").exists()

    @pytest.mark.slow
    def test_a_round_has_its_page(self, files):
        run("arena", "init", "arena.duckdb", cwd=files)
        run("arena", "add", "arena.duckdb", "votes.csv", cwd=files)
        (files / "models.csv").write_text("model,price\nmodel-1,3\n")
        page = ("--report", "round.html", "--title", "Our models", "--meta", "models.csv")
        done = run("arena", "rate", "arena.duckdb", *page, cwd=files)
        assert done.returncode == 0, done.stderr
        written = (files / "round.html").read_text(encoding="utf-8")
        for shown in ("arena.duckdb, round 1", "Our models", ">price"):
            assert shown in written
        assert "annotator-" not in written


@pytest.mark.slow
def test_it_is_light_at_the_size_of_the_arena():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 129, 60_000)
    b = (a + rng.integers(1, 129, 60_000)) % 129
    p = 1 / (1 + np.exp((a - b) / 40))
    cells = single_votes(a, b, (rng.random(60_000) > p).astype(int))
    names = tuple(f"some-language-model-{number:03}-instruct" for number in range(129))
    html = ba.report(ba.fit(replace(cells, competitors=names))).html
    assert 100_000 < len(html.encode()) < 300_000
