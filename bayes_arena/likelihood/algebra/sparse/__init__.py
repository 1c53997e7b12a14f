"""Parts of a Hessian that are mostly zero, kept where they are not.

======  ======================================================
border  how the head and the annotators' numbers pull together
======  ======================================================
"""
