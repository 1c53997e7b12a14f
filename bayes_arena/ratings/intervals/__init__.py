"""Intervals: frozen objects, one for each way of quantifying the uncertainty of an estimate.

===============  ==============================================================
contract         what a table asks of an interval, and what it answers
names            the short names, and the interval that each stands for
laplace          ``Laplace``: the posterior's own
profile          ``Profile``: where the profile likelihood falls
robust           ``Sandwich``: variances from the votes' scores
clustered        ``Clustered``: the same, where votes of a cluster vary together
dependent_votes  a warning where an interval takes votes that share a prompt for independent
multipliers      draws of the parameters with sandwich variances
bootstrap        ``Bootstrap``: fits to votes drawn with replacement
===============  ==============================================================
"""
