"""What `rate` says under the board, and how it is shown."""

import html
import json

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning
from bayes_arena.said import NOWHERE
from tests.boards.arenas import columns, fitted, of_wins
from tests.people.arenas import fan, votes_of

ESCAPE = "\x1b[2J"


def notes_of(votes, **options):
    return " ".join(map(str, ba.rate(votes, **options).notes))


def camp():
    """Return votes of many, and of a few who are sure and see the best six reversed."""
    place = {f"model {c:02d}": 5 - c if c < 6 else c for c in range(12)}
    few = votes_of(seed=1, annotators=5, each=150)
    is_first = few["model_a"].map(place) < few["model_b"].map(place)
    is_first ^= np.random.default_rng(0).random(len(few)) < 0.05
    few["winner"] = np.where(is_first, "model_a", "model_b")
    few["judge"] = "sure " + few["judge"]
    return pd.concat([votes_of(annotators=20, each=150), few])


@pytest.mark.slow
def test_two_boards_that_differ_are_said_with_who_would_move():
    votes = camp()
    rating = ba.rate(votes)
    (note,) = [note for note in rating.notes if note.kind == "boards"]
    text = str(note)
    assert text.startswith(
        "Annotators disagree on the ranking; this board averages over them. "
    )
    combined = ba.rate(votes, combined=True)
    own = rating.leaderboard.set_index("competitor")["elo"]
    move = (combined.leaderboard.set_index("competitor")["elo"] - own).abs()
    assert f"(combined=True, here {100 * combined.share:.0f} %)" in text
    assert f"would move '{move.idxmax()}' the most: {move.max():.0f} Elo." in text
    assert "would move" in note.spelled(NOWHERE) and "(" not in note.spelled(NOWHERE)
    assert not any(note.kind == "boards" for note in combined.notes)


@pytest.mark.slow
def test_two_groups_are_said_before_the_two_boards():
    rating = ba.rate(camp())
    kinds = [note.kind for note in rating.notes]
    assert kinds.index("groups") + 1 == kinds.index("boards")
    note = rating.notes[kinds.index("groups")]
    assert str(note) == ba.groups(camp()).sentence
    assert str(note).startswith(
        "5 of 25 annotators rank differently: they prefer model 0"
    )
    group = rating.annotators.set_index("annotator")["annotator_group"]
    assert set(group.index[group == "smaller"]) == set(rating.groups.members)


def test_votes_without_an_annotator_are_the_first_note(tmp_path):
    votes = votes_of(annotators=4, each=60)
    votes.loc[[7, 9], "judge"] = ""
    rating = ba.rate(votes)
    said = "2 of 240 votes lack an annotator: annotators are judged by the others."
    assert str(rating.notes[0]) == said
    first = json.loads(rating.to_json())["notes"][0]
    assert (first["kind"], first["text"]) == ("gaps", said)
    assert rating.leaderboard["votes"].sum() == 480
    assert rating.annotators["votes"].sum() == 238
    rating.report(tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert said in page


def test_an_empty_cell_of_prompts_switches_nothing_off():
    votes = votes_of(annotators=4, each=60)
    votes["prompt"] = [f"p{row % 20}" for row in range(len(votes))]
    whole = ba.rate(votes)
    votes.loc[7, "prompt"] = ""
    rating = ba.rate(votes)
    assert rating.header[0].endswith("20 prompts")
    assert rating.standing.uncertainty.cluster == "prompt"
    wide, narrow = (
        (board["upper"] - board["lower"]).to_numpy()
        for board in (whole.leaderboard, rating.leaderboard)
    )
    np.testing.assert_allclose(narrow.mean(), wide.mean(), rtol=0.03)


@pytest.mark.parametrize("table", [ba.annotators, ba.favourites, ba.contested])
def test_votes_of_nobody_known_change_nothing_about_annotators(table):
    votes = votes_of(annotators=4, each=60)
    known = votes.drop(index=[7])
    votes.loc[7, "judge"] = ""
    pd.testing.assert_frame_equal(table(votes), table(known))
    fit = ba.fit(votes, model="am-davidson")
    assert fit.plan == "am-davidson; without 1 vote of an unknown annotator, Gaussian"


def test_two_boards_that_agree_are_not_mentioned():
    notes = notes_of(votes_of(annotators=20, each=60))
    assert "am-davidson" not in notes
    assert "anomalous" not in notes and "favour" not in notes


def ring_votes():
    rng = np.random.default_rng(0)
    ring = [fan(rng, 60, favourite=6, judge=f"bot{k}") for k in range(4)]
    ring = [votes[votes["winner"] == "model_a"] for votes in ring]
    return pd.concat([votes_of(annotators=30, each=40), *ring], ignore_index=True)


RING = {f"bot{k}" for k in range(4)}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["davidson", "am-davidson"])
def test_a_ring_is_named_together(model):
    votes = ring_votes()
    rating = ba.rate(votes, model=model)
    said = "bot0, bot1, bot2 and bot3 favour model 06 (228 of 228 votes)"
    assert any(said in str(note) for note in rating.notes)
    assert not any("am-davidson" in str(note) for note in rating.notes)
    assert set(ba.rate(votes, model=model, without="favourites").left_out) == RING


