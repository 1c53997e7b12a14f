"""The log-density of a model and its gradient, for NUTS.

===========  ======================================================================
coordinates  the sampler's coordinates, and the model's parameters at each point
log_density  density and gradient of votes under a model
tables       effects and votes of a model as tables for the compiled loops
kernels      the compiled loops, in one file: their disk cache checks no other
compiled     functions compiled at their first call, and kept on disk
===========  ======================================================================
"""
