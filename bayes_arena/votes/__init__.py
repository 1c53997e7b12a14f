"""Votes: from any engine to cells, the sufficient statistics that every model reads.

==========  =====================================================================
reading/    tables in any engine, files and the Hugging Face hub, read into cells
preparing/  rankings and texts, which become votes or part of them
exchange/   cells on disk, and cells of several parts as one
cells       ``Cells`` and ``Tally``: votes summed per pair and annotator
summing     ``build_cells``: votes summed to cells, exactly
graph       who can be reached from whom by comparisons
selection   some annotators' votes
groups      votes that go together: by annotator, prompt, ranking
words       names of what votes have besides slices
repeated    whether answers to prompts were voted on again
checks      ``check``: what can be rated of votes, and what cannot
==========  =====================================================================
"""
