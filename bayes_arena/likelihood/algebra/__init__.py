"""Gradient and Hessian, and their linear algebra: what crosses nothing is eliminated first, the rest is dense.

=============  =================================================================================
derivatives    gradient and Hessian of the objective
arrow          annotators eliminated, the rest dense: models without slices
numbering      which number belongs to which slice
elimination    in which order they are eliminated, and which entries of the Hessian a vote fills
crossed        the larger of the crossed sides eliminated, unit by unit: models with slices
factor         what is left of it, ready to solve
kernels        its loops, compiled
around         covariances of an arrow's Gaussian as the rows of votes see them
row_sums       what the rows of votes add up to, block by block
sparse/        the parts that are mostly zero, as of many competitors, few of whom met
=============  =================================================================================
"""
