"""Words of votes that the command line reads too, without NumPy."""

ANNOTATOR, COMPETITOR, PROMPT = "annotator", "competitor", "prompt"
"""What every vote has besides its slices, and the slice whose crossing with the competitors is the answers."""
