"""What is not votes yet, and becomes votes or part of them.

========  =======================================================
rankings  ``read_rankings``: rankings of several, written as pairs
texts     ``style_features``: length and markdown of the answers
========  =======================================================
"""