@pytest.mark.slow
def test_several_are_left_out_together():
    votes = ring_votes()
    left_out = ba.rate(votes, without=("flagged", "favourites", "honest 03")).left_out
    assert set(left_out) == RING | set(ba.flag(votes)) | {"honest 03"}
    nobody = ba.rate(
        votes_of(annotators=20, each=60), without=("flagged", "favourites")
    )
    assert "nobody is anomalous or has a favourite." in nobody.header[-1]


@pytest.mark.slow
def test_bought_votes_are_said():
    rng = np.random.default_rng(0)
    paid = [fan(rng, 15, judge=f"paid {k:02d}") for k in range(20)]
    votes = pd.concat([votes_of(annotators=60, each=60), *paid], ignore_index=True)
    rating = ba.rate(votes)
    assert rating.contested["competitor"][0] == "model 10"
    assert rating.contested["flagged"].sum() == 1
    assert any("disagree about model 10 far more" in str(n) for n in rating.notes)


@pytest.mark.parametrize(("first", "side"), [(0.7, "first"), (0.3, "second")])
def test_the_side_that_wins_more_often_is_said(first, side):
    rng = np.random.default_rng(0)
    rows = columns(5, 600, spread=0.0)[0]
    won = rng.random(600) < first
    rows["winner"] = np.where(won, "model_a", "model_b").tolist()
    (note,) = [str(n) for n in ba.rate(rows).notes if n.kind == "advantage"]
    assert note.startswith(f"Between equals the {side} side wins ")
    assert 64 <= int(note.split(" wins ")[1].split()[0]) <= 76


def test_where_no_side_wins_more_often_nothing_is_said():
    assert "side" not in notes_of(columns(5, 600)[0])


def test_few_prompts_are_a_note_and_many_stand_in_the_header():
    few = ba.rate(columns(5, 400, prompts=5)[0])
    assert "about these 5 prompts only" in " ".join(map(str, few.notes))
    many = ba.rate(columns(5, 400, prompts=20)[0])
    assert "Intervals allow for new prompts like these." in many.header[1]
    assert "prompts" not in " ".join(map(str, many.notes))
    assert many.header[0].endswith("20 prompts")


def newcomer(name="new"):
    rows = columns(5, 400)[0]
    for column, value in (("model_a", name), ("model_b", "m00"), ("winner", "model_a")):
        rows[column].append(value)
    return rows


def test_json_holds_no_nan():
    def refuse(text):
        raise AssertionError(text)

    content = json.loads(ba.rate(newcomer()).to_json(), parse_constant=refuse)
    row = content["leaderboard"][-1]
    assert row["competitor"] == "new"
    assert row["rank"] is None and row["p_best"] is None
    assert isinstance(content["leaderboard"][0]["rank"], int)
    assert content["annotators"] == content["favourites"] == []


def test_the_board_shows_no_rank_for_few_votes():
    lines = str(ba.rate(newcomer())).splitlines()
    row = next(line for line in lines if line.split()[:1] == ["new"])
    assert row.split()[-1] == "1"
    assert "new has fewer than 10 votes and no rank." in lines


def test_options_are_those_of_the_leaderboard():
    fit = fitted(6, 300, prompts=12)
    options = {
        "interval": "sandwich",
        "level": 0.8,
        "rank_spread": True,
        "min_votes": 100,
        "elo": ba.EloScale(anchor=("m01", 1500)),
        "seed": 3,
    }
    rating = ba.rate(fit, **options)
    pd.testing.assert_frame_equal(rating.leaderboard, ba.leaderboard(fit, **options))
    assert "80% interval" in str(rating)


@pytest.mark.slow
def test_names_cannot_control_a_terminal():
    votes = votes_of(planted=("reversed",)).replace("model 00", f"oak{ESCAPE}")
    votes["judge"] = votes["judge"].replace("reversed", f"bad{ESCAPE}")
    rating = ba.rate(votes)
    assert any(ESCAPE in str(note) for note in rating.notes)
    assert "\x1b" not in str(rating) and "\x1b" not in rating._repr_html_()
    assert r"bad\x1b[2J" in str(rating)
    assert "\x1b" not in str(ba.judge_report(votes, f"bad{ESCAPE}"))
    assert "\x1b" not in str(ba.rate(votes, without="flagged"))
    named = of_wins([(f"oak{ESCAPE}", "elm", 30), ("elm", f"oak{ESCAPE}", 3)])
    assert r"oak\x1b[2J is the best" in str(ba.rate(named))
    with pytest.warns(ArenaWarning):
        apart = ba.rate(of_wins([(f"oak{ESCAPE}", "elm", 9), ("yew", "ash", 9)]))
    assert apart.warnings and "\x1b" not in str(apart)


