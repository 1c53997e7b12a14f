"""Decisions based on a ranking: what it would take to change it, what to ask next, and what may be claimed.

==========  ==========================================================================
verdict     ``verdict``: which competitor is the best, in a sentence that the posterior supports
tiers       ``tiers``: which competitors can be told apart, all pairs at once
enough      ``enough``: how sure the goal is, and how many more votes it takes
versus      ``versus``: one competitor against another, and what would settle it
next_pairs  ``next_pairs``: the pairs to be voted on next
flips       ``flips``, ``flip_votes``: the fewest votes or annotators that an order rests on
changes     the units in which votes are changed, and their effect on a gap
fewest      the fewest changes that reverse a pair, by refits
siblings    ``siblings``: scores of the best of many variants by one provider
pooling     strengths pooled within families, with the spreads integrated out
==========  ==========================================================================
"""
