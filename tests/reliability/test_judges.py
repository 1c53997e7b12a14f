"""Annotators that are programs: what a fit makes of them, and what their votes are worth."""

import json
from dataclasses import asdict, replace

import numpy as np
import polars as pl
import pytest
from helpers import frame, run

import bayes_arena as ba
from bayes_arena.errors import ColumnError, IdentificationWarning, ModelError, VotesError
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.reliability.concordance import across_orders, among, between
from bayes_arena.reliability.judges import _shown
from bayes_arena.validation.prediction import predict_cells

pytestmark = pytest.mark.slow
POOLED = PRESETS["am-davidson"]
BOT = "bot"


def jury(*, votes: int, tau=0.0, people: int = 20, each: int = 60, theta=1.0, competitors: int = 8, seed: int = 0):
    """Votes of people and of a judge with a taste; and how much one of its votes says beside one of theirs (Fisher)."""
    rng, n = np.random.default_rng(seed), competitors
    r, taste = rng.normal(size=n), np.zeros((people + 1, n))
    taste[-1] = tau * np.where(np.arange(n) % 2, 1, -1)
    k = np.append(np.repeat(np.arange(people), each), np.full(votes, people))
    i = rng.integers(n, size=len(k))
    j = (i + rng.integers(1, n, size=len(k))) % n
    slope, nu = np.append(np.ones(people), theta), np.append(np.ones(people), 0.5)
    eta = slope[k] * (r[i] + taste[k, i] - r[j] - taste[k, j])
    win, tie, loss = shares = np.stack([np.exp(eta / 2), nu[k], np.exp(-eta / 2)])
    win, tie, loss = shares / shares.sum(axis=0)
    outcome = (rng.random(len(k)) > np.cumsum([win, tie], axis=0)).sum(axis=0)
    information = slope[k] ** 2 * (win + loss - (win - loss) ** 2) / 4
    names = np.array([*(f"person-{one:02d}" for one in range(people)), BOT])
    table = {
        "model_a": [f"model-{one}" for one in i],
        "model_b": [f"model-{one}" for one in j],
        "winner": np.array(["model_a", "tie", "model_b"])[outcome],
        "judge": names[k],
    }
    return pl.DataFrame(table), information[k == people].mean() / information[k < people].mean()


def read(**options) -> ba.Cells:
    return ba.read_votes(jury(**options)[0], programs=BOT)


@pytest.fixture(scope="module")
def cells() -> ba.Cells:
    return read(votes=600, tau=0.7)


@pytest.fixture(scope="module")
def fitted(cells) -> ba.Fit:
    return ba.fit(cells, dimensions=0)


class TestNaming:
    def test_programs_stay_named_as_long_as_they_vote(self, cells):
        assert cells.programs == (BOT,)
        assert len(cells.people) == 20
        assert "programs bot" in repr(cells)
        assert cells.take(slice(0, 5)).programs == (BOT,)
        assert ba.keep_annotators(cells, more_than=100).programs == (BOT,)
        assert ba.drop_annotators(cells, [BOT]).programs == ()

    def test_names_that_nobody_has_are_refused(self, cells):
        votes = jury(votes=20)[0]
        with pytest.raises(VotesError, match=r"none is called 'bat'.*Did you mean 'bot'"):
            ba.read_votes(votes, programs=("bat",))
        with pytest.raises(VotesError, match="no annotators were read"):
            ba.read_votes(votes, annotator=False, programs=BOT)
        with pytest.raises(ModelError, match="'bat' cast none of these votes"):
            replace(cells, programs=("bat",))

    def test_an_arena_does_not_forget_them_silently(self, tmp_path):
        with ba.StableArena.create(tmp_path / "arena.duckdb") as arena, pytest.raises(ColumnError, match="programs"):
            arena.add(jury(votes=20)[0], programs=BOT)


