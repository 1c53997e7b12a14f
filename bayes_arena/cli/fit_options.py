"""Options: the model that a command fits, and the intervals and Elo scale that it shows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast

from typer import Option

from bayes_arena.cli.options import MODEL, SCALE, options_given
from bayes_arena.cli.vote_source import VoteSource, split_pair
from bayes_arena.errors import ModelError, listing
from bayes_arena.inference.methods import Method
from bayes_arena.likelihood.priors import NAMED_PRIORS, Prior, PriorName
from bayes_arena.likelihood.specification import Model, ModelName
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.votes.names import ANNOTATOR

if TYPE_CHECKING:
    from bayes_arena.fits.plan import Asked
    from bayes_arena.fits.result import Fit
    from bayes_arena.inference.estimand import Over
    from bayes_arena.likelihood.presets import Dimensions
    from bayes_arena.ratings.elo import EloScale
    from bayes_arena.ratings.intervals.contract import Interval
    from bayes_arena.votes.cells import Cells

When = Literal["auto", "on", "off"]
WHEN: Mapping[str, bool] = {"on": True, "off": False}
OverName = Literal["new", "these"]
CrowdName = Literal["everybody", "middle"]
GoalName = Literal["best", "ranking"]


@dataclass(frozen=True)
class ModelChoice:
    """Which model is fitted, and how."""

    panel: ClassVar[str] = MODEL
    model: Annotated[
        ModelName | None,
        Option(
            metavar="MODEL",
            help="bradley-terry, m-elo, am-elo, davidson or am-davidson. Default: am-davidson where annotators are "
            "known, else davidson; under a flat prior am-elo and bradley-terry.",
        ),
    ] = None
    prior: Annotated[
        PriorName,
        Option(
            metavar="PRIOR",
            help="default: Gaussian, spreads estimated. weak: the same, but almost no information about strengths. "
            "flat: none, which is the paper's maximum likelihood.",
            show_default=False,
        ),
    ] = "default"
    method: Annotated[
        Method | None,
        Option(
            metavar="METHOD",
            help="map: the mode of the posterior at fixed spreads. marginal: spreads estimated (default where "
            "annotators or slices are pooled). nuts: the whole posterior, sampled.",
        ),
    ] = None
    drift: Annotated[
        bool, Option("--drift", help="Let strengths move over the periods of the votes (--time), and rank now.")
    ] = False
    groups: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help="Columns that say of which group an annotator is: age,country. Competitors get a strength in each "
            "group (--in), and rankings can be those of a population (--population).",
        ),
    ] = None
    robust: Annotated[
        When,
        Option(
            metavar="WHEN",
            help="Discount votes on a competitor that are not those of one crowd: on, off, or auto, which does so "
            "where the model has parameters of annotators.",
        ),
    ] = "auto"
    keep: Annotated[
        list[str] | None, Option(metavar="NAME", help="Count an annotator's votes in full. Repeatable.")
    ] = None
    drop: Annotated[list[str] | None, Option(metavar="NAME", help="Leave an annotator's votes out. Repeatable.")] = None
    answers: Annotated[
        When,
        Option(
            metavar="WHEN",
            help="Give each competitor a strength on every prompt: on, off, or auto, which does so if the votes can "
            "distinguish that from noise.",
        ),
    ] = "auto"
    dimensions: Annotated[
        str,
        Option(
            metavar="COUNT",
            help="Directions in which annotators disagree: a number, or auto: up to two, as many as the votes show.",
        ),
    ] = "auto"
    strength_by: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Give competitors a strength in every level of a slice that --slice reads (category, for instance), "
            "or for every annotator. Repeatable. Answers are then rated only with --answers on.",
        ),
    ] = None
    style: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Compare at equal values of a feature that --feature reads (length, for instance). Repeatable. "
            "Answers are then rated only with --answers on.",
        ),
    ] = None
    seed: Annotated[int, Option(help="The same seed gives the same answer.")] = 0
    sigma_strength: Annotated[
        float | None, Option(metavar="SD", help="Prior standard deviation of strengths, in logits.")
    ] = None
    sigma_discrimination: Annotated[
        float | None, Option(metavar="SD", help="Prior standard deviation of theta around 1.")
    ] = None

    @property
    def asked(self) -> Asked:
        """What is asked for, apart from the model and the prior, as options of ``fit``."""
        count = int(self.dimensions) if self.dimensions.isdecimal() else self.dimensions
        return {
            "method": self.method,
            "answers": WHEN.get(self.answers, "auto"),
            "dimensions": cast("Dimensions", count),
            "drift": self.drift,
            "groups": self.of_annotators,
            "robust": WHEN.get(self.robust, "auto"),
            "keep": self.keep or (),
            "drop": self.drop or (),
        }

    def spreads(self) -> Prior:
        """Return the prior, with the standard deviations given."""
        chosen = NAMED_PRIORS[self.prior]
        if self.sigma_strength is not None:
            chosen = replace(chosen, strength=self.sigma_strength, hyper=None)
        if self.sigma_discrimination is not None:
            chosen = replace(chosen, discrimination=self.sigma_discrimination, hyper=None)
        return chosen

    def fitted(self, source: VoteSource) -> Fit:
        """Load the fit that the source names, with the warnings it came with, or fit the model to the votes."""
        if not source.is_saved:
            return self.fit(self.read(source))
        from bayes_arena.fits.saved.storage import load

        given = [name for one in (self, source) for name in options_given(one) if name not in ("files", "seed")]
        options = listing(f"--{name.replace('_', '-')}" for name in given)
        if given:
            raise ModelError(
                f"{source.named} is a fit already, made with its own options, so that {options} would have no effect. "
                "Leave them out, or give the votes in its place."
            )
        fit = load((source.files or [""])[0])
        for category, text in fit.notes:
            warnings.warn(text, category, stacklevel=2)
        return fit

    @property
    def of_annotators(self) -> tuple[str, ...]:
        """The groups that are asked for."""
        return tuple(self.groups.split(",")) if self.groups else ()

    def read(self, source: VoteSource) -> Cells:
        """Read the votes, with the groups that are asked for."""
        for kind in self.of_annotators:
            source = source.grouped_by(kind)
        return source.read()

    def fit(self, cells: Cells) -> Fit:
        """Fit the model to votes."""
        from bayes_arena.fits.fitting import fit

        model = self.extended(cells) if self.strength_by or self.style else self.model
        return fit(cells, model=model, prior=self.spreads(), seed=self.seed, **self.asked)

    def extended(self, cells: Cells) -> Model:
        """Return the model for the votes, with strengths by slices and with style."""
        from bayes_arena.likelihood.problem import Problem

        slices, style = tuple(self.strength_by or ()), tuple(self.style or ())
        model = Problem.of(cells, self.model, self.prior).model
        name = model.name + (f" by {', '.join(slices)}" if slices else "")
        name += f" at equal {', '.join(style)}" if style else ""
        return replace(model, name=name, strength_by=tuple(dict.fromkeys((*model.strength_by, *slices))), style=style)

    @property
    def by_annotator(self) -> bool:
        """Whether strengths by annotator are asked for, whatever the preset."""
        return ANNOTATOR in (self.strength_by or ())


@dataclass(frozen=True)
class IntervalChoice:
    """Which intervals are shown."""

    panel: ClassVar[str] = MODEL
    level: Annotated[float, Option(help="Coverage of the intervals.")] = 0.95
    interval: Annotated[
        IntervalName | None,
        Option(
            metavar="INTERVAL",
            help="laplace: Gaussian (default). profile: profile likelihood, for models of strengths alone. sandwich: "
            "robust to a misspecified likelihood. clustered: the same, with votes of one annotator correlated (by item "
            "the default for scores of items). bootstrap: refits to resampled votes. "
            "The last four do not go with --method nuts.",
        ),
    ] = None
    by: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Clusters of --interval clustered (default: annotator) or bootstrap (default: single votes): "
            "annotator, prompt, another slice, or a column of the file.",
        ),
    ] = None
    resamples: Annotated[int, Option(min=2, metavar="N", help="Refits of the bootstrap.")] = 200

    def chosen(self, seed: int, fit: Fit) -> Interval:
        """Return the interval for a fit; the seed is that of the bootstrap."""
        if self.by is not None and self.interval not in ("clustered", "bootstrap"):
            raise ModelError(
                f"--by {self.by} goes with --interval clustered or bootstrap, not {self.interval or 'laplace'}."
            )
        by = {} if self.by is None else {"by": self.by}
        return resolve_interval(self.interval, fit, resamples=self.resamples, seed=seed, **by)

    @property
    def by_annotator(self) -> bool:
        """Whether the annotators are the clusters."""
        return (self.by or (ANNOTATOR if self.interval == "clustered" else None)) == ANNOTATOR


@dataclass(frozen=True)
class BoardChoice:
    """What the ranking is over, and whose votes it averages."""

    panel: ClassVar[str] = MODEL
    over: Annotated[
        OverName | None,
        Option(help="With answers: rank for new prompts like these (default), or for these prompts alone."),
    ] = None
    within: Annotated[
        str | None,
        Option(
            "--in",
            metavar="NAME=SLICE",
            help="With --groups or --strength-by NAME: rank within one level of the slice, such as category=coding.",
        ),
    ] = None
    at: Annotated[
        str | None,
        Option(
            metavar="DATE",
            help="With --drift: rank as of a date or period, 2026-03-01 for instance; after the votes, a forecast.",
        ),
    ] = None
    whose: Annotated[
        CrowdName,
        Option(
            "--of",
            help="Whose votes are averaged: everybody's, or the middle 60 % of them, without those who expect least "
            "and most of a competitor.",
        ),
    ] = "everybody"
    population: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="With --groups NAME: rank for the population of this table, with columns NAME and share.",
        ),
    ] = None

    def seen(self, fit: Fit) -> Fit:
        """Return the fit with rankings over the chosen prompts, in the chosen slice, and of the chosen people."""
        over: Over | None = None if self.over is None else "new prompts" if self.over == "new" else "these prompts"
        slice = None if self.within is None else split_pair(self.within, "--in", "NAME=SLICE")
        fit = fit.on(over, slice, self.at)
        fit = fit if self.whose == "everybody" else fit.of("the middle")
        return fit if self.population is None else fit.of_population(self.population)


@dataclass(frozen=True)
class ScaleChoice:
    """On which scale scores are shown."""

    panel: ClassVar[str] = SCALE
    init: Annotated[float, Option(help="Mean score.")] = 1000.0
    scale: Annotated[float, Option(help="Points between two competitors whose odds are BASE to 1.")] = 400.0
    base: Annotated[float, Option(help="Odds that SCALE points stand for.")] = 10.0
    anchor: Annotated[str | None, Option(metavar="NAME=SCORE", help="Shift all scores so that NAME has SCORE.")] = None

    def elo(self) -> EloScale:
        """Return the Elo scale."""
        from bayes_arena.ratings.elo import EloScale

        if self.anchor is None:
            return EloScale(self.init, self.scale, self.base)
        name, text = split_pair(self.anchor, "--anchor", "NAME=SCORE")
        try:
            return EloScale(self.init, self.scale, self.base, (name, float(text)))
        except ValueError:
            raise ModelError(f"--anchor takes NAME=SCORE with a number, not {self.anchor!r}.") from None
