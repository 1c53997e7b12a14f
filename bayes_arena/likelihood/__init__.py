"""What a model is: its grid, its priors, its likelihood, and votes simulated from one.

=============  ======================================================
specification  ``Model``: a point in the grid
presets        models with a name
priors         ``Prior`` and ``Spreads``
outcomes/      how likely an outcome is: one likelihood a file
predictor      effects as data, and the coordinates of votes
objective      the negative log-posterior, its gradient and Hessian
problem        ``Problem``: votes, a model and a prior
algebra/       linear algebra of that Hessian
simulation     arenas with known truth
=============  ======================================================
"""
