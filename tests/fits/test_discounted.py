"""Fits in which some votes count in part, beside everything else that a fit can be asked."""

import functools
import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from crowds import Crowd, honest_arena
from helpers import RIGGERS, rigged_cells

import bayes_arena as ba
from bayes_arena.fits import fitting
from bayes_arena.promotion import discounting
from bayes_arena.promotion.views import Views
from bayes_arena.validation.prediction import predict_cells
from bayes_arena.votes.cells import with_counts
from bayes_arena.votes.outcomes import BOTH_BAD, TIE

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
DAVIDSON = ba.Model("davidson", ties="davidson")
TARGET = "model-003"


def finite(table: pd.DataFrame) -> bool:
    return bool(np.isfinite(table.select_dtypes("number").to_numpy(dtype=float)).all())


def open_ones(fit: ba.Fit) -> list[str]:
    """Competitors on which the votes are found not to be those of one crowd."""
    return [fit.cells.competitors[c] for c in np.flatnonzero(fit.promotions.is_open)]


def cast_by(cells: ba.Cells, *names: str) -> np.ndarray:
    """Which cells are those of some annotators."""
    return np.isin(cells.annotator, [cells.annotators.index(name) for name in names])


@pytest.fixture(scope="module")
def alike(rigged) -> ba.Fit:
    return ba.fit(rigged, robust=False)


@pytest.mark.slow
def test_votes_are_discounted_and_nobody_is_left_out(rigged, discounted, alike):
    assert open_ones(discounted) == [TARGET]
    assert (discounted.cast.counts == rigged.counts).all() and discounted.cells.annotators == rigged.annotators
    counting = discounted.cells.votes_by_annotator() / rigged.votes_by_annotator()
    riggers = np.isin(rigged.annotators, RIGGERS)
    assert counting[riggers].max() < 0.01 < 0.5 < counting[~riggers].min() and counting.max() <= 1
    elsewhere = ~np.isin(discounted.cells.competitors, [TARGET])[[rigged.a, rigged.b]].any(axis=0)
    assert (discounted.cells.counts[elsewhere] == rigged.counts[elsewhere]).all()
    assert discounted.votes_discounted == pytest.approx(rigged.n_votes - discounted.cells.n_votes)
    honest = ba.leaderboard(ba.fit(ba.drop_annotators(rigged, RIGGERS))).set_index("competitor")
    board, bought = (ba.leaderboard(fit).set_index("competitor") for fit in (discounted, alike))
    assert board["rank"][TARGET] == honest["rank"][TARGET] > bought["rank"][TARGET]
    assert board["lower"][TARGET] < honest["elo"][TARGET] < board["upper"][TARGET]
    assert board["votes"].equals(bought["votes"].loc[board.index])  # as cast


@pytest.mark.slow
def test_the_reader_is_told(discounted, rigged):
    (said,) = (text for category, text in discounted.notes if category is ba.DiscountedVotesWarning)
    assert said.startswith(f"The votes on '{TARGET}' are not those of one crowd: 427 of 683 do not count")
    assert said.endswith("Its rank is 4; by all votes alike it is 2.")
    with pytest.warns(ba.DiscountedVotesWarning, match="not those of one crowd"):
        ba.fit(rigged, method="map")
    assert "1,660 votes" in repr(discounted)
    assert "1,660, of which 427 do not count" in discounted._repr_html_()
    votes = {one.what: one for one in discounted.plan.choices}["votes"]
    assert (votes.taken, votes.why) == ("1,233 of 1,660 count", "those on some competitors are not of one crowd")


@pytest.mark.slow
def test_the_reader_is_told_where_fits_and_votes_do_not_come_to_agree(rigged, discounted, monkeypatch):
    assert not any("is not settled" in text for text in discounted.warnings)
    monkeypatch.setattr(discounting, "ROUNDS", 2)
    monkeypatch.setattr(discounting, "NEAR", 0.0)
    (said,) = (text for text in ba.fit(rigged, method="map").warnings if "is not settled" in text)
    assert re.match(r"How much the votes on 'model-00\d' count is not settled: its score is \d+ Elo points from", said)
    assert said.endswith("Compare the ranking by all votes alike: robust=False (--robust off).")


