"""Rankings of one's own: evidence against quadrature, and who is told from those who guess."""

import numpy as np
import pytest
from dissenters import REGIMES, N, Regime, draw, of_rankings, thetas
from scipy.integrate import quad
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.reliability import anomaly, own_rankings as own_rankings_module
from bayes_arena.reliability.agreement import Agreement
from bayes_arena.reliability.kinds import kinds
from bayes_arena.reliability.own_rankings import OwnRankings, own_rankings


def people(rng, *, lonely=4, guessers=4, turned=4):
    """Forty annotators: some have each a ranking of their own, some guess, some turn the common one round."""
    strength = rng.normal(size=N)
    own = thetas(rng, 40, 0.2) * strength
    own[:lonely] = rng.normal(size=(lonely, N))
    own[lonely : lonely + guessers] = 0.0
    own[lonely + guessers : lonely + guessers + turned] *= -1
    return of_rankings(own, rng)


def test_evidence_is_the_integral():
    """Of somebody who voted on one pair of competitors: the lead has a normal prior."""
    arena = ba.simulate(competitors=5, annotators=6, votes=400, seed=3)
    votes = arena.votes.filter((arena.votes["judge"] != arena.annotators[0]) | _same_pair(arena.votes))
    fit = ba.fit(ba.read_votes(votes), model="am-elo", robust=False)
    of = kinds(fit)
    k = list(fit.cells.annotators).index(arena.annotators[0])
    found = own_rankings(fit, of, np.array([k]))
    assert np.isneginf(np.delete(found.log_bayes, k)).all() and not np.delete(found.probability, k).any()
    tally = fit.target.tally
    (row,) = np.flatnonzero(tally.k == k)
    counts, sd = fit.target.counts[:, [row]], of.mean * fit.strength.std() * np.sqrt(2)

    def loss(lead):
        return fit.target.likelihood.rows(counts, np.array([[lead]])).value[0]

    ratio = quad(lambda lead: np.exp(loss(0) - loss(lead)) * norm.pdf(lead, scale=sd), -20, 20)[0]
    assert found.log_bayes[k] == pytest.approx(np.log(ratio), abs=0.05)


def test_annotators_looked_at_together_are_as_alone(monkeypatch):
    """In crowds that met as many competitors, whatever their votes."""
    fit = ba.fit(ba.read_votes(ba.simulate(competitors=6, annotators=30, votes=400, seed=5).votes), robust=False)
    of, asked = kinds(fit), np.arange(0, 30, 2)
    together = own_rankings(fit, of, asked)
    monkeypatch.setattr(own_rankings_module, "AT_ONCE", 1)
    alone = own_rankings(fit, of, asked)
    for name in ("log_bayes", "net", "consistency", "probability"):
        np.testing.assert_allclose(getattr(together, name), getattr(alone, name), atol=1e-9)
    assert np.isfinite(together.log_bayes[asked]).all()
    assert np.isneginf(np.delete(together.log_bayes, asked)).all()


def test_flags_need_no_draws_beside_those_of_the_table(monkeypatch):
    fit = ba.fit(draw(Regime(people, 1200), 0).cells, robust=False)
    again = ba.fit(draw(Regime(people, 1200), 0).cells, robust=False)
    ba.annotators(fit)
    flagged = ba.flag(again)
    monkeypatch.setattr(anomaly, "draw_agreement", None)
    assert ba.flag(fit) == flagged


def _same_pair(votes):
    first = votes["model_a"] == "model-1"
    return (first & (votes["model_b"] == "model-2")) | (
        (votes["model_b"] == "model-1") & (votes["model_a"] == "model-2")
    )


@pytest.mark.parametrize(("net", "dissents"), [(0.3, 0.9), (-0.3, 0.9), (-0.6, 0.0)])
def test_a_ranking_of_ones_own_is_no_anomaly_unless_it_is_the_common_one_turned_round(monkeypatch, net, dissents):
    one, nothing = np.ones(3), np.zeros(3)
    own = OwnRankings(nothing, np.full(3, 0.9), net * one, one)
    monkeypatch.setattr(anomaly, "own_rankings", lambda fit, of, who: own)
    tally = anomaly.Tally(3)
    tally.add(slice(None), Agreement(np.array([[1.0, 1.0, 0.1]]), np.array([[1.0, 1.0, 0.1]]), None, None, None))
    found = tally.anomaly(None, "kinds")
    assert found.little == pytest.approx([0.0, 0.0, 1 - dissents])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_lonely_dissenters_are_told_from_guessers(seed):
    """200 votes each: no direction shows them, and each by themselves votes consistently."""
    arena = draw(Regime(people, 8000), seed)
    fit = ba.fit(arena.cells, robust=False, dimensions=0)
    table = ba.annotators(fit).set_index("annotator").sort_index()
    lonely, guessers, turned = table.iloc[:4], table.iloc[4:8], table.iloc[8:12]
    told = lonely[lonely["kind"] == "dissents"]
    assert len(told) >= 3 and (told["verdict"] == "reliable").all()
    assert told["consistency"].min() > 0.5 * table["consistency"].median() > guessers["consistency"].max()
    assert (guessers["kind"] == "guesses").sum() >= 3 and (turned["kind"] == "reversed").all()
    assert not set(lonely.index) & set(ba.flag(fit))


@pytest.mark.slow
def test_a_camp_that_no_direction_shows_is_not_flagged():
    """Four of forty share a ranking that has nothing to do with that of the others."""
    for seed in (1, 2, 6):
        fit = ba.fit(draw(REGIMES["camp of 10 %"], seed).cells, robust=False)
        assert fit.model.dimensions == 0
        assert ba.flag(fit) == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 5, 7])
def test_weak_voices_of_a_camp_are_not_flagged_beside_a_consistent_minority(seed):
    """Theta is .6 (sd .3) in the majority, and 3 in the minority: some say little, and few of them nothing."""
    fit = ba.fit(draw(REGIMES["consistent minority"], seed).cells, robust=False)
    assert fit.model.dimensions
    assert ba.flag(fit) == ()
