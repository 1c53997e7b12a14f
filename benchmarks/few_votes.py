"""The prior of the strengths' spread where votes are few: coverage, error, P(best).

``python benchmarks/few_votes.py [--arenas 200]``.  Votes are by Davidson's model, pairs at
random, competitors those that were seen; the truth is the average vote among them.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from arenas import Arena, average_strength, draw_votes, of_rankings
from measuring import markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.model.priors import Spread

COMPETITORS = (2, 4, 8)
VOTES = (3, 5, 10, 20, 40)
SPREADS = (0.4, 1.0, 2.5)
PRIORS = {
    degrees: ba.Prior(strength=Spread(1.0, scale=1.5, degrees=degrees))
    for degrees in (2, 3)
}


@dataclass
class Cell:
    """What the boards of one prior were like, an entry an arena."""

    covered: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    said: list[float] = field(default_factory=list)
    true: list[bool] = field(default_factory=list)

    def add(self, standing: Standing, truth: np.ndarray) -> None:
        """Hold a board against the truth, of mean 0."""
        lower, upper = standing.bounds
        leader = int(np.argmax(standing.p_best))  # among the ranked
        self.covered.append(float(np.mean((lower <= truth) & (truth <= upper))))
        self.error.append(float(np.mean((standing.strength - truth) ** 2)))
        self.said.append(float(standing.p_best[leader]))
        self.true.append(bool(standing.ranked[leader] == np.argmax(truth)))

    @property
    def rmse(self) -> float:
        """Root mean square error in Elo."""
        return ELO.points_per_logit * float(np.sqrt(np.mean(self.error)))

    def described(self) -> list[str]:
        """Return coverage, error, and P(best) said and true."""
        coverage, said, true = map(np.mean, (self.covered, self.said, self.true))
        return [
            f"{coverage:.3f}", f"{self.rmse:.0f}", f"{said:.2f}", f"{true:.2f}"
        ]  # fmt: skip


def few_arena(competitors: int, n_votes: int, sd: float, seed: int) -> Arena:
    """Return an arena of one annotator and the competitors who were seen."""
    rng = np.random.default_rng([seed, competitors, n_votes, round(10 * sd)])
    i = rng.integers(competitors, size=n_votes)
    j = (i + rng.integers(1, competitors, size=n_votes)) % competitors
    seen, code = np.unique([i, j], return_inverse=True)
    strength = rng.normal(0, sd, (1, len(seen)))
    people = of_rankings(strength, rng, tie=np.zeros(1), position=np.zeros(1))
    nobody = np.zeros(n_votes, int)
    votes = draw_votes(people, nobody, *code.reshape(2, -1), rng)
    return Arena(votes, average_strength(people, np.ones(1)))


def measure(competitors: int, n_votes: int, sd: float, arenas: int) -> dict[int, Cell]:
    """Return the boards of some arenas by both priors."""
    cells = {degrees: Cell() for degrees in PRIORS}
    for seed in range(arenas):
        arena = few_arena(competitors, n_votes, sd, seed)
        truth = arena.strength - arena.strength.mean()
        for degrees, prior in PRIORS.items():
            fit = ba.fit(arena.votes, prior=prior)
            cells[degrees].add(standing_of(fit, Look(min_votes=0)), truth)
    return cells


def main() -> None:
    """Print the table, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=200)
    arenas = parser.parse_args().arenas
    rows, ratios = [], {sd: [] for sd in SPREADS}
    least = dict.fromkeys(PRIORS, 1.0)
    warnings.simplefilter("ignore")  # of three votes some compare nobody
    for competitors, n_votes, sd in product(COMPETITORS, VOTES, SPREADS):
        cells = measure(competitors, n_votes, sd, arenas)
        ratios[sd].append(cells[2].rmse / cells[3].rmse)
        for degrees, cell in cells.items():
            least[degrees] = min(least[degrees], float(np.mean(cell.covered)))
        described = [text for cell in cells.values() for text in cell.described()]
        rows.append([f"{competitors}, {n_votes}, {sd:g}", *described])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["competitors, votes, sd"]
    for degrees in PRIORS:
        header += [f"chi({degrees})", "RMSE", "P(best)", "true"]
    means = ", ".join(f"{np.mean(of):.3f} at sd {sd:g}" for sd, of in ratios.items())
    text = (
        f"Strengths of the sd given, in logits; {arenas} arenas a row. The spread s of the "
        "strengths has the prior s / 1.5 ~ chi(2), or chi(3). Coverage of 95 % "
        "intervals, RMSE in Elo, the mean P(best) of the likeliest and how often it was "
        f"the best. Least coverage: {least[2]:.3f} and {least[3]:.3f}. RMSE of chi(2) over "
        f"that of chi(3), mean of the rows: {means}.\n"
    )
    command = f"python benchmarks/few_votes.py --arenas {arenas}"
    write_page("few_votes", "Few votes", [text, markdown(header, rows)], command)


if __name__ == "__main__":
    main()
