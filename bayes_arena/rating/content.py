"""What JSON says of a board: of which votes it is, and how and when it was made."""

from __future__ import annotations

import os
import time
from typing import Any

from bayes_arena.boards.standing import Standing
from bayes_arena.fits.options import OWN
from bayes_arena.fits.result import Fit
from bayes_arena.model.priors import name_of_prior
from bayes_arena.version import SCHEMA, __version__
from bayes_arena.votes.votes import PROMPT, Votes


def today() -> str:
    """Return the date as 2026-11-28.

    A number in ``SOURCE_DATE_EPOCH`` stands for the clock, in seconds since 1970, so that
    the same votes give the same bytes: reproducible-builds.org/specs/source-date-epoch.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = time.gmtime(int(epoch)) if epoch.isdecimal() else time.localtime()
    return time.strftime("%Y-%m-%d", moment)


def facts_of_votes(votes: Votes, source: str) -> dict[str, Any]:
    """Return of which votes something is, and when it was made."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "date": today(),
        "source": source,
        "n_votes": votes.n_votes,
        "n_competitors": votes.n_competitors,
        "n_annotators": votes.n_annotators,
        "n_prompts": len(votes.levels.get(PROMPT, ())),
    }


def facts_of(standing: Standing, source: str) -> dict[str, Any]:
    """Return of which votes a board is, and how it was made."""
    return {
        **facts_of_votes(standing.fit.votes, source),
        "plan": standing.fit.plan,
        "model": standing.fit.model.name,
        "prior": prior_of(standing.fit),
        "method": standing.fit.method,
        "interval": standing.uncertainty.name,
        "cluster": standing.uncertainty.cluster,
        "level": standing.look.level,
        "min_votes": standing.look.min_votes,
        "seed": standing.look.seed,
    }


def prior_of(fit: Fit) -> str | None:
    """Return the name of a fit's prior, or what makes one of one's own; None if unknown."""
    if fit.method == OWN:
        return None
    return name_of_prior(fit.prior) or str(fit.prior)
