"""Named models, and the choice of a model.

A preset has answers (prompt x competitor) where enough votes repeat prompts
(:mod:`bayes_arena.votes.records`): competitors then have a strength of their own on every prompt, and ties,
where they are an outcome, a propensity of their own. Where each prompt was voted on once, answers only add to the noise
of a vote: their spread cannot be told from it, and strengths already are those of a vote on a new prompt.

In a preset, programs that vote beside people (``Cells.programs``) have a taste: for every program, every competitor has
a strength of its own, q_i = r_i + u_{k,i}, u_{k,i} ~ N(0, tau^2), and r is what people see. So a program's votes
determine r_i - r_j at best to within sqrt(2) tau, however many there are. People have no such numbers.

Where comparisons have verdicts on several criteria, competitors have in a preset a strength for every criterion, ties a
propensity, votes a discrimination of their own (people see more clearly what is honest than what is harmless), and each
comparison has its own deviation of the lead, which its verdicts share: how well the two answers
turned out. So the verdicts of one comparison are not so many independent votes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import (
    PACKAGE,
    IdentificationWarning,
    LeftOutEffectWarning,
    ModelError,
    NotIdentifiedError,
    did_you_mean,
    listing,
)
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.specification import Model
from bayes_arena.markup import percent
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import ANNOTATOR, CRITERION, ITEM, PROGRAM, PROMPT
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.records import repeated_answers

Answers = bool | Literal["auto"]
Dimensions = int | Literal["auto"]
TELLING = 20
"""Decided votes of which nine in ten hardly go to the same side by chance (1 in 2,000)."""
ONE_SIDED = 0.9
"""Share of the decided votes above which the winning side counts as an artefact of how the file was written."""
AGAIN = 0.5
"""Pairs of comparisons by the same annotator, for every comparison, from which discrimination is the annotator's."""
MOSTLY = 0.5
"""Share of the votes on pairs shown both ways above which the votes themselves tell sides from strengths."""

