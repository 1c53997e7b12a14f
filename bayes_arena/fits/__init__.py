"""Fitting a model to votes: results, draws and files.

===============  =================================================================
fitting          ``fit``
arguments        votes where a fit is wanted, and typed errors
plan             ``choose``: what a fit chooses by default, and why
result           ``Fit``
sampling         the posterior by NUTS
images           mirror images of directions of disagreement in draws
posterior        ``from_posterior``: draws from your own model as a fit
many             ``fit_many``: a fit for every category, language or week
draws            ``Draws`` of all parameters
posterior_draws  ``draw``: from the posterior of a fit, whatever its method
prior_draws      draws from a prior
pointwise        the log-likelihood of every vote under every draw
tree             ``to_datatree``: a fit as ArviZ reads it
saved/           results on disk
===============  =================================================================
"""
