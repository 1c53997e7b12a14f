"""The posterior mode: found, and judged.

==============  ========================================================
mode            ``find_mode``: the mode, or why there is none
search          the best of several optima
newton          from a start to an optimum
laplace         the Gaussian approximation at the mode
direction       the probability that the ranking is reversed
recession       starts towards infinity
disagreement    starts along directions in which annotators disagree
identification  what the votes leave open, in words
==============  ========================================================
"""
