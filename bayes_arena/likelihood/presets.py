"""Models with a name, and the one that is meant."""

from __future__ import annotations

from dataclasses import replace

from bayes_arena.errors import ModelError
from bayes_arena.likelihood.specification import Model

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
