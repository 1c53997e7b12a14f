"""What a model is: its grid, its priors, its likelihood, and votes simulated from one.

=============  ==============================================================================================
specification  ``Model``: a point in the grid
presets        named models
priors         ``Prior`` and ``Spreads``
outcomes/      the probabilities of outcomes: one likelihood per file
averaging      losses averaged over a Gaussian around a point
loops          what is done for every row, compiled: that average, and the density that NUTS samples
predictor      effects as data, and the coordinates of votes
point          a point in parameter space
numbering      which number belongs to which slice, and which are eliminated first
steps          numbers that walk: what is independent are the steps between them
objective      the negative log-posterior
row_sums       sums over the rows of votes, block by block
derivatives    gradient and Hessian of the objective
covariances    the Gaussian around a point, for the rows of votes
problem        ``Problem``: votes, a model and a prior
simulation     arenas with known truth
=============  ==============================================================================================
"""
