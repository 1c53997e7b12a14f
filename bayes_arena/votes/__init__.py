"""Votes: from any engine to cells, the sufficient statistics that every model reads.

================  ==================================================================
reading/          ``read_votes``, ``check``: from a source to cells
layouts/          records of other tools, rewritten as votes; one registry
sources/          files, dataframes and the Hugging Face hub, as frames
cells             ``Cells``: votes summed per pair and annotator
sequence          ``VoteSequence``: votes in their order, for online Elo
outcomes          the four outcomes of a vote, and counts of them
sizes             how many votes, competitors, annotators and prompts
names             names of slices and columns with a special meaning
periods           days, weeks, months, quarters and years in which votes were cast
summing           ``build_cells``: votes summed into cells, exactly
tally             ``Tally``: cells summed over what a model does not distinguish
records           wins, losses and ties; who was never beaten
groups            dependent votes: by annotator, prompt or ranking
repeated_answers  whether answers to prompts have repeated votes
selection         the votes of some annotators
merging           ``merge``: cells combined
splitting         ``split``: votes divided
parquet           ``read_cells``: cells from Parquet files
================  ==================================================================
"""
