"""Flat fits of small arenas against L-BFGS from many starts: how often is the package beaten without a warning.

    uv run python benchmarks/recession.py [arenas] [starts]

Arenas of 3 to 15 competitors, 2 to 8 annotators and 20 to 300 votes, some against the ranking and some guessing, under
every tie model and position effect; every tenth has 13 competitors, 5 annotators and 155 votes. The peer has its own
formulas, theta free of either sign, and random starts, some with one theta ten times the others. A run is at infinity
when a log-odds passes 20 or a tie coordinate 10. Prints a Markdown table of counts, and every arena in question.
"""

import sys
import warnings
from collections import Counter

import numpy as np
import polars as pl
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, log_expit

import bayes_arena as ba


def arena(seed: int) -> tuple[ba.Cells, ba.Model]:
    rng = np.random.default_rng([9, seed])
    n, m = int(rng.integers(3, 16)), int(rng.integers(2, 9))
    votes = int(rng.integers(20, 301)) if seed % 2 else int(rng.integers(100, 301))
    if seed % 10 == 0:
        n, m, votes = 13, 5, 155
    simulated = ba.simulate(
        competitors=n,
        annotators=m,
        votes=votes,
        anomalous=int(rng.integers(0, m // 2 + 1)) if rng.random() < 0.5 else 0,
        strength_sd=float(rng.choice([0.5, 1.0, 2.0])),
        discrimination_sd=float(rng.choice([0.2, 0.5, 1.0])),
        tie_propensity=float(rng.choice([0.0, 0.3, 1.0])),
        seed=seed,
    )
    table = simulated.votes
    winner = table["winner"].to_numpy().copy()
    guessing = np.isin(table["judge"].to_numpy(), [name for name in simulated.annotators if rng.random() < 0.15])
    if guessing.any():
        winner[guessing] = rng.choice(["model_a", "model_b", "tie"], guessing.sum(), p=[0.4, 0.4, 0.2])
    ties = (["half"] * 5 + ["davidson", "rao-kupper", "drop"])[int(rng.integers(8))]
    position = ["none", "none", "common", "annotator"][int(rng.integers(4))]
    own_ties = ties in ("davidson", "rao-kupper") and rng.random() < 0.4
    if position == "annotator" and rng.random() < 0.5:
        position = "common"
    propensity = "annotator" if own_ties else "common"
    model = ba.Model("flat", discrimination="annotator", ties=ties, tie_propensity=propensity, position=position)
    return ba.read_votes(table.with_columns(winner=pl.Series(winner.astype(str)))), model


def peer(cells: ba.Cells, model: ba.Model, starts: int, seed: int) -> tuple[float, bool]:
    """Return the lowest loss of the starts, and whether it lies at infinity."""
    a, b, k, n, m = cells.a, cells.b, cells.annotator, cells.n_competitors, cells.n_annotators
    c = np.column_stack([cells.counts[:, :2], cells.counts[:, 2:].sum(axis=1) * (model.ties != "drop")])
    design = {"none": np.zeros((len(a), 0)), "common": np.ones((len(a), 1)), "annotator": np.eye(m)[k]}
    pair, first = np.eye(n)[a] - np.eye(n)[b], design[model.position]
    draw = design[model.tie_propensity] if model.has_tie_outcome else design["none"]
    total, score, cuts = c.sum(axis=1), c[:, 0] + c[:, 2] / 2, np.cumsum([n, m, first.shape[1]])

    def coordinates(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        r, theta, position, ties = np.split(x, cuts)
        return theta[k], pair @ r, theta[k] * (pair @ r) + first @ position, draw @ ties

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        theta, lead, eta, t = coordinates(x)
        if model.ties == "davidson":
            logits = np.stack([eta / 2, -eta / 2, t], axis=1)
            top = logits.max(axis=1)
            weights = np.exp(logits - top[:, None])
            value = total * (top + np.log(weights.sum(axis=1))) - (c * logits).sum(axis=1)
            slope = total[:, None] * weights / weights.sum(axis=1)[:, None] - c
            by_eta, by_t = (slope[:, 0] - slope[:, 1]) / 2, slope[:, 2]
        elif model.ties == "rao-kupper":
            kappa, over, under = np.exp(np.clip(t, -40, 40)), c[:, 0] + c[:, 2], c[:, 1] + c[:, 2]
            rest = -np.expm1(-2 * kappa)
            value = -over * log_expit(eta - kappa) - under * log_expit(-eta - kappa)
            value -= c[:, 2] * (2 * kappa + np.log(rest))
            up, down = over * expit(kappa - eta), under * expit(kappa + eta)
            by_eta, by_t = down - up, kappa * (up + down - 2 * c[:, 2] / rest)
        else:
            value, by_eta, by_t = total * np.logaddexp(0, eta) - score * eta, total * expit(eta) - score, t
        gradient = [pair.T @ (theta * by_eta), np.bincount(k, lead * by_eta, m), first.T @ by_eta]
        return value.sum(), np.concatenate([*gradient, draw.T @ by_t if draw.size else np.zeros(0)])

    def far(x: np.ndarray, eta: float, t: float) -> bool:
        _, _, log_odds, ties = coordinates(x)
        return bool(np.abs(log_odds).max() > eta or np.abs(ties).max(initial=0.0) > t)

    def stop(intermediate_result: OptimizeResult) -> None:
        if far(intermediate_result.x, 1e4, np.inf):
            raise StopIteration

    rng = np.random.default_rng([77, seed])
    found = []
    for _ in range(starts):
        r, theta, kind = rng.normal(size=n) * rng.choice([0.3, 1, 3]), rng.normal(size=m), rng.random()
        if kind < 0.3:
            theta = np.abs(theta)
        elif kind < 0.7:
            theta[rng.integers(m)] *= 10
        x = np.concatenate([r, theta, np.zeros(first.shape[1] + draw.shape[1])])
        options = {"maxiter": 1500, "maxfun": 3000, "ftol": 1e-14, "gtol": 1e-7, "maxcor": 20}
        run = minimize(loss, x, jac=True, method="L-BFGS-B", callback=stop, options=options)
        found.append((float(run.fun), far(run.x, 20, 10)))
    return min(found)


def main(arenas: int, starts: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(arenas):
        cells, model = arena(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fit = ba.fit(cells, model=model, prior="flat")
            except ba.FitError as error:
                counts[f"no fit: {type(error).__name__}"] += 1
                continue
        lowest, infinite = peer(cells, model, starts, seed)
        behind = fit.target.value(fit.point) - lowest
        outcome = "warned" if fit.mode.at_infinity else "no warning"
        if not fit.mode.at_infinity and behind > 1e-6:
            outcome += ", beaten " + ("at infinity" if infinite else "by a finite optimum")
        elif fit.mode.at_infinity and not infinite and behind > -1e-6:
            outcome += ", but the best of the peer is finite and as low"
        counts[outcome] += 1
        if "," in outcome:
            size = f"{cells.n_competitors} competitors, {cells.n_annotators} annotators, {cells.n_votes:g} votes"
            print(f"arena {seed} ({size}, {model.ties}, {model.position}): {outcome}, by {behind:.6f} nats")
    print(f"\n{arenas} arenas, {starts} starts of L-BFGS each\n\n| | arenas |\n|---|---:|")
    for outcome, count in sorted(counts.items()):
        print(f"| {outcome} | {count} |")


if __name__ == "__main__":
    arenas, starts = (*map(int, sys.argv[1:]), *(1000, 25)[len(sys.argv) - 1 :])
    main(arenas, starts)
