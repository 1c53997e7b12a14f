"""Solutions, variances and determinants of matrices that are too large to factorise.

===========  ===============================================================================
gradients    solutions, by conjugate gradients
variances    the diagonal of the inverse, estimated, with its error
determinant  the logarithm of the determinant
===========  ===============================================================================
"""
