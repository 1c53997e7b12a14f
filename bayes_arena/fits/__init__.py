"""Fits: a model, votes, and the posterior of one given the other."""
