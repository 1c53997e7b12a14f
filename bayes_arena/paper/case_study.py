"""Where the methods disagree about the models of one arena (Figures 1, 3 and 4; sections 1 and 5.3).

Figure 1: how far Elo moves with the order of the votes, and how far apart annotators are. Elo moves from its start by
at most K per vote, so one annotator's votes leave all models close together, whatever the annotator thinks. The fair
comparison is with as many votes by all annotators on the same pairs: each of the annotator's votes is replaced by a
random vote on its pair, repeatedly, and the rating from the annotator's own votes is shown with the 95 % range of
these ratings.

Figure 3: each method's scores, scaled to 0 ... 1, with the spread that the order of the votes gives Elo's, and its loss
on the votes in which a model took part, the mean of -(W ln E[W] + (1 - W) ln(1 - E[W])), in nats. These are the votes
that the method was fitted to.

Figure 4: the paper looks at three models that follow one another in Elo's ranking and that m-ELO and am-ELO rank
differently (koala-13b, vicuna-7b and gpt4all-13b-snoozy), and counts who beat whom among them and the models above
(Better) and below (Worse). On other votes, three models are chosen that follow one another in Elo's ranking: first by
the number of their pairs that have met, then by the number of pairs that am-ELO reverses.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import xlog1py, xlogy

from bayes_arena.arrays import DataFrame, Floats, Ints, sum_by
from bayes_arena.errors import ModelError
from bayes_arena.paper.tables import SHUFFLES, candidates, elo_draws
from bayes_arena.progress import report
from bayes_arena.ratings.online import K, elo_by_annotator, shuffled_elo, walked_ratings
from bayes_arena.validation.prediction import Ratings, predict_cells
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import outcome_scores, wins_losses_ties
from bayes_arena.votes.sequence import VoteSequence

SHOWN = ("elo", "m-elo", "am-elo", "am-davidson")
"""Methods of Figure 3: the paper's, and the default of this package."""
SHUFFLED = "mean of shuffles"
RANGE = (0.025, 0.975)
"""Quantiles of ratings from as many votes by all annotators."""
PAPERS_CASE = ("koala-13b", "vicuna-7b", "gpt4all-13b-snoozy")
"""The last is called gpt-13b in the paper."""
BETTER, WORSE = "Better", "Worse"


def figure1(votes: VoteSequence, *, shuffles: int = SHUFFLES) -> DataFrame:
    """Rate by Elo in random orders, and from each annotator's votes alone, with the range from all on the same pairs.

    Columns are ``source, competitor, elo, sd, min, max, votes, lower, upper``: the mean over shuffles (source ``mean of
    shuffles``) with its spread in Elo points, best first; then each annotator's ratings in the order of their votes,
    with the 95 % range of those from as many votes of all annotators on the same pairs.
    """
    import pandas as pd

    mixed = shuffled_elo(votes, shuffles=shuffles).rename(columns={"mean": "elo"}).drop(columns="rank")
    single = elo_by_annotator(votes).rename(columns={"annotator": "source"})
    mixed.insert(0, "source", SHUFFLED)
    ranges = _range_of_all(votes, shuffles)
    annotator = single["source"].map({name: index for index, name in enumerate(votes.annotators)})
    competitor = single["competitor"].map({name: index for index, name in enumerate(votes.competitors)})
    single["lower"], single["upper"] = ranges[:, annotator, competitor]
    return pd.concat([mixed, single], ignore_index=True)


def _range_of_all(votes: VoteSequence, draws: int) -> Floats:
    """Return the range of Elo from as many votes by all annotators on the pairs of each, shape (2, M, n)."""
    rng = np.random.default_rng(0)
    pair = np.minimum(votes.a, votes.b) * votes.n_competitors + np.maximum(votes.a, votes.b)
    by_pair = np.argsort(pair, kind="stable")
    first, last = (np.searchsorted(pair[by_pair], pair, side=side) for side in ("left", "right"))
    ranges = np.empty((2, votes.n_annotators, votes.n_competitors))
    for who in range(votes.n_annotators):
        report("annotators", who, votes.n_annotators)
        own = np.flatnonzero(votes.annotator == who)
        others = (by_pair[rng.integers(first[own], last[own])] for _ in range(draws))
        ranges[:, who] = np.quantile(walked_ratings(votes, others, K, None), RANGE, axis=0)
    report("")
    return ranges


