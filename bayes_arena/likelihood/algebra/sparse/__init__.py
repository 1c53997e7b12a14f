"""Parts of a Hessian, and derivatives, that are mostly zero or too many to hold together.

============  ======================================================
border        how the head and the annotators' numbers pull together
own_jacobian  derivatives by the numbers of all annotators
============  ======================================================
"""