class TestTaste:
    def test_a_preset_gives_programs_a_taste_and_people_none(self, fitted, cells):
        assert fitted.model.name == "am-davidson with taste of programs"
        assert fitted.model.strength_by == ("program",)
        tastes = ba.slice_gaps(fitted, "program").set_index("competitor")
        assert set(tastes["program"]) == {BOT}
        assert tastes["votes"].sum() == 2 * 600
        assert (np.sign(tastes["gap"].sort_index()) == np.where(np.arange(8) % 2, 1, -1)).all()
        assert not ba.leaderboard(fitted).attrs.keys() & {"over", "slice", "crowd"}  # what people see

    def test_it_is_no_business_of_votes_without_programs_or_without_people(self, cells):
        people = ba.drop_annotators(cells, [BOT])
        assert ba.fit(people, dimensions=0).model == POOLED
        program = ba.drop_annotators(cells, cells.people)
        assert ba.fit(program, dimensions=0).model == POOLED

    def test_a_model_of_ones_own_is_taken_as_it_is(self, cells):
        assert ba.fit(cells, model=POOLED).model is POOLED
        with pytest.raises(ModelError, match="no annotator is a program"):
            ba.fit(ba.drop_annotators(cells, [BOT]), model=replace(POOLED, strength_by=("program",)))
        with pytest.raises(ModelError, match="or 'program'"):
            replace(POOLED, ties_by=("program",))

    def test_under_a_flat_prior_it_says_that_it_cannot(self, cells):
        with pytest.warns(IdentificationWarning, match="bot cannot have a taste"):
            assert ba.fit(cells, prior="flat").model.name == "am-elo"

    def test_strengths_are_what_people_see(self, fitted, cells):
        people = ba.fit(ba.drop_annotators(cells, [BOT])).strength
        pooled = ba.fit(cells, model=POOLED).strength
        assert np.abs(fitted.strength - people).max() < 0.1 < 0.3 < np.abs(pooled - people).max()

    def test_a_program_that_favours_one_competitor_has_a_taste_and_promotes_nobody(self):
        by_bot, kin = (pl.col("judge") == BOT) & (pl.int_range(pl.len()) % 5 > 0), "model-1"
        for_kin = pl.when(pl.col("model_a") == kin).then(pl.lit("model_a")).otherwise(pl.lit("model_b"))
        meets = by_bot & ((pl.col("model_a") == kin) | (pl.col("model_b") == kin))
        votes = jury(votes=600)[0].with_columns(winner=pl.when(meets).then(for_kin).otherwise(pl.col("winner")))
        fit = ba.fit(ba.read_votes(votes, programs=BOT))
        assert fit.cells.n_votes == len(votes)
        assert next(iter(ba.judge_report(fit, BOT).tastes)) == kin
        assert not fit.promotions.is_open.any() and len(ba.promoters(fit)) == 0
        one = fit.cells.competitors.index(kin)
        people, pooled = (ba.fit(ba.read_votes(votes), **how) for how in ({"drop": [BOT]}, {"model": POOLED}))
        assert abs(fit.board[one] - people.board[one]) < 0.5 * abs(pooled.board[one] - people.board[one])

    def test_votes_of_people_are_predicted_without_it(self, fitted, cells):
        people = ba.drop_annotators(cells, [BOT])
        here = cells.take(cells.annotator != cells.annotators.index(BOT))
        np.testing.assert_array_equal(predict_cells(fitted, people).log_p, predict_cells(fitted, here).log_p)


