"""Maximum likelihood: known answers, and answers that do not exist."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.fits.result import mean_loss
from bayes_arena.said import Use
from tests.helpers import real


def flat(rows, model="bradley-terry"):
    columns = ["model_a", "model_b", "winner", "judge"]
    table = pd.DataFrame([row if len(row) > 3 else (*row, "x") for row in rows])
    return ba.fit(table.set_axis(columns, axis=1), model=model, prior="flat")


def test_odds_of_two():
    fit = flat([("a", "b", "a")] * 3 + [("a", "b", "b")])
    assert fit.strength[0] - fit.strength[1] == pytest.approx(np.log(3))
    # The information on the difference is n p (1 - p) = 3/4, and r_a is half of it.
    assert fit.marginals.sd_of("strength")[0] == pytest.approx(np.sqrt(4 / 3) / 2)
    assert fit.log_likelihood == pytest.approx(np.log(4 * 0.75**3 * 0.25))


def test_a_circle_is_level():
    fit = flat([("a", "b", "a"), ("b", "c", "b"), ("c", "a", "c")])
    np.testing.assert_allclose(fit.strength, 0, atol=1e-9)


def test_ties_are_half_wins():
    halves = flat([("a", "b", "a")] * 2 + [("a", "b", "tie")] * 2)
    assert halves.strength[0] - halves.strength[1] == pytest.approx(np.log(3))


def test_davidson_by_hand():
    """P(win) : P(tie) : P(loss) are the shares of the votes: eta = ln 4, tau = 0."""
    votes = [("a", "b", "a")] * 4 + [("a", "b", "tie")] * 2 + [("a", "b", "b")]
    fit = flat(votes, model="davidson")
    assert fit.strength[0] - fit.strength[1] == pytest.approx(np.log(4))
    assert fit.posterior.mean_of("tie")[0] == pytest.approx(0, abs=1e-9)


def test_the_side_by_hand():
    """Shown first, a wins 3 of 4 and b 2 of 3: eta = d + b and d - b."""
    votes = [("a", "b", "a")] * 3 + [("a", "b", "b")]
    votes += [("b", "a", "b")] * 2 + [("b", "a", "a")]
    fit = flat(votes, model=ba.Model("sided", position="common"))
    first, second = np.log(3), np.log(2)
    assert fit.posterior.mean_of("position")[0] == pytest.approx((first + second) / 2)
    assert fit.strength[0] * 2 == pytest.approx((first - second) / 2)


def test_a_flat_model_has_the_scores_that_were_seen():
    """Ford's equations: each competitor's expected score is its own score."""
    votes = ba.read_votes(ba.simulate(competitors=6, annotators=4, votes=400).votes)
    fit = ba.fit(votes, model="bradley-terry", prior="flat")
    n = votes.counts.sum(axis=1)
    expected = n / (1 + np.exp(fit.strength[votes.j] - fit.strength[votes.i]))
    points = votes.counts @ [1, 0, 0.5]
    residual = points - expected
    net = np.bincount(votes.i, residual, 6) - np.bincount(votes.j, residual, 6)
    np.testing.assert_allclose(net, 0, atol=1e-8)


def test_no_wins_no_number():
    rows = [("a", "b", "a"), ("a", "b", "b"), ("a", "c", "a"), ("b", "c", "b")]
    with pytest.warns(ba.errors.ArenaWarning, match="No finite estimate for 'c'"):
        fit = flat(rows)
    assert np.isnan(fit.strength[2])
    np.testing.assert_allclose(fit.strength[:2], 0, atol=1e-9)
    assert np.isfinite(ba.fit(fit.votes, model="bradley-terry").strength).all()


def test_nobody_scored_against_anybody():
    with pytest.raises(ba.ArenaError, match="No two competitors scored"):
        flat([("a", "b", "a"), ("b", "c", "b")])


def test_an_annotator_who_never_disagrees_runs_away():
    """Votes 6:3, 6:3 and 7:2 of one annotator, and three that agree of another."""
    pairs = (("a", "b", 6, 3), ("b", "c", 6, 3), ("a", "c", 7, 2))
    rows = []
    for first, second, wins, losses in pairs:
        rows += [(first, second, first, "mixed")] * wins
        rows += [(first, second, second, "mixed")] * losses
        rows.append((first, second, first, "perfect"))
    with pytest.raises(ba.ArenaError, match="'perfect' runs to infinity") as error:
        flat(rows, model="am-elo")
    # Nobody has so many votes that delta could leave out who has few.
    assert error.value.remedies == (Use(prior="default"),)
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "judge"])
    assert np.isfinite(ba.fit(frame, model="am-elo").strength).all()


def test_the_delta_that_is_named_keeps_somebody():
    few = ba.simulate(competitors=6, annotators=30, votes=60, seed=3).votes
    many = ba.simulate(competitors=6, annotators=4, votes=120, seed=4).votes
    many["judge"] += " of many"
    with pytest.raises(ba.ArenaError, match="more_than=20") as error:
        ba.fit(pd.concat([few, many]), model="am-elo", prior="flat")
    delta, _ = error.value.remedies
    votes = ba.read_votes(pd.concat([few, many])).keep(**dict(delta.arguments))
    assert np.isfinite(ba.fit(votes, model="am-elo", prior="flat").strength).all()


def test_a_side_that_always_wins_has_no_finite_estimate():
    """a and b met both ways, and b won whenever it was first."""
    votes = [("a", "b", "a"), ("a", "b", "b"), ("b", "a", "b")]
    frame = pd.DataFrame(votes, columns=["model_a", "model_b", "winner"])
    with pytest.raises(ba.ArenaError, match="Use model='bradley-terry'"):
        ba.fit(frame, prior="flat")
    fit = ba.fit(frame, model="bradley-terry", prior="flat")
    assert np.isfinite(fit.strength).all()


def test_opposite_annotators_have_no_mean():
    rows = []
    for first, second in (("a", "b"), ("b", "c"), ("a", "c")):
        rows += [(first, second, first, "x")] * 8 + [(first, second, second, "x")] * 2
        rows += [(first, second, first, "y")] * 2 + [(first, second, second, "y")] * 8
    with pytest.raises(ba.ArenaError):
        flat(rows, model="am-elo")


def test_am_elo_is_on_the_scale_of_mean_one():
    arena = ba.simulate(competitors=6, annotators=5, votes=1500, seed=3)
    fit = ba.fit(arena.votes, model="am-elo", prior="flat")
    assert fit.discrimination.mean() == pytest.approx(1)
    assert fit.strength.sum() == pytest.approx(0, abs=1e-9)
    assert np.corrcoef(fit.discrimination, arena.discrimination)[0, 1] > 0.9


def test_llmfao_as_in_the_paper():
    votes = ba.read_votes(real("llmfao.csv"), prompt=False).keep(more_than=50)
    assert (votes.n_votes, votes.n_annotators) == (7393, 37)
    am_elo = ba.fit(votes, model="am-elo", prior="flat")
    m_elo = ba.fit(votes, model="m-elo", prior="flat")
    assert mean_loss(am_elo) == pytest.approx(0.62597, abs=5e-6)
    assert mean_loss(m_elo) == pytest.approx(0.64401, abs=5e-6)
    negative = np.array(votes.annotators)[am_elo.discrimination < 0]
    assert negative.tolist() == ["worker_11", "worker_15", "worker_20", "worker_70"]


@pytest.mark.slow
def test_llmfao_without_the_filter_is_refused():
    votes = ba.read_votes(real("llmfao.csv"), prompt=False)
    with pytest.raises(ba.ArenaError, match="keep\\(more_than=50\\)"):
        ba.fit(votes, model="am-elo", prior="flat")
