"""How likely an outcome is: one likelihood a file, each an object ``LIKELIHOOD`` found by its name in ``Model.ties``.

==========  =============================================================
likelihood  ``Likelihood``: what each is, and what follows from it
half        ties as half wins, the paper's soft likelihood
drop        ties left out
davidson    Davidson's ties, and both-bad votes as an outcome
rao_kupper  Rao and Kupper's ties
==========  =============================================================
"""
