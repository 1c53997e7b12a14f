"""Votes: from any engine to cells, the sufficient statistics that every model reads.

================  ==================================================================
reading/          ``read_votes``, ``check``: from a source to cells
layouts/          records of other tools, rewritten to votes; one registry
sources/          files, dataframes and the Hugging Face hub, as frames
cells             ``Cells``: votes summed per pair and annotator
sequence          ``VoteSequence``: votes in their order, for online Elo
outcomes          the four outcomes of a vote, and counts of them
names             names of slices and columns that mean something
summing           ``build_cells``: votes summed to cells, exactly
tally             ``Tally``: cells summed over what a model does not tell apart
records           wins, losses and ties; who was never beaten
groups            votes that go together: by annotator, prompt, ranking
repeated_answers  whether answers to prompts were voted on again
selection         some annotators' votes
merge_split       ``merge`` and ``split``: cells of several parts
parquet           ``read_cells``: cells from Parquet files
================  ==================================================================
"""