@pytest.mark.parametrize("width", [40, 50, 60, 80])
def test_no_line_of_the_board_is_wider_than_the_terminal(width):
    rating = ba.rate(ba.example_arena().votes.drop(columns="judge"))
    lines = rating.to_text(rows=None, width=width).splitlines()
    start = next(k for k, line in enumerate(lines) if "rank" in line.split())
    assert max(len(line) for line in lines[start : start + 20]) <= width


def test_somebody_left_out_twice_is_left_out_once():
    votes = votes_of(annotators=4, each=60)
    rating = ba.rate(votes, without=["honest 01", "honest 01"])
    assert rating.left_out == ("honest 01",)
    assert "Without the votes of honest 01." in str(rating)


def test_nobody_can_be_left_but_somebody_has_to_stay():
    votes = votes_of(annotators=3, each=60)
    assert ba.rate(votes, without=[]).left_out == ()
    with pytest.raises(ba.ArenaError, match="No vote"):
        ba.rate(votes, without=[f"honest 0{k}" for k in range(3)])


def test_of_one_annotator_nobody_is_flagged():
    rating = ba.rate(votes_of(annotators=1, each=100), without="flagged")
    assert rating.left_out == ()
    assert rating.annotators.empty
    assert "Nobody was left out: nobody is anomalous." in str(rating)


def test_a_reversed_annotator_is_not_said_to_favour_the_weak():
    """What votes against the ranking make of a weak competitor is no favourite."""
    rating = ba.rate(ba.example_arena().votes)
    flagged = rating.favourites[rating.favourites["flagged"]]
    why = rating.annotators.set_index("annotator")["why"]
    assert list(why[flagged["annotator"]].str.partition(":")[0]) == ["reversed"] * 2
    assert list(map(str, rating.notes)) == [
        "Annotators: 4 of 42 are anomalous. Their votes count."
    ]


def test_where_the_first_side_always_wins_the_board_says_that_it_may_be_about_sides():
    votes = of_wins([("a", "b", 20), ("b", "c", 20), ("b", "a", 10), ("c", "a", 10)])
    first = ba.rate(votes).notes[0]
    assert first.kind == "winners_first"
    said = str(first)
    assert said.startswith(
        "The first side won 60 of 60 decided votes: either rows list"
    )
    assert "(layout='winner-loser')" in said
    assert said.endswith(
        "or voters take the first side; then this board is about neither."
    )
    pairs = {"winner": votes["model_a"], "loser": votes["model_b"]}
    listed = ba.read_votes(pairs, layout="winner-loser")
    assert all(note.kind != "winners_first" for note in ba.rate(listed).notes)
    few = of_wins([("a", "b", 10), ("b", "a", 10)])
    assert all(note.kind != "winners_first" for note in ba.rate(few).notes)


def test_pairs_shown_one_way_only_do_not_tell_a_side_from_strength():
    votes, _ = columns(4, 400, spread=0.3)
    one_way = {"model_a": [], "model_b": [], "winner": []}
    for a, b, winner in zip(*votes.values(), strict=True):
        if (a, b) in {("m00", "m01"), ("m00", "m02"), ("m01", "m03"), ("m02", "m03")}:
            for name, value in zip(one_way, (a, b, winner), strict=True):
                one_way[name].append(value)
    assert str(ba.rate(one_way).notes[0]) == (
        "Each pair was shown one way only: the advantage of a side cannot be told from "
        "strength."
    )
    assert all(note.kind != "sides" for note in ba.rate(votes).notes)


def test_every_twentieth_vote_left_out_is_said():
    table = votes_of(annotators=4, each=60)
    whole = ba.rate(table)
    assert "left_out" not in [note.kind for note in whole.notes]
    table.loc[table.index[:12], "winner"] = "skipped"
    few = ba.rate(table)
    (note,) = [str(note) for note in few.notes if note.kind == "left_out"]
    assert note == "12 of 240 votes were left out: 12 not played."


def test_remarks_on_the_file_are_said_in_python_too():
    votes = votes_of(annotators=4, each=60)
    votes["prompt"] = [f"prompt {row}" for row in range(len(votes))]
    rating = ba.rate(pd.concat([votes, votes], ignore_index=True))
    assert str(rating.notes[-1]) == "1 remark on the file: ba.check(...)"
    assert json.loads(rating.to_json())["notes"][-1]["kind"] == "remarks"


def test_a_board_is_no_file_of_votes(tmp_path):
    path = tmp_path / "last.json"
    path.write_text(ba.rate(columns(4, 40)[0]).to_json())
    with pytest.raises(ba.errors.VotesError, match="and not votes"):
        ba.rate(path)
