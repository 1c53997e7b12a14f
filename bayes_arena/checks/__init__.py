"""Checks of models: prediction, comparison, and posterior predictive checks."""
