"""Where the methods disagree about the models of one arena (Figures 1, 3 and 4; sections 1 and 5.3).

Figure 1: how far Elo moves with the order of the votes, and how far apart annotators are.

Figure 3: each method's scores, scaled to 0 ... 1, and its loss on the votes in which a model took part, the mean of
-(W ln E[W] + (1 - W) ln(1 - E[W])), in nats. The votes are those the method was fitted to.

Figure 4: the paper looks at three models that follow one another in Elo's ranking and that m-ELO and am-ELO rank
otherwise (koala-13b, vicuna-7b and gpt4all-13b-snoozy), and counts who beat whom among them and the models above
(Better) and below (Worse). In other votes the three are those neighbours of Elo's ranking that am-ELO turns round most.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlog1py, xlogy

from bayes_arena.cells import OUTCOME_SCORES, Cells, Floats, Ints, sum_by
from bayes_arena.errors import ModelError
from bayes_arena.experiments.tables import SHUFFLES, candidates
from bayes_arena.online import elo_by_annotator
from bayes_arena.prediction import predict
from bayes_arena.random_orders import shuffled_elo
from bayes_arena.sequence import VoteSequence

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("elo", "m-elo", "am-elo", "am-davidson")
"""Methods of Figure 3: the paper's, and the default of this package."""
SHUFFLED = "mean of shuffles"
PAPERS_CASE = ("koala-13b", "vicuna-7b", "gpt4all-13b-snoozy")
"""The last is called gpt-13b in the paper."""
BETTER, WORSE = "Better", "Worse"


def figure1(votes: VoteSequence, *, shuffles: int = SHUFFLES, seed: int = 0) -> pd.DataFrame:
    """Rate by Elo in random orders, and from each annotator's votes alone.

    Parameters
    ----------
    votes : VoteSequence
        Votes with annotators.
    shuffles : int
        Random orders.
    seed : int
        The same seed gives the same orders.

    Returns
    -------
    pandas.DataFrame
        ``source, competitor, elo, sd, min, max, votes``: the mean over shuffles (source ``mean of shuffles``) with its
        spread in Elo points, best first; then each annotator's ratings in the order of their votes, which have none.
    """
    import pandas as pd

    mixed = shuffled_elo(votes, shuffles=shuffles, seed=seed).rename(columns={"mean": "elo"}).drop(columns="rank")
    single = elo_by_annotator(votes).rename(columns={"annotator": "source"})
    mixed.insert(0, "source", SHUFFLED)
    return pd.concat([mixed, single], ignore_index=True)


def figure3(cells: Cells, *, shuffles: int = SHUFFLES) -> pd.DataFrame:
    """Score every model by every method, and say how well the method fits its votes.

    Returns
    -------
    pandas.DataFrame
        ``method, competitor, strength, score, loss, votes``: one row for each method and competitor, in the order of
        Elo's scores. ``strength`` in logits, ``score`` from 0 to 1, ``loss`` a vote in nats.
    """
    import pandas as pd

    w = cells.counts @ OUTCOME_SCORES
    votes = cells.counts.sum(axis=1)
    n = cells.n_competitors
    seen = sum_by(cells.a, votes, n) + sum_by(cells.b, votes, n)
    tables, order = [], None
    for name, fitter in candidates(cells, shuffles=shuffles).items():
        if name not in SHOWN:
            continue
        fitted = fitter(cells)
        expected = predict(fitted, cells).score  # refuses a fit that does not know all competitors
        strength = fitted.strength
        loss = -(xlogy(w, expected) + xlog1py(votes - w, -expected))
        order = np.argsort(-strength, kind="stable") if order is None else order
        columns = {
            "method": name,
            "competitor": np.array(cells.competitors, dtype=object),
            "strength": strength,
            "score": (strength - strength.min()) / np.ptp(strength),
            "loss": (sum_by(cells.a, loss, n) + sum_by(cells.b, loss, n)) / seen,
            "votes": seen.astype(np.int64),
        }
        tables.append(pd.DataFrame(columns).iloc[order])
    return pd.concat(tables, ignore_index=True)


def figure4(scores: pd.DataFrame, cells: Cells) -> pd.DataFrame:
    """Count who beat whom among three models of similar ability, and those above and below them.

    Parameters
    ----------
    scores : pandas.DataFrame
        From :func:`figure3`.
    cells : Cells
        The same votes.

    Returns
    -------
    pandas.DataFrame
        ``winner``: ``Better``, the three in the order of Elo, ``Worse``; ``over <name>`` for each of these, the votes
        that the row won over the column (0 between Better and Worse, as in the paper); ``rank_<method>`` of the
        three among all models.

    Raises
    ------
    ModelError
        If there are fewer than three models.
    """
    import pandas as pd

    wide = scores.set_index(["competitor", "method"])["strength"].unstack().loc[list(cells.competitors)]  # noqa: PD010
    ranks = wide.rank(ascending=False, method="min").astype(int)
    three = _three(cells.competitors, wide["elo"].to_numpy(), wide["am-elo"].to_numpy())
    middle = np.mean(wide["elo"].to_numpy()[three])
    group = np.where(wide["elo"] > middle, 0, 4)
    group[three] = [1, 2, 3]
    wins = _wins(cells, group)
    wins[[0, 0, 4, 4], [0, 4, 0, 4]] = 0
    names = [BETTER, *(cells.competitors[index] for index in three), WORSE]
    table = pd.DataFrame({"winner": names} | {f"over {name}": wins[:, at] for at, name in enumerate(names)})
    for method in SHOWN:
        table[f"rank_{method}"] = pd.array([None, *ranks[method].iloc[three], None], dtype="Int64")
    return table


def _three(competitors: tuple[str, ...], elo: Floats, am_elo: Floats) -> Ints:
    """Return the three models of the case study, best by Elo first."""
    if len(competitors) < 3:
        raise ModelError(f"The case study takes three models or more, not {len(competitors)}.")
    order = np.argsort(-elo, kind="stable")
    if set(PAPERS_CASE) <= set(competitors):
        return order[np.isin(np.array(competitors)[order], PAPERS_CASE)]
    windows = [order[start : start + 3] for start in range(len(order) - 2)]
    turned = [sum(am_elo[i] < am_elo[j] for i, j in combinations(window, 2)) for window in windows]
    width = [elo[window[0]] - elo[window[2]] for window in windows]
    return windows[min(range(len(windows)), key=lambda at: (-turned[at], width[at]))]


def _wins(cells: Cells, group: Ints) -> Ints:
    """Votes that one of five groups won over another, shape (5, 5)."""
    a, b = group[cells.a], group[cells.b]
    wins = sum_by(a * 5 + b, cells.counts[:, 0], 25) + sum_by(b * 5 + a, cells.counts[:, 1], 25)
    return wins.reshape(5, 5).astype(np.int64)
