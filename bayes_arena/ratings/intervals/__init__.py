"""Intervals: frozen objects, one a way of saying how far an estimate can be trusted.

===========  ==============================================================
contract     what a table asks of an interval, and what it answers
names        the short forms, and the interval that each means
laplace      ``Laplace``: the posterior's own
profile      ``Profile``: where the profile likelihood falls
robust       ``Sandwich``: variances from the votes' scores
clustered    ``Clustered``: the same, where votes of a cluster vary together
multipliers  draws of the parameters with those variances
bootstrap    ``Bootstrap``: fits to votes drawn with replacement
===========  ==============================================================
"""
