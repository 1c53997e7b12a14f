"""Elo one vote at a time, and what the order of the votes does to it.

=============  ===============================
walk           online Elo, one vote at a time
random_orders  over shuffled and resampled votes
=============  ===============================
"""
