"""What to do with a ranking: what it would take to change it, what to ask next, and what may be said aloud.

========  ========================================================
flips     the fewest votes or annotators that carry an order
changes   votes left out, turned round or added, and their effect
refits    the fewest changes that turn a pair round
siblings  scores chosen as the best of many of one provider
========  ========================================================
"""
