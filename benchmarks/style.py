"""Style held equal: how fast, and the same as another package's model.

    uv run --group benchmark python benchmarks/style.py

Votes are simulated: 1.67 million of 129 competitors with four features, one vote a cell. Prints the seconds of a fit
with theta = 1 (tallied already); then how far its estimates are from those of arena-rank's contextual Bradley-Terry
model without its penalty, on 50,000 votes.
"""

import statistics

import numpy as np
from measuring import timed

import bayes_arena as ba

SLOPES = {"length": 0.25, "headers": 0.1, "lists": 0.05, "bold": -0.05}
MODEL = ba.Model("style", style=tuple(SLOPES))
LAPS = 5


def simulated(votes: int, competitors: int = 129, seed: int = 0) -> ba.Cells:
    rng = np.random.default_rng(seed)
    strength, habits = rng.normal(0, 0.6, competitors), rng.normal(0, 0.5, (len(SLOPES), competitors))
    a = rng.integers(competitors, size=votes)
    b = (a + rng.integers(1, competitors, size=votes)) % competitors
    features = habits[:, a] - habits[:, b] + rng.normal(size=(len(SLOPES), votes))
    eta = strength[a] - strength[b] + np.array(list(SLOPES.values())) @ features
    names = tuple(f"m{index:03d}" for index in range(competitors))
    counts = np.eye(4)[(rng.random(votes) > 1 / (1 + np.exp(-eta))).astype(int)]
    nobody = np.zeros(votes, dtype=np.int64)
    return ba.Cells(names, (), a, b, nobody, counts, features=dict(zip(SLOPES, features, strict=True)))


def seconds_of_fit(cells: ba.Cells) -> float:
    laps = [timed(lambda: ba.fit(cells, model=MODEL, prior="flat", method="map"))[1] for _ in range(LAPS + 1)]
    return statistics.median(laps[1:])


def arena_rank(cells: ba.Cells) -> np.ndarray:
    """Ratings, centred, and slopes of arena-rank on the same votes."""
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset

    features = np.array(list(cells.features.values())).T
    dataset = ContextualPairDataset(
        competitors=list(cells.competitors),
        pairs=np.column_stack([cells.a, cells.b]),
        outcomes=cells.counts[:, 0],
        features=features,
        weights=np.ones(len(cells.a)),
    )
    other = ContextualBradleyTerry(cells.n_competitors, features.shape[1], reg=0.0, ftol=1e-14, gtol=1e-12)
    other.fit(dataset)
    ratings = np.asarray(other.params["ratings"])
    return np.concatenate([ratings - ratings.mean(), np.asarray(other.params["coeffs"])])


def main() -> None:
    cells = simulated(1_670_000)
    _, tallied, _ = timed(lambda: MODEL.tally(cells))
    print(f"1.67 million votes x {len(SLOPES)} features, {cells.n_competitors} competitors, theta = 1")
    print(f"tally: {tallied:.2f} s")
    print(f"fit: {seconds_of_fit(cells):.2f} s")
    try:
        few = simulated(50_000, competitors=20)
        apart = np.abs(ba.fit(few, model=MODEL, prior="flat").point.head - arena_rank(few)).max()
        print(f"arena-rank, reg=0, 50,000 votes of 20 competitors: estimates apart by {apart:.1e}")
    except ImportError:
        print("arena-rank is not installed: skipped.")


if __name__ == "__main__":
    main()
