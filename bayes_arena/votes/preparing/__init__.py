"""What is not votes yet, and becomes votes or part of them.

=====  =======================================================
texts  ``style_features``: length and markdown of the answers
=====  =======================================================
"""
