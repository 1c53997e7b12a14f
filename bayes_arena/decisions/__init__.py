"""What to do with a ranking: what it would take to change it, what to ask next, and what may be said aloud.

==============  ==========================================================================
verdict         ``verdict``: who is the best, in a sentence that no posterior contradicts
tiers           ``tiers``: who can be told apart from whom, all pairs at once
enough          ``enough``: how sure the goal is, and how many votes are left to go
versus          ``versus``: one competitor against another, and what would settle it
next_pairs      ``next_pairs``: whom to compare next
changed_votes/  ``flips``: the fewest votes or annotators that an order rests on
siblings        ``siblings``: scores chosen as the best of many of one provider
pooling         strengths pooled within families, the spreads averaged over
==============  ==========================================================================
"""
