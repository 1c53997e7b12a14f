"""What a model is: its grid, its priors, its likelihood, and votes simulated from one.

=============  ======================================================
specification  ``Model``: a point in the grid
presets        models with a name
priors         ``Prior`` and ``Spreads``
outcomes/      how likely an outcome is: one likelihood a file
averaging      losses averaged over numbers that are Gaussian around a point
predictor      effects as data, and the coordinates of votes
point          a point in parameter space
numbering      which number belongs to which slice, and which are eliminated first
objective      the negative log-posterior
row_sums       what the rows of votes add up to, block by block
derivatives    gradient and Hessian of the objective
covariances    the Gaussian around a point as the rows of votes see it
problem        ``Problem``: votes, a model and a prior
simulation     arenas with known truth
=============  ======================================================
"""
