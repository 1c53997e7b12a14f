"""Votes left out, turned round or added, until two competitors change places.

=======  ==========================================================
flips    ``flips`` and ``flip_votes``: what an order rests on
changes  the units in which votes are changed, and their effect
refits   the fewest units that turn a pair round
=======  ==========================================================
"""
