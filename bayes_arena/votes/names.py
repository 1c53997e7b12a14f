"""Names with a meaning of their own; the command line reads them too, so no NumPy here."""

ANNOTATOR, COMPETITOR, PROMPT, PROGRAM = "annotator", "competitor", "prompt", "program"
"""What every vote has besides its slices: an annotator and competitors. ``prompt`` is the slice whose crossing with the
competitors is the answers, ``program`` the one whose crossing with them is the taste of programs that judge: which of
them cast the vote."""
ITEM = "item"
"""Slice of the pairs that stem from one item: from scores of several systems on it, from their ranking, or a choice."""
SLICE, FEATURE = "slice:", "feature:"
"""Prefixes of the columns that hold slices and features."""
