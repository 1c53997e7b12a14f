"""The people whom a ranking is to speak for: the shares of groups in a population, and voters weighed to match.

Who votes is not who a ranking is for. Where a model has strengths by groups of voters (their age, their country), the
ranking of a population is that of strengths averaged with its shares, not with those of the votes (post-stratification;
Gelman & Little, 1997, "Poststratification into many categories using hierarchical logistic regression", Survey
Methodology 23):

    m_i = r_i + sum_f sum_g share_fg u^f_{g,i}

over the kinds f of groups. Annotators count in the average so that every group has its share in it, for all kinds at
once (raking; Deming & Stephan, 1940, Annals of Mathematical Statistics 11). A group from which nobody voted has
deviations that nothing is known of but their spread: they widen the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Self

import numpy as np

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM, PROMPT
from bayes_arena.votes.reading.shares import ROUNDED

ROUNDS, SETTLED = 200, 1e-10
"""Of raking, at most; and the largest relative change that is the last."""

Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Population:
    """Shares of a population in groups of each kind, which sum to one.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of groups, such as ``"age"``.
    groups : tuple of tuple of str
        By kind, the names of its groups.
    shares : tuple of tuple of float
        By kind, the share of each group.
    """

    kinds: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    shares: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, shares: Shares, model: Model, cells: Cells) -> Self:
        """Check shares by kind and group against a model and its votes.

        Raises
        ------
        ModelError
            If the model has no strengths by a kind, nobody voted from any of its groups, or shares are negative, not
            finite, or do not sum to one.
        """
        if not shares:
            raise ModelError("A population needs the shares of its groups, such as {'age': {'18-34': 0.3, ...}}.")
        groups, parts = list[tuple[str, ...]](), list[tuple[float, ...]]()
        usual = [kind for kind in model.strength_by if kind not in (ANNOTATOR, PROGRAM, PROMPT, COMPETITOR)]
        for kind, of_groups in shares.items():
            if kind not in usual:
                raise ModelError(
                    f"The model has no strengths by {kind!r} (its groups: {listing(map(repr, usual)) or 'none'})."
                    f"{did_you_mean(kind, usual) or f' Fit with groups=[{kind!r}] (--groups {kind}).'}"
                )
            if not isinstance(of_groups, Mapping):
                needed = f"{kind!r} needs a share for each of its groups, such as {{'18-34': 0.3, ...}}"
                raise ModelError(f"{needed}, not {of_groups!r}.")
            if bad := [f"{one} of {name!r}" for name, one in of_groups.items() if not _is_share(one)]:
                raise ModelError(f"Shares of {kind!r} must be numbers of at least 0, not {listing(bad)}.")
            names, part = tuple(map(str, of_groups)), tuple(map(float, of_groups.values()))
            total = math.fsum(part)
            if abs(total - 1) > ROUNDED:
                raise ModelError(f"The shares of {kind!r} sum to {total:.4g}, not to 1. Divide them by their sum.")
            known = cells.slice_names[kind]
            if not any(name in known for name, one in zip(names, part, strict=True) if one):
                raise ModelError(
                    f"Nobody voted from any of the population's groups by {kind!r}, {listing(map(repr, names))}. The "
                    f"votes have {listing(map(repr, known))}."
                )
            groups.append(names)
            parts.append(tuple(one / total for one in part))
        return cls(tuple(shares), tuple(groups), tuple(parts))

    def of_kind(self, kind: str, names: Sequence[str]) -> Floats:
        """Return the shares of groups by name, zero for those that the population does not have."""
        place = self.kinds.index(kind)
        share = dict(zip(self.groups[place], self.shares[place], strict=True))
        return np.array([share.get(name, 0.0) for name in names])

    def unheard(self, kind: str, names: Sequence[str]) -> dict[str, float]:
        """Return the groups from which nobody voted, with their shares."""
        place, known = self.kinds.index(kind), set(names)
        share = zip(self.groups[place], self.shares[place], strict=True)
        return {name: part for name, part in share if name not in known and part}

    def alone(self) -> list[str]:
        """Return the kinds of which a single group is the whole population."""
        return [kind for kind, part in zip(self.kinds, self.shares, strict=True) if max(part) == 1]

    def strata(self, cells: Cells) -> tuple[Stratum, ...]:
        """Return the groups of the annotators, of the kinds that are about annotators: each is of one group."""
        found = []
        for kind in self.kinds if cells.annotators else ():
            codes = cells.slices[kind]
            group = np.zeros(cells.n_annotators, dtype=np.int64)
            group[cells.annotator] = codes
            if (group[cells.annotator] == codes).all():
                share = self.of_kind(kind, cells.slice_names[kind])
                found.append(Stratum(tuple(group.tolist()), tuple((share / share.sum()).tolist())))
        return tuple(found)


@dataclass(frozen=True)
class Stratum:
    """The group of every annotator, and the share that each group is to have.

    Attributes
    ----------
    group : tuple of int
        Of every annotator.
    share : tuple of float
        Of every group, with sum one.
    """

    group: tuple[int, ...]
    share: tuple[float, ...]


def raked(votes: Floats, strata: Sequence[Stratum]) -> Floats:
    """Weigh the votes of annotators (M,) so that every group of every stratum has its share of the whole."""
    codes: list[Ints] = [np.array(one.group, dtype=np.int64) for one in strata]
    shares = [np.array(one.share) for one in strata]
    for _ in range(ROUNDS):
        before = votes
        for code, share in zip(codes, shares, strict=True):
            total = sum_by(code, votes, len(share))
            ratio = np.divide(share, total, out=np.zeros_like(total), where=total > 0)
            votes = votes * ratio[code]
        if len(strata) < 2 or np.abs(votes - before).max() <= SETTLED * votes.max():
            break
    return votes


def _is_share(value: object) -> bool:
    """Whether a value is a finite number of at least 0."""
    return isinstance(value, Real) and 0 <= float(value) < math.inf
