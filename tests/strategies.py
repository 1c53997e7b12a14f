"""Hypothesis strategies for votes."""

import polars as pl
from hypothesis import strategies as st

WINNERS = ("model_a", "model_b", "tie", "tie (bothbad)")


@st.composite
def votes(draw, min_votes: int = 1, max_votes: int = 40) -> pl.DataFrame:
    """Well-formed votes among two to five competitors and one to four judges."""
    names = [f"m{index}" for index in range(draw(st.integers(2, 5)))]
    judges = [f"j{index}" for index in range(draw(st.integers(1, 4)))]
    pair = st.permutations(names).map(lambda order: order[:2])
    row = st.tuples(pair, st.sampled_from(WINNERS), st.sampled_from(judges))
    rows = draw(st.lists(row, min_size=min_votes, max_size=max_votes))
    return pl.DataFrame(
        [(a, b, winner, judge) for (a, b), winner, judge in rows],
        schema=["model_a", "model_b", "winner", "judge"],
        orient="row",
    )


def swapped(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same votes with the sides exchanged."""
    other = {"model_a": "model_b", "model_b": "model_a"}
    return frame.select(model_a="model_b", model_b="model_a", winner=pl.col("winner").replace(other), judge="judge")
