"""Linear algebra of Hessians: what crosses nothing is eliminated first, the rest is dense. It knows no votes.

=============  =================================================================================
arrow          annotators eliminated, the rest dense: models without slices
crossed        the Hessian of a model with slices, row by row
elimination    in which order numbers of slices are eliminated, and which entries a vote fills
factor         what is left of it, ready to solve
kernels        its loops, compiled
sparse/        the parts that are mostly zero, as of many competitors, few of whom met
=============  =================================================================================
"""
