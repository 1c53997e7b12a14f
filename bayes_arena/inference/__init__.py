"""Inference: the posterior mode, the nearest Gaussian, and the board on one scale."""
