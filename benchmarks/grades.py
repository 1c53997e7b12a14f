"""What grades of verdicts tell, and whether intervals cover: simulated arenas of 3, 5 and 7 outcomes.

    uv run python benchmarks/grades.py [--arenas 100] > benchmarks/results/grades.md

The truth of a board is the Bradley-Terry projection of the average vote, over annotators by their votes. "Fisher" is
the width that the information at the truth predicts: that of fits to expected counts. "Left out": annotators have a tie
propensity and an emphasis of their own (sd .5), and the model gives them none.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from measuring import options_of
from true_boards import PER_LOGIT, inside, scores, strength_of

import bayes_arena as ba
from bayes_arena.likelihood.outcomes.likelihood import likelihood
from bayes_arena.progress import report
from bayes_arena.votes.outcomes import outcome_names

LEVELS = (0.89, 0.95)
COMPETITORS, ANNOTATORS, VOTES = 12, 30, 3000
LOG_TIES = {"davidson": -0.5, "rao-kupper": -0.7}
EMPHASIS, OWN = -0.2, 0.5


@dataclass(frozen=True)
class Graded:
    """Votes of a simulated arena, and who cast them.

    Attributes
    ----------
    cells : Cells
    strength : ndarray, shape (n,)
    coordinates : ndarray, shape (n_coordinates, M)
        Of every annotator, for a lead of nothing; the first is theta instead.
    ties : str
    grades : int
    """

    cells: ba.Cells
    strength: np.ndarray
    coordinates: np.ndarray
    ties: str
    grades: int

    def board(self) -> np.ndarray:
        """Return the true board, in logits."""
        n, weight = len(self.strength), self.cells.votes_by_annotator() / self.cells.n_votes
        i, j = np.triu_indices(n, 1)
        z = np.repeat(self.coordinates[:, None], len(i), axis=1)
        z[0] *= (self.strength[i] - self.strength[j])[:, None]
        score = 0.5 + 0.5 * likelihood(self.ties, grades=self.grades).net_score(z) @ weight
        return strength_of(score, n)


def graded_arena(seed: int, ties: str, grades: int, *, own: float = 0.0, theta: float = 0.0, sd: float = 1.0) -> Graded:
    """Simulate an arena of adjacent categories (``ties="davidson"``) or cumulative ones (``"rao-kupper"``)."""
    rng = np.random.default_rng([seed, grades])
    strength = rng.normal(0, sd, COMPETITORS)
    strength -= strength.mean()
    z = np.zeros((grades + 1, ANNOTATORS))
    z[0] = 1 + theta * rng.normal(size=ANNOTATORS)
    z[0] /= z[0].mean()
    z[1] = LOG_TIES[ties] + own * rng.normal(size=ANNOTATORS)
    if grades > 1:
        z[2] = EMPHASIS + own * rng.normal(size=ANNOTATORS)
    i = rng.integers(COMPETITORS, size=VOTES)
    j = (i + rng.integers(1, COMPETITORS, size=VOTES)) % COMPETITORS
    k = rng.permutation(np.arange(VOTES) % ANNOTATORS)
    of_votes = z[:, k]
    of_votes[0] *= strength[i] - strength[j]
    p = np.exp(likelihood(ties, grades=grades).log_probabilities(of_votes))
    said = np.minimum((rng.random(VOTES) > np.cumsum(p, axis=0)).sum(axis=0), len(p) - 1)
    names = np.array([f"model-{one:02}" for one in range(COMPETITORS)])
    people = np.array([f"annotator-{one:02}" for one in range(ANNOTATORS)])
    labels = np.array(outcome_names(grades))
    columns = {"model_a": names[i], "model_b": names[j], "winner": labels[said], "annotator": people[k]}
    read = {label: label for label in labels[4:]}
    with warnings.catch_warnings(action="ignore"):
        cells = ba.read_votes(pl.DataFrame(columns), outcomes=read | {one: one for one in labels[:2]})
    return Graded(cells, strength, z, ties, grades)


def model(ties: str, grades: int, whose: str) -> ba.Model:
    """Return the model that the votes of an arena follow, or one without annotators' own numbers."""
    theta = "annotator" if whose == "annotator" else "fixed"
    return ba.Model(f"{ties}, {grades}, {whose}", theta, ties, whose, grades=grades)


def z_scores(arena: Graded, fit: ba.Fit) -> tuple[np.ndarray, float]:
    """Return the errors of the leaderboard in standard deviations, and the mean standard deviation, in logits."""
    elo, sd = (one / PER_LOGIT for one in scores(fit))
    return (elo - elo.mean() - arena.board()) / sd, float(sd.mean())


