"""Parts of a Hessian, and derivatives, that are mostly zero or too many to hold together.

============  ====================================================================================
border        how the head and the annotators' numbers pull together
own_jacobian  derivatives by the numbers of all annotators
hessian       the strengths of many competitors, few of whom met
factor        what that is asked for: solutions, variances, draws, determinant
gradients     its solutions, by conjugate gradients
variances     the diagonal of its inverse, to within an error that the estimate states
determinant   the logarithm of its determinant
jacobian      derivatives of one function of every competitor: a diagonal and a matrix of low rank
============  ====================================================================================
"""
