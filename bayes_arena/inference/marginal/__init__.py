"""The spreads of a prior, estimated with everything below them integrated out.

==========  ======================================================================
spreads     by the Laplace evidence, where annotators have many votes
nearest     by the Gaussian nearest to the posterior, of models with slices
quadrature  by Gauss-Hermite quadrature, where they have few
climb       Newton on the marginal likelihood
integral    the marginal likelihood as a function of what it is maximised over
kernels     its compiled loops, in one file: their cache on disk looks at no other
==========  ======================================================================
"""
