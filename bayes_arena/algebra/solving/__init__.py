"""What is asked of a matrix that is too large to factorise.

===========  ===============================================================================
gradients    solutions, by conjugate gradients
variances    the diagonal of its inverse, to within an error that the estimate states
determinant  the logarithm of its determinant
===========  ===============================================================================
"""
