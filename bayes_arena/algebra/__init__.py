"""Linear algebra of Hessians: what crosses nothing is eliminated first, the rest is dense. It knows no votes.

==============  ============================================================================================
arrow           annotators' blocks in a border: models without slices, and what follows from the blocks alone
border          how the head and the annotators' numbers pull together
factors         the rest of an arrow as a dense matrix; the factor of any Hessian
sparse_hessian  the strengths of many competitors, few of whom met
sparse_factor   what that is asked for: solutions, variances, draws, determinant
sparse_arrow    the same where a few annotators have numbers of their own
solving/        solutions, the diagonal of the inverse and the determinant, without a factor
crossed         the Hessian of a model with slices, row by row
elimination     in which order numbers of slices are eliminated, and which entries a vote fills
crossed_factor  what is left of it, ready to solve
kernels         its loops, compiled
own_jacobian    derivatives by the numbers of all annotators
thin_jacobian   derivatives of one function of every competitor: a diagonal and a matrix of low rank
==============  ============================================================================================
"""
