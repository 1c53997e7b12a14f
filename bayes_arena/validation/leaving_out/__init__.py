"""Votes left out one by one, by importance sampling.

========  ========================================================================
psis      the density of a vote from all others, smoothed: a compiled loop
sampling  of so many votes that some are left out, and the rest estimated from them
========  ========================================================================
"""
