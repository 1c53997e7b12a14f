"""Inference: the posterior mode, the marginal likelihood, and strengths on one scale.

===============  ==============================================================
methods          the routes by name: map, marginal, nuts
mode/            the posterior mode and the curvature there
density/         the log-density that NUTS samples from
pairing          whether the pairing already knew the ranking
order            the order in which a problem is solved: by the votes, not by names
pace             how far repeated steps are from the end, and how long the next one is
marginal/        annotators and slices integrated out, spreads estimated
crowd            whose votes a ranking is about, and how much each annotator counts
population       whom a ranking speaks for: groups of voters and their shares
curves           the scores that annotators are expected to give, by lead
average_vote     what they are expected to vote on some pairs
averages         what a reader should know of the average
projection       r*: every model on the Bradley-Terry scale
projected        the result: r* and how it moves
projected_draws  r*, draw by draw
many_pairs       r* of many competitors, without going through their pairs
estimand         what a ranking is about: slices, and the crowd
change           whether strengths changed over time
belonging        the nearest Gaussian, given which annotators belong together
===============  ==============================================================
"""
