"""The result of a fit: what every table is made from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

import bayes_arena
from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import DenseFactor
from bayes_arena.algebra.sparse_bordered import SparseBorderedFactor
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.arrays import Floats
from bayes_arena.errors import (
    PACKAGE,
    ArenaError,
    ArenaWarning,
    AverageWarning,
    ChangedStrengthsWarning,
    DiscountedVotesWarning,
    IdentificationWarning,
    LeftOutEffectWarning,
    ModelError,
    NoMaximumWarning,
    did_you_mean,
    listing,
    printable,
)
from bayes_arena.fits.draws import Draws, draws_of_spreads, noise_of_unseen, viewed
from bayes_arena.fits.plan import Plan
from bayes_arena.inference.averages import said_of_cap, said_of_middle, said_of_population
from bayes_arena.inference.change import POINTS, Change, change, is_timed, is_too_large
from bayes_arena.inference.crowd import CAP, EVERYBODY, MIDDLE, Crowd
from bayes_arena.inference.estimand import Estimand, Over, View, require_estimand, view
from bayes_arena.inference.marginal.finding import Evidence
from bayes_arena.inference.mode.identification import sides_left_out
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.population import Population, Shares
from bayes_arena.inference.projected import Projection
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.covariances import Covariances
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.specification import Model
from bayes_arena.markup import html_facts, ranges
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells, with_counts
from bayes_arena.votes.names import PROMPT
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.reading.shares import read_shares
from bayes_arena.votes.records import records
from bayes_arena.votes.sizes import sizes
from bayes_arena.votes.tally import Tally

if TYPE_CHECKING:
    from xarray import DataTree

    from bayes_arena.promotion.promotions import Promotions

HEAD = 5
"""Rows of the board that print."""
WHOLE = 5_000_000
"""Most derivatives of a board in the annotators' numbers that are held."""
KNOWN = ("projection", "board_covariance", "discrimination_sd", "change", "said_of_middle")
"""What every question asks of a fit, takes long to find, and does not depend on the annotators' names."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    mode : Mode
        The posterior mode, the Gaussian approximation there, and the problem that it solves.
    prior : Prior
        As asked for, before ``method="marginal"`` estimated its spreads.
    method : str
        ``"map"``, ``"marginal"`` or ``"nuts"``; ``"posterior"`` for draws from elsewhere.
    evidence : {"laplace", "variational"} or None
        How ``"marginal"`` integrated the parameters out.
    seed : int or None
        Seed of ``"nuts"``.
    samples : Draws or None
        Draws of the posterior by ``"nuts"`` or from elsewhere; tables then read these, not the Gaussian approximation.
    tree : xarray.DataTree or None
        What the sampler returned, with its statistics.
    mirror_probability : float or None
        Probability that the ranking is reversed, by the votes alone, without trust in any annotator
        (:mod:`bayes_arena.inference.mode.direction`); None where theta is fixed, the estimate is at infinity, or
        annotators are integrated out.
    estimand : Estimand or None
        What its rankings are about; None where the model does not tell slices apart.
    kept, dropped : tuple of str
        Annotators whose votes count in full, whatever they are, and those whose votes were left out, on request.
    promotions : Promotions or None
        Competitors on which the votes are not those of one crowd; None if nobody looked. The votes of the problem are
        those that count, some of them in part.
    crowd : Crowd
        Whose votes its rankings are about, and how these are averaged.
    """

    mode: Mode
    prior: Prior
    method: str
    evidence: Evidence | None
    seed: int | None = None
    samples: Draws | None = None
    tree: DataTree | None = None
    mirror_probability: float | None = None
    estimand: Estimand | None = None
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    promotions: Promotions | None = None
    crowd: Crowd = field(default_factory=Crowd)

    def __repr__(self) -> str:
        cells, said = self.cells, len(self.warnings)
        how = "your posterior" if self.method == "posterior" else f"{self.prior} prior, {self.method}"
        return (
            f"Fit({self.model.name}, {how}: {self.cast.described_votes}, "
            f"{cells.n_competitors} competitors, {cells.n_annotators} annotators"
            + (f"; {said} warning{'s' * (said > 1)})" if said else ")")
        )

    def with_known(self, known: Mapping[str, object]) -> Fit:
        """Return the same fit, which knows already some of ``KNOWN``."""
        fit = replace(self)
        fit.__dict__.update(known)
        return fit

    def __getstate__(self) -> dict[str, object]:
        """Return what pickle keeps: all but the projection, which makes derivatives when asked."""
        return {name: value for name, value in self.__dict__.items() if name != "projection"}

    def __str__(self) -> str:
        """Return what was fitted, its warnings, the verdict, the head of the board and the plan."""
        try:
            verdict = str(bayes_arena.verdict(self))
        except ArenaError as error:  # nothing can be decided
            verdict = str(error)
        board = bayes_arena.leaderboard(self)
        board["rank range"] = ranges(board["rank_lower"], board["rank_upper"])
        board = board[["rank", "competitor", "elo", "lower", "upper", "rank range"]]
        head = board.head(HEAD).to_string(
            index=False, float_format="{:.1f}".format, formatters={"competitor": printable}
        )
        more = f"\n... and {len(board) - HEAD} more" if len(board) > HEAD else ""
        warned = "\n".join(f"Warning: {text}" for text in self.warnings)
        return "\n\n".join(filter(None, [repr(self), warned, verdict, head + more, repr(self.plan)]))

    if not TYPE_CHECKING:  # what is not there is an error for a type checker

        def __getattr__(self, name: str) -> object:
            """Return a public function of fits as a method: ``fit.leaderboard()`` is ``leaderboard(fit)``."""
            function = getattr(bayes_arena, name) if name in bayes_arena.__all__ and name.islower() else None
            if callable(function) and next(iter(signature(function).parameters.values())).annotation == "Fit":
                return partial(function, self)
            raise AttributeError(f"A Fit has no {name!r}, and bayes_arena has no function of fits of that name.")

    @property
    def plan(self) -> Plan:
        """What was chosen, and why."""
        is_robust, counting = self.promotions is not None, (self.kept, self.dropped, self.promotions)
        return Plan(self.mode.problem, self.method, is_robust, *counting, evidence=self.evidence)

    def _repr_html_(self) -> str:
        """Return the same as a table, for notebooks, after the warnings."""
        facts = {
            "model": self.model.name,
            "prior": self.prior,
            "method": f"{self.method} by {self.evidence}" if self.evidence else self.method,
            "votes": self.described_votes.replace(" votes", "", 1),
            "competitors": f"{self.cells.n_competitors:,}",
            "annotators": f"{self.cells.n_annotators:,}",
            "mean loss per vote": f"{self.mean_loss:.4f}",
        }
        return html_facts(facts, said=self.warnings)

    @property
    def cells(self) -> Cells:
        """The votes as they count."""
        return self.mode.problem.cells

    @cached_property
    def cast(self) -> Cells:
        """The same votes as they were cast."""
        cast = self.promotions.cast if self.promotions else None
        return self.cells if cast is None else replace(self.cells, counts=cast.counts)

    @cached_property
    def board(self) -> Floats:
        """Strengths on the scale of the leaderboard, r*, in logits, shape (n_competitors,)."""
        if self.samples is not None:
            return np.asarray(self.samples.elo_strength.mean(axis=0))
        return self.projection.strength

    @cached_property
    def projection(self) -> Projection:
        """The same at the mode, with how they move with the parameters."""
        with one_thread():
            found = project(self.target, self.point, self.cells.votes_by_annotator(), self.view)
            return found.whole() if math.prod(found.own.shape) <= WHOLE else found

    @cached_property
    def board_covariance(self) -> Floats | None:
        """Covariance of the board in the posterior, shape (n, n); None where only variances are estimated."""
        if self.samples is not None:
            return np.asarray(np.cov(self.samples.elo_strength.T), dtype=np.float64)
        if isinstance(self.laplace.factor, SparseFactor | SparseBorderedFactor):
            return None
        with one_thread():
            covariance = self.laplace.covariance(self.projection.by_head[:], self.projection.own)
        if not self.view.unseen.any():
            return covariance
        by_mean = self.projection.by_mean[:]
        return np.asarray(covariance + by_mean * self.view.unseen @ by_mean.T)

    @property
    def model(self) -> Model:
        """The model."""
        return self.mode.problem.model

    @property
    def spreads(self) -> Prior:
        """The prior as used, with the spreads that ``method="marginal"`` estimated."""
        return self.mode.problem.prior

    @property
    def target(self) -> Objective:
        """The negative log-posterior at those spreads."""
        return self.mode.problem.objective

    @property
    def point(self) -> Point:
        """The parameters at the mode."""
        return self.mode.point

    @property
    def laplace(self) -> Laplace:
        """Gaussian approximation at the mode."""
        return self.mode.laplace

    @property
    def sampled_spreads(self) -> dict[str, Floats]:
        """Draws of the spreads that were sampled, each of shape (n_draws,), by the names of ``Prior``."""
        if self.tree is None or self.prior.hyper is None:
            return {}
        return draws_of_spreads(self.tree, self.target)

    @cached_property
    def covariances(self) -> Covariances | None:
        """The Gaussian around the point by rows of votes; None unless losses are averaged over it, without slices."""
        factor = self.laplace.factor
        if self.evidence != "variational" or self.target.slices or not isinstance(factor, Factor):
            return None
        return Covariances.of(self.target, factor)

    @cached_property
    def view(self) -> View:
        """The slices that rankings average over, with the covariances of annotators where estimates are means."""
        slices, factor = view(self.mode.problem, self.estimand or Estimand()), self.laplace.factor
        slices = replace(slices, crowd=self.crowd)
        if self.evidence != "variational" or not self.target.own:
            return slices
        return replace(slices, annotators=factor.inverse_tail if isinstance(factor, DenseFactor) else None)

    def on(self, over: Over | None = None, slice: tuple[str, str] | None = None, at: str | None = None) -> Fit:
        """Return the same fit with rankings about other slices or another time; without arguments, the fit itself.

        Parameters
        ----------
        over : {"new prompts", "these prompts"}, optional
            Whether rankings are to hold for further prompts like these, or for these prompts only.
        slice : (str, str), optional
            Kind and name of a slice, such as ``("category", "coding")``.
        at : str, optional
            For a model with ``drift``: a date, such as ``"2026-03-01"``, or a period, such as ``"2026-03"``; later than
            the votes it is a forecast. Without it rankings are those of the last period.

        Raises
        ------
        ModelError
            If the model does not tell such slices apart, there is no slice of that name, or strengths do not move or
            the time is none, or before the votes.
        """
        if over is None and slice is None and at is None:
            return self
        asked = require_estimand(self.mode.problem, over, slice, at)
        if not self.model.strength_by and at is None:
            return self
        return replace(self, estimand=asked).in_view()

    def of(
        self, whose: Literal["everybody", "the middle"] | Collection[str] | Mapping[str, float], *, cap: float = CAP
    ) -> Fit:
        """Return the same fit with rankings about the votes of everybody, of the middle, or of some annotators.

        The parameters stay those of all votes. What a crowd says of a competitor differs from what others say as far
        as the model lets annotators differ: without directions (``Model.dimensions``), only in how clear its votes are.

        Parameters
        ----------
        whose : {"everybody", "the middle"}, collection of str, or mapping of str to float
            All votes; the middle 60 percent of them, without the fifth of the annotators (by their votes) who expect
            least of a competitor against another and the fifth who expect most; annotators by name; or by name the
            share of the annotator's votes that counts, the probability of belonging to a crowd for instance.
        cap : float
            Largest share of an account in the average, or twice the mean share if that is more; 1 for none.

        Raises
        ------
        ModelError
            If the model does not tell annotators apart, some cast none of the votes, shares are not between 0 and 1
            or all zero, or the cap is not above 0 and at most 1.
        """
        if not 0 < cap <= 1:
            raise ModelError(f"The largest share of an account lies above 0, and is at most 1, not {cap!r}.")
        if isinstance(whose, str) and whose in (EVERYBODY, MIDDLE):
            return self.about_crowd(Crowd(cap=cap, middle=whose == MIDDLE))
        names = [whose] if isinstance(whose, str) else whose
        share = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, 1.0)
        known = self.cells.annotators
        if not self.target.n_annotators:
            raise ModelError(
                f"Model {self.model.name!r} does not tell annotators apart: its ranking is that of any of them. Use "
                "model='am-davidson' on votes that name them."
            )
        if unknown := [name for name in share if name not in set(known)]:
            raise ModelError(
                f"Annotators {listing(map(repr, unknown))} cast none of the votes that count."
                f"{did_you_mean(str(unknown[0]), known) or ' Use names of fit.cells.annotators.'}"
            )
        crowd = np.array([share.get(name, 0.0) for name in known], dtype=float)
        if bad := [f"{part:g} of {known[k]!r}" for k, part in enumerate(crowd) if not 0 <= part <= 1]:
            raise ModelError(f"The shares of votes that count must lie between 0 and 1, not {listing(bad)}.")
        if not crowd.any():
            raise ModelError("A ranking needs votes to be about, and these annotators have none. Name at least one.")
        return self.about_crowd(Crowd(tuple(crowd.tolist()), cap))

    def of_population(self, shares: Shares | object) -> Fit:
        """Return the same fit with rankings for a population, not for those who voted.

        A single group with the share 1, of one kind or of several, gives its own ranking.

        Parameters
        ----------
        shares : mapping of str to (mapping of str to float), path or dataframe
            By kind of group the share of each group, such as ``{"age": {"18-34": 0.3, "35-": 0.7}}``; or a table of
            groups, or of their combinations, with a column ``share`` (or ``count``). The model has strengths by these
            kinds (``Model.strength_by``). Kinds that are not named keep the shares of the votes.

        Raises
        ------
        ModelError
            If the model has no strengths by a kind, nobody voted from any of its groups, or shares are negative, not
            finite, or do not sum to one.
        VotesError, ColumnError
            If the table cannot be read.

        Warns
        -----
        AverageWarning
            If nobody voted from some of the groups.
        """
        found = shares if isinstance(shares, Mapping) else read_shares(shares)
        people = Population.of(found, self.model, self.cells)
        for text in said_of_population(people, self.cells):
            warnings.warn(text, AverageWarning, skip_file_prefixes=PACKAGE)
        estimand = replace(self.estimand or Estimand(), population=people)
        return replace(self, estimand=estimand).about_crowd(replace(self.crowd, strata=people.strata(self.cells)))

    def about_crowd(self, crowd: Crowd) -> Fit:
        """Return the same fit with rankings about the votes of a crowd."""
        return replace(self, crowd=crowd).in_view()

    def in_view(self) -> Fit:
        """Return the same fit, its draws with the Elo scale's r* for what rankings are about."""
        return self if self.samples is None else replace(self, samples=self.projected(self.samples))

    @cached_property
    def voted(self) -> Cells:
        """The votes that its rankings are about, as they were cast."""
        cells = self.cast if self.estimand is None else self.cast.take(self.estimand.rows(self.cast))
        if self.crowd.parts is None:
            return cells
        return with_counts(cells, cells.counts * np.array(self.crowd.parts)[cells.annotator, None])

    def seen(self, draws: Draws) -> Draws:
        """Return draws with the Elo scale's r* for what rankings are about."""
        if draws is self.samples or not (self.target.slices or self.crowd != Crowd()):
            return draws
        parts = draws.strength, draws.common, draws.own, draws.slices
        center = Point(*(part.mean(axis=0) for part in parts))
        there = project(self.target, center, self.cells.votes_by_annotator(), self.view)
        return viewed(there, center, self.view, *parts)

    def projected(self, samples: Draws) -> Draws:
        """Return draws of the posterior with the Elo scale's r* of each, for what rankings are about."""
        noisy = samples.strength + noise_of_unseen(self.view, len(samples.strength))
        parts = samples.common, samples.own, samples.slices
        seen = Draws.of(self.mode.problem, noisy, *parts, self.sampled_spreads, self.view)
        return replace(seen, strength=samples.strength)

    def means(self, draws: Draws) -> Floats:
        """Return draws of the strengths in logits, averaged over the slices that rankings are about, (n_draws, n)."""
        if not self.target.slices:
            return draws.strength
        mean = draws.strength + (self.view.slices @ draws.slices.T).T
        return np.asarray(mean + noise_of_unseen(self.view, len(mean)))

    @property
    def about(self) -> dict[str, str]:
        """What a ranking is about, for its reader; empty where that is all annotators, and no slices are told apart."""
        parts, cap = self.crowd.parts, self.crowd.cap
        whose = {} if parts is None else {"crowd": f"{sum(parts):.4g} of {len(parts):,} annotators"}
        if self.crowd.middle:
            whose = {"crowd": "the middle of the votes"}
        if cap != CAP:
            whose |= {"cap": f"{cap:.4g} of the votes"}
        if self.estimand is None:
            return whose
        if people := self.estimand.population:
            effective = self.crowd.effective_votes(self.cells.votes_by_annotator()) if self.crowd.strata else None
            whose |= {"population": f"by {listing(people.kinds)}"}
            whose |= {} if effective is None else {"effective_votes": f"{effective:,.0f}"}
        kind, name = self.estimand.slice or ("", "")
        is_either = PROMPT in self.model.strength_by and kind != PROMPT  # for one prompt both are the same
        over = {"over": self.estimand.over} if is_either else {}
        at = {"at": self.estimand.at} if self.estimand.at else {}
        return whose | over | ({"slice": f"{kind}: {name}"} if kind else {}) | at

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the result should know."""
        return tuple(text for _, text in self.notes)

    @property
    def notes(self) -> tuple[tuple[type[ArenaWarning], str], ...]:
        """The same, each with the class of its warning."""
        return (
            *((DiscountedVotesWarning, text) for text in self._discounted_said()),
            *((IdentificationWarning, text) for text in self.mode.open_questions),
            *((NoMaximumWarning, text) for text in self.mode.at_infinity),
            *((LeftOutEffectWarning, text) for text in sides_left_out(self.mode.problem)),
            *((ChangedStrengthsWarning, text) for text in self._said_of_change),
            *((AverageWarning, text) for text in self._said_of_average),
        )

    @property
    def _said_of_average(self) -> tuple[str, ...]:
        people = None if self.estimand is None else self.estimand.population
        cap = said_of_cap(self.cells, self.view) if self.target.n_annotators else ()
        return *said_of_population(people, self.cells), *cap, *self.said_of_middle

    @cached_property
    def said_of_middle(self) -> tuple[str, ...]:
        """On whom the middle of the votes disagrees with everybody's average, in words."""
        return said_of_middle(self.mode, self.cells, self.view, lambda: self.projection)

    @cached_property
    def change(self) -> Change | None:
        """The test whether strengths changed over time; None where votes have no times, or strengths move."""
        with one_thread():
            return change(self.mode)

    @property
    def _said_of_change(self) -> Iterator[str]:
        """Say who changed most, and since when, where strengths changed, or that it was not looked at."""
        if not self.model.drift and is_timed(self.cells) and is_too_large(self.cells):
            yield "Whether strengths changed over time was not tested: there are too many competitors and periods."
        if self.change is None or not self.change.is_clear:
            return
        found, names = self.change, self.cells.competitors
        who = (
            f"{printable(names[c])!r} since {found.names[found.since[c]]} (by about {found.size[c] * POINTS:+.0f} Elo)"
            for c in found.order[:3]
        )
        yield (
            f"Strengths changed over time (p {found.p:.2g}), and the ranking averages over it; most clearly changed "
            f"{', '.join(who)}. For the ranking now, let strengths move: drift=True (--drift)."
        )

    @property
    def votes_discounted(self) -> float:
        """Number of votes that were cast but do not count; where some count in part, the rest of these."""
        return self.cast.n_votes - self.cells.n_votes

    @property
    def described_votes(self) -> str:
        """The number of votes cast, and how many of them do not count, for people."""
        less = f", of which {self.votes_discounted:,.0f} do not count" if self.votes_discounted else ""
        return f"{self.cast.described_votes}{less}"

    @property
    def numbers(self) -> dict[str, Any]:
        """Sizes of the votes cast, how many do not count, and whose were left out or count in full on request."""
        left_out = {"dropped": list(self.dropped), "kept": list(self.kept)}
        return {**sizes(self.cast), "votes_discounted": self.votes_discounted, **left_out}

    def _discounted_said(self) -> Iterator[str]:
        """Say where votes do not count, and what that changes."""
        found = self.promotions
        if found is None:
            return
        if found.cast is None:
            if 2 * found.is_far.sum() > len(found.is_far):
                yield (
                    "The votes on most competitors are not those of one crowd, and all of them count: annotators "
                    "differ in more than tastes. Look at camps(fit), and at annotators(fit)."
                )
            return
        names, votes = self.cells.competitors, np.sum(records(self.cast), axis=0)
        counting = np.sum(records(self.cells), axis=0)
        place, alike = (1 + (board > board[:, None]).sum(axis=1) for board in (self.board, found.cast.board))
        for c in np.flatnonzero(found.is_open).tolist():
            yield (
                f"The votes on {printable(names[c])!r} are not those of one crowd: {votes[c] - counting[c]:,.0f} of "
                f"{votes[c]:,.0f} do not count, cast by annotators whose other votes say too little, or who see it far "
                f"from where others do. Its rank is {place[c]}; by all votes alike it is {alike[c]}."
                + (" This is contested: another one is nearly as likely." if found.apart[c] else "")
            )

    @property
    def target_by_cell(self) -> Objective:
        """The target with one row per cell of the votes, whose coordinates predict the votes cast there."""
        return self.target_of(self.cells.by_cell(self.model.features, self.model.slices))

    def target_of(self, tally: Tally) -> Objective:
        """Return the target with other rows of votes."""
        numbering = replace(self.target.numbering, tally=tally)
        return replace(self.target, tally=tally, counts=self.model.seen_counts(tally.counts), numbering=numbering)

    @property
    def strength(self) -> Floats:
        """Strengths r in logits, sum zero (in each connected component under a flat prior), (n_competitors,)."""
        return self.point.strength

    @property
    def discrimination(self) -> Floats:
        """Theta, mean 1, shape (n_annotators,); empty where the model fixes it at 1."""
        return self.target.discrimination(self.point)

    @cached_property
    def discrimination_sd(self) -> Floats:
        """Standard deviations of theta, shape (n_annotators,)."""
        if not self.target.free_discrimination:
            return np.zeros(0)
        return np.asarray(np.sqrt(np.maximum(self.laplace.own_covariance()[:, THETA, THETA], 0.0)))

    @cached_property
    def loss(self) -> float:
        """Negative log-likelihood in nats, without the prior."""
        return self.target.loss(self.point)

    @property
    def mean_loss(self) -> float:
        """Negative log-likelihood per vote that the model sees, in nats."""
        return self.loss / self.target.n_votes

    @property
    def n_parameters(self) -> int:
        """Free parameters: strengths, common, of slices and of annotators, minus one for every sum that is fixed."""
        own = max(self.target.n_annotators - 1, 0) * len(self.target.own)
        return len(self.point.head) - int(self.laplace.shifts.shape[1]) + own

    @cached_property
    def _seen(self) -> Floats:
        """Counts of the cells with a vote that the model sees, shape (K, n_rows)."""
        seen = self.model.seen_counts(self.cells.counts)
        return seen[:, seen.any(axis=0)]

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the counts at the estimate, in nats, without the prior.

        The votes of a cell are one observation, so this includes the multinomial coefficient of every cell: the same
        constant for all models of the same votes. A cell is a pair, in the order shown where known, and its annotator
        where known. In R an observation is a row of the table: a pair listed in both orders gives two, another constant
        and more degrees of freedom. With ties as half wins the likelihood is not normalised: compare it only with
        others of its kind.
        """
        orders = scipy.special.gammaln(self._seen.sum(axis=0) + 1) - scipy.special.gammaln(self._seen + 1).sum(axis=0)
        return float(orders.sum()) - self.loss

    @property
    def deviance(self) -> float:
        """Twice the log-likelihood lost relative to the saturated model, in which every cell has its own shares.

        Chi-squared with ``degrees_of_freedom`` where the model is true and the cells have many votes each.
        """
        shares = self._seen
        if not self.model.has_tie_outcome:
            wins, losses, ties = wins_losses_ties(shares.T)
            shares = np.array([wins + ties / 2, losses + ties / 2])
        return 2 * (self.loss + float(scipy.special.xlogy(shares, shares / shares.sum(axis=0)).sum()))

    @property
    def degrees_of_freedom(self) -> int:
        """Of the deviance: cells times the outcomes free in each, minus the parameters; only under a flat prior.

        Raises
        ------
        ModelError
            If there is a prior, under which a parameter is less than one degree of freedom.
        """
        self._require_flat("Degrees of freedom count")
        return int(self._seen.shape[1]) * (len(self.target.likelihood.outcomes) - 1) - self.n_parameters

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 n_parameters - 2 log_likelihood; only under a flat prior.

        Raises
        ------
        ModelError
            If there is a prior, under which a parameter is less than one degree of freedom.
        """
        self._require_flat("AIC counts")
        return 2 * self.n_parameters - 2 * self.log_likelihood

    def _require_flat(self, what: str) -> None:
        if not self.target.is_flat:
            raise ModelError(
                f"{what} free parameters, but under a prior they are not entirely free. Use prior='flat', or "
                "leave_one_out and compare."
            )
