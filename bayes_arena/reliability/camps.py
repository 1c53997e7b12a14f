"""Camps: groups of annotators who agree among themselves more than with the others, and a board for each.

They are looked for in the loadings of a fit with directions (:mod:`bayes_arena.reliability.humps`), or declared: people
and programs, for instance. The board of a camp is the projection of :mod:`bayes_arena.inference.projection` with every
vote weighted by the probability that whoever cast it belongs to the camp, and with loadings that members of the camp
have (:mod:`bayes_arena.inference.belonging`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np

from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.arrays import Columns, DataFrame, Floats, table_of
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.belonging import Belonging, columns_of_loadings, given_membership, told_by_votes
from bayes_arena.inference.crowd import Crowd
from bayes_arena.inference.marginal.directions import with_directions
from bayes_arena.inference.marginal.gaussian import nearest_gaussian
from bayes_arena.inference.order import in_own_order
from bayes_arena.inference.projected import Projection
from bayes_arena.likelihood.specification import MOST_DIMENSIONS
from bayes_arena.markup import html_paragraph, percent
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import Quantity, require_level
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard
from bayes_arena.reliability.humps import Humps, announced, humps, named_humps
from bayes_arena.threads import one_thread
from bayes_arena.votes.names import PROGRAM
from bayes_arena.votes.outcomes import whole_counts

SURE = 0.9
"""Probability of membership below which an annotator's camp is open."""
LETTERS = "ABCDEFGHIJ"
PEOPLE, PROGRAMS = "people", "programs"


