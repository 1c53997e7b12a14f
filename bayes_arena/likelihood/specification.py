"""What a model is: a point in a small grid, described by data.

Every model shares one linear predictor. For annotator k who is shown i first (left) and j second,

    eta = theta_k (r_i - r_j) + b_k,        r the strengths in logits, sum zero.

==================  =====================================================================================
discrimination      ``"fixed"``: theta = 1 (Bradley-Terry, m-ELO); ``"annotator"``: theta_k of either sign
                    and mean 1 (am-ELO; the paper's scale, sum theta = 1, is theta / M with R = M r)
ties                ``"half"``: half a win for each, the paper's soft likelihood; ``"davidson"`` and
                    ``"rao-kupper"``: an outcome with a probability of its own; ``"drop"``: left out
tie_propensity      of the two proper tie models: ``"common"``, or one per ``"annotator"``
both_bad            ``"tie"``: counts as a tie; ``"drop"``: left out; ``"outcome"``: a fourth outcome
position            advantage b of being shown first: ``"none"``, ``"common"``, or one per ``"annotator"``
==================  =====================================================================================

Sources: Liu et al., "am-ELO", ICML 2025, equations 2 to 7; Davidson (1970), JASA 65; Rao & Kupper (1967), JASA 62.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from bayes_arena.errors import ModelError

ModelName = Literal["bradley-terry", "m-elo", "am-elo", "am-davidson"]
Discrimination = Literal["fixed", "annotator"]
Ties = Literal["half", "davidson", "rao-kupper", "drop"]
TiePropensity = Literal["common", "annotator"]
BothBad = Literal["tie", "drop", "outcome"]
Position = Literal["none", "common", "annotator"]

CHOICES: dict[str, tuple[str, ...]] = {
    "discrimination": get_args(Discrimination),
    "ties": get_args(Ties),
    "tie_propensity": get_args(TiePropensity),
    "both_bad": get_args(BothBad),
    "position": get_args(Position),
}


@dataclass(frozen=True)
class Model:
    """A point in the family of likelihoods; the fields are those of the table above.

    Raises
    ------
    ModelError
        If a field has an unknown value, or the combination has no meaning.
    """

    name: str
    discrimination: Discrimination = "fixed"
    ties: Ties = "half"
    tie_propensity: TiePropensity = "common"
    both_bad: BothBad = "tie"
    position: Position = "none"

    def __post_init__(self) -> None:
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value not in CHOICES[field.name]:
                raise ModelError(f"{field.name} is one of {', '.join(CHOICES[field.name])}, not {value!r}.")
        if self.both_bad == "outcome" and self.ties != "davidson":
            raise ModelError(
                "Both-bad votes are an outcome of their own only beside Davidson's ties (ties='davidson')."
            )
        if self.tie_propensity == "annotator" and not self.has_tie_outcome:
            raise ModelError(f"ties={self.ties!r} has no tie propensity. Use ties='davidson' or 'rao-kupper'.")

    @property
    def has_tie_outcome(self) -> bool:
        """Whether a tie has a probability of its own."""
        return self.ties in ("davidson", "rao-kupper")

    @property
    def needs_annotators(self) -> bool:
        """Whether annotators have parameters of their own."""
        return "annotator" in (self.discrimination, self.tie_propensity, self.position)


PRESETS = {
    model.name: model
    for model in (
        Model("bradley-terry"),
        Model("m-elo"),
        Model("am-elo", discrimination="annotator"),
        Model(
            "am-davidson",
            discrimination="annotator",
            ties="davidson",
            tie_propensity="annotator",
            position="annotator",
        ),
    )
}


def resolve_model(
    model: str | Model | None, *, annotators_known: bool, sided: bool = True, flat: bool = False
) -> Model:
    """Return the model meant: a preset by name, a model as it is, or the default for the votes and the prior.

    The default is am-davidson where annotators are known; it needs a prior that pools them, so under a flat one it is
    the paper's am-elo. Without annotators it is bradley-terry. Where votes do not say who was shown first, a preset
    leaves out its position effect, and its name says so.

    Raises
    ------
    ModelError
        If the name is unknown, the model needs annotators and the votes carry none, or a :class:`Model` has a position
        effect and the votes do not say who was shown first.
    """
    if model is None:
        model = ("am-elo" if flat else "am-davidson") if annotators_known else "bradley-terry"
    if isinstance(model, str):
        if model not in PRESETS:
            raise ModelError(f"Unknown model {model!r}. Use one of {', '.join(PRESETS)}, or a Model.")
        model = PRESETS[model]
        if model.position != "none" and not sided:
            model = replace(model, name=f"{model.name} (no sides)", position="none")
    if model.position != "none" and not sided:
        raise ModelError(
            f"Model {model.name!r} has a position effect, and the votes do not say who was shown first. "
            "Use position='none'."
        )
    if model.needs_annotators and not annotators_known:
        raise ModelError(
            f"Model {model.name!r} needs to know who cast each vote, and the votes carry no annotators. "
            "Name the column (annotator=..., --annotator), or use bradley-terry."
        )
    return model