@pytest.mark.parametrize("many", [3, 4])
def test_where_most_competitors_are_far_from_one_crowd_and_all_votes_count_it_is_said(discounted, many):
    nothing = replace(discounted.promotions, is_far=np.arange(6) < many, cast=None)
    said = [text for text in replace(discounted, promotions=nothing).warnings if "on most competitors" in text]
    assert len(said) == (many > 3)


def test_rounds_end_where_nothing_moves_any_more(rigged, alike, monkeypatch):
    monkeypatch.setattr(discounting, "NEAR", 0.0)
    asked = []
    found = discounting.discounted(alike.mode, lambda problem: asked.append(problem) or alike.mode)
    assert len(asked) < discounting.ROUNDS
    assert list(found.off) == list(found.centres) == [rigged.competitors.index(TARGET)]


@pytest.mark.slow
@pytest.mark.parametrize(("steady", "fits"), [(discounting.STEADY, 2), (9.0, 1)])
def test_rounds_go_on_while_the_mixture_moves(rigged, alike, discounted, monkeypatch, steady, fits):
    for name, value in {"NEAR": np.inf, "ALIKE_ENOUGH": np.inf, "STEADY": steady}.items():
        monkeypatch.setattr(discounting, name, value)
    asked = []
    found = discounting.discounted(alike.mode, lambda problem: asked.append(problem) or discounted.mode)
    assert len(asked) == fits and not found.off


def test_a_step_that_turns_back_is_halved(rigged, alike, monkeypatch):
    weights, counted = itertools.cycle([0.9, 0.4]), []
    of_pairs = property(lambda found: np.full(len(found.views.annotator), next(weights)))
    monkeypatch.setattr(discounting.Discounted, "weight", of_pairs)
    discounting.discounted(alike.mode, lambda problem: counted.append(problem.cells.n_votes) or alike.mode)
    assert np.sqrt(np.array(counted[:3]) / rigged.n_votes) == pytest.approx([0.9, 0.4, 0.6])


def test_the_last_bits_of_weights_which_depend_on_names_do_not_count(rigged, discounted, monkeypatch):
    views, seen = Views.of(discounted.mode, discounted.target.tally), []
    weight = np.random.default_rng(0).random(len(views.annotator))
    for one in (weight, weight * (1 + 1e-14)):
        seen.append(discounting.counted(rigged, views, one).counts)
    assert (seen[0] == seen[1]).all() and (seen[0] != rigged.counts).any()


def fractions(cells: ba.Cells) -> ba.Cells:
    return with_counts(cells, 0.7 * cells.counts)


def without_ties(cells: ba.Cells) -> ba.Cells:
    return with_counts(cells, cells.counts * [1, 1, 0, 0])


def ties_both_bad(cells: ba.Cells) -> ba.Cells:
    counts = cells.counts.copy()
    counts[::2, BOTH_BAD], counts[::2, TIE] = counts[::2, TIE], 0
    return with_counts(cells, counts)


def without_sides(cells: ba.Cells) -> ba.Cells:
    turned = cells.a > cells.b
    a, b = np.where(turned, cells.b, cells.a), np.where(turned, cells.a, cells.b)
    counts = np.where(turned[:, None], cells.counts[:, [1, 0, 2, 3]], cells.counts)
    return cells.take(slice(None), a=a, b=b, counts=counts, sided=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [fractions, without_ties, ties_both_bad, without_sides], ids=lambda kind: kind.__name__
)
def test_votes_of_every_kind_are_discounted(rigged, kind):
    cells = kind(rigged)
    fit = ba.fit(cells, method="map")
    assert open_ones(fit) == [TARGET] and 0 < fit.votes_discounted < cells.n_votes
    assert (
        finite(ba.annotators(fit))
        and finite(ba.leaderboard(fit))
        and np.isfinite(predict_cells(fit, cells).log_p).all()
    )


