"""Linear algebra of Hessians, without votes: independent blocks are eliminated first, the rest is dense.

==============  ============================================================================================
arrow           the Hessian of models without slices, and what follows from its annotators' blocks alone
border          the block that couples the head with the annotators' numbers
factors         an arrow with a dense Schur complement; the factor of any Hessian
sparse_hessian  the Hessian of many competitors, few pairs of whom met
sparse_factor   its solutions, variances, draws and determinant
sparse_arrow    the same where a few annotators have numbers of their own
solving/        solutions, the diagonal of the inverse and the determinant, without a factor
crossed         the Hessian of a model with slices, row by row
units           units eliminated: sums of rows into their matrices, and covariances back to the rows
elimination     the order in which numbers of slices are eliminated, and the entries that a vote fills
crossed_factor  the factor of that Hessian
chain           numbers that walk from period to period, eliminated in order of time
own_jacobian    derivatives in the numbers of all annotators
thin_jacobian   derivatives of one function per competitor: a diagonal and a matrix of low rank
==============  ============================================================================================
"""
