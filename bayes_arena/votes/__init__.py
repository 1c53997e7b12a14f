"""Votes: from any engine to cells, the sufficient statistics that every model reads.

==========  =====================================================================
reading/    tables in any engine, files and the Hugging Face hub, read into cells
preparing/  rankings and texts, which become votes or part of them
exchange/   cells on disk, and cells of several parts as one
shared/     what votes have in common: annotators, prompts, competitors
cells       ``Cells``: votes summed per pair and annotator
tally       ``Tally``: the rows of cells that a model tells apart
outcomes    the four outcomes of a vote, and counts of them
summing     ``build_cells``: votes summed to cells, exactly
selection   some annotators' votes
words       names of what votes have besides slices
checks      ``check``: what can be rated of votes, and what cannot
==========  =====================================================================
"""
