"""Reading votes: whatever holds them, the group-by runs there.

=========  =======================================================================
table      ``read_votes``: options in, cells out
validity   columns found, votes grouped and decoded, invalid ones refused
columns    which column plays which role
carried    prompts, slices and features: what votes carry besides
decoding   the spellings of an outcome
sequence   ``read_sequence``: votes in their order, for online Elo
weighing   what a vote weighs: weights that are not counts, scores
repeats    votes that occur more than once in the source
layouts/   records of other tools, rewritten to votes
files/     files, dataframes and the Hugging Face hub
=========  =======================================================================
"""
