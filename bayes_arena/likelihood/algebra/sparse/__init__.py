"""The Hessian of many competitors, of whom each has met a few: its strengths' block is sparse, and never made dense.

==============  ==============================================================
hessian         the matrix, and when a model has it
factor          what it is asked for: solutions, variances, draws, determinant
gradients       conjugate gradients, for many right-hand sides at once
variances       the diagonal of the inverse, to within an error that it states
determinant     the logarithm of the determinant
jacobian        derivatives of many functions: a diagonal and a low rank
==============  ==============================================================
"""
