from dataclasses import replace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.fits.draws import draw
from bayes_arena.fits.marginals import Marginals
from bayes_arena.model.spec import Model

TOPICS = Model("topics", ties="davidson", strength_by=("topic",), style=("length",))


def votes_of(**options):
    sizes = {"competitors": 4, "annotators": 4, "votes": 260, "seed": 5}
    votes = ba.simulate(**{**sizes, **options}).votes
    votes["topic"] = np.where(np.arange(len(votes)) % 3, "art", "law")
    votes["length"] = np.arange(len(votes)) % 2 - 0.5
    return votes


def fitted(model):
    return ba.fit(votes_of(), model=model, slices=["topic"], features=["length"])


def density_of_each_vote(fit, table):
    """Return the log-likelihood of each vote under each draw, term by term."""
    draws = draw(fit, 1000, 0)
    code = {name: number for number, name in enumerate(fit.votes.competitors)}
    annotator = {name: number for number, name in enumerate(fit.votes.annotators)}
    i, j = table["model_a"].map(code), table["model_b"].map(code)
    k = table["judge"].map(annotator)
    lead = draws["strength"][:, i] - draws["strength"][:, j]
    theta = draws["discrimination"][:, k] if "discrimination" in draws else 1
    eta = theta * lead + draws.get("position", 0)
    tau = draws.get("tie", 0)
    if "position_by_annotator" in draws:
        eta = eta + draws["position_by_annotator"][:, k]
    if "tie_by_annotator" in draws:
        tau = tau + draws["tie_by_annotator"][:, k]
    won, tied = (table["winner"] == "model_a"), (table["winner"] == "tie")
    if fit.model.ties == "half":
        win, loss = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
        return np.where(tied, (win + loss) / 2, np.where(won, win, loss))
    tau = np.broadcast_to(tau, eta.shape)
    total = np.logaddexp.reduce([eta / 2, -eta / 2, tau])
    return np.where(tied, tau, np.where(won, eta / 2, -eta / 2)) - total


@pytest.mark.slow
@pytest.mark.parametrize("model", ["davidson", "am-davidson", "am-elo"])
def test_counts_equal_arviz_with_one_column_a_vote(model):
    from arviz_stats.base.array import array_stats

    fit = fitted(model)
    density = density_of_each_vote(fit, votes_of())
    elpd, pareto_k, p = array_stats.loo(density.T, chain_axis=None, draw_axis=-1)
    loo = ba.leave_one_out(fit)
    assert loo.votes.sum() == len(density.T)
    assert loo.total == pytest.approx(elpd.sum(), abs=1e-8)
    assert loo.n_parameters == pytest.approx(p.sum(), abs=1e-8)
    assert loo.pareto_k.max() == pytest.approx(pareto_k.max(), abs=1e-8)
    assert loo.se == pytest.approx(np.sqrt(len(elpd)) * elpd.std(ddof=1), abs=1e-8)


@pytest.mark.slow
def test_arviz_says_the_same_of_the_tree():
    import arviz_stats

    fit = fitted("davidson")
    elpd = arviz_stats.loo(ba.to_datatree(fit))
    loo = ba.leave_one_out(fit)
    assert loo.total == pytest.approx(elpd.elpd, abs=0.01)
    assert loo.se == pytest.approx(elpd.se, abs=0.01)


@pytest.mark.slow
def test_slices_and_features_stay_apart():
    fit = fitted(TOPICS)
    loo = ba.leave_one_out(fit)
    assert loo.votes.sum() == 260
    plain = ba.leave_one_out(fitted("davidson"))
    assert len(np.unique(loo.elpd)) > len(np.unique(plain.elpd))


@pytest.mark.slow
def test_leaving_out_is_refitting():
    table = votes_of(votes=60)
    fit = ba.fit(table)
    loo = ba.leave_one_out(fit)
    exact = []
    for row in range(20):
        rest = ba.fit(table.drop(index=row))
        p = ba.predict(rest, table.iloc[[row]])[f"p_{table['winner'][row]}"]
        exact.append(np.log(p[0]))
    votes = fit.votes
    of_vote = {}
    rows, outcomes = np.nonzero(votes.counts)
    for column, (row, outcome) in enumerate(zip(rows, outcomes, strict=True)):
        key = votes.i[row], votes.j[row], votes.annotator[row], outcome
        of_vote[key] = loo.elpd[column]
    code = {name: number for number, name in enumerate(votes.competitors)}
    names = {name: number for number, name in enumerate(votes.annotators)}
    result = {"model_a": 0, "model_b": 1, "tie": 2}
    estimated = [
        of_vote[code[v.model_a], code[v.model_b], names[v.judge], result[v.winner]]
        for v in table.head(20).itertuples()
    ]
    np.testing.assert_allclose(estimated, exact, atol=0.05)


@pytest.mark.slow
def test_samples_are_all_used():
    fit = ba.fit(votes_of())
    samples = {
        name: values.reshape(2, 300, -1) for name, values in draw(fit, 600, 1).items()
    }
    sampled = replace(fit, marginals=Marginals(fit.posterior, samples))
    loo = ba.leave_one_out(sampled)
    assert loo.total == pytest.approx(ba.leave_one_out(fit).total, abs=1)
    # Samples that hang together are worth fewer, and have another tail.
    slow = {name: np.repeat(v[:, ::20], 20, axis=1) for name, v in samples.items()}
    stuck = ba.leave_one_out(replace(fit, marginals=Marginals(fit.posterior, slow)))
    assert not np.isclose(stuck.total, loo.total)


def test_a_flat_prior_is_refused():
    fit = ba.fit(votes_of(), model="bradley-terry", prior="flat")
    with pytest.raises(ba.ArenaError, match="flat prior"):
        ba.leave_one_out(fit)