def expected(arena: Graded) -> ba.Cells:
    """Return cells with the counts that are expected at the truth."""
    cells = arena.cells
    z = arena.coordinates[:, cells.annotator]
    z[0] *= arena.strength[cells.a] - arena.strength[cells.b]
    p = np.exp(likelihood(arena.ties, grades=arena.grades).log_probabilities(z))
    return replace(cells, counts=np.ascontiguousarray((cells.counts.sum(axis=1) * p).T))


def covered(arenas: int) -> None:
    """Print coverage, width and recovery."""
    print("| annotators | likelihood | outcomes | in 89 % | in 95 % | rms z | width / folded | Fisher | emphasis |")
    print("|---|---|---|---|---|---|---|---|---|")
    cases = {
        "alike": (0.0, 0.0, "common"),
        "their own": (OWN, 0.3, "annotator"),
        "their own, left out": (OWN, 0.0, "common"),
    }
    for case, (own, theta, whose) in cases.items():
        for ties in LOG_TIES:
            for grades in (1, 2, 3):
                z, widths, emphasis, fisher = [], [], [], np.nan
                for seed in range(arenas):
                    report(f"{case}, {ties}, {1 + 2 * grades}", seed, arenas)
                    arena = graded_arena(seed, ties, grades, own=own, theta=theta)
                    fit = ba.fit(arena.cells, model=model(ties, grades, whose))
                    one, sd = z_scores(arena, fit)
                    z.append(one)
                    if grades > 1:
                        emphasis.append(fit.point.common[1])
                        if whose == "common":
                            widths.append(sd / z_scores(arena, ba.fit(arena.cells, model=model(ties, 1, whose)))[1])
                if case == "alike" and grades > 1:
                    arena = graded_arena(0, ties, grades)
                    counts = expected(arena)
                    (_, kept), (_, folded) = (
                        z_scores(arena, ba.fit(counts, model=model(ties, g, whose))) for g in (grades, 1)
                    )
                    fisher = kept / folded
                found = f"{' | '.join(inside(np.array(z), LEVELS))} | {numbers(widths, fisher, emphasis)}"
                print(f"| {case} | {ties} | {1 + 2 * grades} | {found} |", flush=True)
    report("")


def numbers(widths: list[float], fisher: float, emphasis: list[float]) -> str:
    """Return relative widths, and mean and spread of the estimated emphasis."""
    width = f"{np.mean(widths):.3f}" if widths else ""
    theory = "" if np.isnan(fisher) else f"{fisher:.3f}"
    found = f"{np.mean(emphasis):.3f} ± {np.std(emphasis):.3f}" if emphasis else ""
    return " | ".join([width, theory, found])


def predicted(arenas: int) -> None:
    """Print how well fits with and without grades predict who wins."""
    print("\n| likelihood | outcomes | log score with grades | folded | difference a vote |")
    print("|---|---|---|---|---|")
    for ties in LOG_TIES:
        for grades in (2, 3):
            found = []
            for seed in range(arenas):
                report(f"held out, {ties}, {1 + 2 * grades}", seed, arenas)
                cells = graded_arena(seed, ties, grades, own=OWN, theta=0.3).cells
                models = {f"{one}": partial(ba.fit, model=model(ties, one, "annotator")) for one in (grades, 1)}
                found.append(ba.held_out(cells, models, splits=2, seed=seed)["log_score"].to_numpy())
            kept, folded = np.array(found).T
            shown = f"{kept.mean():.4f} | {folded.mean():.4f}"
            error = (kept - folded).std(ddof=1) / np.sqrt(arenas)
            print(
                f"| {ties} | {1 + 2 * grades} | {shown} | {(kept - folded).mean():.4f} ({error:.4f}) |",
                flush=True,
            )
    report("")


def main() -> None:
    options = options_of(__doc__, arenas=100).parse_args()
    started = time.process_time()
    print(
        f"Printed by `uv run python benchmarks/grades.py`: {options.arenas} arenas a row of {COMPETITORS} competitors, "
        f"{ANNOTATORS} annotators and {VOTES:,} votes; true emphasis {EMPHASIS}. Errors over arenas in brackets.\n"
    )
    covered(options.arenas)
    predicted(max(options.arenas // 5, 2))
    print(f"\n{time.process_time() - started:,.0f} s of processor time.")


if __name__ == "__main__":
    main()
