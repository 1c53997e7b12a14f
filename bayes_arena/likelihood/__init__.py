"""What a model is: its grid, its priors, its likelihood, and votes simulated from one.

=============  ========================================================
specification  ``Model``: a point in the grid
priors         ``Prior`` and ``Spreads``
labels         what parameters are called in a program and its draws
outcomes       how likely an outcome is, with derivatives
objective      the negative log-posterior, its gradient and its Hessian
problem        ``Problem``: votes, a model and a prior
arrow          linear algebra of that Hessian
simulation     arenas with known truth
=============  ========================================================
"""
