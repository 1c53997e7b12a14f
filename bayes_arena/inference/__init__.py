"""How a model is found: its mode, its marginal likelihood, and its strengths on one scale.

===============  ========================================================
methods          the routes by name: map, marginal, nuts
mode/            the posterior mode and the curvature there
density/         the log-density that NUTS walks through
pairing          whether who met whom already knew the ranking
order            in which order a mode is looked for: by the votes, not by names
marginal/        annotators and slices integrated out, spreads estimated
projection       r*: every model on the Bradley-Terry scale
projected        the result: r* and how it moves
projected_draws  r*, draw by draw
many_pairs       r* of many competitors, without going through their pairs
kernels          scores of many leads and annotators, compiled
views            on which slices a ranking is
===============  ========================================================
"""