@dataclass(frozen=True, eq=False)
class Camps:
    """Camps of annotators, the one with the most votes first.

    Attributes
    ----------
    fit : Fit
        The fit; where camps are declared, without tastes of programs.
    names : tuple of str
        Of the camps: ``"A"``, ``"B"``, ... where the votes show them.
    membership : ndarray, shape (n_annotators, n_camps)
        Probability that each annotator of ``fit.cells.annotators`` belongs to each camp; 0 and 1 where declared.
    tried : tuple of Humps
        Mixtures of one camp, two and more (declared: of one, and of those declared) that were compared; empty for a fit
        without directions.
    declared : bool
        Whether the camps were declared.
    level : float
        Coverage of the intervals.
    elo : EloScale
        Elo scale.
    """

    fit: Fit
    names: tuple[str, ...]
    membership: Floats
    tried: tuple[Humps, ...]
    declared: bool
    level: float
    elo: EloScale

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return html_paragraph(self.sentence)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        if len(self.names) == 1:
            many = self.fit.model.dimensions
            along = "in which annotators disagree" if not many else "but with one hump: annotators differ by degrees"
            directions = "no direction" if not many else f"{many} direction{'s' * (many > 1)}"
            return f"The votes show no camps: {directions} {along}."
        n = self.fit.cells.n_annotators
        each = [
            f"{name} with {size:.4g} annotator{'' if size == 1 else 's'} and {percent(share)} of the votes"
            for name, size, share in zip(self.names, self.table["annotators"], self.table["share"], strict=True)
        ]
        parts = [f"{len(self.names)} camps{' (declared)' * self.declared}: {'; '.join(each)}."]
        if self.tried and not self.declared:
            parts.append(f"Evidence: BIC {self.gain:+.1f} over one camp.")
        if self.declared and self.fit.evidence != "variational":
            parts.append("Their boards differ only in how clear the votes are: method='marginal' has more.")
        if unsure := int(self.unsure.sum()):
            parts.append(f"{unsure:,} of {n:,} annotators could belong to another camp (probability below {SURE:g}).")
        return " ".join(parts)

    @property
    def gain(self) -> float:
        """Evidence for these camps: by how much BIC falls below that of one camp; 0 for one."""
        chosen = [one for one in self.tried if one.size == len(self.names)]
        return chosen[0].gain(self.tried[0], named=self.declared) if chosen and len(self.names) > 1 else 0.0

    @property
    def unsure(self) -> np.ndarray:
        """Whether each annotator's camp is open, shape (n_annotators,)."""
        return np.asarray(self.membership.max(axis=1) < SURE)

    @cached_property
    def table(self) -> DataFrame:
        """A row for every camp: ``camp, annotators, sure, votes, share``.

        ``annotators`` and ``votes`` are expected numbers, ``sure`` those that belong to the camp with a probability of
        .9 at least, and ``share`` that of all votes.
        """
        votes = self.membership.T @ self.fit.cast.votes_by_annotator()
        return table_of(
            {
                "camp": np.array(self.names, dtype=object),
                "annotators": self.membership.sum(axis=0),
                "sure": (self.membership >= SURE).sum(axis=0),
                "votes": whole_counts(votes),
                "share": votes / votes.sum(),
            }
        )

    @cached_property
    def members(self) -> DataFrame:
        """A row for every annotator: ``annotator, votes, camp, probability, unsure``, the surest of each camp first."""
        place, probability = self.membership.argmax(axis=1), self.membership.max(axis=1)
        order = np.lexsort((-self.fit.cast.votes_by_annotator(), -probability.round(9), place))
        columns: Columns = {
            "annotator": np.array(self.fit.cells.annotators, dtype=object),
            "votes": whole_counts(self.fit.cast.votes_by_annotator()),
            "camp": np.array(self.names, dtype=object)[place],
            "probability": probability,
            "unsure": self.unsure,
        }
        return table_of({name: column[order] for name, column in columns.items()})

    @cached_property
    def contrasts(self) -> DataFrame:
        """What the camps differ on: ``competitor, camp, other, elo, elo_other, difference, lower, upper, z``.

        Elo scores on the boards of both camps, and their difference with its interval, the clearest first. The mean of
        a board is the same for all camps, so that a competitor differs relative to the others.
        """
        names = self.fit.cells.competitors
        with one_thread():
            fits = [self.of(name) for name in self.names]
            boards = [fit.projection for fit in fits]
            parts = []
            for c, d in combinations(range(len(fits)), 2):
                gap = _gap((fits[c], fits[d]), (boards[c], boards[d]))
                summary = resolve_interval(None, fits[c]).summarise(fits[c], gap, self.level)
                points = [self.elo.points_per_logit * one for one in (summary.value, summary.lower, summary.upper)]
                scores = [self.elo.points(boards[one].strength, names) for one in (c, d)]
                who = np.array([(name, self.names[c], self.names[d]) for name in names], dtype=object).T
                parts.append((*who, *scores, *points, summary.z))
        heads = ("competitor", "camp", "other", "elo", "elo_other", "difference", "lower", "upper", "z")
        columns: Columns = {
            head: np.concatenate([part[place] for part in parts]) if parts else np.zeros(0)
            for place, head in enumerate(heads)
        }
        order = np.argsort(-np.abs(np.nan_to_num(columns["z"])), kind="stable")
        return table_of({name: column[order] for name, column in columns.items()})

    @cached_property
    def evidence(self) -> DataFrame:
        """For every number of camps compared: ``camps, gain, valley, smallest, chosen``.

        ``gain`` is the fall of BIC from one camp, ``valley`` the density of loadings between the two camps least apart,
        relative to that in the lower of them, ``smallest`` the expected annotators of the smallest.
        """
        sizes = [one.size for one in self.tried]
        return table_of(
            {
                "camps": np.array(sizes, dtype=np.int64),
                "gain": np.array([one.gain(self.tried[0], named=self.declared) for one in self.tried]),
                "valley": np.array([one.valley for one in self.tried]),
                "smallest": np.array([one.membership.sum(axis=0).min() for one in self.tried]),
                "chosen": np.array([size == len(self.names) for size in sizes], dtype=bool),
            }
        )

    def of(self, camp: str) -> Fit:
        """Return the fit with rankings about a camp, for every table that ranks.

        Parameters
        ----------
        camp : str
            One of ``names``.

        Raises
        ------
        ModelError
            If there is no such camp.
        """
        if camp not in self.names:
            known = listing(map(repr, self.names))
            raise ModelError(f"There is no camp {camp!r}.{did_you_mean(str(camp), self.names) or f' Use {known}.'}")
        if len(self.names) == 1:
            return self.fit
        place = self.names.index(camp)
        given = self.fit if self._given is None else replace(self.fit, mode=self._given.within(place))
        return given.about_crowd(Crowd(tuple(self.membership[:, place].tolist()), self.fit.crowd.cap))

    def board(self, camp: str) -> DataFrame:
        """Return the leaderboard of a camp, as :func:`~bayes_arena.leaderboard` does for all annotators.

        Votes, wins, losses and ties are those of its members: expected numbers where members are not sure.

        Parameters
        ----------
        camp : str
            One of ``names``.

        Raises
        ------
        ModelError
            If there is no such camp.
        """
        return leaderboard(self.of(camp), level=self.level, elo=self.elo)

    @cached_property
    def _given(self) -> Belonging | None:
        """The fit given who belongs to which camp; None where it is no Gaussian nearest to the posterior."""
        if self.fit.evidence != "variational":
            return None
        with one_thread():
            return given_membership(self.fit.mode, self.membership, contrasts=self.declared)


