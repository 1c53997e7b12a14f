"""The log-density of a model with its gradient, which NUTS walks through.

===========  ======================================================================
coordinates  the sampler's coordinates, and the numbers of a model at each of them
log_density  density and gradient of votes under a model
tables       effects and votes of a model as these loops take them
kernels      its compiled loops, in one file: their cache on disk looks at no other
===========  ======================================================================
"""
