"""Small arenas with everything that programs read."""

import numpy as np
import pandas as pd

import bayes_arena as ba


def small(seed: int = 1, **options) -> ba.Votes:
    """Six competitors, eight annotators, two topics, graded wins, lengths."""
    rng = np.random.default_rng(seed)
    n = 600
    i = rng.integers(6, size=n)
    j = (i + rng.integers(1, 6, size=n)) % 6
    k = rng.integers(8, size=n)
    length = rng.normal(size=n).round(1)
    eta = 0.5 * (i - j) + 0.3 * length + rng.logistic(size=n)
    edges = [-2.5, -0.5, 0.5, 2.5]
    names = np.array(["B>>A", "B>A", "tie", "A>B", "A>>B"])
    return ba.read_votes(
        pd.DataFrame(
            {
                "model_a": [f"m{c}" for c in i],
                "model_b": [f"m{c}" for c in j],
                "winner": names[np.searchsorted(edges, eta)],
                "judge": [f"j{c}" for c in k],
                "topic": np.where(rng.random(n) < 0.5, "code", "prose"),
                "length": length,
            }
        ),
        slices=["topic"],
        features=["length"],
        **options,
    )
