"""Votes of which all parts of a page have something to say."""

import pandas as pd

import bayes_arena as ba

HOSTILE = "<script>document.title='bad'</script>"
FAVOURITE = "model-18"


def fan_votes(hostile: bool = False) -> pd.DataFrame:
    """Return votes of 30 annotators, 3 of them reversed, and of a fan of the last."""
    arena = ba.simulate(competitors=18, annotators=30, votes=3000, reversed=3, seed=4)
    others = [name for name in arena.competitors if name != FAVOURITE] * 4
    fan = {"model_a": FAVOURITE, "model_b": others, "winner": "model_a", "judge": "fan"}
    votes = pd.concat([arena.votes, pd.DataFrame(fan)], ignore_index=True)
    return votes.replace("model-01", HOSTILE) if hostile else votes
