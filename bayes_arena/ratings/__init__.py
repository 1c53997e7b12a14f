"""Tables for readers of a leaderboard.

==============  =================================================================================
leaderboard     ``leaderboard``, ``leaderboards`` of many fits, and ``rank_spread``
estimates       ``strengths``, ``contrasts``, ``effects``: tables in logits with standard errors
slices          ``slice_gaps`` and ``answers``: where a competitor is better or worse than overall
probabilities   of ranks and wins: ``rank_probabilities``, ``win_probability``, ``head_to_head``
decision_draws  the draws on which decisions are based
elo             ``EloScale``: from logits to points
online          online Elo, vote by vote, in the given order or in random orders
style           ``style_effects``: what features of the answers add to the odds
intervals/      the uncertainty of an estimate
==============  =================================================================================
"""
