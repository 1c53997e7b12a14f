"""``fit(answers=)``: answers where the votes can tell them from noise, and nothing else changed."""

import warnings

import numpy as np
import polars as pl
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.fits import fitting
from bayes_arena.fits.draws import Draws
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.derivatives import gradient_and_hessian

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.DependentVotesWarning")
ANSWERS = "strength_by_prompt"


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    return answered_votes()[0]


@pytest.fixture(scope="module")
def cells(votes) -> ba.Cells:
    return ba.read_votes(votes, prompt="prompt")


@pytest.fixture(scope="module")
def fit(cells) -> ba.Fit:
    return ba.fit(cells)


def few_prompts(votes: pl.DataFrame, answers: int) -> ba.Cells:
    """Two votes on the answers of some prompts, the rest of them voted on once."""
    prompts = [f"q{index}" if index >= answers else f"p{index // 2}" for index in range(len(votes))]
    return ba.read_votes(votes.with_columns(prompt=pl.Series(prompts)), prompt="prompt")


def same(one: ba.Fit, other: ba.Fit) -> bool:
    return (
        one.model == other.model
        and one.spreads == other.spreads
        and (one.strength == other.strength).all()
        and (one.point.own == other.point.own).all()
        and ba.leaderboard(one).equals(ba.leaderboard(other))
    )


@pytest.mark.slow
def test_answers_by_themselves(fit):
    assert fit.model.name == "am-davidson with answers"
    assert (fit.model.strength_by, fit.model.ties_by) == (("prompt",), ("prompt",))
    assert (fit.method, fit.evidence) == ("marginal", "variational")
    assert fit.spreads.spread(ANSWERS) > 0.9
    assert not fit.warnings
    assert "am-davidson with answers" in repr(fit)


@pytest.mark.slow
def test_answers_that_are_not_wanted(votes, cells):
    assert same(ba.fit(cells, answers=False), ba.fit(ba.read_votes(votes, prompt=False)))


@pytest.mark.slow
def test_without_prompts_nothing_changes(votes):
    plain = ba.read_votes(votes, prompt=False)
    assert same(ba.fit(plain), ba.fit(plain, answers=False))
    with pytest.raises(ba.ModelError, match=r"Answers need prompts.*prompt="):
        ba.fit(plain, answers=True)


@pytest.mark.slow
def test_prompts_voted_on_once_change_nothing(votes):
    once = ba.read_votes(votes.with_columns(prompt=pl.int_range(pl.len()).cast(str)), prompt="prompt")
    with warnings.catch_warnings(action="error"):
        assert same(ba.fit(once), ba.fit(ba.read_votes(votes, prompt=False)))
    with pytest.raises(
        ba.errors.NotIdentifiedError, match="Each prompt was voted on once: answers cannot be told from noise"
    ):
        ba.fit(once, answers=True)


@pytest.mark.slow
def test_too_few_repeats_are_left_out_in_words(votes):
    few = few_prompts(votes, 150)
    said = r"Answers are left out: of .* have two votes or more, .*Clustered\(by='prompt'\).*answers=True"
    with pytest.warns(ba.errors.IdentificationWarning, match=said):
        found = ba.fit(few)
    assert same(found, ba.fit(few, answers=False))
    assert len(found.warnings) == 1


@pytest.mark.slow
def test_a_spread_that_is_noise_is_left_out_in_words(cells, monkeypatch):
    monkeypatch.setattr(fitting, "UNSURE", 0.01)
    with pytest.warns(
        ba.errors.IdentificationWarning, match=r"the logarithm of their spread uncertain by 0\.\d\d, more than"
    ):
        found = ba.fit(cells)
    assert same(found, ba.fit(cells, answers=False))


def test_a_model_of_your_own_is_taken_as_it_is(cells):
    model = ba.Model("mine", ties="davidson")
    assert ba.fit(cells, model=model).model == model
    asked = ba.fit(cells, model=model, answers=True).model
    assert (asked.strength_by, asked.ties_by) == (("prompt",), ("prompt",))
    taste = ba.Model("taste", ties="half", strength_by=("category",))
    with pytest.raises(ba.ModelError, match="category"):
        ba.fit(cells, model=taste)


def test_a_preset_without_tie_outcome_has_answers_of_strength_alone(cells):
    model = ba.fit(cells, model="bradley-terry").model
    assert (model.strength_by, model.ties_by) == (("prompt",), ())


@pytest.mark.parametrize("prior", ["flat", ba.Prior(hyper=None)])
def test_priors_that_fix_spreads_have_no_answers_unasked(cells, prior):
    assert not ba.fit(cells, model="bradley-terry", prior=prior).model.is_crossed


