"""Linear algebra of Hessians, without votes: independent units are eliminated first, the rest is dense or sparse.

===============  ===========================================================================================
units            blocks of a matrix that are independent given the rest, eliminated; the formulas
loops            what is done for every unit, compiled
bordered         the Hessian of a model, its units apart
rows             that of a model with slices, summed from the rows of votes, and covariances back to the rows
elimination      which numbers of slices are units, and the entries that a vote fills
dense            what is left, as a dense matrix
factor           the factor of a Hessian with units
chain            numbers that walk from period to period, eliminated in order of time
chain_factor     the factor of a Hessian with such numbers
sparse_hessian   the Hessian of many competitors, few pairs of whom met
sparse_factor    its solutions, variances, draws and determinant
sparse_bordered  the same where a few annotators have numbers of their own
solving/         solutions, the diagonal of the inverse and the determinant, without a factor
factorising      factors of any Hessian
own_jacobian     derivatives in the numbers of all annotators
thin_jacobian    derivatives of one function per competitor: a diagonal and a matrix of low rank
===============  ===========================================================================================
"""
