"""Decisions based on a ranking: what it would take to change it, what to ask next, and what may be claimed.

==========  ========================================================================================
verdict     ``verdict``: which competitor is the best, in a sentence, and how many more votes it takes
versus      ``versus``: one competitor against another, and how many votes would settle it
gate        whether the votes show that one is better, or not worse, than another
next_pairs  ``next_pairs``: the pairs to compare next
flips       ``flips``, ``flip_votes``: the fewest votes or annotators that an order depends on
fewest      changes of votes, and the fewest that reverse a pair, by refits
price       ``price``: how many votes, by how many accounts, would move a competitor up
integrity   ``integrity``, ``promoters``: whose votes a place rests on, and what it costs
siblings    ``siblings``: by how much the best of many variants from one provider is overrated
==========  ========================================================================================
"""