def test_under_a_flat_prior_answers_are_refused(cells):
    with pytest.raises(ba.ModelError, match="Under a flat prior nothing constrains the numbers of slices"):
        ba.fit(cells, model="bradley-terry", prior="flat", answers=True)


def test_unknown_choices_are_refused(cells):
    with pytest.raises(ba.ModelError, match="answers must be 'auto', True or False"):
        ba.fit(cells, answers="yes")


def test_the_mode_at_fixed_spreads(cells):
    """By map answers are asked for; the mode has no gradient, and is the fit's that NumPy and others look at."""
    assert not ba.fit(cells, method="map").model.is_crossed
    model, prior = ba.Model("answers", ties="davidson", strength_by=("prompt",)), ba.Prior(by={ANSWERS: 0.8})
    fit = ba.fit(cells, model=model, prior=prior, method="map")
    gradient = gradient_and_hessian(fit.target, fit.point)[0]
    assert max(np.abs(gradient.strength - gradient.strength.mean()).max(), np.abs(gradient.slices).max()) < 1e-5
    assert fit.spreads.spread(ANSWERS) == 0.8
    assert fit.evidence is None


@pytest.mark.slow
def test_a_board_is_comparable_with_that_without_answers():
    """Raw strengths grow with answers, the Elo scale does not."""
    cells = ba.read_votes(answered_votes(prompts=150, votes=4000, seed=4)[0], prompt="prompt")
    fit, plain = ba.fit(cells), ba.fit(cells, answers=False)
    assert np.ptp(fit.strength) > 1.1 * np.ptp(plain.strength)
    ours, theirs = (ba.leaderboard(one).set_index("competitor")["elo"].sort_index() for one in (fit, plain))
    slope = float((ours - ours.mean()) @ (theirs - theirs.mean()) / ((theirs - theirs.mean()) ** 2).sum())
    assert slope == pytest.approx(1.0, abs=0.08)


@pytest.mark.slow
def test_sampled():
    cells = ba.read_votes(answered_votes(competitors=5, prompts=20, votes=1000)[0], prompt="prompt")
    fit = ba.fit(cells)
    sampled = ba.fit(cells, method="nuts", draws=75, tune=150, seed=1)
    assert sampled.model == fit.model
    assert sampled.model.strength_by == ("prompt",)
    assert sampled.samples.slices.shape == (300, len(fit.point.slices))
    sd = np.sqrt(np.diag(fit.laplace.strength_covariance()))
    assert (np.abs(sampled.samples.strength.mean(axis=0) - fit.strength) < 0.7 * sd).all()
    boards = [ba.leaderboard(one).set_index("competitor")["elo"].sort_index() for one in (sampled, fit)]
    np.testing.assert_allclose(*boards, atol=0.6 * 174 * sd.max())


@pytest.mark.slow
def test_draws_on_the_elo_scale_are_those_of_their_points(cells):
    """Every draw under its own spreads, ties of competitors too: against the projection of each as a point."""
    model = ba.Model("both", "annotator", "davidson", strength_by=("prompt",), ties_by=("prompt", "competitor"))
    fit = ba.fit(cells, model=model)
    target, votes, rng = fit.target, cells.votes_by_annotator(), np.random.default_rng(0)
    drawn = ba.draw(fit, size=5, seed=1)
    spreads = {name: fit.spreads.spread(name) * rng.uniform(0.5, 2.0, 5) for name in target.spreads}
    found = Draws.of(fit.mode.problem, drawn.strength, drawn.common, drawn.own, drawn.slices, spreads)
    for index, point in enumerate(drawn.points()):
        values = [spreads[name][index] for name in target.spreads]
        exact = project(target.with_spreads(values[0], values[1:]), point, votes).strength
        np.testing.assert_allclose(found.elo_strength[index], exact, atol=2e-4)
        exact, roughly = (
            one - fit.board for one in (project(target, point, votes).strength, drawn.elo_strength[index])
        )
        assert np.abs(roughly - exact).max() < 0.2 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("by", "message"),
    [({"strength_by_promt": 0.1}, "Did you mean 'strength_by_prompt'"), ({"strength_by_prompt": np.inf}, "flat prior")],
)
def test_spreads_that_would_do_nothing_or_hold_nothing_are_refused(by, message):
    cells = ba.read_votes(answered_votes(prompts=6, votes=100)[0], prompt="prompt")
    with pytest.raises(ba.ModelError, match=message):
        ba.fit(cells, answers=True, method="map", prior=ba.Prior(by=by, hyper=None))
