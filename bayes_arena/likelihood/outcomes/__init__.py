"""The probabilities of outcomes.

==========  ===============================================================================
likelihood  ``Likelihood``: what defines each, and what follows from it
NAME        one likelihood per file, an object ``LIKELIHOOD`` found by its name in ``Model.ties``
==========  ===============================================================================
"""
