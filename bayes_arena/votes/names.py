"""Names with a special meaning; the command line imports this module too, so it does without NumPy."""

from typing import Literal

ANNOTATOR, COMPETITOR, PROMPT, PROGRAM = "annotator", "competitor", "prompt", "program"
"""Every vote has an annotator and competitors besides its slices. Crossed with the competitors, the slice ``prompt``
gives the answers; ``program``, which program cast the vote, gives the tastes of the programs that judge."""
ITEM = "item"
"""Slice of the pairs that stem from one item: from scores of several systems on it, from their ranking, from a choice,
or from one comparison with several verdicts."""
CRITERION = "criterion"
"""Slice of what a verdict is about, where a comparison has several: helpful, harmless, honest."""
TIME = "time"
"""Slice of the periods in which votes were cast: the only one with an order (:mod:`bayes_arena.votes.periods`)."""
Period = Literal["day", "week", "month", "quarter", "year"]
MOST_GRADES = 9
"""Largest number of grades of a win (:mod:`bayes_arena.votes.outcomes`)."""
SLICE, FEATURE = "slice:", "feature:"
"""Prefixes of the columns that hold slices and features."""
