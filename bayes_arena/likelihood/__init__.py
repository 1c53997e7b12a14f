"""What a model is: its grid, its priors, its likelihood, and votes simulated from one.

=============  ======================================================
specification  ``Model``: a point in the grid
presets        models with a name
priors         ``Prior`` and ``Spreads``
outcomes/      how likely an outcome is: one likelihood a file
averaging      losses averaged over numbers that are Gaussian around a point
predictor      effects as data, and the coordinates of votes
point          a point in parameter space
objective      the negative log-posterior
problem        ``Problem``: votes, a model and a prior
algebra/       its gradient and Hessian, and their linear algebra
simulation     arenas with known truth
=============  ======================================================
"""
