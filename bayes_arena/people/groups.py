"""Two groups of annotators who rank differently.

Residuals are held to am-Davidson, where annotators have a theta, ties and a side of their
own: skill, guessing and reversal leave nothing.  Whether annotators share a taste beyond
chance is asked of their common direction (tastes.py); then two groups of their slopes on
it are held against one (mixture.py).  Where prompts repeat, chance turns all residuals of
a prompt together: what a prompt does to those who judge it is chance, and what annotators
do on one prompt after another is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.clusters import (
    FEWEST_CLUSTERS,
    prompt_clusters,
    repeating_prompts,
)
from bayes_arena.errors import ModelError, join_words, require_seed
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.fits.result import Fit
from bayes_arena.fits.scores import scores_of
from bayes_arena.people.doors import discriminating
from bayes_arena.people.mixture import two_groups
from bayes_arena.people.tastes import (
    Tastes,
    chance_of_tastes,
    direction_of,
    signed_table,
)
from bayes_arena.said import Call
from bayes_arena.tables import Columns, dataframe
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.01  # p-value up to which annotators have tastes
LEAST_RATIO = 8.0  # of two groups; chi-square of their two parameters has it in 1 of 55
FEWEST_MEMBERS = 2  # one annotator is no group
NAMED = 2  # competitors on either side that a sentence names
GROUP = "annotator_group"  # the slice by their groups
GROUPS = LARGER, SMALLER = "larger", "smaller"
BOARDS_BY_GROUP = Call("leaderboard", by=GROUP)
ODD = ("anomalous", "has a favourite")
FOUND_HERE = (
    "The two groups were found in these votes: their boards look more different here than "
    "they would in new ones."
)


@dataclass(frozen=True, eq=False)
class Groups:
    """Whether annotators fall into two groups, and who prefers whom.

    Attributes
    ----------
    p_value : float, optional
        Of the hypothesis that annotators differ in theta, ties and side only.  None where
        nothing can be said.
    members : tuple of str
        The smaller group, who go furthest first; empty where there are no two groups.
    prefers, over : tuple of str
        Competitors that members rank higher, and lower, than the others do, the clearest
        first: two each.
    reason : str
        Why nothing can be said; empty where something can.
    columns : mapping of str to ndarray
        Those of ``table``.
    table
    sentence

    Methods
    -------
    label
    """

    p_value: float | None = None
    members: tuple[str, ...] = ()
    prefers: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    reason: str = ""
    columns: Columns = field(default_factory=dict, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row an annotator: annotator, slope, sd, group.

        The slope says how far an annotator goes in the common direction, in logits of a
        typical competitor; group is "smaller" or "larger", "" without two groups.
        """
        return dataframe(self.columns or {name: [] for name in COLUMNS})

    @property
    def sentence(self) -> str:
        """What was found, in a sentence; empty where nothing is said."""
        if self.p_value is None or self.p_value > SURE:
            return ""
        if not self.members:
            return (
                "Annotators have tastes of their own; two groups cannot be told apart."
            )
        n_annotators = len(self.columns["annotator"])
        return (
            f"{len(self.members):,} of {n_annotators:,} annotators rank differently: they "
            f"prefer {join_words(self.prefers)} to {join_words(self.over)} more than the "
            "others do."
        )

    def columns_of(self, annotators: Sequence[str] | Array) -> Columns:
        """Return the column ``annotator_group`` of some annotators; none without groups."""
        if not self.members:
            return {}
        is_member = np.isin(np.asarray(annotators, dtype=object), self.members)
        return {GROUP: np.where(is_member, SMALLER, LARGER).astype(object)}

    def label(self, votes: Votes) -> Votes:
        """Return votes with the slice ``annotator_group``: "smaller" or "larger".

        Who has no group is in the larger one.

        Raises
        ------
        ModelError
            If there are no two groups.
        """
        if not self.members:
            why = f" {self.reason}" if self.reason else ""
            raise ModelError(f"No two groups of annotators were found.{why}")
        members = np.isin([*votes.annotators, ""], self.members)
        codes = {**votes.slices, GROUP: members[votes.annotator].astype(np.intp)}
        levels = {**votes.levels, GROUP: GROUPS}
        return replace(votes, slices=codes, levels=levels)