PRESETS = {
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


def resolve_model(model: str | Model | None, cells: Cells, *, flat: bool = False) -> tuple[Model, dict[str, str]]:
    """Return the model to fit: a preset by name, a model as it is, or the default for the votes and the prior.

    Also return the reasons for the model and, where the votes decided, for its ties and sides.

    The default is am-davidson where annotators are known; it needs a prior that pools them, so under a flat one the
    default is the paper's am-elo. Without annotators it is davidson, or bradley-terry where there are no ties, both
    with sides where most votes are on pairs shown both ways; under a flat prior it is bradley-terry. Where votes do not
    say who was shown first, a preset leaves out its position effect, and its name says so.

    Parameters
    ----------
    model : str, Model or None
    cells : Cells
        The votes.
    flat : bool
        Whether the prior is flat.

    Warns
    -----
    LeftOutEffectWarning
        If one side won nearly every decided vote, so that a preset does not take the order of names for sides.

    Raises
    ------
    ModelError
        If the name is unknown, the model needs annotators and the votes carry none, or a :class:`Model` has a position
        effect and the votes do not say who was shown first.
    """
    reasons = {"model": "asked for"}
    if model is None:
        reasons["model"] = (
            f"annotators are known: {cells.n_annotators:,}" if cells.n_annotators else "no annotators are known"
        )
        if cells.n_annotators:
            model = "am-elo" if flat else "am-davidson"
        elif flat:
            model = "bradley-terry"
        else:
            model = _without_annotators(cells)
            reasons["ties"] = (
                f"{percent(_tied(cells), '.1f')} of the votes are ties" if _tied(cells) else "no vote is a tie"
            )
            both_ways = f"{percent(shown_both_ways(cells))} of the votes are on pairs shown both ways"
            reasons["sides"] = _why_no_sides(cells) or both_ways
    if isinstance(model, str):
        if model not in PRESETS:
            raise ModelError(f"Unknown model {model!r}. Use one of {', '.join(PRESETS)}, or a Model.")
        model = PRESETS[model]
        if model.position != "none" and _why_no_sides(cells):
            model = replace(model, name=f"{model.name} (no sides)", position="none")
            reasons["sides"] = _why_no_sides(cells)
            if cells.sided:
                warnings.warn(
                    f"One side won {percent(_share(cells), '.1f')} of the decided votes, as in a file that names "
                    "winners first: the order does not say who was shown first, and sides are left out. If it does, "
                    "use a Model with position='common'.",
                    LeftOutEffectWarning,
                    skip_file_prefixes=PACKAGE,
                )
    if model.position != "none" and not cells.sided:
        raise ModelError(
            f"Model {model.name!r} has a position effect, and the votes do not say who was shown first. "
            "Use position='none'."
        )
    if model.needs_annotators and not cells.n_annotators:
        raise ModelError(
            f"Model {model.name!r} needs to know who cast each vote, and the votes carry no annotators. "
            "Name the column (annotator=..., --annotator), or use bradley-terry."
        )
    return model, reasons


def _without_annotators(cells: Cells) -> str | Model:
    """Return the default where annotators are unknown, with ties and sides where the votes call for them."""
    tied = _tied(cells) > 0 or cells.grades > 1
    if _why_no_sides(cells) or shown_both_ways(cells) < MOSTLY:
        return replace(PRESETS["davidson"], name="davidson (no sides)", position="none") if tied else "bradley-terry"
    return "davidson" if tied else Model("bradley-terry with sides", position="common")


def _why_no_sides(cells: Cells) -> str:
    """Say why there can be no sides; empty where there can."""
    if not cells.sided:
        return "the votes do not say who was shown first"
    return f"one side won {percent(_share(cells), '.1f')} of the decided votes" if one_side_wins(cells) else ""


def _tied(cells: Cells) -> float:
    """Return the share of the votes for neither side."""
    return float(wins_losses_ties(cells.counts)[2].sum() / max(cells.n_votes, 1e-300))


def one_side_wins(cells: Cells) -> bool:
    """Whether one side won nearly every decided vote, and there are more than a few."""
    return bool(_decided(cells).sum() >= TELLING and _share(cells) >= ONE_SIDED)


def _share(cells: Cells) -> float:
    """Return the share of decided votes for the side that won more of them."""
    decided = _decided(cells)
    return float(decided.max() / decided.sum())


def _decided(cells: Cells) -> Floats:
    """Return the votes that each side won, shape (2,)."""
    return np.array([votes.sum() for votes in wins_losses_ties(cells.counts)[:2]])


def shown_both_ways(cells: Cells) -> float:
    """Return the share of votes on pairs of which each competitor was shown first."""
    size = cells.n_competitors
    forward = np.unique(cells.a * size + cells.b)
    both = np.isin(cells.b * size + cells.a, forward)
    return float(cells.counts[both].sum() / max(cells.n_votes, 1.0))


def with_taste(model: Model, cells: Cells, prior: Prior) -> Model:
    """Return a model in which programs have a taste of their own, if programs vote beside people.

    Parameters
    ----------
    model : Model
        Returned as it is if it has such tastes already.
    cells : Cells
        The votes.
    prior : Prior

    Warns
    -----
    IdentificationWarning
        If the prior is flat: nothing would constrain the tastes, so programs count like other annotators.
    """
    if not (cells.programs and cells.people) or {ANNOTATOR, PROGRAM} & set(model.strength_by):
        return model
    if prior.is_flat:
        warnings.warn(
            f"Under a flat prior {listing(cells.programs)} cannot have a taste, and the votes of programs count like "
            "those of people. Use prior='default', or leave programs out (drop_annotators).",
            IdentificationWarning,
            skip_file_prefixes=PACKAGE,
        )
        return model
    return replace(model, name=_extended(model, "taste of programs"), strength_by=(*model.strength_by, PROGRAM))


def with_criteria(model: Model, cells: Cells, prior: Prior) -> tuple[Model, str]:
    """Return a model that tells criteria apart, and comparisons, if comparisons have verdicts on several criteria.

    Also return why annotators have no discrimination of their own, where that is so: how clearly somebody sees
    differences shows in several comparisons, and in one it cannot be told from how different the two answers were.
    """
    if prior.is_flat or not has_criteria(cells):
        return model, ""
    why = ""
    if model.discrimination == "annotator" and _comparisons_again(cells) < AGAIN:
        why = "hardly anybody judged two comparisons, so that all discriminate alike"
        model = replace(model, name=f"{model.name} (same theta)", discrimination="fixed")
    ties = (*model.ties_by, CRITERION) if model.has_tie_outcome and CRITERION not in model.ties_by else model.ties_by
    more = tuple(kind for kind in (CRITERION, ITEM) if kind not in model.strength_by)
    name = _extended(model, "criteria")
    strength_by = (*model.strength_by, *more)
    return replace(model, name=name, strength_by=strength_by, ties_by=ties, discrimination_by=(CRITERION,)), why


def _comparisons_again(cells: Cells) -> float:
    """Return the pairs of comparisons by the same annotator, for every comparison."""
    whose = np.zeros(len(cells.slice_names[ITEM]), dtype=np.int64)
    whose[cells.slices[ITEM]] = cells.annotator
    judged = np.bincount(whose)
    return float((judged * (judged - 1)).sum() / 2 / len(whose))


def has_criteria(cells: Cells) -> bool:
    """Whether comparisons have verdicts on several criteria: items of one pair each, of one annotator."""
    if len(cells.slice_names.get(CRITERION, ())) < 2 or ITEM not in cells.slices:
        return False
    item = cells.slices[ITEM]
    pair = np.minimum(cells.a, cells.b) * cells.n_competitors + np.maximum(cells.a, cells.b)
    code = pair * max(cells.n_annotators, 1) + cells.annotator
    first = np.zeros(len(cells.slice_names[ITEM]), dtype=np.int64)
    first[item] = code
    return bool((first[item] == code).all()) and len(item) > len(first)


def with_grades(model: Model, cells: Cells) -> tuple[Model, str]:
    """Return a preset that keeps all grades of the votes apart, if its likelihood can, and why it does or does not."""
    if cells.grades == 1:
        return model, ""
    if model.likelihood.with_grades is None:
        return model, f"ties={model.ties!r} has no probabilities of grades"
    named = replace(model, name=_extended(model, f"{cells.grades} grades"), grades=cells.grades)
    return named, "the votes have them"


def in_dimensions(model: Model, count: int) -> Model:
    """Return the same model with so many directions in which annotators disagree, named so."""
    before, after = (f"{number} direction{'s' * (number != 1)}" for number in (model.dimensions, count))
    name = model.name.removesuffix(f" with {before}").removesuffix(f" and {before}")
    plain = replace(model, name=name, dimensions=count)
    return replace(plain, name=_extended(plain, after)) if count else plain


def with_groups(model: Model, cells: Cells, groups: Sequence[str]) -> Model:
    """Return the same model with strengths by groups of annotators, named so.

    Raises
    ------
    ModelError
        If the votes do not carry such groups, or votes by one annotator are of several.
    """
    if unknown := [kind for kind in groups if kind not in cells.slices]:
        raise ModelError(
            f"The votes carry no {listing(map(repr, unknown))} (their slices: {listing(cells.slices) or 'none'})."
            f"{did_you_mean(unknown[0], cells.slices)} Name the column when reading them: read_votes(votes, "
            f"slices=[{unknown[0]!r}])."
        )
    for kind in groups if cells.annotators else ():
        _require_of_annotators(cells, kind)
    more = tuple(kind for kind in dict.fromkeys(groups) if kind not in model.strength_by)
    return replace(model, name=f"{model.name} by {', '.join(groups)}", strength_by=(*model.strength_by, *more))


def _require_of_annotators(cells: Cells, kind: str) -> None:
    """Refuse groups that are not the annotator's own: with votes by somebody in more than one of them."""
    names, size = cells.slice_names[kind], len(cells.slice_names[kind])
    pairs = np.unique(cells.annotator * size + cells.slices[kind])
    whose, group = np.divmod(pairs, size)
    several = np.flatnonzero(np.bincount(whose) > 1)
    if len(several):
        each = (f"{cells.annotators[k]!r} ({', '.join(names[g] for g in group[whose == k])})" for k in several)
        raise ModelError(
            f"Groups are of annotators, and {len(several):,} of {cells.n_annotators:,} are in several by {kind!r}: "
            f"{listing(each)}. Mend their rows; for slices of the votes use strength_by=({kind!r},) (--strength-by)."
        )


def with_drift(model: Model) -> Model:
    """Return the same model with strengths that move over time, named so."""
    return model if model.drift else replace(model, name=_extended(model, "drift"), drift=True)


def without_answers(model: Model) -> Model:
    """Return the same model without numbers of prompts."""
    if PROMPT not in (*model.strength_by, *model.ties_by):
        return model
    strength_by, ties_by = (tuple(one for one in by if one != PROMPT) for by in (model.strength_by, model.ties_by))
    return replace(model, strength_by=strength_by, ties_by=ties_by)


def _extended(model: Model, what: str) -> str:
    """Return the name of a model extended by something."""
    return f"{model.name} {'and' if ' with ' in model.name else 'with'} {what}"


def with_answers(model: Model, cells: Cells, answers: Answers) -> tuple[Model, str, str]:
    """Return a model with answers if they are asked for, or if the votes can tell them from noise.

    Parameters
    ----------
    model : Model
    cells : Cells
        The votes.
    answers : bool or "auto"
        Whether answers are modelled; ``"auto"`` leaves it to the votes.

    Returns
    -------
    model : Model
        As it is if it has answers already.
    why : str
        Why there are answers or not; empty where the model already has them or the votes carry no prompts.
    said : str
        A notice if answers are left out although some of several prompts repeat, else empty.

    Raises
    ------
    ModelError
        If answers are asked for and the votes carry no prompts, or ``answers`` is none of the choices.
    NotIdentifiedError
        If answers are asked for and no answer was voted on twice.
    """
    if answers not in ("auto", True, False):
        raise ModelError(f"answers must be 'auto', True or False, not {answers!r}.")
    if PROMPT in (*model.strength_by, *model.ties_by):
        return model, "", ""
    if answers is False:
        return model, "asked for", ""
    if answers == "auto" and len(cells.slice_names.get(PROMPT, ())) == 1:
        return model, "there is one prompt, and strengths are those on it", ""
    if PROMPT not in cells.slices:
        if answers is True:
            raise ModelError(
                "Answers need prompts. Name their column when votes are read (prompt=..., --prompt COLUMN)."
            )
        return model, "", ""
    found = repeated_answers(cells)
    if answers is True and not found.with_two:
        raise NotIdentifiedError(
            "Each prompt was voted on once: answers cannot be told from noise, and strengths are those of a vote on a "
            "new prompt. Use answers='auto' (--answers auto)."
        )
    counted = f"of {found.answers:,} answers {found.with_two:,} have two votes or more"
    if answers == "auto" and not found.enough:
        if not found.with_two:
            return model, "each prompt was voted on once", ""
        why = f"{counted}, and {percent(found.share)} of the votes are on prompts that repeat"
        return (
            model,
            why,
            f"Answers are left out: {why}, too few to tell answers from noise. Intervals treat votes on one prompt as "
            "independent. Cluster them (interval=ba.Clustered(by='prompt')), or model answers anyway "
            "(answers=True, --answers on).",
        )
    ties = (*model.ties_by, PROMPT) if model.has_tie_outcome else model.ties_by
    named = replace(model, name=_extended(model, "answers"), strength_by=(*model.strength_by, PROMPT), ties_by=ties)
    return named, "asked for" if answers is True else counted, ""