def test_the_plan_of_votes_says_so_before_they_are_fitted(rigged):
    taken = {one.what: one for one in ba.choose(rigged).choices}["votes"]
    assert (taken.taken, taken.why) == (
        "all count, unless those on a competitor are not of one crowd",
        "annotators are known",
    )
    assert "votes" not in {one.what for one in ba.choose(rigged, robust=False).choices}
    assert not ba.choose(rigged, model="bradley-terry").robust
    assert ba.choose(rigged, model="bradley-terry", robust=True).robust
    with pytest.raises(ba.ModelError, match="robust must be 'auto', True or False, not 'on'"):
        ba.fit(rigged, robust="on")
    unknown = replace(rigged, annotators=(), annotator=np.zeros_like(rigged.annotator))
    with pytest.raises(ba.ModelError, match=r"who cast them, which these do not say.*annotator=\.\.\."):
        ba.fit(unknown, robust=True)


class TestKeepAndDrop:
    @pytest.mark.slow
    def test_votes_of_everybody_that_are_kept_are_those_of_no_fewer(self, rigged):
        fit = ba.fit(rigged, method="map", keep=rigged.annotators)
        assert not fit.promotions.is_open.any() and fit.cells is fit.cast
        assert (fit.board == ba.fit(rigged, method="map", robust=False).board).all()

    @pytest.mark.slow
    def test_votes_that_are_dropped_are_those_of_nobody(self, rigged):
        fit = ba.fit(rigged, drop=RIGGERS)
        assert fit.cells.annotators == ba.drop_annotators(rigged, RIGGERS).annotators
        assert (fit.board == ba.fit(ba.drop_annotators(rigged, RIGGERS)).board).all()
        assert fit.votes_discounted == 0 and not any("do not count" in text for text in fit.warnings)

    @pytest.mark.slow
    def test_both_are_recorded(self, rigged):
        fit = ba.fit(rigged, method="map", keep=RIGGERS[:1], drop=["annotator-00002"])
        assert (fit.kept, fit.dropped) == (fit.plan.kept, fit.plan.dropped) == (RIGGERS[:1], ("annotator-00002",))
        asked = "left out on request: annotator-00002; in full on request: those of rigger-00001; "
        for plan in (fit.plan, ba.choose(rigged, keep=RIGGERS[:1], drop=["annotator-00002"])):
            assert {one.what: one for one in plan.choices}["votes"].why.startswith(asked)
        plain = ba.fit(rigged, method="map", robust=False, keep=RIGGERS[:1], drop=["annotator-00002"])
        votes = {one.what: one for one in plain.plan.choices}["votes"]
        assert (votes.taken, votes.why) == ("all others count", asked + "asked for")

    def test_one_name_is_a_name_and_comes_once(self, rigged):
        plan = ba.choose(rigged, keep="annotator-00001", drop=["annotator-00002"] * 2)
        assert (plan.kept, plan.dropped) == (("annotator-00001",), ("annotator-00002",))
        assert plan.problem.cells.n_annotators == rigged.n_annotators - 1

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"keep": ["rigger-0001"]}, r"to be kept cast none of the votes: 'rigger-0001'. Did you mean 'rigger-"),
            ({"drop": ["rigger-0001"]}, r"None of the 34 annotators is called rigger-0001. Did you mean 'rigger-"),
            ({"drop": ["?"]}, r"None of the 34 annotators is called \?. Use names of cells.annotators"),
            ({"keep": RIGGERS, "drop": RIGGERS[:1]}, "kept and left out, by keep and drop: 'rigger-00001'. Name one"),
        ],
    )
    def test_names_that_say_nothing_are_refused(self, rigged, options, said):
        with pytest.raises(ba.ModelError, match=said):
            ba.fit(rigged, **options)


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["laplace", "clustered", ba.Bootstrap(5, by="annotator")], ids=str)
def test_every_interval_is_of_the_votes_that_count(discounted, interval):
    """The same votes, counted in part from the start, give the same board but for the record, which is as cast.

    They are solved in another order, in which sweeps may stop elsewhere, and how annotators respond is measured along
    another direction: standard deviations differ by up to 2 %.
    """
    alone = ba.fit(discounted.cells, robust=False)
    record = ["votes", "wins", "losses", "ties"]
    board, expected = (ba.leaderboard(fit, interval=interval) for fit in (discounted, alone))
    assert finite(board)
    pd.testing.assert_frame_equal(board.drop(columns=record), expected.drop(columns=record), rtol=5e-4)
    assert (board["votes"] > expected["votes"]).all() and board["votes"].dtype == int
    if interval != "clustered":
        assert finite(ba.annotators(discounted, interval=interval))


