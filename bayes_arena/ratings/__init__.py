"""Tables for readers of a leaderboard.

==============  =================================================================================
leaderboard     ``leaderboard``, and ``leaderboards`` of many fits
rank_ranges     the ranks that the votes leave open, all at once
estimates       ``strengths``, ``contrasts``, ``effects``, ``style_effects``: in logits, with standard errors
grades          ``grades``: how much narrower intervals are for the grades of verdicts
slices          ``slice_gaps`` and ``answers``: where a competitor is better or worse than overall
groups          ``best_by_group``, ``slice_similarity``, ``disagreement``: groups of voters, criteria
probabilities   of ranks and wins: ``rank_probabilities``, ``win_probability``, ``head_to_head``
history         ``history`` and ``changes``: strengths over time, and who changed
decision_draws  the draws on which decisions are based
elo             ``EloScale``: from logits to points
online          online Elo, vote by vote, in the given order or in random orders
intervals/      the uncertainty of an estimate
==============  =================================================================================
"""
