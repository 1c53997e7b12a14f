"""Reading votes: whatever holds them, the group-by runs there.

========  ==================================================================
table     ``read_votes``: columns found, outcomes decoded, rows counted
sources   files, dataframes and queries behind one interface
decoding  the spellings of an outcome
sequence  ``read_sequence``: votes in their order, for online Elo
hub       ``hub_files``: votes published on the Hugging Face hub
repeats   votes that occur more than once in the source
faults    where a file cannot be read
checks    ``check``: what can be rated of what was read, and what cannot
========  ==================================================================
"""
