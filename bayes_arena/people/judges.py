"""A judge, a program that votes, held to the others: agreement beyond chance.

The agreement p of a judge with the others is the mean, over the items (items.py) that both
saw, of the probability that a vote of the judge and one of the others are the same: for one,
for the other, or a tie.  Beyond chance it is (Cohen, 1960)

    kappa = (p - e) / (1 - e),    e = t t' + (1 - t) (1 - t') / 2,

with t and t' the shares of ties of the judge and of the others.  By chance either competitor
has half of the votes that are not ties, as the order within a pair is arbitrary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayes_arena.errors import ModelError, did_you_mean, listing, printable
from bayes_arena.fits.options import FitOptions
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.doors import discriminating
from bayes_arena.people.favourites import favourite_columns, find_favourites
from bayes_arena.people.items import verdicts_by_item
from bayes_arena.people.makers import Makers, Preference, own_maker_preferences
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import TIE, Votes

if TYPE_CHECKING:
    import pandas as pd


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
        """Its score for each competitor, beside the score expected from the others' votes."""
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
    votes: object,
    judge: str,
    /,
    makers: Makers | None = None,
    **options: Unpack[FitOptions],
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
    table = annotator_columns(source, fit, pairs)
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
