"""Parts of a Hessian, and derivatives, that are mostly zero or too many to hold together.

===============  ====================================================================================
border           how the head and the annotators' numbers pull together
own_jacobian     derivatives by the numbers of all annotators
eliminated       what follows from the annotators' blocks alone
hessian          the strengths of many competitors, few of whom met
factor           what that is asked for: solutions, variances, draws, determinant
with_annotators  the same where a few annotators have numbers of their own
solving/         solutions, the diagonal of the inverse and the determinant, without a factor
jacobian         derivatives of one function of every competitor: a diagonal and a matrix of low rank
===============  ====================================================================================
"""