@held
def camps(
    fit: Fit,
    *,
    declared: Literal["programs"] | Mapping[str, str] | None = None,
    level: float = 0.95,
    elo: EloScale | None = None,
) -> Camps:
    """Find camps of annotators who agree among themselves more than with the others.

    Parameters
    ----------
    fit : Fit
        A fitted model; camps show only in one with directions (``Model.dimensions``).
    declared : "programs" or mapping of str to str, optional
        Do not look for camps, but compare these: people and programs, or the name of the camp of every annotator.
    level, elo
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    Camps
        A single camp of all annotators where the votes show no others, and for a fit without directions.

    Raises
    ------
    ModelError
        If the model does not tell annotators apart, one with directions was not fitted by ``method="marginal"``, the
        declared camps leave annotators out or are not at least two, or the level is invalid.
    ConvergenceError
        If the boards of the camps are not found (when they are first asked for).

    References
    ----------
    Schwarz (1978), Annals of Statistics 6; Kass & Raftery (1995), JASA 90.
    """
    require_level(level)
    if not fit.target.n_annotators:
        raise ModelError(
            f"Model {fit.model.name!r} does not tell annotators apart. Use model='am-davidson' on votes that name them."
        )
    if fit.model.dimensions and fit.evidence != "variational":
        raise ModelError(
            f"Camps are looked for in the Gaussian nearest to the posterior, and this fit is by {fit.method!r}"
            f"{f' and {fit.evidence}' if fit.evidence else ''}. Use method='marginal'."
        )
    if declared is not None and PROGRAM in fit.model.strength_by and fit.evidence == "variational":
        fit = _without_tastes(fit)
    names, membership = ((), np.zeros((fit.cells.n_annotators, 0))) if declared is None else _declared(fit, declared)
    tried = _tried(fit, None if declared is None else membership)
    if declared is None:
        found = announced(tried) if tried else None
        membership = np.ones((fit.cells.n_annotators, 1)) if found is None else found.membership
        names = tuple(LETTERS[: membership.shape[1]])
    order = np.argsort(-(membership.T @ fit.cells.votes_by_annotator()), kind="stable")
    names = names if declared is None else tuple(names[c] for c in order)
    return Camps(fit, names, membership[:, order], tuple(tried), declared is not None, level, elo or EloScale())


def _without_tastes(fit: Fit) -> Fit:
    """Return the fit with directions instead of tastes of programs, which no ranking includes."""
    kinds = tuple(kind for kind in fit.model.strength_by if kind != PROGRAM)
    model = replace(fit.model, name="annotators in camps", strength_by=kinds)
    problem = replace(fit.mode.problem, model=model, prior=fit.prior)
    with one_thread():
        mode, _ = in_own_order(lambda one: (with_directions(nearest_gaussian(one)), None), problem)
    return replace(fit, mode=mode)


def _tried(fit: Fit, membership: Floats | None) -> list[Humps]:
    """Return the mixtures that are compared: of one camp and more, or of one and the declared ones."""
    if not fit.model.dimensions:
        return []
    columns = columns_of_loadings(fit.target, theta=False)
    told = told_by_votes(fit.target, fit.point, fit.laplace.own_given_head(), columns)
    if membership is None:
        return humps(*told)
    return [named_humps(*told, one) for one in (np.ones((len(membership), 1)), membership)]


def _declared(fit: Fit, declared: Literal["programs"] | Mapping[str, str]) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the declared camps, and who belongs to which, (M, C)."""
    annotators = fit.cells.annotators
    if isinstance(declared, Mapping):
        known = {*annotators, *fit.dropped}
        if unknown := [name for name in declared if name not in known]:
            raise ModelError(
                f"Annotators {listing(map(repr, unknown))} cast none of the votes."
                f"{did_you_mean(str(unknown[0]), annotators) or ' Use names of fit.cells.annotators.'}"
            )
        if missing := [name for name in annotators if name not in declared]:
            raise ModelError(f"No camp is declared for {listing(map(repr, missing))}. Name one for every annotator.")
        camp = [str(declared[name]) for name in annotators]
    elif declared == PROGRAMS:
        camp = [PEOPLE if human else PROGRAMS for human in fit.cells.human]
    else:
        raise ModelError(f"declared must be 'programs', or the camp of every annotator by name, not {declared!r}.")
    names = tuple(sorted(set(camp)))
    if len(names) < 2:
        remedy = "Read them with programs=[...]." if declared == PROGRAMS else "Declare at least two."
        raise ModelError(f"All annotators belong to one camp, {names[0]!r}. {remedy}")
    if fit.model.dimensions + len(names) - 1 > MOST_DIMENSIONS:
        most = MOST_DIMENSIONS + 1 - fit.model.dimensions
        raise ModelError(f"{len(names)} camps are too many to tell apart, at most {most} are compared. Join some.")
    return names, (np.array(camp)[:, None] == np.array(names)).astype(float)


def _gap(fits: tuple[Fit, Fit], boards: tuple[Projection, Projection]) -> Quantity:
    one, other = boards
    own = OwnJacobian(one.own.shape, lambda part: one.own.of(part) - other.own.of(part))
    samples = [fit.samples for fit in fits]

    def drawn(_: object) -> Floats:
        first, second = (draws.elo_strength for draws in samples if draws is not None)
        return np.asarray(first - second)

    return Quantity(one.strength - other.strength, one.by_head[:] - other.by_head[:], own, drawn)
