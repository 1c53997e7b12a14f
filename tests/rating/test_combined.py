"""The combined board of `rate`: how far it goes, and what it does not go with."""

import json

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.combined import combined_standing
from bayes_arena.errors import ArenaError, ModelError, VotesError
from bayes_arena.rating.combining import describe_share
from tests.boards.test_combined import half_guess


@pytest.fixture(scope="module")
def votes():
    return half_guess()


@pytest.fixture(scope="module")
def rating(votes):
    return ba.rate(votes, combined=True)


def test_the_header_says_how_far_the_board_goes(votes, rating):
    assert 0.3 < rating.share <= 1
    said = (
        f"This board goes {100 * rating.share:.0f} % of the way from equal votes to votes "
        "weighed by how closely their annotator follows the ranking: as far as is safe."
    )
    assert rating.header[1] == said
    assert said in str(rating)
    assert json.loads(rating.to_json())["share"] == pytest.approx(rating.share)
    plain = ba.rate(votes)
    assert plain.share is None and json.loads(plain.to_json())["share"] is None


def test_scores_and_draws_are_of_the_combined_board(rating):
    standing, share = combined_standing(rating.fit, rating.annotator_fit)
    assert share == rating.share
    points = ba.EloScale().points_per_logit
    elo = rating.leaderboard.set_index("competitor")["elo"]
    np.testing.assert_allclose(
        elo[list(standing.competitors)], 1000 + points * standing.strength
    )
    assert rating.leaderboard["p_best"].sum() == pytest.approx(1)


def test_where_no_weighing_is_safe_it_says_so():
    assert describe_share(0.0) == "Equal votes: no weighing is safe here."
    assert describe_share(0.004) == describe_share(0.0)
    assert describe_share(0.312).startswith("This board goes 31 % of the way")


@pytest.mark.slow
def test_without_some_both_boards_are_fitted_anew(votes, rating):
    names = [f"guess honest {k:02d}" for k in range(10)]
    left = ba.rate(votes, combined=True, without=names)
    alone = ba.rate(votes[~votes["judge"].isin(names)], combined=True)
    assert left.share == pytest.approx(alone.share)
    np.testing.assert_allclose(left.leaderboard["elo"], alone.leaderboard["elo"])
    assert left.before.share == rating.share
    assert left.weighted.votes.n_annotators == 10
    assert "elo_before" in left.leaderboard


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"model": "am-davidson"}, {"model": "davidson"}),
        ({"model": "bradley-terry"}, {"model": "davidson"}),
        ({"prior": "weak"}, {"prior": "default"}),
        ({"method": "map"}, {"method": "gaussian"}),
    ],
)
def test_it_goes_with_the_default_fit(votes, options, remedy):
    with pytest.raises(
        ModelError, match="combined=True goes with the default"
    ) as caught:
        ba.rate(votes, combined=True, **options)
    (use,) = caught.value.remedies
    assert dict(use.arguments) == remedy
    assert ba.rate(votes, combined=True, **options | remedy).share > 0


@pytest.mark.parametrize(
    "model",
    [
        ba.Model("davidson ties half", ties="half", position="common"),
        ba.Model("davidson by kind", ties="davidson", strength_by=("kind",)),
        ba.Model("davidson at equal length", ties="davidson", style=("length",)),
    ],
    ids=["ties", "strength_by", "style"],
)
def test_it_goes_with_the_default_terms(votes, model):
    votes = votes.assign(kind="one", length=np.arange(len(votes)) % 7)
    votes.loc[::2, "kind"] = "other"
    columns = {"slices": "kind", "features": "length"}
    with pytest.raises(ModelError, match=f"the default model, not {model.name}"):
        ba.rate(votes, combined=True, model=model, **columns)


@pytest.mark.parametrize(
    "options", [{"interval": "sandwich"}, {"cluster": "annotator"}], ids=str
)
def test_it_has_intervals_of_its_own(votes, options):
    (text,) = (f"{name}={value!r}" for name, value in options.items())
    with pytest.raises(ModelError, match=f"leave out {text}"):
        ba.rate(votes, combined=True, **options)


def test_it_takes_five_competitors(votes):
    few = [f"model {c:02d}" for c in range(4)]
    few = votes[votes["model_a"].isin(few) & votes["model_b"].isin(few)]
    with pytest.raises(ModelError, match="takes 5 competitors, and there are 4"):
        ba.rate(few, combined=True)


def test_it_takes_several_annotators(votes, monkeypatch):
    with pytest.raises(VotesError, match="annotator="):
        ba.rate(votes.drop(columns="judge"), combined=True)
    with pytest.raises(ModelError, match="and there is one"):
        ba.rate(votes.assign(judge="a"), combined=True)
    monkeypatch.setattr("bayes_arena.rating.combining.MOST_JUDGED", 19)
    with pytest.raises(ModelError, match="up to 19 annotators, and there are 20"):
        ba.rate(votes, combined=True)


@pytest.mark.slow
def test_weights_are_numbers_of_votes(votes):
    votes = votes.assign(weight=1.0)
    assert ba.rate(votes, weight="weight", combined=True).share > 0
    with pytest.raises(VotesError, match="whole numbers of votes"):
        ba.rate(votes.assign(weight=0.5), weight="weight", combined=True)


@pytest.mark.slow
def test_one_vote_in_a_hundred_may_lack_an_annotator(votes):
    votes = votes.reset_index(drop=True)
    votes.loc[[3, 500], "judge"] = ""
    rating = ba.rate(votes, combined=True)
    known = ba.rate(votes.drop(index=[3, 500]), combined=True)
    assert rating.share == pytest.approx(known.share)
    assert rating.votes.n_votes == len(votes) - 2
    votes.loc[: len(votes) // 50, "judge"] = ""
    with pytest.raises(VotesError, match="lack one: more than one in a hundred"):
        ba.rate(votes, combined=True)


def test_who_was_only_seen_by_unknown_annotators_is_named(votes):
    new = votes[:1].assign(model_a="newcomer", judge="")
    with pytest.raises(VotesError, match="for each competitor: newcomer"):
        ba.rate(pd.concat([votes, new]), combined=True)


def test_an_answer_of_am_davidson_is_needed(votes, monkeypatch):
    def fails(*_, **__):
        raise ba.errors.FitError("No answer.")

    monkeypatch.setattr("bayes_arena.rating.combining.fit_model", fails)
    with pytest.raises(ArenaError, match="No answer"):
        ba.rate(votes, combined=True)


@pytest.mark.slow
def test_the_page_says_that_it_is_combined(votes, rating, tmp_path):
    rating.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{100 * rating.share:.0f} % of the way to am-davidson" in page
    assert "moved towards the board" in page
    assert "so that the board is an average over annotators" not in page
