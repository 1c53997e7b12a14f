"""Do intervals cover what votes on other prompts would say? Simulated votes on few prompts that recur.

    uv run python benchmarks/prompt_coverage.py --arenas 100 > benchmarks/results/prompt_coverage.md

Eight competitors, 20 annotators and 1,600 votes on 20 or 80 prompts; an answer departs from its competitor's strength
by u ~ N(0, 1) logits. The truth is the fit of the model to the votes expected on prompts yet to come, a thousand times
as many: u integrated out by 40 nodes (the difference of two answers is N(0, 2)). For every interval it prints the share
of 95 % intervals of the leaderboard that cover it, with the standard error over arenas (in brackets), the root mean
square of (estimate - truth) / half-width x 1.96, and the mean width in Elo points.
"""

import warnings
from itertools import product

import numpy as np
from measuring import options_of

import bayes_arena as ba
from bayes_arena.ratings.intervals.laplace import Laplace

COMPETITORS, ANNOTATORS, VOTES = 8, 20, 1600
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
MODELS = {
    "davidson": {"model": ba.Model("davidson", ties="davidson", position="common"), "method": "map"},
    "am-davidson": {"model": "am-davidson", "method": "marginal"},
}


class Truth:
    """An arena: strengths, and annotators with a discrimination, a tie propensity and a favourite side each."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.strength = rng.normal(0, 1, COMPETITORS)
        self.theta = rng.normal(1, 0.4, ANNOTATORS).clip(-0.5)
        self.log_tie = rng.normal(-0.5, 0.5, ANNOTATORS)
        self.side = rng.normal(0, 0.2, ANNOTATORS)

    def probabilities(self, lead: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Probabilities of the four outcomes, shape (4, ...)."""
        eta = self.theta[k] * lead + self.side[k]
        tie = np.broadcast_to(self.log_tie[k], eta.shape)
        odds = np.exp([eta / 2, -eta / 2, tie, np.full(eta.shape, -np.inf)])
        return odds / odds.sum(axis=0)

    def vote(self, rng: np.random.Generator, prompts: int) -> ba.Cells:
        """Cast votes."""
        quality = self.strength + rng.normal(size=(prompts, COMPETITORS))
        prompt, a, k = (rng.integers(size, size=VOTES) for size in (prompts, COMPETITORS, ANNOTATORS))
        b = (a + rng.integers(1, COMPETITORS, size=VOTES)) % COMPETITORS
        p = self.probabilities(quality[prompt, a] - quality[prompt, b], k)
        outcome = (rng.random(VOTES) > np.cumsum(p, axis=0)).sum(axis=0)
        return cells(a, b, k, np.eye(4)[outcome], prompt)

    def expected(self) -> ba.Cells:
        """Votes that are expected on prompts yet to come."""
        pairs = [pair for pair in product(range(COMPETITORS), repeat=2) if pair[0] != pair[1]]
        a, b, k = np.array([(*pair, k) for pair in pairs for k in range(ANNOTATORS)]).T
        lead = (self.strength[a] - self.strength[b])[:, None] + np.sqrt(2) * NODES
        p = self.probabilities(lead, k[:, None]) @ WEIGHTS / WEIGHTS.sum()
        return cells(a, b, k, 1000 * VOTES / len(a) * p.T, np.zeros_like(a))


def cells(a: np.ndarray, b: np.ndarray, k: np.ndarray, counts: np.ndarray, prompt: np.ndarray) -> ba.Cells:
    order = np.lexsort([prompt, k, b, a])
    names = {"competitors": COMPETITORS, "annotators": ANNOTATORS, "prompt": int(prompt.max()) + 1}
    texts = {name: tuple(f"{name}-{index:03}" for index in range(size)) for name, size in names.items()}
    return ba.Cells(
        competitors=texts["competitors"],
        annotators=texts["annotators"],
        a=a[order],
        b=b[order],
        annotator=k[order],
        counts=counts[order],
        slices={"prompt": prompt[order]},
        slice_names={"prompt": texts["prompt"]},
    )


def main() -> None:
    arguments = options_of(__doc__, arenas=100, resamples=200).parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    intervals = {
        "laplace": Laplace(),
        "Clustered(by='annotator')": ba.Clustered(),
        "Clustered(by='prompt')": ba.Clustered(by="prompt"),
        "Bootstrap(by='prompt')": ba.Bootstrap(resamples=arguments.resamples, by="prompt"),
    }
    print("| model | prompts | interval | covered | rms z | width |\n|---|---|---|---|---|---|")
    for (name, options), prompts in product(MODELS.items(), (20, 80)):
        found: dict[str, list[tuple[float, float, float]]] = {interval: [] for interval in intervals}
        for seed in range(arguments.arenas):
            rng = np.random.default_rng([seed, prompts])
            truth = Truth(rng)
            fit, ideal = (
                ba.fit(each, answers=False, **options) for each in (truth.vote(rng, prompts), truth.expected())
            )
            target = ba.leaderboard(ideal).set_index("competitor")["elo"]
            for interval, chosen in intervals.items():
                board = ba.leaderboard(fit, interval=chosen).set_index("competitor")
                lower, upper, goal = board["lower"], board["upper"], target[board.index]
                z = (board["elo"] - goal) / (upper - lower) * 2 * 1.96
                inside = (lower < goal) & (goal < upper)
                found[interval].append((inside.mean(), (z**2).mean(), (upper - lower).mean()))
        for interval, rows in found.items():
            covered, squares, width = np.mean(rows, axis=0)
            error = np.std([row[0] for row in rows], ddof=1) / np.sqrt(arguments.arenas)
            print(
                f"| {name} | {prompts} | {interval} | {covered:.3f} ({error:.3f}) | {squares**0.5:.2f} | {width:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
