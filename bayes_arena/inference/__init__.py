"""How a model is found: its mode, its marginal likelihood, and its strengths on one scale.

===============  ========================================================
methods          the routes by name: map, marginal, nuts
mode/            the posterior mode and the curvature there
marginal/        annotators and slices integrated out, spreads estimated
projection       r*: every model on the Bradley-Terry scale
projected_draws  the same, draw by draw
many_pairs       the same of many competitors, without going through their pairs
views            on which slices a ranking is
===============  ========================================================
"""
