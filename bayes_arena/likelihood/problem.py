"""The problem to solve: votes, a model and a prior.

Every method, be it the mode, the nearest Gaussian or sampling, starts from a :class:`Problem`. The cells keep what is
derived from the votes alone (their tally, the components of their graph), so other spreads or another model of the same
votes, ``replace(problem, prior=...)``, do not count votes again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, did_you_mean
from bayes_arena.likelihood.numbering import label_of
from bayes_arena.likelihood.objective import Objective, objective
from bayes_arena.likelihood.presets import resolve_model, with_criteria, with_grades, with_taste
from bayes_arena.likelihood.priors import DRIFT, EMPHASIS, NAMED_PRIORS, Prior, resolve_prior
from bayes_arena.likelihood.specification import MOST_DIMENSIONS, Model
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM, TIME
from bayes_arena.votes.periods import require_periods
from bayes_arena.votes.reading.read_votes import as_cells

MANY_ANNOTATORS = 10_000
"""Number of annotators from which a search starts with a quarter of them."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Votes, a model and a prior.

    Attributes
    ----------
    cells : Cells
        The votes.
    model : Model
    prior : Prior
        Spreads, and what is assumed of them where they are estimated.
    reasons : mapping of str to str
        Reasons for automatic choices, by what was chosen, such as "ties".
    as_cast : Cells or None
        The votes as they were cast, where some count in part.

    Raises
    ------
    ModelError
        If the model has more grades than the votes; if it has slices, and the prior is flat or the spread of their
        numbers infinite; or if it has tastes of programs, and no annotator is a program.
    """

    cells: Cells
    model: Model
    prior: Prior
    reasons: Mapping[str, str] = field(default_factory=dict)
    as_cast: Cells | None = None

    def __post_init__(self) -> None:
        if self.model.drift:
            require_periods(self.cells)
        names = [
            *(f"strength_by_{kind}" for kind in self.model.strength_by),
            *(f"ties_by_{kind}" for kind in self.model.ties_by),
            *(f"discrimination_by_{kind}" for kind in self.model.discrimination_by),
            *(f"direction_{one}" for one in range(1, self.model.dimensions + 1)),
            *([DRIFT] if self.model.drift else []),
        ]
        endless = any(math.isinf(self.prior.spread(name)) for name in names)
        if names and (endless or self.prior.is_flat):
            kinds = ", ".join(self.model.slices) or "directions"
            raise ModelError(
                f"Under a flat prior nothing constrains the numbers of slices ({kinds}), and every vote would be "
                "fitted exactly. Use prior='default'."
            )
        if self.model.dimensions and self.cells.n_annotators < 2:
            raise ModelError(
                "One annotator alone cannot disagree along a direction. Leave out dimensions, or name the column of "
                "annotators (annotator=..., --annotator)."
            )
        if self.model.grades > self.cells.grades:
            raise ModelError(
                f"Model {self.model.name!r} keeps {self.model.grades} grades of wins apart, and the votes have "
                f"{self.cells.grades}. Use grades={self.cells.grades}."
            )
        if PROGRAM in self.model.strength_by and not self.cells.programs:
            raise ModelError(
                f"Model {self.model.name!r} has tastes of programs, and no annotator is a program. Name programs when "
                "votes are read (programs=..., --program)."
            )

    @classmethod
    def of(cls, votes: object, model: str | Model | None, prior: str | Prior) -> Self:
        """Read the votes if necessary, and look up model and prior.

        Parameters
        ----------
        votes : Cells, path, sequence of paths, or dataframe
            Votes, or what :func:`~bayes_arena.read_votes` reads without options.
        model : str, Model or None
            A preset by name, a model as it is, or the default for the votes and the prior. Presets give programs that
            vote beside people a taste of their own, and
            keep grades apart where they can.
        prior : str or Prior

        Raises
        ------
        VotesError
            If the votes cannot be read.
        ModelError
            If the model or prior is unknown, or the model or a spread needs something that the votes do not carry.
        """
        cells, prior = as_cells(votes), resolve_prior(prior)
        _require_known_spreads(cells, prior)
        meant, reasons = resolve_model(model, cells, flat=prior.is_flat)
        reasons |= dict.fromkeys(("strengths", "annotators"), _whose(prior))
        if isinstance(model, Model):
            return cls(cells, model, prior, reasons)
        graded, reasons["grades"] = with_grades(meant, cells)
        found, alike = with_criteria(with_taste(graded, cells, prior), cells, prior)
        reasons["annotators"] = alike or reasons["annotators"]
        if cells.programs:
            beside = "a flat prior allows no tastes" if prior.is_flat else "people vote, too"
            reasons["programs"] = beside if cells.people else "only programs vote"
        return cls(cells, found, prior, reasons)

    def of_a_quarter(self) -> Self:
        """Return the problem of every fourth annotator."""
        cells = self.cells
        some, annotators = cells.take(np.flatnonzero(cells.annotator % 4 == 0)), cells.annotators[::4]
        known = set(annotators)
        programs = tuple(name for name in cells.programs if name in known)
        some = replace(some, annotator=some.annotator // 4, annotators=annotators, programs=programs)
        return replace(self, cells=some)

    def because(self, **reasons: str) -> Self:
        """Return the same problem with further reasons."""
        return replace(self, reasons={**self.reasons, **{what: why for what, why in reasons.items() if why}})

    @cached_property
    def objective(self) -> Objective:
        """The negative log-posterior."""
        return objective(self.cells, self.model, self.prior)

    @cached_property
    def slice_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the slices that numbers belong to, by kind of slice."""
        cells = self.cells
        names = {ANNOTATOR: cells.annotators, COMPETITOR: cells.competitors, PROGRAM: cells.programs}
        return {**cells.slice_names, **names}

    @cached_property
    def shifts(self) -> Floats:
        """Orthonormal directions in which the strengths are held at zero, shape (n_competitors, c).

        Their sum; where the prior of the strengths is flat, their sum in every component of the graph.
        """
        components = self.cells.components
        labels = components if math.isinf(self.prior.strength) else np.zeros_like(components)
        indicator = (labels[:, None] == np.unique(labels)).astype(float)
        return np.asarray(indicator / np.sqrt(indicator.sum(axis=0)))


