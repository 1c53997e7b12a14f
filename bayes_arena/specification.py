"""What a model is: data, not a class per preset.

Every model shares one linear predictor for annotator k comparing i and j,

    eta = theta_k (r_i - r_j),    P(i beats j) = 1 / (1 + exp(-eta)),

with r the strengths in logits (sum zero). Bradley-Terry and m-ELO fix theta = 1; am-ELO frees theta_k, its sign
included, with mean 1 over the annotators. (The paper's scale, sum theta = 1, is theta / M and R = M r.)
A tie counts as half a win for each side, in the paper and here.

Source: Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025, equations 2 to 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bayes_arena.errors import ModelError


@dataclass(frozen=True)
class Model:
    """A point in the family of likelihoods.

    Attributes
    ----------
    name : str
        Name shown in results.
    discrimination : {"fixed", "annotator"}
        Whether every annotator has theta = 1, or a theta of their own.
    """

    name: str
    discrimination: Literal["fixed", "annotator"]


PRESETS = {
    model.name: model
    for model in (
        Model("bradley-terry", discrimination="fixed"),
        Model("m-elo", discrimination="fixed"),
        Model("am-elo", discrimination="annotator"),
    )
}


def resolve_model(model: str | Model | None, *, annotators_known: bool) -> Model:
    """Return the model meant: a preset by name, a model as it is, or the default for the votes.

    Raises
    ------
    ModelError
        If the name is unknown, or the model needs annotators and the votes carry none.
    """
    if model is None:
        model = "am-elo" if annotators_known else "bradley-terry"
    if isinstance(model, str):
        if model not in PRESETS:
            raise ModelError(f"Unknown model {model!r}. Use one of {', '.join(PRESETS)}.")
        model = PRESETS[model]
    if model.discrimination == "annotator" and not annotators_known:
        raise ModelError(
            f"Model {model.name!r} needs to know who cast each vote, and the votes carry no annotators. "
            "Name the column (annotator=..., --annotator), or use bradley-terry."
        )
    return model
