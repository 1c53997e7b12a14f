"""What the grades of verdicts add: a board beside that of the same votes with grades folded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayes_arena.arrays import DataFrame
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.fitting import fit
from bayes_arena.fits.result import Fit
from bayes_arena.inference.methods import Method
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName
from bayes_arena.ratings.leaderboard import leaderboard


@held
def grades(
    result: Fit,
    *,
    level: float = 0.95,
    interval: Interval | IntervalName = "laplace",
    elo: EloScale | None = None,
) -> DataFrame:
    """Compare a board with that of the same votes with grades folded, by how wide its intervals are.

    Both are on the Elo scale of "better than, a tie counting half". Where scores differ by more than their intervals,
    grades and wins tell different things of a competitor: clear wins over some, close losses to many.

    Parameters
    ----------
    result : Fit
        Of a model that keeps grades apart.
    level, interval, elo
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        By score: ``competitor``, ``elo``, ``lower``, ``upper``; ``elo_folded``, ``lower_folded``, ``upper_folded``; and
        ``width``, that of the interval as a share of the folded one's. Its ``attrs`` have ``worth``: how many votes
        without grades tell as much as one of these, the mean of 1 / width^2.

    Raises
    ------
    ModelError
        If the model keeps no grades apart, the fit is of given draws, or the level or interval is invalid.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> ba.grades(ba.fit("votes.csv"))  # doctest: +SKIP
    """
    model = result.model
    if model.grades == 1 or result.method == "posterior":
        raise ModelError(
            f"{model.name!r} keeps no grades apart. Read graded votes (grades='keep') and fit a model with grades, "
            "such as davidson or am-davidson."
            if model.grades == 1
            else "The fit is of given draws, and grades cannot be folded in them. Fit the votes."
        )
    method: Method = "map" if result.method == "map" else "marginal"
    plain = replace(model, name=f"{model.name}, folded", grades=1)
    folded = fit(result.cells, model=plain, prior=result.prior, method=method, robust=False)
    columns = ["elo", "lower", "upper"]
    table, without = (
        leaderboard(one, level=level, interval=interval, elo=elo)[["competitor", *columns]] for one in (result, folded)
    )
    beside = without.set_index("competitor").loc[table["competitor"]]
    table = table.assign(**{f"{name}_folded": beside[name].to_numpy() for name in columns})
    width, before = (table[f"upper{end}"] - table[f"lower{end}"] for end in ("", "_folded"))
    table["width"] = width / before
    table.attrs.update(grades=model.grades, worth=float(np.mean(1 / table["width"] ** 2)), level=level)
    return table
