"""The posterior mode: found, and judged.

==============  =====================================================
mode            ``find_mode``: the mode, or why there is none
search          the best of several optima
newton          the way from a start to an optimum
laplace         the Gaussian approximation at the mode
direction       how sure the votes are which end of the ranking is up
recession       starts on the way to infinity
identification  what the votes leave open, in words
==============  =====================================================
"""
