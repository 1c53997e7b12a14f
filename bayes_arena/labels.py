"""What parameters are called in a PyMC program and in its draws, wherever these are read or written."""

LABELS = {
    "discrimination": "discrimination",
    "tie_propensity": "log_tie_propensity",
    "position": "position",
    "both_bad": "log_both_bad",
}
"""By the name of the term."""
SPREADS = {
    "strength": "strength_sd",
    "discrimination": "discrimination_sd",
    "tie_spread": "tie_spread",
    "position_spread": "position_spread",
}
"""Spreads that are sampled, by the name of the prior's."""