def _whose(prior: Prior) -> str:
    """Say which prior it is."""
    return f"{prior} prior" if prior in NAMED_PRIORS.values() else "your prior"


def _require_known_spreads(cells: Cells, prior: Prior) -> None:
    """Refuse spreads whose name matches nothing in the votes: misspelt, they would have no effect."""
    kinds = (*cells.slices, ANNOTATOR, COMPETITOR, *([PROGRAM] if cells.programs else []))
    known = [f"{what}_by_{kind}" for what in ("strength", "ties", "discrimination") for kind in kinds]
    known += [f"style_{feature}_spread" for feature in cells.features]
    known += [f"{EMPHASIS}_spread"] if cells.grades > 1 else []
    known += [f"direction_{one}" for one in range(1, MOST_DIMENSIONS + 1)]
    known += [DRIFT] if TIME in cells.slices else []
    for name in (*prior.by, *(prior.hyper.by if prior.hyper else ())):
        if name not in known:
            raise ModelError(
                f"The prior has a spread {name!r}, which matches nothing in these votes."
                f"{did_you_mean(name, known) or ' Leave it out.'}"
            )


def number_labels(problem: Problem) -> dict[str, list[str]]:
    """Name the numbers of slices, by dimension: by slice, and by competitor where each has one."""
    numbering, n, names = problem.objective.numbering, problem.cells.n_competitors, problem.cells.competitors
    labels = {}
    for effect, keys in zip(numbering.slices, numbering.keys, strict=True):
        kind = problem.slice_names[effect.by]
        each = effect.basis == "difference" and not effect.dimension
        labels[label_of(effect)] = [f"{kind[key // n]}: {names[key % n]}" if each else kind[key] for key in keys]
    return labels
