"""Strengths that move: what is estimated, what NUTS says, who changed, and boards as of a date."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import drifting

import bayes_arena as ba
from bayes_arena.inference.density.coordinates import Coordinates
from bayes_arena.inference.density.log_density import log_density
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
MODEL = ba.Model("moving", ties="davidson", drift=True)


def changed_midway(points: float, seed: int = 0, votes: int = 12_000) -> ba.Cells:
    """Votes in eight months; from the fifth on the first three of six competitors are that much better."""
    truth = np.tile(np.linspace(-0.8, 0.8, 6), (8, 1))
    truth[4:, :3] += points * np.log(10) / 400
    return drifting(truth=truth, votes=votes, seed=seed)


@pytest.fixture(scope="module")
def moving() -> ba.Fit:
    return ba.fit(changed_midway(150), drift=True)


def test_change_is_found_and_named():
    cells = changed_midway(150)
    with pytest.warns(ba.ChangedStrengthsWarning, match=r"since 2024-05 \(by about [+-]\d\d+ Elo.*drift=True"):
        fit = ba.fit(cells)
    assert fit.change.p < 0.001
    table = ba.changes(fit)
    assert table["p"].is_monotonic_increasing and table.attrs["p"] == fit.change.p
    assert (table["since"].head(3) == "2024-05").all()
    change = table.set_index("competitor")["change"].sort_index()
    assert change.tolist() == pytest.approx([75, 75, 75, -75, -75, -75], abs=15)


@pytest.mark.slow
def test_nothing_is_said_without_change_and_without_times():
    fit = ba.fit(changed_midway(0))
    assert fit.change.p > 0.05 and not [one for one in fit.notes if one[0] is ba.ChangedStrengthsWarning]
    assert "tested for change" in repr(fit.plan)
    untimed = ba.fit(ba.example_arena().votes)
    assert untimed.change is None
    with pytest.raises(ba.ModelError, match="votes of several periods"):
        ba.changes(untimed)


def test_votes_of_one_annotator_are_not_so_many_for_change():
    """One of four annotators, who votes at the end, disagrees: among persons, that is not a change."""
    cells = drifting(truth=np.tile(np.linspace(-1, 1, 4), (4, 1)), votes=1200, annotators=4)
    late = cells.slices["time"] == 3
    annotator = np.where(late, 3, cells.annotator % 3)
    counts = np.where(late[:, None], cells.counts[:, [1, 0, 2, 3]], cells.counts)
    sly = replace(cells, annotator=annotator, counts=counts)
    unnamed = replace(sly, annotators=(), annotator=np.zeros_like(annotator))
    known, unknown = (ba.fit(one, model="davidson", robust=False).change.p for one in (sly, unnamed))
    assert unknown < 1e-6 < known


@pytest.mark.slow
def test_the_board_is_about_now(moving):
    stays = ba.fit(changed_midway(150))
    now, mean, then = (
        ba.leaderboard(one).set_index("competitor")["elo"] for one in (moving, stays, moving.on(at="2024-02-15"))
    )
    assert now["c02"] > mean["c02"] > then["c02"]
    truth = 150 * np.array([0.5, 0.5, 0.5, -0.5, -0.5, -0.5])
    assert (now - then).sort_index().to_numpy() == pytest.approx(truth, abs=40)
    assert ba.leaderboard(moving, at="2024-02")["elo"].tolist() == then.tolist()
    assert ba.leaderboard(moving, at="2024-02").attrs["at"] == "2024-02"


def test_later_is_forecast_and_wider(moving):
    widths = [
        (board["upper"] - board["lower"]).mean()
        for board in (ba.leaderboard(moving, at=at) for at in ("2024-08", "2024-10", "2025-08"))
    ]
    assert widths == sorted(widths) and widths[2] > 1.5 * widths[0]
    same = [ba.leaderboard(moving, at=at)["elo"].to_numpy() for at in ("2024-08", "2025-08")]
    np.testing.assert_allclose(*same)


@pytest.mark.parametrize(
    ("at", "said"),
    [("2023-12", "before the votes, which begin in 2024-01"), ("soon", "Not a time: 'soon'.*2024-08")],
)
def test_bad_times_of_boards(moving, at, said):
    with pytest.raises(ba.ModelError, match=said):
        ba.leaderboard(moving, at=at)


def test_the_refusal_of_an_interval_says_what_moves(moving):
    with pytest.raises(ba.ModelError, match=r"has them by time\. .*no groups or drift"):
        ba.leaderboard(moving, interval="sandwich")


def test_strengths_that_stay_have_no_date():
    fit = ba.fit(changed_midway(0))
    with pytest.raises(ba.ModelError, match=r"do not move.*drift=True"):
        ba.leaderboard(fit, at="2024-02")
    with pytest.raises(ba.ModelError, match="no history"):
        ba.history(fit)
    with pytest.raises(ba.ModelError, match="need to know when"):
        ba.fit(ba.example_arena().votes, drift=True)


def test_history(moving):
    table = ba.history(moving)
    assert list(table["period"].unique()) == [f"2024-{month:02}" for month in range(1, 9)]
    first, last = table[table["period"] == "2024-01"], table[table["period"] == "2024-08"]
    rise = first.set_index("competitor")["p_rise"]
    assert rise[["c00", "c01", "c02"]].min() > 0.95 and rise[["c03", "c04", "c05"]].max() < 0.05
    assert last["p_rise"].isna().all()
    shown = ["elo", "lower", "upper"]
    np.testing.assert_allclose(last[shown], ba.leaderboard(moving)[shown])
    assert table["votes"].sum() == 2 * moving.cells.n_votes


def test_a_competitor_without_votes_in_between_is_less_known_there():
    cells = drifting(gaps=True, votes=1500)
    fit = ba.fit(cells, model=MODEL)
    widths = {
        at: board["upper"] - board["lower"]
        for at in ("2024-01", "2024-02", "2024-04")
        for board in [ba.leaderboard(fit, at=at).set_index("competitor").loc["c00"]]
    }
    assert widths["2024-02"] > max(widths["2024-01"], widths["2024-04"])


def test_names_of_periods_do_not_matter():
    cells = drifting(votes=800)
    later = replace(cells, slice_names={"time": tuple(f"20{26 + i}" for i in range(6))})
    one, other = (ba.fit(votes, model=MODEL) for votes in (cells, later))
    np.testing.assert_allclose(one.strength, other.strength)
    gapped = replace(cells, slice_names={"time": ("2020", "2021", "2022", "2023", "2024", "2034")})
    assert ba.fit(gapped, model=MODEL).laplace.strength_variance().sum() > one.laplace.strength_variance().sum()


@pytest.mark.slow
def test_the_spread_of_steps_is_recovered():
    found = [ba.fit(drifting(competitors=12, periods=12, votes=20_000, step=0.25, seed=s), model=MODEL) for s in (0, 1)]
    assert [fit.spreads.spread("drift") for fit in found] == pytest.approx([0.25, 0.25], rel=0.2)


def problem(gaps: bool = True) -> Problem:
    return Problem.of(drifting(competitors=4, periods=5, votes=400, gaps=gaps), MODEL, "default")


@pytest.mark.slow  # compiles the density
def test_the_sampled_density_is_the_objective():
    """Up to a constant at fixed spreads; its gradient by finite differences where spreads are sampled."""
    of, rng = problem(), np.random.default_rng(0)
    at = Coordinates.of(of, None)
    density = log_density(at)
    values = []
    for _ in range(4):
        x = rng.normal(size=at.size)
        named = at.named(x[None])
        point = of.objective.start()
        common = np.array([named[effect.label][0] for effect in of.objective.common])
        point = type(point)(named["strength"][0], common, point.own, named["drift"][0])
        values.append(density(x)[0] + of.objective.value(point))
    np.testing.assert_allclose(values, values[0], atol=1e-8)

    pooled = Coordinates.of(of, {"strength": 3.0, "drift": 2.0})
    density = log_density(pooled)
    x = rng.normal(size=pooled.size) * 0.5
    slopes = [(density(x + e)[0] - density(x - e)[0]) / 2e-5 for e in 1e-5 * np.eye(pooled.size)]
    np.testing.assert_allclose(density(x)[1], slopes, atol=1e-5)


@pytest.mark.slow
def test_the_pymc_program_is_the_objective():
    from programs import GRAPH
    from pymc.model.transform.conditioning import remove_value_transforms

    from bayes_arena.models.grid import compose

    of, rng = problem(), np.random.default_rng(1)
    target, logp = of.objective, remove_value_transforms(compose(of)).compile_logp(mode=GRAPH)
    differences = []
    for _ in range(3):
        strength, steps = rng.normal(size=4), rng.normal(0, 0.3, target.numbering.n_slices)
        point = Point(strength - strength.mean(), rng.normal(size=1), target.start().own, steps)
        named = {"strength": point.strength, "tie_propensity_common": point.common[0], "drift_steps": steps}
        at = Point(point.strength, point.common, point.own, target.numbering.steps.summed(steps))
        scaled = 0.5 * np.sum((target.steps_between(at.slices) / target.slices[0].sd) ** 2)
        assert scaled == pytest.approx(0.5 * np.sum((steps / target.slices[0].sd) ** 2))
        differences.append(logp(named) + target.value(at))
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


@pytest.mark.slow
def test_nuts_agrees():
    cells = drifting(competitors=4, periods=5, votes=1500, seed=2)
    near, sampled = ba.fit(cells, model=MODEL), ba.fit(cells, model=MODEL, method="nuts", draws=500, tune=300)
    one, other = (ba.history(fit).sort_values(["period", "competitor"]) for fit in (near, sampled))
    wide = (other["upper"] - other["lower"]).to_numpy()
    assert np.abs(one["elo"].to_numpy() - other["elo"].to_numpy()).max() < 0.15 * wide.mean()
    assert (one["upper"] - one["lower"]).mean() == pytest.approx(wide.mean(), rel=0.12)
