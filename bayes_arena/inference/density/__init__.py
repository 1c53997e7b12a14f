"""The log-density of a model with its gradient, which NUTS walks through.

===========  ======================================================================
coordinates  the sampler's coordinates, and the numbers of a model at each of them
log_density  density and gradient of votes under a model
kernels      its compiled loops, in one file: their cache on disk looks at no other
===========  ======================================================================
"""
