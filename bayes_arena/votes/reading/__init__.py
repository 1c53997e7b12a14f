"""Reading votes: the group-by runs in whatever engine holds them.

==============  =======================================================================
read_votes      ``read_votes`` and ``read_sequence``: options in, cells or votes out
opening         a source opened: layout found, records rewritten, columns recognised
validity        votes grouped and decoded, invalid ones quoted and refused
decoding        from labels of winners, and their grades, to outcomes
covariates      prompts, other slices, and features
counting        how much a vote counts: weights, scores, duplicates
checks          ``check``: what the votes can and cannot settle
shares          the shares of groups in a population, from a table
style_features  ``style_features``: length and markdown of the answers, as features
==============  =======================================================================
"""
