"""Score against price: on the frontier is who has nobody better among the cheaper ones.

    P(i on the frontier) = P(r_i >= r_j for all j with price_j <= price_i),

from the draws of the board, which hold how the scores of all err together.  One may choose
among the competitors that have a rank and a price; of equally cheap ones the best counts.

Which to ship?  The cheapest that nobody is surely better than: for each other the
probability to be ahead is below .95.  It has to be on the frontier with .8 and more: one of
few votes, of which hardly anything is known, is no bargain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.elo import ELO, EloScale
from bayes_arena.boards.standing import Standing
from bayes_arena.boards.verdict import SETTLED, probability
from bayes_arena.columns import fact
from bayes_arena.tables import Columns

LIKELY = 0.8  # P(on the frontier) from which a competitor may be the one to ship


@dataclass(frozen=True, eq=False)
class Frontier:
    """The competitors that have a rank and a price, the cheapest first.

    Attributes
    ----------
    standing : Standing
    codes : ndarray, shape (priced,)
        Of equally cheap ones the better first.
    price : ndarray, shape (priced,)
    """

    standing: Standing
    codes: Ints
    price: Floats

    @cached_property
    def p_frontier(self) -> Floats:
        """Probability that nobody cheaper, or equally cheap, is better, (priced,)."""
        place = {code: column for column, code in enumerate(self.standing.ranked)}
        draws = self.standing.draws[:, [place[code] for code in self.codes]]
        best = np.maximum.accumulate(draws, axis=1)
        last = np.searchsorted(self.price, self.price, side="right") - 1
        return (draws >= best[:, last]).mean(axis=0)

    def p_better(self, row: int) -> Floats:
        """Return the probability that each is better than that of a row; its own is 0."""
        p = self.standing.p_above(self.codes, np.full_like(self.codes, self.codes[row]))
        p[row] = 0.0
        return p

    @cached_property
    def choice(self) -> int | None:
        """The row of the one to ship; None if it is open."""
        for row in np.flatnonzero(self.p_frontier >= LIKELY).tolist():
            if self.p_better(row).max() < SETTLED:
                return int(row)
        return None


def frontier_of(standing: Standing, price: Floats) -> Frontier:
    """Return the frontier; ``price`` is nan where it is unknown, (competitors,)."""
    codes = standing.ranked[np.isfinite(price[standing.ranked])]
    codes = codes[np.argsort(price[codes], kind="stable")]
    return Frontier(standing, codes, price[codes])


def frontier_columns(frontier: Frontier, elo: EloScale = ELO) -> Columns:
    """Return competitor, price, score with its interval, and P(on the frontier)."""
    standing, codes = frontier.standing, frontier.codes
    shift = elo.shift(standing.competitors, standing.strength)
    lower, upper = standing.bounds
    return {
        "competitor": np.array(standing.competitors, dtype=object)[codes],
        "price": frontier.price,
        "elo": shift + elo.points_per_logit * standing.strength[codes],
        "lower": shift + elo.points_per_logit * lower[codes],
        "upper": shift + elo.points_per_logit * upper[codes],
        "p_frontier": frontier.p_frontier,
    }


def describe_choice(
    frontier: Frontier, cheaper: str = "cheaper", elo: EloScale = ELO
) -> str:
    """Return which to ship, a sentence or two.

    Nothing is said of fewer than two competitors, or where votes do not compare all.

    Parameters
    ----------
    frontier : Frontier
    cheaper : str
        What "cheaper" is to be called: ``cheaper by price_out``.
    elo : EloScale
    """
    row = frontier.choice
    if len(frontier.codes) < 2 or frontier.standing.n_groups > 1:
        return ""
    scope = scope_of_prices(frontier)
    if row is None:
        text = "it is open which to ship."
    elif frontier.price.min() < frontier.price[row] == frontier.price.max():
        text = describe_dearest(frontier, row, cheaper, elo)
    else:
        text = describe_bargain(frontier, row, cheaper)
    return f"{scope}{text}" if scope else f"{text[0].upper()}{text[1:]}"


def describe_dearest(frontier: Frontier, row: int, cheaper: str, elo: EloScale) -> str:
    """Say that nobody cheaper is as good, and how far behind the best of them is."""
    standing, codes = frontier.standing, frontier.codes
    strength = standing.strength[codes]
    is_cheaper = frontier.price < frontier.price[row]
    next_best = int(np.argmax(np.where(is_cheaper, strength, -np.inf)))
    behind = elo.points_per_logit * (strength[row] - strength[next_best])
    name, other = (standing.competitors[codes[at]] for at in (row, next_best))
    p = probability(frontier.p_frontier[row])
    return (
        f"nobody {cheaper} is as good as {name} ({p}); {other} costs "
        f"{fact(frontier.price[next_best])} and is {behind:.0f} Elo behind."
    )


def describe_bargain(frontier: Frontier, row: int, cheaper: str) -> str:
    """Say why to ship the cheapest that nobody is surely better than."""
    names = [frontier.standing.competitors[code] for code in frontier.codes]
    others = frontier.p_better(row)
    rival = int(np.argmax(others))
    is_cheapest = np.sum(frontier.price <= frontier.price[row]) == 1
    has_rival = others[rival] >= 0.5
    if not is_cheapest:
        p = probability(frontier.p_frontier[row])
        why = f"{p} that nobody {cheaper} is better"
    elif has_rival:
        why = f"nobody is {cheaper}"
    else:
        why = f"nobody is {cheaper} or has a higher score"
    text = f"ship {names[row]}: {why}."
    if has_rival:
        p = probability(others[rival])
        text += f" {names[rival]} is dearer, and not surely better ({p})."
    return text


def scope_of_prices(frontier: Frontier) -> str:
    """Return among whom one may choose, where that is not everybody; else nothing."""
    standing, n = frontier.standing, len(frontier.codes)
    if n == len(standing.strength):
        return ""
    conditions = ["a rank"] if len(standing.ranked) < len(standing.strength) else []
    conditions += ["a price"] if n < len(standing.ranked) else []
    return f"Of the {n:,} competitors with {' and '.join(conditions)}, "
