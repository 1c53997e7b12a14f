"""What to do with a ranking: what it would take to change it, what to ask next, and what may be said aloud.

==============  ==================================================================
changed_votes/  ``flips``: the fewest votes or annotators that an order rests on
siblings        ``siblings``: scores chosen as the best of many of one provider
pooling         strengths pooled within families, the spreads averaged over
==============  ==================================================================
"""
