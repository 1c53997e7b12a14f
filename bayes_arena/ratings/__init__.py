"""What readers of a leaderboard see.

=============  ================================================================================
leaderboard    ``leaderboard``, ``leaderboards`` of many fits, and ``rank_spread``
estimates      ``strengths``, ``contrasts``, ``effects``: tables in logits with standard errors
slices         ``slice_gaps`` and ``answers``: where a competitor is better than on the whole
belief         the draws that decisions are made from
standing       who beats whom: ``win_probability``, ``rank_probabilities``, ``head_to_head``
independence   a warning where intervals take votes for independent that share a prompt
elo            ``EloScale``: from logits to points
orders/        Elo one vote at a time, in the order of votes or any other
style          ``style_effects``: what features of the answers add to the odds
intervals/     how far an estimate can be trusted
=============  ================================================================================
"""