@pytest.mark.slow
def test_a_profile_is_of_the_votes_that_count(rigged):
    fit = ba.fit(rigged, model="bradley-terry", robust=True)
    assert open_ones(fit) == [TARGET]
    boards = [ba.leaderboard(one, interval="profile") for one in (fit, ba.fit(fit.cells, model="bradley-terry"))]
    columns = ["competitor", "elo", "lower", "upper", "rank"]
    assert finite(boards[0])
    pd.testing.assert_frame_equal(*(board[columns] for board in boards), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        functools.partial(ba.leaderboard, interval=ba.Bootstrap(5)),
        functools.partial(ba.predictive_check, draws=5),
        ba.flips,
        ba.replicate,
        functools.partial(ba.to_datatree, votes=True),
    ],
    ids=["bootstrap", "predictive_check", "flips", "replicate", "to_datatree"],
)
def test_what_needs_whole_votes_says_how_to_count_them_alike(discounted, table):
    with pytest.raises(ba.ModelError, match=r"needs whole votes.*robust=False \(--robust off\)"):
        table(discounted)


def test_scores_of_single_votes_say_what_to_use(discounted):
    with pytest.raises(ba.ModelError, match=r"needs whole votes.*'laplace' or 'clustered'"):
        ba.leaderboard(discounted, interval="sandwich")


@pytest.mark.slow
def test_tables_and_decisions_are_of_the_votes_that_count(discounted, rigged, alike):
    wins, theirs = (ba.win_probability(fit) for fit in (discounted, alike))
    assert finite(wins) and wins.loc[TARGET].sum() < theirs.loc[TARGET].sum()
    for table in (ba.head_to_head, ba.rank_probabilities, ba.contrasts, ba.effects, ba.pairs):
        assert finite(table(discounted)), table
    assert ba.verdict(discounted).p_best > 0
    better = ba.versus(discounted, "model-005", TARGET).p_better
    assert better > ba.versus(alike, "model-005", TARGET).p_better
    assert np.isfinite(ba.leave_one_out(discounted).elpd).all()
    assert len(ba.price(discounted)) == 5
    assert set(ba.flag(discounted)) == set(RIGGERS)
    providers = {name: "x" if name < "model-004" else "y" for name in rigged.competitors}
    assert finite(ba.siblings(discounted, providers)[["elo", "lower", "upper"]])
    assert "no camps" in str(ba.camps(discounted))


def test_pairs_to_ask_next_count_the_votes_that_were_cast(discounted, alike):
    why = [ba.next_pairs(fit, 20, goal="ranking")["why"].tolist() for fit in (discounted, alike)]
    assert why[0] == why[1] and all(one.split()[0].isdecimal() for one in why[0])


@pytest.mark.slow
def test_bursts_are_found_beside_discounted_votes(discounted, rigged):
    timed = rigged.take(
        slice(None),
        slices={"day": np.arange(len(rigged.a)) % 30},
        slice_names={"day": tuple(f"2026-01-{day:02d}" for day in range(1, 31))},
    )
    fit = ba.fit(timed, method="map")
    assert open_ones(fit) == [TARGET] and isinstance(ba.bursts(fit, timed, time="day"), pd.DataFrame)


@pytest.mark.slow
def test_predictions_know_how_those_vote_whose_votes_do_not_count(discounted, rigged):
    assert np.isfinite(predict_cells(discounted, rigged).log_p).all()
    assert set(ba.annotators(discounted)["annotator"]) == set(rigged.annotators)


