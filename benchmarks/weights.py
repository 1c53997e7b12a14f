"""How often 95 % intervals hold the truth where votes have importance weights.

    uv run python benchmarks/weights.py [--arenas 200]

Votes of ten competitors without annotators, 1,500 an arena, with log-normal weights of mean 1 that have nothing to do
with the outcomes. Prints the share of strengths inside their intervals, with weights read as frequencies and as
importance, under a flat prior, beside it the standard error over arenas.
"""

import numpy as np
import polars as pl
from measuring import options_of

import bayes_arena as ba

COMPETITORS, VOTES, TIES = 10, 1500, 0.7
MODELS = {"bradley-terry, no ties": ba.Model("plain"), "davidson, nu = 0.7": ba.Model("ties", ties="davidson")}


def simulated(rng: np.random.Generator, spread: float, nu: float) -> tuple[pl.DataFrame, np.ndarray]:
    """Votes with weights, and the strengths behind them."""
    strength = rng.normal(size=COMPETITORS)
    strength -= strength.mean()
    a = rng.integers(COMPETITORS, size=VOTES)
    b = (a + rng.integers(1, COMPETITORS, size=VOTES)) % COMPETITORS
    lead = strength[a] - strength[b]
    odds = np.cumsum([np.exp(lead / 2), np.exp(-lead / 2), np.full(VOTES, nu)], axis=0)
    outcome = (rng.random(VOTES) * odds[-1] > odds).sum(axis=0)
    columns = {
        "model_a": [f"m{index}" for index in a],
        "model_b": [f"m{index}" for index in b],
        "winner": np.array(["model_a", "model_b", "tie"])[outcome],
        "w": rng.lognormal(-(spread**2) / 2, spread, VOTES),
    }
    return pl.DataFrame(columns), strength


def main() -> None:
    arenas = options_of(__doc__, arenas=200).parse_args().arenas
    print("| model | sd of ln w | n / n_eff | frequency | importance |\n|---|---|---|---|---|")
    for name, model in MODELS.items():
        for spread in (0.5, 0.75, 1.0):
            rng, inside, effects = np.random.default_rng(0), {"frequency": [], "importance": []}, []
            for _ in range(arenas):
                votes, strength = simulated(rng, spread, TIES if model.has_tie_outcome else 0.0)
                for weights, shares in inside.items():
                    cells = ba.read_votes(votes, weight="w", weights=weights)
                    table = ba.strengths(ba.fit(cells, model=model, prior="flat", method="map"))
                    shares.append(np.mean((table["lower"] <= strength) & (strength <= table["upper"])))
                effects.append(cells.design_effect)
            shown = " | ".join(f"{np.mean(x):.3f} +- {np.std(x) / arenas**0.5:.3f}" for x in inside.values())
            print(f"| {name} | {spread} | {np.mean(effects):.2f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
