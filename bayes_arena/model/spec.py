"""What a model is: which effects a vote has.

A vote of annotator k on competitors i (shown first) and j has the coordinates

    eta = theta_k (r_i - r_j + u_gi - u_gj) + b + b_k + x . beta,    tau = t + t_k + w_g,

and its outcome the logits eta / 2 (i wins), -eta / 2 (j wins) and tau (tie; Davidson, 1970,
JASA 65).  With ``ties="half"`` there is no tau, and a tie is half a win for each
(Liu et al., 2025, "am-ELO", equations 2 to 7).  A :class:`Model` says which terms there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from bayes_arena.errors import ModelError, did_you_mean, listing, plural, require_choice
from bayes_arena.said import Use, joined
from bayes_arena.votes.votes import NO_ANNOTATORS, NO_SLICE, TIE, Votes

type Discrimination = Literal["none", "annotator"]
type Ties = Literal["half", "davidson", "drop"]
type Sharing = Literal["common", "annotator"]
type Position = Literal["none", "common", "annotator"]
type Preset = Literal["bradley-terry", "m-elo", "am-elo", "davidson", "am-davidson"]
NO_FEATURE = ("Columns become features with ", Use("features"), ".")
CHOICES = {
    "discrimination": get_args(Discrimination.__value__),
    "ties": get_args(Ties.__value__),
    "tie_propensity": get_args(Sharing.__value__),
    "position": get_args(Position.__value__),
}


@dataclass(frozen=True)
class Model:
    """The terms of a model.

    Attributes
    ----------
    name : str
        Its name in results.
    discrimination : {"none", "annotator"}
        Whether every annotator has a discrimination theta, of either sign and mean 1.
    ties : {"half", "davidson", "drop"}
        Half a win for each; an outcome with a probability of its own; or left out.
    tie_propensity : {"common", "annotator"}
        Where ties are an outcome, whether annotators differ in how readily they tie.
    position : {"none", "common", "annotator"}
        Whether the side shown first has an advantage, and whether annotators differ in it.
    grades : bool
        Whether clear wins (A>>B) are outcomes of their own; needs ``ties="davidson"``.
    strength_by : tuple of str
        Slices in which competitors may be stronger than overall, and ties more frequent.
        The overall board is for a new level of the same kind.
    style : tuple of str
        Features of the answers with an effect on the vote.

    Raises
    ------
    ModelError
        If a field has an unknown value, or the combination makes no sense.
    """

    name: str = "custom"
    discrimination: Discrimination = "none"
    ties: Ties = "half"
    tie_propensity: Sharing = "common"
    position: Position = "none"
    grades: bool = False
    strength_by: tuple[str, ...] = ()
    style: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        for name, choices in CHOICES.items():
            require_choice(name, getattr(self, name), choices)
        for name in ("strength_by", "style"):
            values = getattr(self, name)
            if isinstance(values, str):
                values = (values,)
            object.__setattr__(self, name, tuple(values))
        if self.grades and self.ties != "davidson":
            raise ModelError((Use(grades=True), " needs ", Use(ties="davidson"), "."))
        if "annotator" in self.strength_by:
            raise ModelError(
                (
                    Use("strength_by"),
                    " takes slices of the votes, and annotators are none.",
                ),
                Use(discrimination="annotator"),
            )

    @property
    def needs_annotators(self) -> bool:
        """Whether annotators have parameters of their own."""
        return (
            self.discrimination == "annotator"
            or self.position == "annotator"
            or (self.ties == "davidson" and self.tie_propensity == "annotator")
        )

    @property
    def told_apart(self) -> tuple[str, ...]:
        """What has parameters of its own: annotators, and slices."""
        return ("annotator",) * self.needs_annotators + self.strength_by


PRESETS: Mapping[str, Model] = {
    model.name: model
    for model in (
        Model("bradley-terry"),
        Model("m-elo"),
        Model("am-elo", discrimination="annotator"),
        Model("davidson", ties="davidson", position="common"),
        Model(
            "am-davidson",
            discrimination="annotator",
            ties="davidson",
            tie_propensity="annotator",
            position="annotator",
        ),
    )
}


def resolve_model(model: str | Model, votes: Votes) -> tuple[Model, Votes, str]:
    """Return a model, as far as the votes can tell its terms; its votes; and its plan.

    Votes that lack an annotator, or a prompt, are left out where the model tells these
    apart.  The position is left out where the votes do not say who was shown first, or no
    pair was shown both ways; ties are no outcome where there are none; and grades, where
    verdicts are not graded.

    Parameters
    ----------
    model : str or Model
        A preset by name, or a model.
    votes : Votes

    Raises
    ------
    ModelError
        If the name is unknown, or the votes lack annotators, slices or features that the
        model needs.
    """
    if isinstance(model, str):
        require_choice("model", model, PRESETS)
        model = PRESETS[model]
    if not isinstance(model, Model):
        known = ", ".join(PRESETS)
        raise ModelError((Use(model=model), f" must be a Model, or one of {known}."))
    require_data(model, votes)
    left_out = []
    for by in model.told_apart:
        known = votes.known(by)
        if known is not votes:
            n = plural(votes.n_votes - known.n_votes, "vote")
            left_out.append(f"without {n} of an unknown {by}")
        votes = known
    if model.position != "none" and not is_shown_both_ways(votes):
        model = replace(model, position="none")
        left_out.append("no position: " + why_no_position(votes))
    if model.ties == "davidson" and not votes.counts[:, TIE].any():
        model = replace(model, ties="half", grades=False)
        left_out.append("no ties: there are none")
    if model.grades and not votes.graded:
        model = replace(model, grades=False)
        left_out.append("no grades: verdicts are not graded")
    return model, votes, "; ".join([model.name, *left_out])


def require_data(model: Model, votes: Votes) -> None:
    """Raise a ModelError where the votes lack what the model needs."""
    if model.needs_annotators and not votes.n_annotators:
        raise ModelError(
            joined(
                f"Model {model.name!r} needs annotators. ",
                NO_ANNOTATORS,
                (" Or use ", Use(model="davidson"), "."),
            )
        )
    for what, needed, known, remedy in (
        ("slice", model.strength_by, votes.slices, NO_SLICE),
        ("feature", model.style, votes.features, NO_FEATURE),
    ):
        missing = [name for name in needed if name not in known]
        if missing:
            names = listing(map(repr, missing))
            hint = did_you_mean(missing[0], known)
            raise ModelError(
                joined(f"The votes have no {what} {names}.{hint} ", remedy)
            )


def is_shown_both_ways(votes: Votes) -> bool:
    """Whether the votes say who was shown first, and some pair was shown both ways."""
    if not votes.sided:
        return False
    ordered = np.unique(votes.i * votes.n_competitors + votes.j)
    reverse = ordered % votes.n_competitors * votes.n_competitors
    return bool(np.isin(reverse + ordered // votes.n_competitors, ordered).any())


def why_no_position(votes: Votes) -> str:
    """Return why a position cannot be told."""
    if votes.sided:
        return "no pair was shown both ways"
    return "the votes do not say who was shown first"


def visible_votes(model: Model, votes: Votes) -> Votes:
    """Return the votes that a model sees: without ties, if it drops them."""
    if model.ties != "drop":
        return votes
    counts = votes.counts.copy()
    counts[:, TIE] = 0
    cast = counts.any(axis=1)
    return votes.with_counts(counts).take(np.flatnonzero(cast))
