"""What readers of a leaderboard see.

=============  ================================================================================
leaderboard    ``leaderboard`` and ``rank_spread``
estimates      ``strengths``, ``contrasts``, ``effects``: tables in logits with standard errors
standing       who beats whom: ``win_probability``, ``rank_probabilities``, ``head_to_head``
independence   a warning where intervals take votes for independent that share a prompt
elo            ``EloScale``: from logits to points
online         online Elo, one vote at a time
style          ``style_effects``: what features of the answers add to the odds
random_orders  online Elo over shuffled and resampled votes
intervals/     how far an estimate can be trusted
=============  ================================================================================
"""
