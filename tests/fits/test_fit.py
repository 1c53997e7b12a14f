"""``fit``: what it refuses, and what it says of votes that leave something open."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import (
    ArenaWarning,
    FitError,
    ModelError,
    TooLargeError,
    VotesError,
)
from bayes_arena.fits.fit import LONG_WORK, require_room, seconds_of
from bayes_arena.model import constants
from bayes_arena.model.arrow import ParameterLayout
from bayes_arena.model.build import build_design
from bayes_arena.model.spec import resolve_model
from bayes_arena.said import Use
from tests.boards.arenas import fitted, of_wins
from tests.people.arenas import votes_of


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (ba.rate, {"model": "bradley-terry"}),
        (ba.rate, {"prior": "weak"}),
        (ba.leaderboard, {"method": "map"}),
        (ba.pairs, {"levl": 0.9}),
        (ba.verdict, {"winner": "vote"}),
        (ba.next_pairs, {"model": "m-elo"}),
        (ba.rank_probabilities, {"prior": "flat"}),
        (ba.strengths, {"annotator": "judge"}),
        (ba.effects, {"interval": "sandwich"}),
        (ba.win_probability, {"level": 0.9}),
        (ba.annotators, {"level": 0.9}),
        (ba.flag, {"model": "am-elo"}),
        (ba.flag_by_theta, {"prior": "default"}),
        (ba.favourites, {"delta": 5}),
        (ba.contested, {"model": "am-elo"}),
        (ba.prior_check, {"prior": "weak"}),
    ],
)
def test_options_that_a_fit_would_leave_without_effect_are_refused(function, options):
    fit = ba.fit(votes_of(annotators=3, each=40))
    (name,) = options
    with pytest.raises(ModelError, match=f"^{name}= has no effect on a fit"):
        function(fit, **options)


@pytest.mark.slow
def test_votes_take_the_options_of_a_fit():
    votes = votes_of(annotators=3, each=40)
    assert ba.rate(votes, prior="weak", method="map").fit.method == "map"
    assert ba.leaderboard(votes, model="m-elo").equals(
        ba.leaderboard(ba.fit(votes, model="m-elo"))
    )
    assert "flagged_by_theta" in ba.annotators(votes, model="am-elo", prior="flat")
    with pytest.raises(ModelError, match="Use model='am-davidson'"):
        ba.annotators(votes, model="davidson")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("modle", "model"), ("priors", "prior"), ("metod", "method"), ("winer", "winner")],
)
def test_options_of_reading_and_of_fitting_are_suggested(wrong, right):
    table = votes_of(annotators=3, each=40)
    text = f"There is no option '{wrong}'. Did you mean '{right}'"
    for votes in (table, ba.read_votes(table)):
        for function in (ba.fit, ba.rate):
            with pytest.raises(VotesError, match=text):
                function(votes, **{wrong: "x"})
    with pytest.raises(VotesError, match=text):
        ba.fit_many(table, by="judge", **{wrong: "x"})


def test_a_prior_that_leaves_the_strengths_open_is_an_error():
    votes = of_wins([("a", "b", 3)])
    with pytest.raises(FitError, match="Use prior='default'"):
        ba.fit(votes, prior=ba.Prior(strength=float("inf")))


def test_the_mode_is_at_the_spreads_of_the_gaussian():
    votes = votes_of(annotators=12, each=40)
    gaussian = ba.fit(votes, model="am-davidson")
    mode = ba.fit(votes, model="am-davidson", method="map")
    assert mode.spreads == gaussian.spreads
    assert mode.strength @ gaussian.strength > 0
    fixed = ba.Prior(**mode.spreads)
    again = ba.fit(votes, model="am-davidson", method="map", prior=fixed)
    np.testing.assert_allclose(again.strength, mode.strength, atol=1e-8)
    assert not again.spreads


def beside_a_perfect_annotator(seed):
    """Return votes of one annotator without an error, and of two who guess."""
    rng = np.random.default_rng(seed)
    judge = np.repeat(["perfect", "coin", "dice"], 60)
    pairs = np.array([rng.permutation(3)[:2] for _ in judge])
    best_first = pairs[:, 0] < pairs[:, 1]
    first_wins = np.where(judge == "perfect", best_first, rng.random(180) < 0.5)
    names = np.array(["oak", "elm", "ash"])
    return pd.DataFrame(
        {
            "model_a": names[pairs[:, 0]],
            "model_b": names[pairs[:, 1]],
            "winner": np.where(first_wins, "model_a", "model_b"),
            "judge": judge,
        }
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:About as many votes")
@pytest.mark.parametrize("method", ["gaussian", "map"])
def test_an_annotator_without_an_error_has_an_answer(method):
    for seed in range(6):
        table = beside_a_perfect_annotator(seed)
        fit = ba.fit(table, model="am-davidson", method=method)
        board = ba.leaderboard(fit)
        assert board["competitor"].tolist() == ["oak", "elm", "ash"]
        assert fit.discrimination.argmax() == fit.votes.annotators.index("perfect")


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"model": "am-davidson"}, Use(model="davidson")),
        ({"model": "am-elo", "method": "map"}, Use(model="davidson")),
        ({"prior": ba.Prior(strength=50.0)}, Use(prior="default")),
    ],
)
def test_a_search_without_an_end_names_what_has_one(options, remedy, monkeypatch):
    votes = beside_a_perfect_annotator(0)
    with monkeypatch.context() as patch:
        patch.setattr(constants, "MAX_SWEEPS", 2)
        with pytest.raises(FitError, match="did not end in 2 steps") as caught:
            ba.fit(votes, **options)
    assert caught.value.remedies == (remedy,)
    ba.fit(votes, **options | dict(remedy.arguments))


def test_groups_that_only_ties_connect_are_apart_for_a_model_that_drops_ties():
    rows = [("a", "b", "a"), ("b", "a", "a"), ("c", "d", "c"), ("d", "c", "d")]
    rows += [("a", "c", "tie")]
    votes = pd.DataFrame(rows * 3, columns=["model_a", "model_b", "winner"])
    model = ba.Model(ties="drop")
    with pytest.warns(ArenaWarning, match="2 groups that were never compared"):
        fit = ba.fit(votes, model=model)
    assert "no votes compare 2 groups" in ba.verdict(fit)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ba.fit(votes, model="davidson")


def test_a_fit_is_taken_as_it_is():
    fit = fitted(5, 200)
    assert ba.rate(fit).fit is fit


@pytest.mark.parametrize(("each", "warned"), [(1, True), (2, False)])
def test_annotators_with_a_vote_each_tell_nothing_of_annotators(each, warned):
    votes = votes_of(annotators=60, each=each)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ArenaWarning)
        ba.fit(votes, model="am-davidson")
    texts = [str(warning.message) for warning in caught]
    assert any("Hardly any annotator voted twice" in text for text in texts) == warned


def test_what_has_no_room_is_refused_before_any_work():
    n = 4_001
    names = [f"m{k}" for k in range(n)]
    rows = {"model_a": names, "model_b": names[1:] + names[:1], "judge": "k"}
    votes = ba.read_votes(pd.DataFrame(rows | {"winner": "model_a"}))
    message = "4,001 competitors, .* the limit is 4,000 where annotators or slices"
    with pytest.raises(TooLargeError, match=message):
        ba.fit(votes, model="am-davidson")
    model, *_ = resolve_model("davidson", votes)
    require_room(build_design(votes, model, ba.Prior()), votes)


def test_annotators_are_alike_where_a_model_says_so():
    fit = ba.fit(votes_of(annotators=3, each=20))
    assert fit.discrimination.tolist() == [1, 1, 1]


def test_a_fit_has_few_public_attributes():
    fit = ba.fit(ba.example_arena().votes)
    assert len([name for name in dir(fit) if not name.startswith("_")]) <= 16


def layout_of(n_shared, n_groups, n_local):
    sums = np.zeros((n_shared, 0)), np.zeros((n_local, 0))
    return ParameterLayout(n_shared, np.full(n_groups, n_local), *sums)


def test_a_long_fit_says_how_long_it_takes():
    assert seconds_of(layout_of(60, 124, 3)) < LONG_WORK
    assert seconds_of(layout_of(331, 190, 330)) == pytest.approx(115, rel=0.1)
    assert seconds_of(layout_of(2_000, 0, 0)) == pytest.approx(2.6, rel=0.1)


@pytest.mark.parametrize("call", [ba.predict, ba.leave_one_out, ba.diagnose, ba.draw])
def test_what_takes_a_fit_takes_nothing_else(call):
    votes = ba.read_votes(ba.example_arena().votes)
    arguments = ([],) if call is ba.predict else ()
    with pytest.raises(ModelError, match=r"of type Votes. Use ba.fit\(...\)"):
        call(votes, *arguments)
    with pytest.raises(ModelError, match=r"of type Rating. Pass its fit: .fit."):
        call(ba.rate(votes), *arguments)


@pytest.mark.parametrize("model", [None, 3, ["davidson"]])
def test_a_model_is_a_name_or_a_model(model):
    with pytest.raises(ModelError, match="must be a Model, or one of bradley-terry"):
        ba.fit(ba.example_arena().votes, model=model)


def test_competitors_of_two_groups_have_no_estimate_for_what_they_are():
    """They beat each other; but nobody links them to the others."""
    rows = [("x", "y", "A")] * 12 + [("x", "y", "B")] * 6
    rows += [("p", "q", "A")] * 12 + [("p", "q", "B")] * 6
    table = [
        dict(zip(("model_a", "model_b", "winner"), row, strict=True)) for row in rows
    ]
    with pytest.warns(ba.errors.ArenaWarning, match="each scored against each"):
        fit = ba.fit(table, prior="flat")
    assert np.isfinite(fit.strength).sum() == 2
