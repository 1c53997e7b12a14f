"""The page as text: what it says, that names are text, that it agrees with the tables."""

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.columns import votes_needed
from bayes_arena.page.groups import two_groups
from bayes_arena.page.people import about_annotators
from tests.helpers import real
from tests.page.arenas import FAVOURITE, HOSTILE, fan_votes
from tests.page.conftest import DATE
from tests.people.arenas import camp_votes

NAMES = [
    HOSTILE,
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }}",
    "turned \u202e text",
    "a" * 300,
]


def text_of(html):
    """What a reader of the page sees, on one line."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", " ", body).replace("&nbsp;", " ").replace("&#8239;", " ")
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")
    return " ".join(text.split())


@pytest.fixture(scope="module")
def rating():
    return ba.rate(fan_votes())


@pytest.fixture(scope="module")
def html(rating, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "page.html"
    ba.report(rating, path, title="Which is best?")
    return path.read_text(encoding="utf-8")


def page_of(tmp_path, votes, **options):
    ba.report(votes, tmp_path / "page.html", **options)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_it_says_verdict_and_notes_first(html, rating):
    text = text_of(html)
    parts = [
        "Which is best?",
        rating.verdict,
        *map(str, rating.notes),
        "Rank range",
        "Is the order",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_every_part_is_there_and_is_linked(html):
    parts = ["board", "pairs", "next", "ranks", "annotators", "fit", "words"]
    assert re.findall(r'<section id="(\w+)"', html) == parts
    links = set(re.findall(r'href="#([\w-]+)"', html))
    assert links == set(parts)


def test_its_numbers_are_those_of_the_tables(html, rating):
    text = text_of(html)
    for row in rating.leaderboard.itertuples():
        first, last = int(row.rank_lower), int(row.rank_upper)
        ranks = f"{first}" if first == last else f"{first}–{last}"
        bounds = f"{row.lower:.0f} … {row.upper:.0f}"
        assert f"{row.rank:.0f} {row.competitor}" in text
        assert f"{row.elo:.0f} {bounds} {ranks} " in text
    pairs = ba.pairs(rating.fit)
    settled = (pairs["lower"] > 0).sum()
    assert f"{settled} of {len(pairs)} pairs are" in text
    scores = ba.win_probability(rating.fit)
    first, second = rating.leaderboard["competitor"][:2]
    against = f"{100 * scores.loc[first, second]:.0f} against {second}"
    assert f"{first} is expected to win {against}" in text


def data_in(html):
    """The JSON that a reader of the page can download."""
    address = re.search(
        'download="[^"]*" href="data:application/json;base64,([^"]*)', html
    )
    return json.loads(b64decode(address[1]))


def test_it_has_a_date_and_the_data_to_download(html, rating):
    assert f"<time>{DATE}</time>" in html
    data, content = data_in(html), json.loads(rating.to_json())
    assert data["date"] == DATE
    assert data["leaderboard"] == content["leaderboard"]
    assert data["annotators"] == content["annotators"]
    flagged = [row for row in content["favourites"] if row["flagged"]]
    assert flagged and data["favourites"] == flagged
    assert "ba." not in json.dumps([data["notes"], data["warnings"]])


def test_it_asks_next_what_the_command_asks(html, rating):
    text = text_of(html)
    sentence = describe_next(rating.standing, next_pair_columns(rating.standing))
    assert f"What to ask next {sentence} Pairs come first whose order" in text
    for row in ba.next_pairs(rating.fit).itertuples():
        more = votes_needed(row.more_votes)
        numbers = f"{row.p_ahead:.2f} {row.gap:.0f} {row.votes:.0f} {more}"
        assert f"{row.first} {row.second} {numbers}" in text


@pytest.mark.slow
def test_where_prompts_are_the_limit_it_asks_for_prompts(tmp_path):
    text = text_of(page_of(tmp_path, real("llmfao.csv")))
    assert re.search(r"GPT 4 or command, on new prompts \(some \d\d would settle", text)
    assert "More to settle it" not in text


def test_the_odd_annotators_are_named_as_in_the_table(html, rating):
    text = text_of(html)
    odd = rating.annotators[rating.annotators["verdict"] == "anomalous"]
    assert len(odd) >= 3
    for row in odd.itertuples():
        assert re.search(f"{row.annotator} anomalous >?0.[89]", text)
    assert f"fan gave {FAVOURITE} 100 % in 68 votes" in text


def explained(html):
    """The words that the page explains."""
    return re.findall("<dt>(.*?)</dt>", html.split('id="words"')[1])


def test_only_words_that_stand_on_it_are_explained(html, tmp_path):
    assert {"P", "Davidson", "Anomalous", "Favourite"} <= {*explained(html)}
    assert not {"Two groups", "Contested", "Change", "Combined"} & {*explained(html)}
    plain = page_of(tmp_path, fan_votes().drop(columns="judge"))
    words = ["Elo", "Interval", "Rank range", "P(best)", "P", "Davidson"]
    assert explained(plain) == words


def test_where_all_annotators_are_ordinary_that_is_said(tmp_path):
    arena = ba.simulate(competitors=4, annotators=12, votes=1500, seed=1)
    html = page_of(tmp_path, arena.votes)
    said = "All 12 annotators were judged and look ordinary: nobody is anomalous"
    assert said in text_of(html)
    assert {"Anomalous", "Favourite"} <= {*explained(html)}
    assert "Differs" not in explained(html)


def test_votes_lacking_above_a_hundred_thousand_are_not_counted():
    assert votes_needed(100_000.0) == "100,000"
    assert votes_needed(1_638_994.0) == "over 100,000"
    assert votes_needed(np.inf) == "too many"


@pytest.mark.slow
def test_names_are_text(tmp_path):
    competitors = {f"model-0{number}": name for number, name in enumerate(NAMES, 1)}
    votes = fan_votes().replace(competitors | {"fan": HOSTILE})
    html = page_of(tmp_path, votes, title="{{ 7 * 7 }}")
    assert html.count("<script") == 1
    assert "onmouseover=" not in re.sub(r">[^<]*<|&#34;[^<]*", "", html)
    assert "\u202e" not in html
    assert "<title>{{ 7 * 7 }}</title>" in html


def test_a_browser_may_run_and_load_only_what_is_in_it(html):
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src &#39;none&#39;")
    for tag in ("style", "script"):
        inside = re.search(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[1]
        digest = b64encode(sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy.replace("+", "+")
    assert not re.search(r"https?://(?!www\.w3\.org)", html)


@pytest.mark.slow
def test_the_same_votes_give_the_same_page(tmp_path, html):
    assert page_of(tmp_path, fan_votes(), title="Which is best?") == html


def test_without_annotators_it_says_so(tmp_path):
    votes = fan_votes().drop(columns="judge")
    text = text_of(page_of(tmp_path, votes))
    assert "Favourites" not in text and "Agreement" not in text


def test_two_competitors_are_enough(tmp_path):
    names = ("model_a", "model_b", "winner")
    rows = [("a", "b", "model_a")] * 8 + [("a", "b", "model_b")] * 4
    votes = [dict(zip(names, row, strict=True)) for row in rows]
    text = text_of(page_of(tmp_path, votes))
    assert "a is expected to win" in text and "0 of 1 pairs are" in text


def test_few_votes_give_no_rank(tmp_path):
    names = ("model_a", "model_b", "winner")
    rows = [("a", "b", "model_a"), ("b", "c", "model_a"), ("a", "c", "model_b")] * 9
    rows.append(("new", "a", "model_a"))
    votes = [dict(zip(names, row, strict=True)) for row in rows]
    assert re.search(r"– new \d+ ", text_of(page_of(tmp_path, votes)))


@pytest.mark.slow
def test_who_has_hardly_any_votes_does_not_shrink_the_bars_of_the_others(tmp_path):
    votes = fan_votes()
    before = re.findall('<svg class="bar".*?</svg>', page_of(tmp_path, votes))[:18]
    rows = {"model_a": "new", "model_b": ["model-01"] * 2, "winner": "model_b"}
    votes = pd.concat([votes, pd.DataFrame(rows | {"judge": "judge-01"})])
    page = page_of(tmp_path, votes)
    after = re.findall('<svg class="bar".*?</svg>', page)[:19]
    ends = [re.findall(r'x[12]="([\d.-]+)%"', bar) for bar in (*before, *after)]
    assert all(0 <= float(end) <= 100 for bar in ends for end in bar)
    spans = [np.ptp(np.array(bar, float)) for bar in ends]
    assert np.median(spans[:18]) == pytest.approx(np.median(spans[18:]), rel=0.05)


def test_a_place_that_cannot_be_written_is_named(tmp_path, rating):
    with pytest.raises(ba.errors.OutputError, match="nowhere"):
        ba.report(rating, tmp_path / "nowhere" / "page.html")


@pytest.mark.slow
def test_the_favourites_of_llmfao_have_a_figure(tmp_path):
    html = page_of(tmp_path, real("llmfao.csv"))
    names = re.findall("<li>(worker_[^<]*)</li>", html)
    assert names[:2] == ["worker_15: Weaver 12k", "worker_70: Weaver 12k"]


def test_the_board_before_stands_beside_the_one_without(tmp_path, rating):
    after = ba.rate(fan_votes(), without=["fan"])
    text = text_of(page_of(tmp_path, after))
    former = rating.leaderboard.set_index("competitor").loc[FAVOURITE]
    assert "Without the votes of fan." in text
    assert f"{former['elo']:.0f} ({former['rank']:.0f})" in text


def test_who_has_no_finite_estimate_keeps_a_row_without_numbers(tmp_path):
    names = ("model_a", "model_b", "winner")
    rows = [("a", "b", "model_a"), ("b", "c", "model_a"), ("a", "c", "model_b")] * 9
    rows += [("unbeaten", "a", "model_a")] * 12
    votes = [dict(zip(names, row, strict=True)) for row in rows]
    with pytest.warns(ba.errors.ArenaWarning):
        fit = ba.fit(votes, model="bradley-terry", prior="flat")
    text = text_of(page_of(tmp_path, fit))
    assert "unbeaten – no finite estimate – – 12" in text


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """The rating of annotators of two groups, one of whom has a hostile name."""
    votes = camp_votes().replace({"judge 03": HOSTILE, "model 8": HOSTILE})
    rating = ba.rate(votes)
    path = tmp_path_factory.mktemp("groups") / "page.html"
    rating.report(path)
    return rating, path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_two_groups_are_drawn_by_how_much_they_differ(grouped):
    rating, html = grouped
    text = text_of(html)
    assert rating.groups.sentence in text
    assert "the 6 rank it higher" in text and "the other 14 rank it higher" in text
    section = html.split('id="groups"')[1].split("</section>")[0]
    names = re.findall(r"<li>(.*?)</li>", section)
    assert set(names[:2]) == {"model 0", "model 1"}
    assert names[-1] == "model 9" and len(names) == 10
    drawn = section.split('class="gaps"')[1].split("</svg>")[0]
    kinds = re.findall(r'<circle[^>]*class="(\w+)"', drawn)
    assert kinds[:2] == ["more", "more"] and kinds[-2:] == ["less", "less"]
    assert HOSTILE not in html
    assert f"The 6 are {', '.join(rating.groups.members)}." in text


@pytest.mark.slow
def test_of_many_competitors_both_ends_are_drawn(grouped):
    gaps = {
        "competitor": np.array([f"c{n:02d}" for n in range(40)], dtype=object),
        "gap": np.linspace(100, -100, 40),
        "lower": np.linspace(90, -110, 40),
        "upper": np.linspace(110, -90, 40),
    }
    shown = two_groups(grouped[0].groups, "", gaps)
    names = [row["competitor"] for row in shown.rows]
    assert names == [f"c{n:02d}" for n in (*range(8), *range(32, 40))]
    assert shown.n_left_out == 24
    assert shown.ends == (-110, 110)


def test_without_groups_there_is_no_such_part(html):
    assert 'id="groups"' not in html


@pytest.mark.slow
def test_no_words_of_python_stand_on_it(html, grouped, tmp_path):
    pages = [html, grouped[1]]
    for options in ({"combined": True}, {"prior": "flat"}, {"model": "am-davidson"}):
        pages.append(page_of(tmp_path, fan_votes(), **options))
    python = r"\w=['\"\d(]|\bba\.|\w\(\)|\bNone\b(?! of)|\bnan\b"
    for page in pages:
        assert not re.search(python, text_of(page).replace(HOSTILE, ""))


def test_annotators_whom_nothing_judges_are_said_so():
    assert about_annotators({}, is_one_group=False) == "Annotators were not judged."
    columns = {"verdict": ["has a favourite", "not judged"]}
    assert (
        about_annotators(columns, is_one_group=False) == "Annotators were not judged."
    )
