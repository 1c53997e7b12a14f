"""What parameters and their spreads are called: in a prior, and in a PyMC program and its draws."""

LABELS = {
    "discrimination": "discrimination",
    "tie_propensity": "log_tie_propensity",
    "position": "position",
    "both_bad": "log_both_bad",
}
"""By the name of the term."""
SPREAD_OF = {"discrimination": "discrimination", "tie_propensity": "tie_spread", "position": "position_spread"}
"""The prior's name of the spread of annotators' numbers, by the name of the term."""
SPREADS = {
    "strength": "strength_sd",
    "discrimination": "discrimination_sd",
    "tie_spread": "tie_spread",
    "position_spread": "position_spread",
}
"""Spreads that are sampled, by the name of the prior's."""
