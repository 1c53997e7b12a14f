"""`rate`: one call for board, annotators, verdict and notes."""

import json
import pickle
import sys

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from tests.helpers import real

FAVOURITE = "model-7"


def fan_votes(fan=True, seed=4):
    """Votes of 20 annotators, 3 of them reversed, and of one fan of a weak competitor."""
    arena = ba.simulate(
        competitors=8, annotators=20, votes=1600, reversed=3, discrimination_sd=0.2,
        seed=seed,
    )  # fmt: skip
    others = [name for name in arena.competitors if name != FAVOURITE] * 6
    loyal = {"model_a": FAVOURITE, "model_b": others, "winner": "model_a"}
    loyal = pd.DataFrame(loyal | {"judge": "fan"})
    frames = [arena.votes, loyal] if fan else [arena.votes]
    return pd.concat(frames, ignore_index=True), arena


@pytest.fixture(scope="module")
def rating():
    return ba.rate(fan_votes()[0])


def test_the_board_is_davidsons(rating):
    votes = fan_votes()[0]
    assert rating.fit.model.name == "davidson"
    pd.testing.assert_frame_equal(rating.leaderboard, ba.leaderboard(ba.fit(votes)))
    assert rating.verdict == ba.verdict(ba.fit(votes))


def test_annotators_are_those_of_the_function(rating):
    table = ba.annotators(fan_votes()[0])
    pd.testing.assert_frame_equal(rating.annotators, table)
    flagged = rating.annotators["verdict"] == "anomalous"
    reversed_ones = set(fan_votes()[1].anomalous)
    assert set(rating.annotators["annotator"][flagged]) >= reversed_ones


def test_the_fan_is_named_with_the_counts(rating):
    favourites = rating.favourites[rating.favourites["flagged"]]
    assert "fan" in set(favourites["annotator"])
    note = next(str(note) for note in rating.notes if note.kind == "annotators")
    assert f"fan favours {FAVOURITE} (42 of 42 votes)" in note


def test_at_most_five_notes_of_a_line(rating):
    assert len(rating.notes) <= 5
    assert not any("\n" in str(note) for note in rating.notes)


def test_it_prints_as_the_command_does(rating):
    text = str(rating)
    assert text.startswith("votes: 1,642 votes on 8 competitors by 21 annotators\n")
    assert rating.verdict in text
    assert all(str(note) in text for note in rating.notes)
    assert "95% interval" in text


def test_a_long_board_is_cut_and_says_so():
    text = str(ba.rate(ba.example_arena().votes))
    assert "10 more" in text


def test_a_notebook_shows_names_as_text():
    votes = fan_votes()[0].replace(FAVOURITE, "<script>alert(1)</script>")
    html = ba.rate(votes)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_json_says_of_what_it_is_and_how_it_was_made(rating, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795824000")
    content = json.loads(rating.to_json())
    facts = {
        "schema": 1,
        "version": ba.__version__,
        "date": "2026-11-28",
        "source": "votes",
        "n_votes": 1642,
        "n_competitors": 8,
        "n_annotators": 21,
        "n_prompts": 0,
        "plan": "davidson, Gaussian",
        "interval": "posterior",
        "cluster": None,
        "level": 0.95,
        "min_votes": 10,
        "seed": 0,
        "left_out": [],
        "verdict": rating.verdict,
        "warnings": [],
    }
    assert facts.items() <= content.items()
    notes = [{"kind": note.kind, "text": str(note)} for note in rating.notes]
    assert content["notes"] == notes


def test_json_has_tables_with_all_rows_and_kinds_of_reasons(rating):
    content = json.loads(rating.to_json())
    assert len(content["leaderboard"]) == 8
    assert len(content["annotators"]) == 21
    fan = next(row for row in content["annotators"] if row["annotator"] == "fan")
    assert fan["reason"] == "favourite" and fan["why"].startswith("favours ")
    assert len(content["contested"]) == 8 and content["favourites"]


@pytest.mark.parametrize("without", ["flagged", "favourites", ["fan"]])
def test_without_shows_before_and_after(rating, without):
    after = ba.rate(fan_votes()[0], without=without)
    assert "fan" in after.left_out
    assert after.votes.n_annotators == 21 - len(after.left_out)
    before = rating.leaderboard.set_index("competitor")["elo"]
    table = after.leaderboard.set_index("competitor")
    np.testing.assert_allclose(table["elo_before"], before[table.index], atol=1e-6)
    assert table["elo"][FAVOURITE] < table["elo_before"][FAVOURITE]
    assert "Without the votes of " in str(after)


def test_without_is_the_board_of_the_others():
    votes = ba.read_votes(fan_votes()[0])
    after = ba.rate(votes, without=["fan"])
    alone = ba.leaderboard(ba.fit(votes.drop(annotators="fan")))
    np.testing.assert_allclose(after.leaderboard["elo"], alone["elo"], atol=1e-6)


def test_without_keeps_prior_and_method():
    fit = ba.fit(fan_votes()[0], prior="flat")
    after = ba.rate(fit, without=["fan"])
    assert after.fit.prior.is_flat
    assert "Maximum likelihood." in after.header[1]


def test_nobody_to_leave_out_is_said():
    honest = ba.simulate(competitors=5, annotators=4, votes=400, discrimination_sd=0.1)
    rating = ba.rate(honest.votes, without="favourites")
    assert rating.left_out == ()
    assert "Nobody was left out: nobody has a favourite." in str(rating)


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ("worst", "No votes of 'worst'. Use without='flagged', or"),
        (["fna"], "No votes of 'fna'. Did you mean 'fan'"),
    ],
)
def test_an_unknown_without_is_refused(without, message):
    with pytest.raises(ba.ArenaError, match=message):
        ba.rate(fan_votes()[0], without=without)


