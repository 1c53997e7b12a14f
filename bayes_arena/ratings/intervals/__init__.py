"""Intervals: frozen objects, one for each way of quantifying the uncertainty of an estimate.

===============  =====================================================================
contract         what a table asks of an interval, and what the interval returns
names            the short names, and the interval that each stands for
laplace          ``Laplace``: the interval of the posterior itself
profile          ``Profile``: bounds where the profile likelihood falls too low
robust           ``Sandwich``: variances from the votes' scores, and draws with them
clustered        ``Clustered``: the same where votes in a cluster are dependent
dependent_votes  a warning where votes that share a prompt are treated as independent
bootstrap        ``Bootstrap``: fits to votes drawn with replacement
===============  =====================================================================
"""