COLUMNS = ("annotator", "slope", "sd", "group")


def describe_groups(found: Groups, annotators: Columns) -> str:
    """Return what was found, and whether the smaller group is odd by the table.

    Accounts that favour one competitor together are a group that prefers it.
    """
    verdict = np.asarray(annotators["verdict"])
    odd = np.asarray(annotators["annotator"])[np.isin(verdict, ODD)]
    if 2 * np.isin(found.members, odd).sum() <= len(found.members):
        return found.sentence
    return f"{found.sentence} Most of them are anomalous or have a favourite."


def groups(
    votes: object, *, seed: int = 0, **options: Unpack[UnseededOptions]
) -> Groups:
    """Return the two groups into which annotators fall, if they do.

    Parameters
    ----------
    votes : Fit, or votes
        A fit without discrimination, or votes, are fitted by am-Davidson.
    seed : int
        Of the boards by chance.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    Groups

    Raises
    ------
    VotesError
        If annotators are unknown.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> ba.groups(ba.example_arena().votes).sentence
    ''
    """
    require_seed(seed)
    return find_groups(discriminating(votes, **options), seed)


def find_groups(fit: Fit, seed: int = 0) -> Groups:
    """Return the two groups of the annotators of a fit with discrimination."""
    if fit.votes.n_annotators == 1:
        return Groups(reason="There is one annotator, and nobody to differ from.")
    rows, scores = scores_of(fit)
    if 1 < (repeating_prompts(fit) or 0.0) < FEWEST_CLUSTERS:
        return Groups(
            reason=f"Fewer than {FEWEST_CLUSTERS} prompts repeat: too few to tell what "
            "annotators prefer from what prompts do."
        )
    tastes = Tastes(rows, scores)
    prompts = prompt_clusters(fit, rows)
    clusters = np.arange(len(rows)) if prompts is None else prompts
    table = signed_table(tastes, clusters)
    with threads_for(rows.n_competitors):
        p_value = chance_of_tastes(table, seed)
        u, direction = direction_of(table, tastes)
    slope, sd = tastes.slopes(direction)
    is_member = np.zeros(rows.n_annotators, bool)
    if p_value <= SURE:
        is_member, sign = smaller_group(slope, sd, rows.votes_by_annotator)
        u, slope = sign * u, sign * slope
    return described(rows, p_value, is_member, u, slope, sd)


def smaller_group(slope: Floats, sd: Floats, n_votes: Floats) -> tuple[Array, int]:
    """Return who is in the smaller of two groups, if there are, and its sign.

    Of two groups of one size the smaller has fewer votes.
    """
    ratio, is_high = two_groups(slope, sd)
    sizes = [(mask.sum(), n_votes[mask].sum()) for mask in (is_high, ~is_high)]
    mask, sign = (is_high, 1) if sizes[0] <= sizes[1] else (~is_high, -1)
    if ratio <= LEAST_RATIO or mask.sum() < FEWEST_MEMBERS:
        mask = np.zeros_like(mask)
    return mask, sign


def described(
    rows: Votes, p_value: float, is_member: Array, u: Floats, slope: Floats, sd: Floats
) -> Groups:
    """Return groups with the names of annotators and of competitors."""
    names = np.array(rows.annotators, dtype=object)
    group = np.where(is_member, SMALLER, LARGER) if is_member.any() else ""
    group = np.broadcast_to(np.array(group, dtype=object), names.shape)
    order = np.lexsort((names.astype(str), -slope, ~is_member))
    columns = dict(zip(COLUMNS, (names, slope, sd, group), strict=True))
    columns = {name: values[order] for name, values in columns.items()}
    n_named = min(NAMED, len(u) // 2) if is_member.any() else 0
    return Groups(
        p_value=p_value,
        members=tuple(names[order][: is_member.sum()]),
        prefers=tuple(rows.competitors[c] for c in clearest(u, n_named)),
        over=tuple(rows.competitors[c] for c in clearest(-u, n_named)),
        columns=columns,
    )


def clearest(u: Floats, n: int) -> Ints:
    """Return the up to n competitors of the clearest preference, the clearest first.

    Who is less than half as clear as the first is not named.
    """
    order = np.argsort(-u, kind="stable")[:n]
    return order[u[order] >= u[order[:1]] / 2]