@pytest.mark.slow
def test_comparisons_of_models_need_the_same_votes():
    cells = rigged_cells(annotators=20, competitors=4, votes=600)
    davidson, everybody = (ba.fit(cells, model=DAVIDSON, robust=robust) for robust in (True, False))
    assert davidson.votes_discounted > 0
    with pytest.raises(ba.ModelError, match=r"fitted to different votes .*both with robust=False"):
        ba.compare({"some": davidson, "all": everybody})
    table = ba.compare({"one": everybody, "again": everybody})
    assert table["votes"].tolist() == [760, 760]


@pytest.mark.slow
def test_held_out_votes_are_those_of_everybody(rigged):
    fast = {"discounted": functools.partial(ba.fit, method="map"), "alike": functools.partial(ba.fit, robust=False)}
    table = ba.held_out(rigged, fast, splits=2)
    assert finite(table)
    assert finite(ba.kfold(rigged, fast, over="annotator", folds=2))


@pytest.mark.slow
def test_many_boards_are_each_discounted(rigged):
    names = "all of them", "without riggers"
    mine = cast_by(rigged, *RIGGERS)
    parts = [rigged, rigged.take(~mine)]
    both = ba.Cells(
        rigged.competitors,
        rigged.annotators,
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "b", "annotator", "counts")},
        slices={"part": np.repeat([0, 1], [len(part.a) for part in parts])},
        slice_names={"part": names},
    )
    fits = ba.fit_many(both, by="part", method="map").fits
    assert [open_ones(fits[(name,)]) for name in names] == [[TARGET], []]
    assert fits[names[:1]].votes_discounted == ba.fit(rigged, method="map").votes_discounted


@pytest.mark.slow
def test_a_sampled_fit_is_of_the_votes_that_count(rigged, discounted):
    fit = ba.fit(rigged, method="nuts", draws=150, tune=200, seed=1)
    assert fit.method == "nuts" and open_ones(fit) == [TARGET]
    assert (fit.cells.counts == discounted.cells.counts).all()  # found in the same fit
    elo, expected = (ba.leaderboard(one).set_index("competitor")["elo"] for one in (fit, discounted))
    assert np.abs(elo - expected).max() < 8  # points
    assert ba.integrity(fit)["competitor"][0] == TARGET and finite(ba.annotators(fit))
    with pytest.raises(ba.ModelError, match="robust=False"):
        ba.to_datatree(fit)


def of_prompts(cells: ba.Cells, prompts: int = 25) -> ba.Cells:
    """The votes on prompts that recur, which say nothing."""
    prompt = np.random.default_rng(0).integers(0, prompts, len(cells.a))
    names = tuple(f"{number:02d}" for number in range(prompts))
    return cells.take(slice(None), slices={"prompt": prompt}, slice_names={"prompt": names})


@pytest.mark.slow
def test_answers_come_along_and_where_they_are_left_out_votes_are_not_discounted_twice(rigged, monkeypatch):
    cells = of_prompts(rigged)
    answers, plain = (ba.fit(cells, answers=answers) for answers in (True, False))
    assert "prompt" in answers.model.strength_by and open_ones(answers) == open_ones(plain) == [TARGET]
    assert (answers.cells.counts == plain.cells.counts).all() and finite(ba.leaderboard(answers))
    monkeypatch.setattr(fitting, "UNSURE", 0.0)
    unsure = ba.fit(cells)
    assert any("Answers are left out" in text for text in unsure.warnings)
    assert unsure.model == plain.model and (unsure.cells.counts == plain.cells.counts).all()
    assert (unsure.cast.counts == cells.counts).all() and (unsure.board == plain.board).all()


