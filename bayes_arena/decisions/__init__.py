"""What to do with a ranking: what it would take to change it, what to ask next, and what may be said aloud.

==========  ==========================================================================
next_pairs  ``next_pairs``: whom to compare next
enough      ``enough``: how sure the goal is, and how many votes are left to go
tiers       ``tiers``: who can be told apart from whom, all pairs at once
verdict     ``verdict``: who is the best, in a sentence that no posterior contradicts
==========  ==========================================================================
"""
