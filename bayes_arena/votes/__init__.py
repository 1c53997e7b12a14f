"""Votes: from any engine to cells, the sufficient statistics that every model reads.

=========  ==========================================================================
sources/   1. where votes come from: files, dataframes and the hub, as frames
layouts/   2. how tools write votes down, and how their records become votes
reading/   3. ``read_votes``, ``check``: frames validated, decoded and summed to cells
cells      ``Cells``: votes summed per pair and annotator
parquet    ``read_cells``: cells from Parquet files
summing    ``build_cells``: votes summed into cells, exactly; ``merge``
tally      ``Tally``: cells summed over what a model does not distinguish
selection  the votes of some annotators; ``split``: votes divided
groups     dependent votes: by annotator, prompt or ranking
records    wins, losses and ties, who was never beaten; which answers repeat
sequence   ``VoteSequence``: votes in their order, for online Elo
outcomes   the four outcomes of a vote, and counts of them
sizes      how many votes, competitors, annotators and prompts
names      names of slices and columns with a special meaning
periods    days, weeks, months, quarters and years in which votes were cast
=========  ==========================================================================
"""
