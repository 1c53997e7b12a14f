"""What a model is: a point in a small grid, described by data.

Every model shares one linear predictor (:mod:`bayes_arena.likelihood.predictor`). For annotator k who is shown i first
(left) and j second,

    eta = theta_k (q_i - q_j) + b_k + ...,        q_i = r_i + ..., r the strengths in logits, sum zero.

``Model`` says which of these terms there are and who shares them. The paper's theta, of sum 1, is theta / M, with
R = M r.

Source: Liu et al., "am-ELO", ICML 2025, equations 2 to 7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from bayes_arena.errors import ModelError, listing, require_choice
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, MOST_GRADES, PROGRAM, TIME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayes_arena.arrays import Floats, Ints
    from bayes_arena.likelihood.outcomes.likelihood import Likelihood
    from bayes_arena.votes.cells import Cells
    from bayes_arena.votes.tally import Tally

ModelName = Literal["bradley-terry", "m-elo", "am-elo", "davidson", "am-davidson"]
Discrimination = Literal["fixed", "annotator"]
Ties = Literal["half", "davidson", "rao-kupper", "drop", "glenn-david"]
"""One file each in :mod:`bayes_arena.likelihood.outcomes`."""
TiePropensity = Literal["common", "annotator"]
BothBad = Literal["tie", "drop", "outcome"]
Position = Literal["none", "common", "annotator"]
StyleSlopes = Literal["common", "annotator"]

CHOICES: dict[str, tuple[str, ...]] = {
    "discrimination": get_args(Discrimination),
    "ties": get_args(Ties),
    "tie_propensity": get_args(TiePropensity),
    "both_bad": get_args(BothBad),
    "position": get_args(Position),
    "style_slopes": get_args(StyleSlopes),
}
MOST_DIMENSIONS = 5
"""More directions than votes have been seen to tell apart."""


@dataclass(frozen=True)
class Model:
    """How votes depend on the competitors, on the annotator, and on what was voted on.

    Attributes
    ----------
    name : str
        Its name in results.
    discrimination : {"fixed", "annotator"}
        ``"fixed"``: theta = 1 for all annotators (Bradley-Terry, m-ELO); ``"annotator"``: one theta for each, of either
        sign and mean 1 (am-ELO).
    ties : {"half", "davidson", "rao-kupper", "glenn-david", "drop"}
        ``"half"``: half a win for each, the paper's likelihood; ``"drop"``: left out; all others: an outcome with a
        probability of its own.
    tie_propensity : {"common", "annotator"}
        Where a tie is an outcome: one tie propensity for all annotators, or one for each.
    both_bad : {"tie", "drop", "outcome"}
        What votes for neither count as; ``"outcome"``: a fourth outcome.
    position : {"none", "common", "annotator"}
        Advantage b of being shown first.
    style : tuple of str
        Features of the votes (``Cells.features``) that have a slope each.
    style_slopes : {"common", "annotator"}
        One slope for all annotators, or one for each, scattered around a common one.
    strength_by : tuple of str
        Slices (``Cells.slices``) in which competitors are stronger or weaker than overall. ``("prompt",)`` rates
        answers, ``("annotator",)`` is taste, ``("program",)`` the taste of programs only (``Cells.programs``).
    ties_by : tuple of str
        Slices in which ties are more or less likely, such as ``("prompt",)`` or ``("competitor",)``.
    discrimination_by : tuple of str
        Slices of ``strength_by`` in which votes follow the strengths more or less closely, for everybody.
    dimensions : int
        Directions in which annotators disagree about the competitors, beyond how sharply they discriminate: a
        competitor has a position in each, an annotator a loading on it.
    drift : bool
        Whether strengths move over time, as a random walk over the periods of the votes (``read_votes(time=...)``).
        The strengths are then those of the last period, now.
    grades : int
        Grades of a win (``A>B``, ``A>>B``) that are outcomes of their own; stronger ones count as the strongest of
        them. Presets in which ties are an outcome take all that the votes have. Each grade after the first has a
        propensity in common, and annotators with a tie propensity have an emphasis of their own, too: how readily they
        call a win a clear one.

    Raises
    ------
    ModelError
        If a field has an unknown value, or the combination makes no sense.
    """

    name: str
    discrimination: Discrimination = "fixed"
    ties: Ties = "half"
    tie_propensity: TiePropensity = "common"
    both_bad: BothBad = "tie"
    position: Position = "none"
    style: tuple[str, ...] = ()
    style_slopes: StyleSlopes = "common"
    strength_by: tuple[str, ...] = ()
    ties_by: tuple[str, ...] = ()
    discrimination_by: tuple[str, ...] = ()
    dimensions: int = 0
    drift: bool = False
    grades: int = 1

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            require_choice(name, getattr(self, name), choices)
        slices = ("strength_by", "ties_by", "discrimination_by")
        for field, what in (("style", "features"), *((one, "slices") for one in slices)):
            names = getattr(self, field)
            named = isinstance(names, tuple) and all(isinstance(name, str) and "/" not in name for name in names)
            if not named or len(set(names)) < len(names):
                raise ModelError(f"{field} must be a tuple of distinct names of {what} without a slash, not {names!r}.")
        if COMPETITOR in self.strength_by or {ANNOTATOR, PROGRAM} & set(self.ties_by):
            raise ModelError(
                f"strength_by cannot have {COMPETITOR!r}: strengths are the competitors' already. ties_by cannot have "
                f"{ANNOTATOR!r} or {PROGRAM!r}: use tie_propensity='annotator'."
            )
        if alone := set(self.discrimination_by) - set(self.strength_by) | {ANNOTATOR, PROGRAM} & set(
            self.discrimination_by
        ):
            raise ModelError(
                f"discrimination_by cannot have {listing(map(repr, sorted(alone)))}: it is for slices of strength_by, "
                "other than annotators and programs, whose discrimination is their own."
            )
        if self.style_slopes == "annotator" and not self.style:
            raise ModelError("style_slopes='annotator' needs features, such as style=('length',).")
        if not isinstance(self.dimensions, int) or not 0 <= self.dimensions <= MOST_DIMENSIONS:
            raise ModelError(f"dimensions must be a whole number from 0 to {MOST_DIMENSIONS}, not {self.dimensions!r}.")
        if self.drift and TIME in self.strength_by:
            raise ModelError(
                f"Strengths that move (drift=True) differ by {TIME!r} already. Leave it out of strength_by."
            )
        if not isinstance(self.grades, int) or not 1 <= self.grades <= MOST_GRADES:
            raise ModelError(f"grades must be a whole number from 1 to {MOST_GRADES}, not {self.grades!r}.")
        likelihood = self.likelihood  # refuses what has none
        if (self.tie_propensity == "annotator" or self.ties_by) and not likelihood.has_tie_outcome:
            raise ModelError(
                f"ties={self.ties!r} has no tie propensity. Use one in which a tie is an outcome, such as 'davidson'."
            )

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of the outcomes of votes."""
        from bayes_arena.likelihood.outcomes.likelihood import likelihood

        return likelihood(self.ties, both_bad_outcome=self.both_bad == "outcome", grades=self.grades)

    @property
    def has_tie_outcome(self) -> bool:
        """Whether a tie has a probability of its own."""
        return self.likelihood.has_tie_outcome

    def seen_counts(self, counts: Floats) -> Floats:
        """Return counts (n_rows, any number of outcomes) as the model sees them, shape (K, n_rows)."""
        return self.likelihood.seen(counts, self.both_bad)

    def sees(self, outcomes: int) -> NDArray[np.bool_]:
        """Return which of so many outcomes the model sees, shape (outcomes,); votes with the others are left out."""
        return self.likelihood.sees(self.both_bad, outcomes)

    @property
    def features(self) -> tuple[str, ...]:
        """Features of the votes that the model reads."""
        return tuple(self.style)

    @property
    def slices(self) -> tuple[str, ...]:
        """Slices of the votes that the model reads."""
        named = dict.fromkeys((*self.strength_by, *self.ties_by, *([TIME] if self.drift else [])))
        return tuple(name for name in named if name not in (ANNOTATOR, COMPETITOR))

    @property
    def is_crossed(self) -> bool:
        """Whether slices, directions or periods have numbers, which cross those of the annotators."""
        return bool(self.strength_by or self.ties_by or self.dimensions or self.drift)

    def without_slices(self) -> Model:
        """Return the same model without effects of slices, directions and drift."""
        return replace(self, strength_by=(), ties_by=(), discrimination_by=(), dimensions=0, drift=False)

    def tally(self, cells: Cells, *, by_annotator: bool | None = None) -> Tally:
        """Sum votes over what the model does not distinguish; ``by_annotator`` overrides it for annotators."""
        kept = self.needs_annotators if by_annotator is None else by_annotator
        return cells.tally(
            by_annotator=kept, by_side=self.position != "none", features=self.features, slices=self.slices
        )

    def tally_by(self, cells: Cells, over: str) -> tuple[Tally, Ints]:
        """Sum votes as :meth:`tally` does, but keep annotators, or the values of a slice, apart.

        Returns
        -------
        tally : Tally
        group : ndarray of int, shape (n_rows,)
            For every row, the index of its annotator, or into the slice's names.
        """
        if over == ANNOTATOR:
            tally = self.tally(cells, by_annotator=True)
            return tally, tally.k
        tally = cells.tally(
            by_annotator=self.needs_annotators,
            by_side=self.position != "none",
            features=self.features,
            slices=(*self.slices, over),
        )
        return tally, tally.slices[-1]

    def has_numbers_of(self, over: str) -> bool:
        """Whether every annotator, or every value of a slice, has numbers of its own."""
        return self.needs_annotators if over == ANNOTATOR else over in self.slices

    @property
    def needs_annotators(self) -> bool:
        """Whether annotators have parameters of their own."""
        own = (self.discrimination, self.tie_propensity, self.position, self.style_slopes, *self.strength_by)
        return ANNOTATOR in own or self.dimensions > 0
