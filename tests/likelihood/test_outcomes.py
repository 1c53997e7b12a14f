"""What every likelihood has to be: the contract that a new one is held to."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from helpers import every_likelihood
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.likelihood.averaging import convex
from bayes_arena.likelihood.outcomes.davidson import adjacent
from bayes_arena.likelihood.outcomes.likelihood import ETA, likelihood
from bayes_arena.likelihood.outcomes.rao_kupper import cumulative
from bayes_arena.likelihood.specification import Ties
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, TIE, WIN, turned, wins_losses_ties

STEP = 1e-6


@pytest.fixture(params=every_likelihood(), ids=lambda one: f"{one.name}, {len(one.outcomes)} outcomes")
def one(request):
    return request.param


@pytest.fixture
def z(one):
    """Coordinates of forty rows, some far out."""
    rng = np.random.default_rng(0)
    return rng.normal(scale=[[4.0]] + [[0.7]] * 4, size=(5, 40))[: one.n_coordinates]


@pytest.fixture
def counts(one):
    """Votes in these rows, of the outcomes that the likelihood sees."""
    counts = np.random.default_rng(1).integers(4, size=(40, one.size)).astype(float)
    return one.seen(counts, "outcome" if BOTH_BAD in one.outcomes else "tie")


def moved(z, coordinate):
    step = np.zeros_like(z)
    step[coordinate] = STEP
    return z - step, z + step


def test_derivatives_are_finite_differences(one, z, counts):
    terms = one.rows(counts, z)
    for coordinate in range(one.n_coordinates):
        below, above = (one.rows(counts, side) for side in moved(z, coordinate))
        assert_allclose((above.value - below.value) / (2 * STEP), terms.gradient[coordinate], atol=1e-6)
        assert_allclose((above.gradient - below.gradient) / (2 * STEP), terms.hessian[coordinate], atol=1e-6)


def test_a_billion_votes_lose_nothing_to_rounding():
    """The slope of votes that are all but certain is tiny beside their number, and is no difference of the two."""
    votes, eta = 1e9, 30.0
    counts = np.array([[votes], [0.0], [0.0], [0.0]])
    upset = np.exp(-eta) / (1 + np.exp(-eta))
    half = likelihood("half").rows(counts, np.array([[eta]]))
    assert_allclose([half.gradient[0, 0], half.hessian[0, 0, 0]], [-votes * upset, votes * upset], rtol=1e-12)
    kappa = 0.5
    lost = np.exp(kappa - eta) / (1 + np.exp(kappa - eta))
    rao = likelihood("rao-kupper").rows(counts, np.array([[eta], [np.log(kappa)]]))
    assert_allclose([rao.gradient[0, 0], rao.hessian[0, 0, 0]], [-votes * lost, votes * lost], rtol=1e-12)
    nu = np.exp(-1.0)
    total = np.exp(eta / 2) + np.exp(-eta / 2) + nu
    loss, tie = np.exp(-eta / 2) / total, nu / total
    davidson = likelihood("davidson").rows(counts, np.array([[eta], [-1.0]]))
    assert_allclose(davidson.gradient[:, 0], [-votes * (loss + tie / 2), votes * tie], rtol=1e-12)
    assert_allclose(davidson.hessian[0, 0, 0], votes * (loss + tie / 4), rtol=1e-4)


def test_probabilities_sum_to_one_and_unseen_outcomes_have_none(one, z):
    p = np.exp(one.log_probabilities(z))
    assert_allclose(p.sum(axis=0), 1, atol=1e-14)
    assert {outcome for outcome in range(one.size) if p[outcome].any()} == set(one.outcomes)


def test_a_row_is_the_sum_of_its_votes(one, z, counts):
    each = range(one.size)
    votes = sum(counts[outcome] * one.rows(np.eye(one.size)[:, [outcome] * 40], z).value for outcome in each)
    assert_allclose(one.rows(counts, z).value, votes, rtol=1e-12)


def test_sides_are_a_mirror(one, z, counts):
    other, around = counts[turned(one.size)], z * np.where(np.arange(len(z)) == ETA, -1, 1)[:, None]
    terms, mirrored = one.rows(counts, z), one.rows(other, around)
    assert_allclose(mirrored.value, terms.value, rtol=1e-12)
    assert_allclose(mirrored.gradient[ETA], -terms.gradient[ETA], atol=1e-12)


def test_a_lead_of_nothing_makes_equals_and_a_larger_one_wins_more(one):
    z = np.zeros((one.n_coordinates, 201))
    z[ETA] = np.linspace(-8, 8, 201)
    score = one.expected_score(z)[0]
    assert_allclose(score[100], 0.5)
    assert (np.diff(score) > 0).all()


def test_closed_forms_are_what_follows_from_the_rows(one, z):
    assert_allclose(one.log_probabilities(z), one.derived_log_probabilities(z), atol=1e-11)
    assert_allclose(one.net_score(z), one.derived_net_score(z), atol=1e-14)
    for closed, derived in zip(one.expected_score(z), one.derived_expected_score(z), strict=True):
        assert_allclose(closed, derived, atol=1e-14)
    cast = np.random.default_rng(0).uniform(0, 2, (z.shape[1], one.size))
    seen = one.seen(cast, "outcome" if BOTH_BAD in one.outcomes else "tie")
    draws = np.stack([z, z + 0.1], axis=1)
    for which, found in enumerate(one.log_likelihood(seen, draws)):
        assert_allclose(found, -one.rows(seen, draws[:, which]).value, atol=1e-10)


def test_the_expected_score_and_its_slopes(one, z):
    p = np.exp(one.log_probabilities(z))
    score, slope = one.expected_score(z)
    won, lost, _ = wins_losses_ties(p.T)
    assert_allclose(score, (1 + won - lost) / 2, atol=1e-14)
    for coordinate in range(one.n_coordinates):
        below, above = (one.expected_score(side)[0] for side in moved(z, coordinate))
        assert_allclose((above - below) / (2 * STEP), slope[coordinate], atol=1e-8)


def test_shapes_are_free(one, z):
    box = z.reshape(len(z), 5, 8)
    for flat, boxed in ((one.log_probabilities(z), one.log_probabilities(box)), (one.net_score(z), one.net_score(box))):
        assert_allclose(boxed.reshape(flat.shape), flat)
    assert one.expected_score(box)[1].shape == box.shape


@pytest.mark.slow
def test_the_graph_is_the_rows(one, z, counts):
    import pytensor.tensor as pt
    from pytensor import function, grad
    from pytensor.compile import Mode

    plain = Mode(linker="py", optimizer="fast_compile")
    given = [pt.dvector() for _ in range(max(3, len(z)))]
    value = one.graph(pt.as_tensor(counts.T), given)
    slopes = grad(value.sum(), given, disconnected_inputs="ignore")
    found = function(given, [value, *slopes], mode=plain, on_unused_input="ignore")(
        *np.vstack([z, np.zeros((3, 40))])[: len(given)]
    )
    terms = one.rows(counts, z)
    assert_allclose(-found[0], terms.value, rtol=1e-9, atol=1e-9)
    assert_allclose(-np.array(found[1:])[: len(z)], terms.gradient, rtol=1e-7, atol=1e-7)


def test_ties_count_as_the_likelihood_says(one):
    votes = np.array([[5.0, 3.0, 2.0, 1.0]])
    seen = one.seen(votes, "tie")[:, 0]
    assert seen[:4].tolist() == ([5, 3, 0, 0] if one.drops_ties else [5, 3, 3, 0])
    assert one.sees("drop", 4).tolist() == [True, True, not one.drops_ties, False]


def test_counts_without_votes_to_merge_are_no_copy(one):
    plain = np.array([[5.0, 3.0] + [0.0] * (one.size - 2)] * 2).T.copy().T
    assert np.shares_memory(one.seen(plain, "tie"), plain)
    mixed = np.array([[5.0, 3.0, 0.0, 1.0, 2.0, 1.0]] * 2).T.copy().T
    one.seen(mixed, "tie")
    assert mixed.tolist() == [[5, 3, 0, 1, 2, 1]] * 2


@pytest.mark.parametrize("grades", [adjacent, cumulative])
def test_one_grade_is_the_likelihood_of_three_outcomes(grades):
    plain, general = likelihood(grades(1).name), grades(1)
    rng = np.random.default_rng(0)
    z = rng.normal(scale=[[4.0], [1.0]], size=(2, 500))
    counts = plain.seen(rng.integers(50, size=(500, 4)).astype(float), "tie")
    for name, value in vars(plain.rows(counts, z)).items():
        assert_allclose(vars(general.rows(counts, z))[name], value, rtol=1e-12, atol=1e-11, err_msg=name)
    assert_allclose(general.log_probabilities(z)[:3], plain.log_probabilities(z)[:3], rtol=1e-12, atol=1e-13)
    assert_allclose(general.net_score(z), plain.net_score(z), atol=1e-14)
    for ours, theirs in zip(general.expected_score(z), plain.expected_score(z), strict=True):
        assert_allclose(ours, theirs, atol=1e-14)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
@pytest.mark.parametrize("grades", [2, 3])
def test_probabilities_by_grade_are_those_of_the_formulas(ties, grades):
    """Adjacent categories are exponentials; cumulative ones are differences of the logistic function."""
    one, (eta, t, x, c) = likelihood(ties, grades=grades), (0.8, -0.3, 0.4, -0.2)
    z = np.array([eta, t, x, c])[: one.n_coordinates, None]
    if ties == "davidson":
        odds = {0: np.exp(t)}
        for side in (1, -1):
            odds |= {side: np.exp(side * eta / 2), 2 * side: np.exp(side * eta + x)}
            odds |= {3 * side: np.exp(1.5 * side * eta + 2 * x + c)} if grades == 3 else {}
        expected = {verdict: value / sum(odds.values()) for verdict, value in odds.items()}
    else:
        ends = np.cumsum([np.exp(t), np.exp(-x), np.exp(-x - c)][:grades])
        ends = np.concatenate([[-np.inf], -ends[::-1], ends, [np.inf]])
        below = 1 / (1 + np.exp(eta - ends))
        expected = dict(zip(range(-grades, grades + 1), np.diff(below), strict=True))
    p = np.exp(one.log_probabilities(z))[:, 0]
    found = {0: p[TIE]} | {side * grade: p[at] for grade, side, at in verdicts(grades)}
    assert found == pytest.approx(expected, abs=1e-12)


def verdicts(grades):
    """Grade, side and outcome of every win."""
    return [(1, 1, WIN), (1, -1, LOSS)] + [
        (grade, side, 2 * grade + (side < 0)) for grade in range(2, grades + 1) for side in (1, -1)
    ]


@pytest.mark.parametrize("ties", get_args(Ties))
def test_each_has_a_file_of_its_name(ties):
    assert likelihood(ties).name == ties
    assert ba.Model("own", ties=ties).likelihood is likelihood(ties)


def test_what_is_unknown_or_half_made_is_refused_at_the_door():
    with pytest.raises(ba.ModelError, match="No likelihood treats ties as 'bradley'"):
        likelihood("bradley")
    with pytest.raises(ba.ModelError, match="ties must be one of half, davidson"):
        ba.Model("own", ties="bradley")
    with pytest.raises(ba.ModelError, match="Both-bad votes have no probability of their own under ties='half'"):
        ba.Model("own", both_bad="outcome")
    whole = likelihood("davidson")
    for half_made in ({"tie_prior": None}, {"half_wins": True}, {"rows": None}, {"outcomes": (WIN, TIE)}):
        with pytest.raises(ba.ModelError, match="The likelihood 'davidson' needs"):
            replace(whole, **half_made)


def test_curvature_that_is_not_convex_becomes_the_nearest_that_is():
    curves = np.array([[[1.0, 2.0], [2.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]]).transpose(1, 2, 0)
    nearest = np.array([[[1.5, 1.5], [1.5, 1.5]], [[2.0, 1.0], [1.0, 2.0]]]).transpose(1, 2, 0)
    assert_allclose(convex(curves), nearest, atol=1e-12)