def test_votes_without_annotators_are_rated():
    votes = fan_votes()[0].drop(columns="judge")
    rating = ba.rate(votes)
    assert len(rating.leaderboard) == 8
    assert rating.annotators.empty and rating.favourites.empty
    assert rating.annotator_fit is None
    with pytest.raises(ba.ArenaError, match="annotator="):
        ba.rate(votes, without="flagged")


def test_too_many_annotators_are_not_judged_and_it_is_said(monkeypatch):
    monkeypatch.setattr("bayes_arena.rating.rated.MOST_JUDGED", 10)
    rating = ba.rate(fan_votes()[0])
    assert rating.annotators.empty
    assert any("annotators were not judged" in str(note) for note in rating.notes)


def test_where_no_fit_judges_annotators_favourites_are_named_all_the_same(
    monkeypatch, tmp_path
):
    def refuse(*args, **options):
        raise ba.errors.FitError("There is no answer.")

    monkeypatch.setattr("bayes_arena.people.doors.fit_model", refuse)
    votes = fan_votes()[0]
    rating = ba.rate(votes)
    notes = [str(note) for note in rating.notes if note.kind == "annotators"]
    assert notes[0] == "Annotators were not judged. There is no answer."
    assert "favours" in notes[1]
    assert set(rating.annotators["verdict"]) == {"has a favourite", "not judged"}
    assert len(rating.leaderboard) == 8
    assert ba.rate(votes, without="favourites").left_out
    with pytest.raises(ba.errors.FitError, match="There is no answer"):
        ba.rate(votes, without="flagged")
    rating.report(tmp_path / "page.html")
    assert "Annotators were not judged." in (tmp_path / "page.html").read_text()


def test_another_model_has_only_its_own_notes():
    rating = ba.rate(fan_votes()[0], model="m-elo")
    assert rating.fit.model.name == "m-elo"
    assert rating.annotator_fit is None
    assert not any(note.kind == "annotators" for note in rating.notes)


def test_annotators_are_judged_by_the_fit_in_which_they_differ():
    rating = ba.rate(fan_votes()[0], model="am-davidson")
    assert rating.annotator_fit is rating.fit
    assert any(note.kind == "annotators" for note in rating.notes)


def test_a_fit_is_rated_as_its_votes(rating):
    again = ba.rate(ba.fit(fan_votes()[0]))
    pd.testing.assert_frame_equal(again.leaderboard, rating.leaderboard)


def test_the_fits_are_made_once(monkeypatch):
    module = sys.modules["bayes_arena.fits.fit"]
    models = []
    resolve = module.resolve_model

    def counted(model, votes):
        models.append(model)
        return resolve(model, votes)

    monkeypatch.setattr(module, "resolve_model", counted)
    result = ba.rate(fan_votes()[0])
    str(result), result.annotators, result.to_json()
    # The last is without the votes that make a favourite, and judges the others.
    assert [getattr(model, "name", model) for model in models] == [
        "davidson",
        "am-davidson",
        "am-davidson",
    ]


