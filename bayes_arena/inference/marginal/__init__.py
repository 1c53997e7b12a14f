"""The spreads of a prior, estimated with everything below them integrated out.

==========  ==================================================================================
finding     chooses one of the following
gaussian    by the Gaussian nearest to the posterior: annotators and slices
sweep       an average over a Gaussian, and the next one
jumping     several sweeps combined, where they approach the fixed point slowly
response    how annotators answer the head, and what that takes from the information about it
axes        the axes along which disagreement is measured
directions  how many directions the votes show in which annotators disagree
spreads     by the Laplace evidence: for many competitors, whose matrix of pairs is not formed
==========  ==================================================================================
"""