@pytest.mark.slow
def test_a_competitor_on_which_hardly_a_vote_counts_has_an_interval_of_the_prior(rigged):
    names, rigger = (*rigged.competitors, "newcomer"), rigged.annotators.index(RIGGERS[0])
    parts = {"a": [6] * 5, "b": list(range(5)), "annotator": [rigger] * 5, "counts": np.eye(4)[[0] * 5] * 8}
    cells = ba.Cells(
        names,
        rigged.annotators,
        **{name: np.concatenate([getattr(rigged, name), more]) for name, more in parts.items()},
    )
    fit = ba.fit(cells, method="map")
    board = ba.leaderboard(fit).set_index("competitor")
    assert board["votes"]["newcomer"] == 40 and finite(board)
    assert board["upper"]["newcomer"] - board["lower"]["newcomer"] > 100  # points


@pytest.mark.slow
@pytest.mark.parametrize(
    "outcome", [0, TIE, BOTH_BAD], ids=["the first always wins", "all votes are ties", "all are both bad"]
)
def test_votes_that_are_all_alike_are_those_of_one_crowd(rigged, outcome):
    counts = np.zeros_like(rigged.counts)
    counts[:, outcome] = rigged.counts.sum(axis=1)
    fit = ba.fit(with_counts(rigged, counts), method="map")
    assert fit.votes_discounted == 0 and finite(ba.leaderboard(fit)) and finite(ba.annotators(fit))


@pytest.mark.slow
def test_few_annotators_are_one_crowd():
    few = honest_arena(Crowd(annotators=4), competitors=5, votes=200, seed=1).cells
    fit = ba.fit(few, method="map")
    assert not fit.promotions.is_open.any() and fit.cells is fit.cast
    names = (*few.annotators, "absent-1", "absent-2")  # as where votes were taken out
    fit = ba.fit(few.take(slice(None), annotators=tuple(sorted(names))), method="map")
    assert not fit.promotions.is_open.any() and len(ba.integrity(fit)) == 5


@pytest.mark.slow
def test_slices_and_features_come_along(rigged):
    rng = np.random.default_rng(0)
    carried = of_prompts(rigged, 30)
    carried = replace(carried, features={"length": rng.normal(size=len(carried.a))})
    model = ba.Model("all", "annotator", "davidson", "annotator", style=("length",), strength_by=("prompt",))
    fit = ba.fit(carried, model=model, robust=True)
    assert open_ones(fit) == [TARGET]
    assert finite(ba.leaderboard(fit)) and finite(ba.annotators(fit)) and finite(ba.style_effects(fit))
    assert np.isfinite(predict_cells(fit, carried).log_p).all()


@pytest.mark.slow
def test_the_numbers_of_votes_are_the_same_everywhere(discounted, tmp_path):
    numbers = discounted.numbers
    assert numbers["n_votes"] == discounted.cast.n_votes and numbers["votes_discounted"] == discounted.votes_discounted
    for table in (ba.leaderboard(discounted), ba.annotators(discounted)):
        assert numbers.items() <= table.attrs.items()
    said = f"{numbers['n_votes']:,} votes, of which {numbers['votes_discounted']:,.0f} do not count"
    assert discounted.described_votes == said
    on_page = f"{numbers['votes_discounted']:,.0f} of {numbers['n_votes']:,} votes"
    assert on_page in ba.report(discounted).html and said in ba.plots.board(discounted).get_title(loc="left").replace(
        "\n", " "
    )


@pytest.mark.slow
@pytest.mark.parametrize(("taste_sd", "is_said"), [(0.0, False), (1.0, True)])
def test_tastes_on_single_competitors_beyond_the_model_are_said(taste_sd, is_said):
    cells = honest_arena(Crowd(annotators=60, taste_sd=taste_sd), competitors=12, votes=12_000).cells
    fit = ba.fit(cells, dimensions=0)
    said = [text for text in fit.warnings if text.startswith("Annotators differ on single competitors")]
    assert len(said) == is_said
    if said:
        points = float(re.search(r"\(by (\d+) Elo points", said[0])[1])
        assert 0.5 < points / (400 / np.log(10)) < 1  # strengths and tastes seem smaller where tastes average out
        wider, board = (ba.leaderboard(fit, interval=one).set_index("competitor") for one in ("clustered", "laplace"))
        assert np.median((wider["upper"] - wider["lower"]) / (board["upper"] - board["lower"])) > 1.5
