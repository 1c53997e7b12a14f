"""Models of a vote: effects, priors, and the negative log-posterior they add up to."""
