"""How likely an outcome is.

==========  ===============================================================================
likelihood  ``Likelihood``: what each is, and what follows from it
NAME        one likelihood each, an object ``LIKELIHOOD`` found by its name in ``Model.ties``
==========  ===============================================================================
"""
