"""The preference of judges, programs that vote, for their own maker's competitors.

It is a shift of a judge's eta, in logits, in votes between its maker's competitors and
others.  It is fitted with am-Davidson, for all judges with a maker together, as each one's
preference bends the strengths.  A judge has tastes for single competitors, too; so the
variance of the preference has in addition

    tau^2 (1 / K_own + 1 / K_others),

with tau the spread of tastes (people/table.py) and K Kish's numbers of the competitors that
these votes were on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.boards.uncertainty import NORMAL
from bayes_arena.errors import VotesError, listing
from bayes_arena.fits.fit import find_posterior
from bayes_arena.model.priors import PRIORS
from bayes_arena.model.spec import PRESETS, resolve_model
from bayes_arena.people.table import pair_table
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import Votes, kish, sums

type Makers = Mapping[str, str] | str | Path


@dataclass(frozen=True)
class Preference:
    """A judge's preference for its own maker in logits, with its bounds at .95."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        """Return the preference with its interval."""
        return f"{self.value:+.2f} logits ({self.lower:+.2f} … {self.upper:+.2f})"


def maker_columns(votes: Votes, makers: Makers, annotators: Iterable[str]) -> Columns:
    """Return each annotator's preference for its own maker, with bounds.

    They are nan for annotators without a maker, such as people.
    """
    preferences = own_maker_preferences(votes, makers)
    unknown = Preference(np.nan, np.nan, np.nan)
    rows = [preferences.get(str(name), unknown) for name in annotators]
    return {
        "own_maker": np.array([row.value for row in rows]),
        "own_lower": np.array([row.lower for row in rows]),
        "own_upper": np.array([row.upper for row in rows]),
    }


def own_maker_preferences(votes: Votes, makers: Makers) -> dict[str, Preference]:
    """Return the preference for its own maker of each annotator who has one, by name."""
    maker = read_makers(makers)
    require_makers(votes, maker)
    features = {}
    for k, judge in enumerate(votes.annotators):
        feature = own_maker_side(votes, k, maker)
        if feature.any():
            features[judge] = feature
    if not features:
        return {}
    rows = replace(votes, features=features)
    model = replace(PRESETS["am-davidson"], style=tuple(features))
    model, rows, _ = resolve_model(model, rows)
    posterior = find_posterior(rows, model, PRIORS["default"], "gaussian")
    taste = pair_table(votes).taste
    preferences = {}
    for judge, feature in features.items():
        value = float(posterior.mean_of(f"style_{judge}")[0])
        sd = float(posterior.sd_of(f"style_{judge}")[0])
        sd = float(np.hypot(sd, taste * np.sqrt(sum_of_shares(votes, feature))))
        bounds = value - NORMAL * sd, value + NORMAL * sd
        preferences[judge] = Preference(value, *bounds)
    return preferences


def own_maker_side(votes: Votes, k: int, maker: Mapping[str, str]) -> Floats:
    """Return 1 where judge k sees its maker's competitor first, -1 second, else 0."""
    own_maker = maker.get(votes.annotators[k])
    if own_maker is None:
        return np.zeros(len(votes))
    is_own = np.array(
        [maker.get(name) == own_maker for name in votes.competitors], float
    )
    return np.where(votes.annotator == k, is_own[votes.i] - is_own[votes.j], 0.0)


def sum_of_shares(votes: Votes, side: Floats) -> float:
    """Return 1 / K_own + 1 / K_others of a judge's votes on its own maker."""
    n = votes.n_competitors
    cast = votes.counts.sum(axis=1) * np.abs(side)
    mine = np.where(side > 0, votes.i, votes.j)
    others = np.where(side > 0, votes.j, votes.i)
    return sum(1 / kish(sums(codes, cast, n)) for codes in (mine, others))


def require_makers(votes: Votes, maker: Mapping[str, str]) -> None:
    """Raise a VotesError where no competitor, or no annotator, has a maker."""
    for kind in ("competitors", "annotators"):
        names: tuple[str, ...] = getattr(votes, kind)
        if not any(name in maker for name in names):
            raise VotesError(
                f"None of the {kind} has a maker: {listing(map(repr, names))}. makers needs "
                "the names of competitors and of judges, each with its maker."
            )


def read_makers(makers: Makers) -> Mapping[str, str]:
    """Return the maker of each name, from a mapping or a CSV of two columns."""
    if isinstance(makers, Mapping):
        return makers
    import csv

    try:
        text = Path(makers).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise VotesError(f"Cannot read {str(makers)!r}: {error}.") from error
    rows = [row for row in csv.reader(text.splitlines()) if row]
    wrong = [number for number, row in enumerate(rows, 1) if len(row) != 2]
    if wrong:
        raise VotesError(
            f"{str(makers)!r} needs two columns, a name and its maker; not so in rows "
            f"{listing(wrong)}."
        )
    return {name.strip(): maker.strip() for name, maker in rows}
