"""Ties left out: the logistic likelihood of wins and losses."""

from __future__ import annotations

from dataclasses import replace

from bayes_arena.likelihood.outcomes import half

LIKELIHOOD = replace(half.LIKELIHOOD, name="drop", half_wins=False)
