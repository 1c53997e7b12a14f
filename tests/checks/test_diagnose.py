from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.fits.draws import draw
from bayes_arena.fits.marginals import Marginals

UNBEATEN = {"model_a": "zed", "model_b": "model-1", "winner": "model_a", "judge": "x"}


def arena(**options):
    sizes = {"competitors": 5, "annotators": 8, "votes": 600, "seed": 4}
    return ba.simulate(**{**sizes, **options}).votes


@pytest.fixture(scope="module")
def fit():
    return ba.fit(arena(discrimination_sd=0.0))


def status_of(fit):
    return ba.diagnose(fit).set_index("check")["status"]


def test_a_good_fit(fit):
    table = ba.diagnose(fit)
    assert list(table.columns) == ["check", "status", "finding", "advice"]
    assert set(table["status"]) == {"ok"}
    assert set(table["advice"]) == {""}


def test_what_does_not_touch_the_ranking_is_a_note():
    table = ba.diagnose(ba.fit(arena(reversed=2))).set_index("check")
    row = table.loc["gap of annotators' agreement with the ranking"]
    assert row["status"] == "note"
    assert "predicted" in row["finding"]
    assert "shared_ranking" in row["advice"]
    assert "problem" not in set(table["status"])


def test_groups_that_never_met():
    table = pd.concat([arena(), arena().replace(r"model-", "other-", regex=True)])
    with pytest.warns(ba.errors.ArenaWarning, match="never compared"):
        fit = ba.fit(table)
    assert status_of(fit)["comparisons"] == "problem"


def test_no_finite_estimate():
    table = pd.concat([arena(), pd.DataFrame([UNBEATEN])])
    with pytest.warns(ba.errors.ArenaWarning, match="No finite estimate"):
        fit = ba.fit(table, prior="flat")
    assert status_of(fit)["estimates"] == "problem"


@pytest.mark.slow
def test_an_open_direction():
    fit = ba.fit(arena(), model="am-davidson")
    for gap, status in ((0.5, "problem"), (20.0, "ok")):
        posterior = replace(fit.posterior, mirror_gap=gap)
        marginals = replace(fit.marginals, posterior=posterior)
        assert status_of(replace(fit, marginals=marginals))["direction"] == status


def test_half_wins_are_not_checked_for_ties():
    table = ba.diagnose(ba.fit(arena(), model="m-elo")).set_index("check")
    assert table["status"]["prediction"] == "note"
    assert "davidson" in table["advice"]["prediction"]


@pytest.mark.slow
def test_chains(fit):
    drawn = draw(fit, 2000, 1).items()
    samples = {name: values.reshape(4, 500, -1) for name, values in drawn}
    stats = {
        "diverging": np.zeros((4, 500), bool),
        "energy": np.random.default_rng(0).normal(size=(4, 500)),
    }
    good = replace(
        fit, method="nuts", marginals=Marginals(fit.posterior, samples, stats)
    )
    assert set(status_of(good)) == {"ok"}
    apart = {n: v + np.arange(4)[:, None, None] for n, v in samples.items()}
    stats["diverging"][0, :3] = True
    bad = replace(good, marginals=Marginals(fit.posterior, apart, stats))
    result = ba.diagnose(bad).set_index("check")
    sampler = ["r-hat", "effective draws, bulk", "divergences"]
    assert set(result["status"][sampler]) == {"problem"}
    assert result["finding"]["divergences"] == "3 of 2,000 draws"
    assert "Sample longer" in result["advice"]["r-hat"]
