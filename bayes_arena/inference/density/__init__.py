"""The log-density of a model and its gradient, for NUTS; the compiled loops are in the folder of likelihoods.

===========  ======================================================================
coordinates  the sampler's coordinates, and the model's parameters at each point
log_density  density and gradient of votes under a model
tables       effects and votes of a model as tables for the compiled loops
===========  ======================================================================
"""
