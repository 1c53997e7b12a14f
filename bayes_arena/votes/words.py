"""Words of votes that the command line reads too, without NumPy."""

ANNOTATOR, COMPETITOR, PROMPT, PROGRAM = "annotator", "competitor", "prompt", "program"
"""What every vote has besides its slices, the slice whose crossing with the competitors is the answers, and the one
whose crossing with them is the taste of programs: which program cast the vote, if it was not a person."""
ITEM = "item"
"""The slice of pairs that stem from one item: from the scores of several on it, from their ranking, a choice."""