def test_a_chain_warns_of_the_prior_and_names_the_remedy():
    rows = []
    for i in range(20):
        names = {"model_a": f"m{i:02d}", "model_b": f"m{i + 1:02d}"}
        rows += [names | {"winner": "model_a"}] * 9 + [names | {"winner": "model_b"}]
    with pytest.warns(ba.errors.ArenaWarning, match="prior='weak'"):
        rating = ba.rate(rows)
    assert [note.kind for note in rating.warnings] == ["prior"]
    assert "Warning: " in str(rating)


def test_names_decide_nothing():
    votes, _ = fan_votes()
    names = {f"model-{k}": f"x{9 - k}" for k in range(1, 9)}
    renamed = ba.rate(votes.replace(names)).leaderboard
    before = ba.rate(votes).leaderboard
    np.testing.assert_allclose(renamed["elo"], before["elo"], atol=1e-6)
    order = [names.get(name, name) for name in before["competitor"]]
    assert renamed["competitor"].tolist() == order


def test_a_rating_writes_its_page(rating, tmp_path):
    rating.report(tmp_path / "page.html", title="Ours")
    assert "<title>Ours" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_real_votes():
    rating = ba.rate(real("llmfao.csv"))
    top = rating.leaderboard.iloc[0]
    assert top["competitor"] == "GPT 4"
    assert top["rank_lower"] == 1 and 9 <= top["rank_upper"] <= 13
    assert "More prompts would settle it" in rating.verdict
    notes = " ".join(map(str, rating.notes))
    assert "8 of 124 are anomalous" in notes
    assert "worker_15 and worker_70 favour Weaver 12k (106 of 110 and 43 of 45" in notes
    assert "combined=True, here 31 %" in notes


def test_tables_without_rows_have_their_columns():
    votes = pd.DataFrame(fan_votes()[0])
    judged, nobody = ba.rate(votes), ba.rate(votes.drop(columns="judge"))
    for name in ("annotators", "favourites", "contested"):
        table = getattr(nobody, name)
        assert len(table) == 0
        assert list(table.columns) == list(getattr(judged, name).columns)


def test_one_annotator_is_left_out_by_name():
    rating = ba.rate(fan_votes()[0], without="fan")
    assert rating.left_out == ("fan",)
    assert rating.before.left_out == () and rating.before.before is None
    assert rating.without == "fan"


@pytest.mark.parametrize(
    ("prior", "words", "plan"),
    [
        ("default", "have equal weight.", "davidson, Gaussian"),
        ("weak", "have equal weight. Prior: weak.", "davidson, Gaussian, weak prior"),
        (
            ba.Prior(strength=0.3),
            "have equal weight. Prior of your own.",
            "davidson, Gaussian, prior of your own",
        ),
    ],
)
def test_a_prior_that_is_not_the_default_is_named(prior, words, plan):
    rating = ba.rate(ba.example_arena().votes, prior=prior)
    assert words in rating.header[1]
    assert ("Prior" in rating.header[1]) == (prior != "default")
    assert rating.fit.plan == plan
    named = rating.facts["prior"]
    assert named == prior if isinstance(prior, str) else "strength=Spread" in named


@pytest.mark.parametrize("options", [{}, {"combined": True}, {"without": "flagged"}])
def test_it_goes_to_other_processes(options):
    rating = ba.rate(fan_votes()[0], **options)
    there = pickle.loads(pickle.dumps(rating))
    assert str(there) == str(rating)
    again = ba.leaderboard(there.fit, interval="sandwich")
    pd.testing.assert_frame_equal(
        again, ba.leaderboard(rating.fit, interval="sandwich")
    )


def test_an_option_misspelt_is_found_among_all():
    for wrong, right in (("combine", "combined"), ("intervl", "interval")):
        with pytest.raises(ba.errors.VotesError, match=f"Did you mean '{right}'"):
            ba.rate(fan_votes()[0], **{wrong: None})


def test_the_board_before_says_nothing_of_who_was_left_out_after():
    rating = ba.rate(fan_votes()[0], without="flagged")
    assert "Without the votes of" in str(rating)
    assert "left out" not in str(rating.before)
    assert rating.before.header == ba.rate(fan_votes()[0]).header


def test_a_board_says_how_it_was_made(rating):
    fit_table = ba.leaderboard(ba.fit(fan_votes()[0]))
    assert rating.leaderboard.attrs == fit_table.attrs
