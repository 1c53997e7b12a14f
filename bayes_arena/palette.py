"""Colours: one for one thing, in every picture and on the page.

Blue is what leads, orange what is odd, grey all else.  Shades of blue are scores above
one half and probabilities; shades of grey are scores below one half.  Blue and orange
differ to colour-blind readers too, and a shape or a word always says the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayes_arena.arrays import Floats, Ints

# The page's variables of CSS on light and on dark paper.  Pictures take the light ones.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#16191d",  # text, and dots of what is neither first nor odd
    "muted": "#5a626c",  # lesser text, and their lines
    "line": "#dfe3e8",
    "soft": "#f5f7f9",
    "lead": "#0b5cad",  # a competitor that may be the best
    "odd": "#b8480a",  # an anomalous annotator, a favourite, a contested competitor
    "w1": "#e4eef8",
    "w2": "#c3dcf3",
    "w3": "#93bfe8",
    "w4": "#4488c9",
    "w5": "#0b4a8c",
    "l1": "#f1f1f0",
    "l2": "#e0e0de",
    "l3": "#c6c6c3",
    "l4": "#8d8d8a",
    "l5": "#55554f",
    "on4": "#000000",  # text on shades 4 and 5
    "on5": "#ffffff",
    "shade": "#00000044",
}
DARK = {
    "paper": "#111418",
    "ink": "#e7eaee",
    "muted": "#a0a9b4",
    "line": "#2a3038",
    "soft": "#191d23",
    "lead": "#78b4f0",
    "odd": "#f0945a",
    "w1": "#16263a",
    "w2": "#1b3a5e",
    "w3": "#235286",
    "w4": "#4a8fd0",
    "w5": "#a5d0f8",
    "l1": "#1d2023",
    "l2": "#2a2d30",
    "l3": "#3d4043",
    "l4": "#8b8e91",
    "l5": "#c4c6c8",
    "on4": "#000000",
    "on5": "#000000",
    "shade": "#ffffff55",
}
N_SHADES = 5
# Least values of the shades 1 to 5: of probabilities, and of scores above one half.
PROBABILITY_STEPS = (0.005, 0.03, 0.1, 0.25, 0.5)
SCORE_STEPS = (0.51, 0.6, 0.7, 0.8, 0.9)


def probability_shades(probability: Floats) -> Ints:
    """Return the shades of probabilities, 0 to 5."""
    return np.searchsorted(PROBABILITY_STEPS, probability, side="right")


def score_shades(score: Floats) -> Ints:
    """Return the shades of expected scores, -5 to 5."""
    shade = np.searchsorted(SCORE_STEPS, np.maximum(score, 1 - score), side="right")
    return np.where(score >= 0.5, shade, -shade)


def css_variables(colours: Mapping[str, str]) -> str:
    """Return colours as a rule of CSS that sets variables."""
    variables = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    return f":root {{ {variables} }}"
