"""A judge, a program that votes, held to the others: agreement, and its own maker.

An item is a pair of competitors, on one prompt where prompts are known.  The agreement p of
a judge with the others is the mean, over the items that both saw, of the probability that a
vote of the judge and one of the others are the same: for one, for the other, or a tie.
Beyond chance it is (Cohen, 1960)

    kappa = (p - e) / (1 - e),    e = t t' + (1 - t) (1 - t') / 2,

with t and t' the shares of ties of the judge and of the others.  By chance either competitor
has half of the votes that are not ties, as the order within a pair is arbitrary.

The preference of a judge for its own maker is a shift of its eta, in logits, in votes
between that maker's competitors and others.  It is fitted with am-Davidson, for all judges
with a maker together, as each one's preference bends the strengths.  A judge has tastes for
single competitors, too; so the variance of the preference has in addition

    tau^2 (1 / K_own + 1 / K_others),

with tau the spread of tastes (people/table.py) and K Kish's numbers of the competitors that
these votes were on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.intervals import kish
from bayes_arena.errors import (
    ModelError,
    VotesError,
    did_you_mean,
    listing,
    printable,
)
from bayes_arena.fits.fit import find_posterior
from bayes_arena.model.priors import PRIORS
from bayes_arena.model.spec import PRESETS, resolve_model
from bayes_arena.people.annotators import annotator_columns, discriminating
from bayes_arena.people.favourites import favourite_columns, find_favourites
from bayes_arena.people.table import pair_table
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import FIRST, PROMPT, SECOND, TIE, Votes, distinct_rows

if TYPE_CHECKING:
    import pandas as pd

type Makers = Mapping[str, str] | str | Path
NORMAL = 1.96  # standard deviations of an interval at .95


@dataclass(frozen=True)
class Preference:
    """A judge's preference for its own maker in logits, with its bounds at .95."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        """Return the preference with its interval."""
        return f"{self.value:+.2f} logits ({self.lower:+.2f} … {self.upper:+.2f})"


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """What is known of a judge.

    Attributes
    ----------
    judge : str
    row : dict
        Its row of :func:`~bayes_arena.annotators`.
    agreement : float
        Probability that its vote and one of the others on the same item are the same; nan
        where it shares no item with them.
    kappa : float
        The same beyond chance: 0 by chance, 1 always.
    items : int
        Pairs, on one prompt where prompts are known, that the others saw, too.
    competitors : Columns
        Its rows of :func:`~bayes_arena.favourites`.
    preference : Preference, optional
        For the competitors of its own maker: ``value`` in logits, with the bounds
        ``lower`` and ``upper`` at .95.
    table
    """

    judge: str
    row: Mapping[str, Any]
    agreement: float
    kappa: float
    items: int
    competitors: Columns
    preference: Preference | None = None

    @property
    def table(self) -> pd.DataFrame:
        """Its score for each competitor, beside what the others' votes let expect."""
        return dataframe(self.competitors)

    def __str__(self) -> str:
        """Return the report in a few lines."""
        why = f" ({self.row['why']})" if self.row["why"] else ""
        lines = [
            f"{self.judge}: {self.row['verdict']}{why}, {self.row['votes']:,.0f} votes",
            f"Agreement with the others: {self.agreement:.2f}, beyond chance "
            f"{self.kappa:.2f} ({self.items:,} items that they saw, too)"
            if self.items
            else "Agreement with the others: unknown, they saw none of its items",
        ]
        if self.preference is not None:
            lines.append(f"Preference for its own maker: {self.preference}")
        return "\n".join(map(printable, lines))


def judge_report(
    votes: object, judge: str, makers: Makers | None = None, **options: Any
) -> JudgeReport:
    """Report on one judge beside the others.

    Parameters
    ----------
    votes : Fit, or votes
        Of several annotators.  A fit without discrimination, or votes, are fitted by
        am-Davidson.
    judge : str
        Its name among the annotators.
    makers : mapping of str to str, or path, optional
        The maker of each competitor and of the judge; or a CSV of the two columns.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    JudgeReport

    Raises
    ------
    ModelError
        If nobody of this name votes, or nobody else does.
    VotesError
        If annotators are unknown, or ``makers`` cannot be read.
    """
    fit = discriminating(votes, **options)
    source = fit.votes
    if judge not in source.annotators:
        known = did_you_mean(judge, source.annotators)
        raise ModelError(
            f"No annotator is called {judge!r}."
            f"{known or f' They are {listing(source.annotators)}.'}"
        )
    if source.n_annotators == 1:
        raise ModelError(
            f"{judge!r} voted alone: no comparison is possible. Add votes of others."
        )
    pairs = find_favourites(source)
    table = annotator_columns(fit, pairs)
    k = list(table["annotator"]).index(judge)
    rows = favourite_columns(source, pairs)
    is_judge = np.asarray(rows["annotator"]) == judge
    agreement, kappa, items = agreement_with_others(source, judge)
    preference = None
    if makers is not None:
        preference = own_maker_preferences(source, makers).get(judge)
    return JudgeReport(
        judge=judge,
        row={name: values[k] for name, values in table.items()},
        agreement=agreement,
        kappa=kappa,
        items=items,
        competitors={n: np.asarray(v)[is_judge] for n, v in rows.items()},
        preference=preference,
    )


def agreement_with_others(votes: Votes, judge: str) -> tuple[float, float, int]:
    """Return the agreement of a judge, the same beyond chance, and the items in common."""
    verdicts, item = verdicts_by_item(votes)
    n_items = int(item.max()) + 1
    is_judge = votes.annotator == votes.annotators.index(judge)
    counts = np.zeros((2, n_items, 3))
    np.add.at(counts, (is_judge.astype(int), item), verdicts)
    cast = counts.sum(axis=2)
    is_common = (cast > 0).all(axis=0)
    if not is_common.any():
        return float("nan"), float("nan"), 0
    theirs, own = counts[:, is_common] / cast[:, is_common, None]
    agreement = float(np.mean(np.sum(own * theirs, axis=1)))
    t, t_others = own[:, TIE].mean(), theirs[:, TIE].mean()
    chance = float(t * t_others + (1 - t) * (1 - t_others) / 2)
    kappa = (agreement - chance) / (1 - chance) if chance < 1 else float("nan")
    return agreement, kappa, int(is_common.sum())


def verdicts_by_item(votes: Votes) -> tuple[Floats, Ints]:
    """Return votes for the earlier name, for the other and ties, (rows, 3), and items."""
    swapped = votes.i > votes.j
    verdicts = votes.folded.copy()
    verdicts[swapped] = verdicts[swapped][:, [SECOND, FIRST, TIE]]
    item = [votes.pair_code]
    if PROMPT in votes.slices:
        item.append(votes.slices[PROMPT])
    return verdicts, distinct_rows(item)[1]


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
    model, _ = resolve_model(model, rows)
    posterior = find_posterior(rows, model, PRIORS["default"], "gaussian")
    taste = pair_table(votes.collapse(annotators=True)).taste
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
    cast = votes.counts.sum(axis=1) * np.abs(side)
    mine = np.where(side > 0, votes.i, votes.j)
    others = np.where(side > 0, votes.j, votes.i)
    return sum(1 / kish(np.bincount(codes, cast)) for codes in (mine, others))


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