class TestWorth:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_without_a_taste_it_is_the_ratio_of_the_information(self, seed):
        votes, ratio = jury(votes=8000, each=600, theta=1.3, seed=seed)
        worth = ba.judge_report(ba.fit(ba.read_votes(votes, programs=BOT), model=POOLED), BOT).worth
        assert worth.each == pytest.approx(ratio, rel=0.1)
        assert worth.votes == pytest.approx(8000 * worth.each)
        assert worth.most is None

    def test_votes_counted_twice_are_not_worth_twice_as_much(self, fitted, cells):
        twice = np.where(cells.annotator == cells.annotators.index(BOT), 2.0, 1.0)[:, None]
        once, more = (
            ba.judge_report(fit, BOT).worth
            for fit in (fitted, ba.fit(cells.take(slice(None), counts=twice * cells.counts), dimensions=0))
        )
        assert more.votes < 1.5 * once.votes
        assert more.each < once.each

    def test_the_more_votes_the_less_each_is_worth_up_to_a_bound(self):
        found = [ba.judge_report(ba.fit(read(votes=votes, tau=0.7)), BOT).worth for votes in (100, 400, 1600, 6400)]
        each = [worth.each for worth in found]
        assert sorted(each, reverse=True) == each
        assert all(worth.votes <= worth.most for worth in found)
        assert found[-1].votes > 0.9 * found[-1].most

    def test_it_is_what_further_votes_of_people_do(self, fitted, cells):
        """As many further votes of people as the judge's are worth settle the ranking as well as the judge does."""
        worth, r = ba.judge_report(fitted, BOT).worth, fitted.strength
        people = ba.drop_annotators(cells, [BOT])
        further = people.take(slice(None), counts=people.counts * (1 + worth.votes / people.n_votes))
        spreads = replace(fitted.spreads, by={}, hyper=None)
        order = np.eye(8) - np.outer(r, r) / (r @ r)
        with_judge, with_people = (
            np.trace(order @ fit.laplace.strength_covariance() @ order)
            for fit in (fitted, ba.fit(further, prior=spreads))
        )
        assert with_judge == pytest.approx(with_people, rel=0.1)

    def test_of_three_competitors_the_order_counts_and_of_two_the_gap(self):
        """Of three, the variance along r is that of the scale."""
        for competitors in (2, 3):
            cells = read(votes=300, competitors=competitors, seed=2)
            fit = ba.fit(cells, model=POOLED, method="map", robust=False)
            r, is_judge = fit.strength, np.array(cells.annotators) == BOT
            kept = np.eye(competitors) - (competitors > 2) * np.outer(r, r) / (r @ r)
            further = ba.judge_report(fit, BOT).worth.votes / cells.votes_by_annotator()[~is_judge].sum()
            problem, of_people = fit.mode.problem, np.where(is_judge, 0, 1 + further)
            target = objective(cells, problem.model, problem.prior, by_annotator=True)
            by_judge, by_people = (
                laplace_at(replace(target, counts=counts), fit.point, problem.shifts, residuals=False)
                for counts in (target.counts, target.counts * of_people[target.tally.k])
            )
            one, other = (np.trace(kept @ found.strength_covariance()) for found in (by_judge, by_people))
            assert one == pytest.approx(other, rel=1e-3)


class TestConcordance:
    VOTES = frame(
        [
            ("x", "y", "model_a", BOT),
            ("y", "x", "model_a", BOT),  # the other way round in the other order
            ("x", "z", "tie", BOT),
            ("z", "x", "tie", BOT),
            ("x", "y", "model_a", "ann"),
            ("x", "y", "model_a", "ben"),
            ("x", "z", "tie", "ann"),
            ("x", "z", "model_b", "ben"),
            ("x", "z", "model_b", "ben"),
            ("y", "z", "model_b", "ann"),
        ]
    )

    def test_by_hand(self):
        cells = ba.read_votes(self.VOTES, programs=BOT)
        judge, people = between(cells, BOT, cells.people), among(cells, cells.people)
        assert (judge.items, people.items) == (2, 2)
        assert judge.agreement == pytest.approx((1 / 2 + 1 / 3) / 2)
        assert people.agreement == pytest.approx((1 + 0) / 2)
        ties, theirs = 1 / 2, 1 / 6
        chance = ties * theirs + (1 - ties) * (1 - theirs) / 2
        assert judge.kappa == pytest.approx((judge.agreement - chance) / (1 - chance))
        assert among(ba.read_votes(self.VOTES.with_columns(winner=pl.lit("tie"))), cells.people).kappa is None
        assert across_orders(cells, BOT) == (pytest.approx(1 / 2), 2)
        assert across_orders(cells, "ann") == (None, 0)
        assert across_orders(cells) == across_orders(cells, BOT)  # ben and ann never saw the same in both orders

    def test_prompts_keep_items_apart(self):
        prompts = pl.Series("prompt", ["p"] * 4 + ["q"] * 6)
        cells = ba.read_votes(self.VOTES.with_columns(prompts), prompt="prompt", programs=BOT)
        assert between(cells, BOT, cells.people) is None
        assert among(cells, cells.people).items == 2


