"""The default's means and standard deviations beside those of NUTS, and those at the posterior mode.

    uv run python benchmarks/nearest.py [--draws 2000]

Fits of am-davidson: simulated arenas of 20 competitors, from three annotators of many votes to many of a few, and real
votes where they are there. By strength and by Elo score: the largest distance of an estimate from NUTS's mean in its
standard deviations, and the mean ratio of the standard deviations, of the Gaussian nearest to the posterior (the
default) and of the mode at the spreads of the largest Laplace evidence, where the votes show no direction in which
annotators disagree: with one there is no such mode.
"""

import warnings
from dataclasses import replace

import numpy as np
from measuring import DATA, options_of
from true_boards import scores

import bayes_arena as ba
from bayes_arena.inference.marginal.spreads import estimate_spreads

ARENAS = ((12, 300), (40, 250), (120, 30), (400, 4), (1500, 4))
FILES = ("llmfao.csv", "mt_bench_human.csv")


def beside(estimate: tuple[np.ndarray, np.ndarray], sampled: tuple[np.ndarray, np.ndarray]) -> list[str]:
    """Return the largest distance of the means, and the mean ratio of the standard deviations."""
    (mean, sd), (of_nuts, sd_of_nuts) = estimate, sampled
    return [f"{np.abs((mean - of_nuts) / sd_of_nuts).max():.2f}", f"{(sd / sd_of_nuts).mean():.3f}"]


def main() -> None:
    draws = options_of(__doc__, draws=2000).parse_args().draws
    warnings.simplefilter("ignore")
    cells = {
        f"{annotators:,} annotators of {votes:,} votes": ba.read_votes(
            ba.simulate(competitors=20, annotators=annotators, votes=annotators * votes, seed=0).votes
        )
        for annotators, votes in ARENAS
    }
    cells |= {name: ba.read_votes(DATA / name) for name in FILES if (DATA / name).exists()}
    print("| votes | board: mean, sd | strengths: mean, sd | mode, board: mean, sd |")
    print("|---|---:|---:|---:|", flush=True)
    for name, votes in cells.items():
        options = {"model": "am-davidson", "robust": False, "answers": False}
        fit, nuts = ba.fit(votes, **options), ba.fit(votes, **options, method="nuts", draws=draws)
        strength = nuts.samples.strength
        rows = [
            beside(scores(fit), scores(nuts)),
            beside(
                (fit.strength, np.sqrt(fit.laplace.strength_variance())), (strength.mean(axis=0), strength.std(axis=0))
            ),
        ]
        if not fit.mode.problem.model.dimensions:
            mode = replace(fit, mode=estimate_spreads(replace(fit.mode.problem, prior=fit.prior)), evidence="laplace")
            rows.append(beside(scores(mode), scores(nuts)))
        print(f"| {name} | {' | '.join(', '.join(row) for row in rows)} |{' |' * (len(rows) < 3)}", flush=True)


if __name__ == "__main__":
    main()
