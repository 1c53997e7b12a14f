"""Votes of which all parts of a page have something to say."""

import numpy as np
import pandas as pd

import bayes_arena as ba

CATEGORIES = ("chat", "code", "<b>maths</b>")
HOSTILE = "<script>document.title='bad'</script>"
FAVOURITE = "model-18"


def fan_votes(hostile: bool = False) -> pd.DataFrame:
    """Return votes of 30 annotators, 3 of them reversed, and of a fan of the last."""
    arena = ba.simulate(competitors=18, annotators=30, votes=3000, reversed=3, seed=4)
    others = [name for name in arena.competitors if name != FAVOURITE] * 4
    fan = {"model_a": FAVOURITE, "model_b": others, "winner": "model_a", "judge": "fan"}
    votes = pd.concat([arena.votes, pd.DataFrame(fan)], ignore_index=True)
    return votes.replace("model-01", HOSTILE) if hostile else votes


def category_votes(difference: float = 2.0) -> pd.DataFrame:
    """Return votes in three categories: model 3 is stronger in code, and not in maths.

    A newcomer has one vote, in chat.
    """
    rng = np.random.default_rng(5)
    n, size = 8, 4000
    strength = np.linspace(1.0, -1.0, n)
    shift = np.zeros((3, n))
    shift[1, 3] = difference
    category = rng.choice(3, size, p=[0.6, 0.25, 0.15])
    i = rng.integers(n, size=size)
    j = (i + rng.integers(1, n, size=size)) % n
    there = strength + shift[category]
    rows = np.arange(size)
    wins = rng.random(size) < 1 / (1 + np.exp(there[rows, j] - there[rows, i]))
    votes = pd.DataFrame(
        {
            "model_a": [f"model {c}" for c in i],
            "model_b": [f"model {c}" for c in j],
            "winner": np.where(wins, "model_a", "model_b"),
            "category": [CATEGORIES[c] for c in category],
            "language": rng.choice(["de", "en"], size),
        }
    )
    votes.loc[size] = ["newcomer", "model 0", "model_a", "chat", "en"]
    return votes