class TestReport:
    def test_a_planted_preference_for_its_own_kind_is_found(self, fitted):
        report = ba.judge_report(fitted, BOT, own=["model-1", "model-3"])
        assert report.self_preference.lower > 0
        assert report.taste_spread == pytest.approx(0.7, rel=0.5)
        assert report.theta.lower < 1 < report.theta.upper
        assert report.tie_propensity.upper < 1
        assert next(iter(report.tastes)).startswith("model-")

    def test_it_says_so_in_words_and_in_json(self, fitted):
        report = ba.judge_report(fitted, BOT)
        most = f"never more than {report.worth.most:,.0f}, however many it casts."
        assert str(report).startswith(f"bot: 600 votes worth {report.worth.votes:,.0f} human votes")
        assert report.sentence.endswith(most)
        unbounded = replace(report, worth=replace(report.worth, most=None)).sentence
        assert unbounded.endswith("may be worth more than any number of human votes on the same pairs.")
        assert json.loads(json.dumps(asdict(report), allow_nan=False))["worth"]["votes"] == report.worth.votes

    def test_numbers_of_ten_and_more_are_shown_without_decimals(self):
        assert [_shown(one) for one in (0.125, 9.99, 10.0, 1234.4)] == ["0.12", "9.99", "10", "1,234"]

    def test_without_a_taste_in_the_model_it_promises_no_bound(self, cells):
        report = ba.judge_report(ba.fit(cells, model=POOLED), BOT, reference=["person-01", "person-02"])
        assert "their worth is unbounded" in report.sentence
        assert "votes of the reference" in report.sentence
        assert report.taste_spread is report.self_preference is None
        assert "worth at most" not in report.rows()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"judge": "bat"}, "no annotator 'bat'"),
            ({"judge": BOT, "reference": [BOT]}, "no annotator to compare 'bot' with"),
            ({"judge": BOT, "own": ["model-9"]}, "no competitor 'model-9'"),
            ({"judge": BOT, "level": 2}, "level"),
        ],
    )
    def test_what_it_cannot_report_is_refused(self, fitted, options, message):
        with pytest.raises(ModelError, match=message):
            ba.judge_report(fitted, **options)

    def test_the_command_prints_it(self, tmp_path):
        votes = tmp_path / "votes.csv"
        jury(votes=200, tau=0.7)[0].write_csv(votes)
        done = run("annotators", votes, "--judge", BOT, "--own", "model-1", "--format", "json")
        answer = json.loads(done.stdout)
        assert answer["model"] == "am-davidson with taste of programs"
        assert answer["sentence"].startswith("bot: 200 votes worth")
        assert {"worth at most", "taste for its own kind"} <= {row["what"] for row in answer["report"]}


def test_names_that_nobody_has_are_refused(arena_cells):
    fit = ba.fit(arena_cells, model="m-elo")
    with pytest.raises(ba.ModelError, match=r"There is no annotator 'annotator-l'\. Did you mean 'annotator-"):
        ba.judge_report(fit, "annotator-l")
    with pytest.raises(ba.ModelError, match=r"There is no annotator '\?'\. Use names of fit\.cells\.annotators\."):
        ba.judge_report(fit, "?")
