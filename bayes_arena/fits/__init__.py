"""One verb, one result: a model fitted to votes, and draws from it.

===========  ==============================================
fitting      ``fit``
result       ``Fit``
sampling     the whole posterior by NUTS
draws        ``Draws`` and ``draw``, whatever route the fit came by
prior_draws  draws before any vote
pointwise    what a fit says of every vote it has seen
tree         ``to_datatree``: a fit as ArviZ reads it
posterior    ``from_posterior``: draws of a model of your own as a fit
saved/       results on disk
many/        a fit of every category, language or week
===========  ==============================================
"""