def figure3(cells: Cells, *, shuffles: int = SHUFFLES) -> DataFrame:
    """Score every model by every method, and measure how well the method fits its votes.

    There is a row for each method and competitor, in the order of Elo's scores, with ``strength`` in logits, ``score``
    from 0 to 1, ``loss`` per vote in nats, and ``votes``. ``score_sd`` is the standard deviation of Elo's score over
    orders of the votes; other methods do not depend on the order.
    """
    import pandas as pd

    w = cells.counts @ outcome_scores(cells.counts.shape[1])
    votes = cells.counts.sum(axis=1)
    n = cells.n_competitors
    seen = sum_by(cells.a, votes, n) + sum_by(cells.b, votes, n)
    tables, order = [], None
    drawn = elo_draws(cells, shuffles)
    methods = candidates(cells)
    for name in SHOWN:
        fitted = Ratings(cells.competitors, drawn.mean(axis=0)) if name == "elo" else methods[name](cells)
        expected = predict_cells(fitted, cells).score  # refuses a fit that does not know all competitors
        strength = fitted.strength
        loss = np.asarray(-(xlogy(w, expected) + xlog1py(votes - w, -expected)), dtype=np.float64)
        order = np.argsort(-strength, kind="stable") if order is None else order
        columns = {
            "method": name,
            "competitor": np.array(cells.competitors, dtype=object),
            "strength": strength,
            "score": (strength - strength.min()) / np.ptp(strength),
            "score_sd": drawn.std(axis=0, ddof=1) / np.ptp(strength) if name == "elo" else 0.0,
            "loss": (sum_by(cells.a, loss, n) + sum_by(cells.b, loss, n)) / seen,
            "votes": seen.astype(np.int64),
        }
        tables.append(pd.DataFrame(columns).iloc[order])
    return pd.concat(tables, ignore_index=True)


def figure4(scores: DataFrame, cells: Cells) -> DataFrame:
    """Count who beat whom among three models of similar ability, and those above and below them.

    The ``scores`` are those of :func:`figure3` on the same votes. Rows, by ``winner``, are ``Better``, the three in the
    order of Elo, and ``Worse``; ``over <name>`` are the votes that the row won over each of these (0 between Better and
    Worse, as in the paper), and ``rank_<method>`` the ranks of the three among all models.
    """
    import pandas as pd

    wide = scores.set_index(["competitor", "method"])["strength"].unstack().loc[list(cells.competitors)]  # noqa: PD010
    ranks = wide.rank(ascending=False, method="min").astype(int)
    three = _models_of_the_case(cells, wide["elo"].to_numpy(), wide["am-elo"].to_numpy())
    middle = np.mean(wide["elo"].to_numpy()[three])
    group = np.where(wide["elo"] > middle, 0, 4)
    group[three] = [1, 2, 3]
    a, b = group[cells.a], group[cells.b]
    won, lost, _ = wins_losses_ties(cells.counts)
    wins = (sum_by(a * 5 + b, won, 25) + sum_by(b * 5 + a, lost, 25)).reshape(5, 5).astype(np.int64)
    wins[[0, 0, 4, 4], [0, 4, 0, 4]] = 0
    names = [BETTER, *(cells.competitors[index] for index in three), WORSE]
    table = pd.DataFrame({"winner": names} | {f"over {name}": won for name, won in zip(names, wins.T, strict=True)})
    for method in SHOWN:
        table[f"rank_{method}"] = pd.array([None, *ranks[method].iloc[three], None], dtype="Int64")
    return table


def _models_of_the_case(cells: Cells, elo: Floats, am_elo: Floats) -> Ints:
    """Return the paper's three models, or else three that follow one another in Elo's ranking; best by Elo first."""
    competitors, n = cells.competitors, cells.n_competitors
    if n < 3:
        raise ModelError(f"The case study needs at least three models, not {n}.")
    won, lost, _ = wins_losses_ties(cells.counts)
    met = sum_by(cells.a * n + cells.b, won + lost, n * n).reshape(n, n)
    order = np.argsort(-elo, kind="stable")
    if set(PAPERS_CASE) <= set(competitors):
        return order[np.isin(np.array(competitors)[order], PAPERS_CASE)]

    def rank(window: Ints) -> tuple[int, int, float]:
        pairs = list(combinations(window, 2))
        meetings = sum(bool(met[i, j] + met[j, i]) for i, j in pairs)
        return -meetings, -sum(am_elo[i] < am_elo[j] for i, j in pairs), elo[window[0]] - elo[window[2]]

    return min((order[start : start + 3] for start in range(n - 2)), key=rank)
