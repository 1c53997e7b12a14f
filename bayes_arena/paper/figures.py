"""The numbers behind the figures of the paper, as columns.

Figure 1: how far Elo moves with the order of the votes, and where the votes of single
annotators put the models.  Elo moves from its start by at most K a vote, so that the
few votes of one annotator leave all models close together, whatever the annotator
thinks.

Figure 3: the scores of each method scaled to 0 ... 1, and its loss on the votes of each
model, the mean of -(W ln E[W] + (1 - W) ln(1 - E[W])) in nats.

Figure 4: who beat whom among three models that follow one another in Elo's ranking, and
the models above (Better) and below (Worse).  The paper takes koala-13b, vicuna-7b and
gpt-13b, which m-ELO and am-ELO order otherwise.  On other votes the three are taken of
whom most pairs met, and then of whom am-ELO turns round most pairs.

Figure 5: loss and consistency of rankings from five random starts, at each epoch.

Figures 6 and 7: rankings with and without perturbed annotators, and who finds these.
Each method is compared with itself, and all see the same votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy

from bayes_arena import progress
from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.online import online
from bayes_arena.errors import FitError, ModelError
from bayes_arena.paper.descent import DescentModel, descend, likelihood_of
from bayes_arena.paper.measures import consistency, detection
from bayes_arena.paper.methods import (
    METHODS,
    PAPER_METHODS,
    quiet_fit,
    run_method,
)
from bayes_arena.paper.perturb import Perturbed, perturbations
from bayes_arena.people.flag import flag_by_theta
from bayes_arena.tables import Columns, stacked
from bayes_arena.votes.singles import one_by_one
from bayes_arena.votes.votes import FIRST, SECOND, Votes

PAPER_CASE = ("koala-13b", "vicuna-7b", "gpt4all-13b-snoozy")
BETTER, WORSE = "Better", "Worse"
ALL_VOTES = "all votes"
SINGLE_SHUFFLES = 100  # orders of the votes of a single annotator
PERTURBED_SHUFFLES = 100  # orders in which Elo reads perturbed votes
STARTS = 5  # random starts of the descents (section 5.4)
STABLE_METHODS = (*PAPER_METHODS, "davidson")  # fast enough for Figure 6
EPSILONS = (0.0, 0.005)  # the thresholds of theta in Figure 7
DESCENTS: dict[str, tuple[DescentModel, bool]] = {
    "m-elo": ("m-elo", True),
    "am-elo": ("am-elo", True),
    "am-elo without normalisation": ("am-elo", False),
}


def order_columns(votes: Votes, shuffles: int) -> Columns:
    """Return Figure 1: ``source, competitor, elo, sd, min, max, votes``.

    The source is "all votes", or an annotator; Elo is over random orders of their
    votes.
    """
    parts = [elo_part(ALL_VOTES, votes, shuffles)]
    for number, name in enumerate(votes.annotators):
        progress.show(f"Annotator {number + 1} of {votes.n_annotators}")
        parts.append(elo_part(name, votes.keep(annotators=[name]), SINGLE_SHUFFLES))
    progress.clear()
    return stacked(parts)


def elo_part(source: str, votes: Votes, shuffles: int) -> Columns:
    """Return Elo over random orders of some votes, best first."""
    runs = online(one_by_one(votes)).shuffled(shuffles, seed=0)
    best = np.argsort(-runs.mean(axis=0), kind="stable")
    return {
        "source": [source] * len(best),
        "competitor": np.array(votes.competitors, dtype=object)[best],
        "elo": runs.mean(axis=0)[best],
        "sd": runs.std(axis=0, ddof=1)[best],
        "min": runs.min(axis=0)[best],
        "max": runs.max(axis=0)[best],
        "votes": votes.votes_by_competitor[best],
    }


def loss_columns(votes: Votes, shuffles: int) -> Columns:
    """Return Figure 3: ``method, competitor, strength, score, loss, votes``.

    Competitors are in the order of Elo's scores.
    """
    ratings = {}
    for name in METHODS:
        progress.show(f"Rating by {name}")
        ratings[name] = run_method(name, votes, shuffles)
    progress.clear()
    order = np.argsort(-ratings["elo"].strength, kind="stable")
    parts = []
    for name, method in ratings.items():
        strength = method.strength[order]
        part = {
            "method": np.full(len(order), name, dtype=object),
            "competitor": np.array(votes.competitors, dtype=object)[order],
            "strength": strength,
            "score": (strength - strength.min()) / np.ptp(strength),
            "loss": loss_by_competitor(votes, method.expected_score(votes))[order],
            "votes": votes.votes_by_competitor[order],
        }
        parts.append(part)
    return stacked(parts)


def loss_by_competitor(votes: Votes, expected: Floats) -> Floats:
    """Return the mean loss of the votes on each competitor, (competitors,)."""
    won = votes.score_of_first
    lost = votes.counts.sum(axis=1) - won
    loss = -xlogy(won, expected) - xlog1py(lost, -expected)
    return sum_by_competitor(votes, loss) / votes.votes_by_competitor


def sum_by_competitor(votes: Votes, values: Floats) -> Floats:
    """Return the sum of the rows in which each competitor took part, (competitors,)."""
    n = votes.n_competitors
    sums = np.zeros(n)
    np.add.at(sums, votes.i, values)
    np.add.at(sums, votes.j, values)
    return sums


def case_columns(votes: Votes, shuffles: int) -> Columns:
    """Return Figure 4: ``winner``, and the wins over each of the five groups.

    Behind them are the ranks of the three by Elo, m-ELO and am-ELO; 0 for the groups.
    """
    strength = {}
    for name in ("elo", "m-elo", "am-elo"):
        progress.show(f"Rating by {name}")
        strength[name] = run_method(name, votes, shuffles).strength
    progress.clear()
    three = models_of_the_case(votes, strength["elo"], strength["am-elo"])
    names = [BETTER, *(votes.competitors[i] for i in three), WORSE]
    wins = wins_of_the_case(votes, strength["elo"], three)
    columns: dict[str, Any] = {"winner": names}
    for loser, name in enumerate(names):
        columns[f"over {name}"] = wins[:, loser]
    for name, r in strength.items():
        rank = 1 + np.argsort(np.argsort(-r, kind="stable"))
        columns[f"rank by {name}"] = [0, *rank[three].tolist(), 0]
    return columns


def wins_of_the_case(votes: Votes, elo: Floats, three: Ints) -> Ints:
    """Return the wins between Better, the three models and Worse, (5, 5)."""
    # The three follow one another by Elo: all others are above them or below.
    better = 0
    worse = 4
    group = np.where(elo > elo[three].min(), better, worse)
    group[three] = [1, 2, 3]
    wins = wins_between(votes, group, 5)
    # The paper shows no votes of Better and Worse among themselves.
    others = [better, worse]
    wins[np.ix_(others, others)] = 0
    return wins


def models_of_the_case(votes: Votes, elo: Floats, am_elo: Floats) -> Ints:
    """Return the three models of Figure 4, best by Elo first."""
    if votes.n_competitors < 3:
        raise ModelError("Figure 4 needs at least three models.")
    order = np.argsort(-elo, kind="stable")
    is_in_paper = np.isin(np.array(votes.competitors)[order], PAPER_CASE)
    if is_in_paper.sum() == 3:
        return order[is_in_paper]
    every = np.arange(votes.n_competitors)
    wins = wins_between(votes, every, votes.n_competitors)
    met = wins + wins.T > 0
    windows = [order[start : start + 3] for start in range(votes.n_competitors - 2)]
    return max(windows, key=lambda three: pairs_met_and_turned(three, met, am_elo))


def pairs_met_and_turned(three: Ints, met: Array, am_elo: Floats) -> tuple[int, int]:
    """Return how many pairs of three met, and how many am-ELO orders otherwise than Elo."""
    pairs = list(combinations(three, 2))
    n_met = sum(bool(met[i, j]) for i, j in pairs)
    n_turned = sum(bool(am_elo[i] < am_elo[j]) for i, j in pairs)
    return n_met, n_turned


def wins_between(votes: Votes, group: Ints, n_groups: int) -> Ints:
    """Return the votes that each group won over each, (groups, groups)."""
    wins = np.zeros((n_groups, n_groups), np.int64)
    i = group[votes.i]
    j = group[votes.j]
    np.add.at(wins, (i, j), votes.folded[:, FIRST].astype(np.int64))
    np.add.at(wins, (j, i), votes.folded[:, SECOND].astype(np.int64))
    return wins


def descent_columns(votes: Votes, epochs: int) -> Columns:
    """Return Figure 5: ``method, epoch, loss, consistency``; Elo has one row."""
    parts = [descent_part(name, votes, epochs) for name in DESCENTS]
    progress.clear()
    return stacked([*parts, elo_row(votes)])


def descent_part(name: str, votes: Votes, epochs: int) -> Columns:
    """Return loss and consistency of a method at each epoch, over random starts."""
    model, normalised = DESCENTS[name]
    runs = []
    for seed in range(STARTS):
        progress.show(f"Descent of {name}, start {seed + 1} of {STARTS}")
        run = descend(votes, model, normalised=normalised, epochs=epochs, seed=seed)
        runs.append(run)
    alike = []
    for epoch in range(epochs + 1):
        alike.append(consistency(*(run.scores[epoch] for run in runs)))
    return {
        "method": [name] * (epochs + 1),
        "epoch": np.arange(epochs + 1),
        "loss": np.mean([run.loss for run in runs], axis=0),
        "consistency": alike,
    }


def elo_row(votes: Votes) -> Columns:
    """Return loss and consistency of Elo in as many random orders."""
    runs = online(one_by_one(votes)).shuffled(STARTS, seed=0)
    likelihood = likelihood_of(votes, "m-elo", normalised=False)
    losses = [likelihood.loss_and_gradient(run)[0] for run in runs]
    return {
        "method": ["elo"],
        "epoch": [1],
        "loss": [float(np.mean(losses) / votes.n_votes)],
        "consistency": [consistency(*runs)],
    }


def stability_columns(
    votes: Votes, shares: Sequence[float], seeds: Sequence[int]
) -> tuple[Columns, Columns]:
    """Return Figure 6: consistency of rankings, and theta of am-ELO.

    The first has ``kind, share, seed, method, consistency``, without a row where a
    method has no finite estimate; the second, of the first seed, ``kind, share,
    annotator, theta, perturbed``.
    """
    before = {}
    for name in STABLE_METHODS:
        before[name] = run_method(name, votes, PERTURBED_SHUFFLES).strength
    rows = []
    thetas = []
    for case in perturbations(votes, shares, seeds):
        rows += consistency_rows(case, before)
        if case.seed == seeds[0]:
            thetas += theta_rows(case)
    names = ("kind", "share", "seed", "method", "consistency")
    of_theta = ("kind", "share", "annotator", "theta", "perturbed")
    return transposed(names, rows), transposed(of_theta, thetas)


def consistency_rows(
    case: Perturbed, before: Mapping[str, Floats]
) -> list[tuple[Any, ...]]:
    """Return the consistency of each method with itself before a perturbation."""
    rows = []
    for name, strength in before.items():
        try:
            method = run_method(name, case.votes, PERTURBED_SHUFFLES)
        except FitError:
            continue
        alike = consistency(method.strength, strength)
        rows.append((case.kind, case.share, case.seed, name, alike))
    return rows


def theta_rows(case: Perturbed) -> list[tuple[Any, ...]]:
    """Return theta of every annotator under a perturbation."""
    try:
        fit = quiet_fit("am-elo", case.votes)
    except FitError:
        return []
    theta = fit.discrimination / case.votes.n_annotators
    rows = []
    for name, value in zip(case.votes.annotators, theta, strict=True):
        is_perturbed = name in case.annotators
        rows.append((case.kind, case.share, name, float(value), is_perturbed))
    return rows


def suspects(votes: Votes) -> tuple[str, ...]:
    """Return who is anomalous by the paper's larger threshold before a perturbation."""
    return flag_by_theta(quiet_fit("am-elo", votes), epsilon=max(EPSILONS))


def detection_columns(
    votes: Votes, shares: Sequence[float], seeds: Sequence[int]
) -> Columns:
    """Return Figure 7: ``kind, share, seed, rule, f1, precision, recall``."""
    rows = []
    for case in perturbations(votes, shares, seeds):
        for rule, flagged in flagged_by_rule(case.votes).items():
            result = detection(flagged, case.annotators)
            scores = (result.f1, result.precision, result.recall)
            rows.append((case.kind, case.share, case.seed, rule, *scores))
    names = ("kind", "share", "seed", "rule", "f1", "precision", "recall")
    return transposed(names, rows)


def flagged_by_rule(votes: Votes) -> dict[str, tuple[str, ...]]:
    """Return whom each rule flags; nothing where am-ELO has no finite estimate."""
    try:
        fit = quiet_fit("am-elo", votes)
    except FitError:
        return {}
    rules = {}
    for epsilon in EPSILONS:
        rules[f"theta <= {epsilon:g}"] = flag_by_theta(fit, epsilon=epsilon)
    return rules


def transposed(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    """Return rows as columns."""
    columns: dict[str, list[Any]] = {}
    for position, name in enumerate(names):
        columns[name] = [row[position] for row in rows]
    return columns
