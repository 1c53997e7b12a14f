"""The mixture of views of one competitor: known centres, gates and basins, from likelihoods made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_arena.promotion.mixture import Line, Mixture, positions


def mixture(at, sd=0.4, *, near=0.0, weight=1.0, prior_sd=10.0):
    """Annotators whose votes say N(at, sd) of their views."""
    at = np.asarray(at, dtype=float)
    likelihood = np.exp(-0.5 * ((near + positions() - at[:, None]) / sd) ** 2) + 1e-12
    people = np.ones(len(at))
    return Mixture(near, likelihood, people, people * weight, people, prior_sd)


def crowd(size, mean, *, seed=0):
    return np.random.default_rng(seed).normal(mean, 0.5, size)


def test_one_crowd_has_its_mean_and_a_closed_gate():
    views = crowd(200, 0.7)
    one = mixture(views)
    gate, line = one.gate(), one.profile()
    mean, sd = line.moments
    assert not gate.is_open and gate.alike < 1 and abs(gate.difference) < 1e-9
    assert mean == pytest.approx(views.mean(), abs=0.01)
    assert sd == pytest.approx(np.sqrt((0.3**2 + 0.4**2) / 200), rel=0.1)
    assert line.second is None


def test_the_fit_around_which_it_is_laid_out_does_not_matter():
    views = crowd(60, -0.4)
    means = [mixture(views, near=near).profile().moments for near in (-1.0, 0.0, 1.3)]
    assert np.ptp(np.array(means), axis=0).max() < 2e-3


def test_a_bloc_opens_the_gate_and_does_not_move_the_centre():
    honest, bloc = crowd(100, 0.0), np.full(30, 4.0)
    found = mixture(np.append(honest, bloc))
    line = found.profile()
    centre = found.parts(line.highest, is_open=True)
    assert found.gate().alike > 50 and found.gate().is_open
    assert line.moments[0] == pytest.approx(honest.mean(), abs=0.05)
    assert (
        (centre.slab[100:] > 0.99).all() and (centre.above[100:] > 0.99).all() and (centre.log_bayes[100:] > 20).all()
    )
    assert centre.slab[:100].mean() < 0.02


@pytest.mark.parametrize("bloc", [0, 2, 4, 8, 30])
def test_a_first_look_opens_no_gate_and_misses_none(bloc, monkeypatch):
    votes = np.random.default_rng(1).integers(1, 30, 200 + bloc)
    found = replace(mixture(np.append(crowd(200, 0.0), np.full(bloc, 2.5))), votes=votes)
    first = found.gate()
    monkeypatch.setattr("bayes_arena.promotion.mixture.NEAR_GAIN", -np.inf)
    whole = found.gate()
    assert first.is_open == whole.is_open
    assert whole.gain < 2 if bloc < 2 else first.gain == whole.gain


@pytest.mark.parametrize("times", [1, 20, 300])
def test_with_many_views_the_profile_is_as_narrow_as_they_say(times):
    views, weight = crowd(2_500, 0.437), np.random.default_rng(2).random(2_500)
    found = replace(mixture(views), alike=np.full(2_500, float(times)), weight=times * weight)
    line, sd = found.profile(), np.sqrt((0.3**2 + 0.4**2) / found.weight.sum())
    assert line.moments[0] == pytest.approx(np.average(views, weights=found.weight), abs=0.002)
    assert line.moments[1] == pytest.approx(sd, rel=0.1)
    assert line.moments[0] == pytest.approx(line.highest, abs=0.1 * sd)
    assert abs(found.gate().difference) < 2


@pytest.mark.parametrize(("bloc", "opens"), [(0, False), (60, True)])
def test_thousands_who_differ_more_on_one_competitor_are_one_crowd(bloc, opens):
    rng = np.random.default_rng(0)
    views = np.append(rng.normal(0, 0.58, 3_000) + rng.normal(0, 0.4, 3_000), np.full(bloc, 3.0))
    assert replace(mixture(views), taste=0.5).gate().is_open == opens


def test_votes_that_count_less_are_centred_where_the_mixture_is():
    views = np.append(np.random.default_rng(0).normal(0.0, 0.85, 100), np.full(60, 3.0))
    found = mixture(views, sd=0.8)
    highest = found.profile().highest
    counts = found.parts(highest, is_open=True).counts
    assert counts[100:].max() < 0.1 < 0.7 < counts[:100].mean()
    assert np.average(views, weights=counts) == pytest.approx(highest, abs=0.01)


def test_a_bloc_below_is_below():
    found = mixture(np.append(crowd(100, 0.0), np.full(20, -3.0)))
    centre = found.parts(found.profile().highest, is_open=True)
    assert (centre.slab[100:] > 0.99).all() and (centre.above[100:] < 0.01).all()


def voters(wins, losses, *, as_if=None):
    """Annotators with so many wins and losses of the competitor against one of strength 0."""
    wins, losses = np.asarray(wins, dtype=float), np.asarray(losses, dtype=float)
    likelihood = np.exp(-np.logaddexp(0, -positions()) * wins[:, None] - np.logaddexp(0, positions()) * losses[:, None])
    people = np.ones(len(wins))
    return Mixture(0.0, likelihood, people, people, wins + losses if as_if is None else people * as_if, 10.0)


def test_passers_by_do_not_look_bought_where_those_who_buy_cast_many():
    wins = np.random.default_rng(0).binomial(2, 0.5, 200)
    alone = voters(wins, 2 - wins).profile().highest
    cast = np.append(wins, np.full(60, 9)), np.append(2 - wins, np.zeros(60))
    by_votes, as_one = voters(*cast), voters(*cast, as_if=2)
    centre = by_votes.profile().highest
    slab = by_votes.parts(centre, is_open=True).slab
    assert centre == pytest.approx(alone, abs=0.03) and as_one.profile().highest < alone - 0.3
    assert slab[:200].mean() < 0.02 and slab[200:].min() > 0.98


def test_votes_for_it_whatever_is_shown_say_nothing_of_the_centre():
    wins = np.random.default_rng(1).binomial(3, 0.6, 150)
    alone = voters(wins, 3 - wins).profile().highest
    both = voters(np.append(wins, np.full(60, 12)), np.append(3 - wins, np.zeros(60)))
    line = both.profile()
    assert line.highest == pytest.approx(alone, abs=0.02)
    assert both.parts(line.highest, is_open=True).slab[150:].min() > 0.99


def test_two_crowds_of_one_size_are_contested():
    line = mixture(np.append(crowd(40, 0.0), crowd(40, 2.2, seed=1))).profile()
    assert line.second is not None and abs(line.second - line.highest) == pytest.approx(2.2, abs=0.3)
    assert line.moments[1] > 0.5


def test_what_one_annotator_says_is_bounded():
    honest = crowd(50, 0.0)
    alone = mixture(honest).profile().moments[0]
    for far in (4.0, 9.0, 10.2):
        moved = mixture(np.append(honest, np.full(5, far))).profile().moments[0]
        assert moved == pytest.approx(alone, abs=0.04)


def test_those_who_count_less_move_it_less_and_the_difference_is_seen():
    honest, others = crowd(100, 0.0), crowd(100, 0.9, seed=1)
    found = mixture(np.append(honest, others), weight=np.append(np.ones(100), np.zeros(100)))
    assert found.gate().difference > 3
    assert found.profile().moments[0] == pytest.approx(honest.mean(), abs=0.02)


def test_moments_of_a_known_line():
    r = np.arange(-3, 3.01, 0.15)
    line = Line.through(r, -0.5 * ((r - 0.2) / 0.05) ** 2)  # three times as narrow as the grid
    assert line.moments == pytest.approx((0.2, 0.05), abs=1e-4)
