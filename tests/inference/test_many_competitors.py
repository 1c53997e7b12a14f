"""Many competitors, few of whom met: the same answers as from dense matrices."""

from dataclasses import replace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.algebra.solving.gradients import NotSettledError
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.errors import IdentificationWarning
from bayes_arena.votes.cells import Cells

DAVIDSON = ba.Model("davidson", ties="davidson", position="common")
N = 120


def random_graph(rng, n=N, opponents=12):
    orders = [rng.permutation(n) for _ in range(opponents // 2)]
    return np.concatenate(orders), np.concatenate([np.roll(order, 1) for order in orders])


def hub(rng):
    a, b = random_graph(rng, opponents=6)
    return np.append(a, np.zeros(N - 1, dtype=int)), np.append(b, np.arange(1, N))


def clusters(rng, between=2):
    parts = [np.stack(random_graph(rng, N // 4)) + N // 4 * part for part in range(4)]
    ends = np.array([[N // 4 * part, N // 4 * (part + 1)] for part in range(3)]).T
    a, b = np.concatenate([*parts, np.tile(ends, between)], axis=1)
    return a, b


def chain(rng):
    return np.arange(N - 1), np.arange(1, N)


def votes(graph, each=60, seed=0):
    rng = np.random.default_rng(seed)
    a, b = graph(rng)
    strength = rng.normal(size=N)
    lead = strength[a] - strength[b]
    chances = np.stack([np.exp(lead / 2), np.exp(-lead / 2), np.full(len(a), 0.7)], axis=1)
    counts = rng.multinomial(each, chances / chances.sum(axis=1, keepdims=True))
    names = tuple(f"c{index:03d}" for index in range(N))
    return Cells(names, (), a, b, np.zeros_like(a), np.column_stack([counts, np.zeros(len(a))]).astype(float))


def both(sparse, cells, **options):
    fits = []
    for many in (True, False):
        sparse(many)
        fits.append((result := ba.fit(cells, **options), ba.leaderboard(result).set_index("competitor")))
    return fits


class TestSameAsDense:
    @pytest.mark.slow
    @pytest.mark.parametrize("prior", ["default", "flat"])
    @pytest.mark.parametrize("model", ["bradley-terry", DAVIDSON], ids=["bradley-terry", "davidson"])
    def test_mode_and_board(self, sparse, model, prior):
        cells = votes(random_graph)
        (fast, board), (slow, exact) = both(sparse, cells, model=model, prior=prior)
        assert isinstance(fast.laplace.factor, SparseFactor)
        assert fast.strength == pytest.approx(slow.strength, abs=1e-8)
        assert fast.point.common == pytest.approx(slow.point.common, abs=1e-8)
        exact = exact.loc[board.index]
        assert board["elo"].to_numpy() == pytest.approx(exact["elo"].to_numpy(), abs=1e-6)
        assert (board["rank"] == exact["rank"]).all()
        width, wide = (one["upper"] - one["lower"] for one in (board, exact))
        assert width.to_numpy() == pytest.approx(wide.to_numpy(), rel=0.01)
        assert 0 < board.attrs["sd_error"] < 0.01 / 3

    @pytest.mark.slow
    def test_somebody_unbeaten_under_a_flat_prior(self, sparse):
        cells = votes(random_graph)
        best = np.where((cells.a == 5)[:, None], [1.0, 0.0, 0.0, 0.0], cells.counts)
        best = np.where((cells.b == 5)[:, None], [0.0, 1.0, 0.0, 0.0], best)
        with pytest.warns(ba.errors.NoMaximumWarning):
            (_, board), (_, exact) = both(sparse, replace(cells, counts=best), model=DAVIDSON, prior="flat")
        assert board.index[0] == exact.index[0] == "c005"
        rest = exact.index[1:]
        assert board.loc[rest, "elo"].to_numpy() == pytest.approx(exact.loc[rest, "elo"].to_numpy(), abs=0.01)

    @pytest.mark.slow
    @pytest.mark.parametrize("graph", [hub, clusters, chain])
    def test_standard_deviations_on_other_graphs(self, sparse, graph):
        (fast, _), (slow, _) = both(sparse, votes(graph), model="bradley-terry", prior=ba.Prior(hyper=None))
        sd = [np.sqrt(fit.laplace.strength_variance()) for fit in (fast, slow)]
        assert sd[0] == pytest.approx(sd[1], rel=0.01)

    @pytest.mark.slow
    def test_differences_and_strengths_against_a_reference(self, sparse):
        (fast, _), (slow, _) = both(sparse, votes(hub), model=DAVIDSON)
        tables = []
        for many, fit in ((True, fast), (False, slow)):
            sparse(many)
            tables.append(
                [
                    ba.contrasts(fit, [("c000", "c001"), ("c100", "c119")])["sd"],
                    ba.strengths(fit, reference="c000")["sd"],
                    ba.effects(fit)["sd"],
                ]
            )
        for found, exact in zip(*tables, strict=True):
            assert found.to_numpy() == pytest.approx(exact.to_numpy(), rel=0.01, abs=1e-3)

    def test_differences_of_all_pairs_are_too_many(self, sparse):
        sparse(True)
        fit = ba.fit(votes(random_graph), model="bradley-terry")
        with pytest.raises(ba.errors.TooLargeError, match="All pairs of 120 competitors are too many"):
            ba.contrasts(fit)

    @pytest.mark.slow
    def test_estimated_spread_of_strengths(self, sparse):
        (fast, _), (slow, _) = both(sparse, votes(random_graph), model="bradley-terry", method="marginal")
        assert fast.spreads.strength == pytest.approx(slow.spreads.strength, rel=0.01)


@pytest.mark.slow
class TestDraws:
    @pytest.mark.parametrize("dense", [True, False])
    def test_they_scatter_as_the_posterior_does(self, sparse, monkeypatch, dense):
        monkeypatch.setattr("bayes_arena.algebra.sparse_factor.DENSE", 10**6 if dense else 0)
        sparse(True)
        fit = ba.fit(votes(random_graph), model=DAVIDSON)
        strength = ba.draw(fit, size=2000, seed=1).strength
        sd = strength.std(axis=0) / np.sqrt(fit.laplace.strength_variance())
        assert sd.mean() == pytest.approx(1, abs=0.01)
        assert sd == pytest.approx(1, abs=0.1)
        some = np.zeros((1, N))
        some[0, [0, 1]] = 1, -1
        assert (strength[:, 0] - strength[:, 1]).var() == pytest.approx(fit.laplace.variance(some)[0], rel=0.15)


class TestWhatIsNotSettled:
    @pytest.mark.slow
    def test_groups_never_compared_are_told_and_rated(self, sparse):
        cells = votes(lambda rng: clusters(rng, between=0))
        fits = []
        for many in (True, False):
            sparse(many)
            with pytest.warns(IdentificationWarning, match="4 groups that were never compared"):
                fits.append(ba.fit(cells, model="bradley-terry", prior="flat"))
        fast, slow = fits
        assert fast.strength == pytest.approx(slow.strength, abs=1e-8)
        sd = [np.sqrt(fit.laplace.strength_variance()) for fit in fits]
        assert sd[0] == pytest.approx(sd[1], rel=0.01)

    @pytest.mark.slow
    def test_an_estimate_at_infinity_is_told(self, sparse):
        cells = votes(random_graph)
        counts = cells.counts.copy()
        counts[cells.a == 0] = [60, 0, 0, 0]
        counts[cells.b == 0] = [0, 60, 0, 0]
        sparse(True)
        with pytest.warns(ba.errors.NoMaximumWarning, match="never beaten or tied by the other competitors: c000"):
            fit = ba.fit(cells.take(slice(None), counts=counts), model="bradley-terry", prior="flat")
        assert fit.strength.argmax() == 0

    @pytest.mark.slow
    def test_probes_that_do_not_settle_give_way_to_a_dense_matrix(self, sparse, monkeypatch):
        def never(*_):
            raise NotSettledError

        sparse(True)
        fit = ba.fit(votes(random_graph), model="bradley-terry")
        estimated = fit.laplace.strength_variance()
        monkeypatch.setattr("bayes_arena.algebra.sparse_factor.inverse_diagonal", never)
        exact = ba.fit(votes(random_graph), model="bradley-terry")
        assert exact.laplace.strength_variance() == pytest.approx(estimated, rel=0.02)
        assert ba.leaderboard(exact).attrs["sd_error"] == 0


@pytest.mark.slow
def test_a_saved_fit_reads_back(sparse, tmp_path):
    sparse(True)
    fit = ba.fit(votes(random_graph), model=DAVIDSON, prior="flat")
    ba.save(fit, tmp_path / "fit.nc")
    assert ba.leaderboard(ba.load(tmp_path / "fit.nc")).equals(ba.leaderboard(fit))
