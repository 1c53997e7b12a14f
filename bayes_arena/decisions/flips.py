"""How many votes, and whose, a ranking depends on: the fewest whose change reverses two competitors.

The number k expresses in votes what the posterior probability of the order says, so the two are shown side by side:
where the votes do not settle an order, a handful of them decides it, however many there are. What k adds are the names
of the votes, annotators or prompts that the order depends on, and how few annotators suffice to reverse it.

The method is described in :mod:`~bayes_arena.decisions.fewest`. It is exact in that a refit without these votes has the
opposite order, and a refit with one of them returned does not. Another choice may need fewer votes: on real votes at
most 7 % fewer in models without slices, and up to a third fewer with answers (``benchmarks/flips.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, table_of
from bayes_arena.decisions.fewest import VOTE, Fewest, How, Path, changes, fewest_along, fewest_one_by_one
from bayes_arena.errors import ModelError, NotIdentifiedError, require_choice
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.progress import report
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.estimates import pair_indices
from bayes_arena.ratings.probabilities import share_above
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import NO_PROGRAM
from bayes_arena.votes.names import ANNOTATOR, PROGRAM
from bayes_arena.votes.outcomes import outcome_names, whole_counts

Pairs = Literal["adjacent", "top"]
MOST = 0.3
"""Largest share of the votes that may be changed."""


@held
def flips(
    result: Fit,
    pairs: Pairs | Sequence[tuple[str, str]] = "adjacent",
    *,
    by: str = "vote",
    how: How = "drop",
    max_share: float = MOST,
) -> DataFrame:
    """Count the votes, annotators or prompts whose change would reverse the order of two competitors.

    Parameters
    ----------
    result : Fit
        A fitted model. Refits keep the spreads of its prior fixed and find the posterior mode, whatever the method of
        the fit. Votes count as they do in it.
    pairs : {"adjacent", "top"} or sequence of (str, str)
        Each competitor and the next, only the first and the second, or the given pairs.
    by : str
        Unit of change: a ``"vote"``, all votes of an ``"annotator"``, or of a slice such as ``"prompt"``.
    how : {"drop", "flip", "add"}
        Drop votes; reverse them, as if the other had won; or add votes on the pair that the opponent wins, by
        annotators in proportion to the votes they cast.
    max_share : float
        Largest share of the votes that may be changed.

    Returns
    -------
    pandas.DataFrame
        ``competitor, opponent, elo_gap, p_better, k, k_linear, share``, the better of the two first. ``elo_gap`` and
        ``p_better``, how far it is ahead in Elo points and the probability that it is better, are those of
        :func:`~bayes_arena.pairs`; ``k`` is the number of votes (annotators, prompts) whose change reverses the order
        in a refit, infinity where none within ``max_share`` does, and 0 where the mode already has the opposite order,
        as it may for pairs that votes do not settle; ``k_linear`` its linear prediction; ``share`` the share of the
        votes changed, infinity where ``k`` is. If the model has annotator parameters, ``annotators`` is the number of
        annotators who cast these votes. Where whole groups are changed, the last column, named by ``by``, has tuples of
        the groups' names, largest effect first.

    Raises
    ------
    ModelError
        If a name is not a competitor, an option is unknown, the votes lack the grouping, annotators have parameters
        under a flat prior, weights are fractional, or votes are to be added to a model with slices.
    NotIdentifiedError
        If there is no finite estimate.
    ConvergenceError
        If a refit finds no mode.

    References
    ----------
    Huang, Shen, Wei & Broderick, "Dropping just a handful of preferences can change top large language model rankings",
    arXiv:2508.11847; added and flipped votes: arXiv:2605.15761.
    """
    columns = flip_columns(result, pairs, by=by, how=how, max_share=max_share)
    return table_of(columns, by=by, how=how, max_share=max_share, model=result.model.name)


def flip_columns(
    result: Fit, pairs: Pairs | Sequence[tuple[str, str]], *, by: str, how: How, max_share: float
) -> Columns:
    """Columns of :func:`flips`."""
    _require_options(result, how, max_share)
    strength = decision_strengths(result)
    better, worse = _chosen(result, pairs, strength.mean(axis=0))
    gap = strength[:, better] - strength[:, worse]
    p_better = share_above(gap)
    behind = p_better < 0.5
    better, worse = np.where(behind, worse, better), np.where(behind, better, worse)
    with one_thread():
        fit = at_mode(result)
        above, below = _by_quality(fit, better, worse)
        found = list(fewest_changes(fit, above, below, by, how, max_share))
    names, turned = np.array(fit.cells.competitors, dtype=object), above != better
    changed = np.array([one.taken @ one.changes.votes for one in found])
    k = np.array([one.units for one in found], dtype=np.float64)
    linear = np.array([one.predicted for one in found], dtype=np.float64)
    columns: Columns = {
        "competitor": names[better],
        "opponent": names[worse],
        "elo_gap": EloScale().points_per_logit * np.where(behind, -1.0, 1.0) * gap.mean(axis=0),
        "p_better": np.maximum(p_better, 1 - p_better),
        "k": np.where(turned, 0.0, k),
        "k_linear": np.where(turned, 0.0, linear),
        "share": np.where(turned, 0.0, np.where(np.isinf(k), np.inf, changed / fit.target.n_votes)),
    }
    if by != VOTE:
        groups = fit.cells.annotators if by == ANNOTATOR else fit.cells.slice_names[by]
        whose = zip(turned, found, strict=True)
        columns[by] = [() if none else tuple(groups[kind] for kind in one.kinds) for none, one in whose]
    elif fit.model.needs_annotators and how != "add":
        tally = fit.target.tally
        columns["annotators"] = np.where(turned, 0, [len(np.unique(tally.k[one.votes[1]])) for one in found])
    return columns


@held
def flip_votes(
    result: Fit, competitor: str, opponent: str, *, by: str = "vote", how: How = "drop", max_share: float = MOST
) -> DataFrame:
    """List the votes whose change would reverse the order of two competitors.

    Parameters
    ----------
    result : Fit
        A fitted model.
    competitor, opponent : str
        The pair, in either order.
    by, how, max_share
        As for :func:`flips`; ``how`` is ``"drop"`` or ``"flip"``.

    Returns
    -------
    pandas.DataFrame
        ``model_a, model_b, winner, votes, of``: change ``votes`` of the ``of`` votes of this kind, which the model
        does not distinguish; largest effect first. Columns ``annotator`` and the slices precede ``winner`` where they
        are distinguished. Where sides are not, ``model_a`` is the name that sorts first. A both-bad vote that the model
        treats as a tie is listed as a tie. Empty where no change within ``max_share`` reverses the pair.

    Raises
    ------
    ModelError, NotIdentifiedError, ConvergenceError
        As for :func:`flips`.
    """
    if how == "add":
        raise ModelError(
            "Added votes are all for one of the two, so there is nothing to list. Use flips for their number."
        )
    _require_options(result, how, max_share)
    with one_thread():
        fit = at_mode(result)
        above, below = _by_quality(fit, *pair_indices(fit, [(competitor, opponent)]))
        (found,) = fewest_changes(fit, above, below, by, how, max_share)
    outcome, row, votes = found.votes
    tally, cells = found.changes.target.tally, fit.cells
    names = np.array(cells.competitors, dtype=object)
    columns: Columns = {"model_a": names[tally.i[row]], "model_b": names[tally.j[row]]}
    if fit.model.needs_annotators or by == ANNOTATOR:
        columns[ANNOTATOR] = np.array(cells.annotators, dtype=object)[tally.k[row]]
    slices = [*fit.model.slices, *([by] if by not in (VOTE, ANNOTATOR, *fit.model.slices) else [])]
    for name, codes in zip(slices, tally.slices, strict=False):
        known = (*cells.programs, *[""] * -NO_PROGRAM) if name == PROGRAM else cells.slice_names[name]
        columns[name] = np.array(known, dtype=object)[codes[row]]
    columns["winner"] = np.array(outcome_names(fit.model.grades), dtype=object)[outcome]
    columns["votes"], columns["of"] = whole_counts(votes), whole_counts(found.changes.target.counts[outcome, row])
    return table_of(columns, by=by, how=how, max_share=max_share, model=fit.model.name)


def _require_options(fit: Fit, how: How, max_share: float) -> None:
    require_choice("how", how, get_args(How))
    if not 0 < max_share <= 1:
        raise ModelError(f"max_share must be a share of the votes, above 0 and at most 1, not {max_share!r}.")
    if any(np.isinf(effect.sd) for effect in fit.target.own):
        raise ModelError(
            "Under a flat prior the parameters of an annotator whose votes are left out are not identified. Use "
            "prior='default' or model='bradley-terry'."
        )


def at_mode(result: Fit) -> Fit:
    """Return the fit at its posterior mode, which is searched for unless the fit is already there."""
    is_mode = result.evidence != "variational" and result.method in ("map", "marginal")
    mode = result.mode if is_mode else find_mode(result.mode.problem)
    if mode.at_infinity:
        raise NotIdentifiedError(f"There is no finite estimate whose order votes could reverse. {mode.at_infinity[0]}")
    return replace(result, mode=mode, evidence="laplace" if result.evidence else None)


def _chosen(fit: Fit, pairs: Pairs | Sequence[tuple[str, str]], score: Floats) -> tuple[Ints, Ints]:
    """Return the indices of both competitors of each pair; neighbours are so by their scores."""
    if isinstance(pairs, str):
        require_choice("pairs", pairs, get_args(Pairs))
        best = np.argsort(-score, kind="stable")[: 2 if pairs == "top" else None]
        return best[:-1], best[1:]
    return pair_indices(fit, pairs)


def _by_quality(fit: Fit, i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """Return the better and the worse competitor of each pair, at the mode."""
    quality = fit.strength + fit.view.slices @ fit.point.slices
    return np.where(quality[i] < quality[j], j, i), np.where(quality[i] < quality[j], i, j)


def contrasts_of(fit: Fit, above: Ints, below: Ints) -> Floats:
    """Return the derivatives of the gaps by strengths, common parameters and slice parameters, shape (m, h)."""
    strength = np.eye(fit.cells.n_competitors)[above] - np.eye(fit.cells.n_competitors)[below]
    common = np.zeros((len(above), len(fit.point.common)))
    return np.column_stack([strength, common, (fit.view.slices.T @ strength.T).T])


def fewest_changes(fit: Fit, above: Ints, below: Ints, by: str, how: How, max_share: float) -> Iterator[Fewest]:
    """Yield for each pair the fewest changes that reverse it."""
    contrasts, most = contrasts_of(fit, above, below), max_share * fit.target.n_votes
    alike = None if how == "add" else changes(fit, by, how, (0, 1))
    effects = alike.effects(fit, contrasts) if alike else iter(())
    for row, pair in enumerate(zip(above.tolist(), below.tolist(), strict=True)):
        report(f"pair {row + 1} of {len(above)}", row, len(above))
        allowed = alike or changes(fit, by, how, pair)
        effect = next(effects) if alike else next(allowed.effects(fit, contrasts[row : row + 1]))
        path = Path(allowed, effect, most)
        found = fewest_along(path, fit, contrasts[row])
        yield found if by == VOTE else fewest_one_by_one(path, found, fit, contrasts[row])
    report("")
