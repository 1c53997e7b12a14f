"""Do intervals cover? Simulated arenas of the paper's Table 1 size, 30 % ties, true discriminations of sd 0.5.

    uv run python benchmarks/calibration.py [--arenas 100] [--model am-davidson] [--interval laplace|sandwich|nuts]

Prints the share of true values inside 50, 89 and 95 % intervals, for the Elo strengths r* of the competitors (the true
ones projected exactly like the fitted ones) and the discriminations theta, and the root mean square z-score. A
calibrated interval covers what it says; the Monte Carlo error in brackets treats the arenas as independent.

With ``--interval sandwich`` the strengths are those of the mode (``method="map"``) and their variance is the
sandwich's. With ``--interval nuts`` a z-score is the normal quantile of the truth's rank among the posterior draws
(simulation-based calibration), from arenas whose annotators also differ in their ties and sides, as am-davidson says.

With ``--default`` it is the fit as it comes, its defence on and off, in honest crowds with and without tastes and
camps, and with riggers among them. The truth is r* of the honest annotators, every one weighing by their votes, and
beside it that of endlessly many annotators like them, whom camps' clustered intervals are about. "leader": mean of what
it gives the leader to be the best, and how often it is; "leads": arenas in which that is .95 or more, and how often it
is right then; "flagged": honest annotators in an arena.
"""

import warnings

import numpy as np
from crowds import Crowd, HonestArena, draw_habits, honest_arena
from measuring import options_of
from rigging import rig
from scipy.special import ndtri
from true_boards import PER_LOGIT, inside, scores, strength_of

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point
from bayes_arena.progress import report
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
from bayes_arena.ratings.intervals.robust import sandwich_variance

LEVELS = (0.5, 0.89, 0.95)
TABLE_1 = {"annotators": 42, "discrimination_sd": 0.5}
CROWDS = {
    "honest": Crowd(**TABLE_1),
    "tastes of sd .5": Crowd(**TABLE_1, taste_sd=0.5),
    "two camps of sd .4": Crowd(**TABLE_1, camp_sd=0.4),
    "two camps of sd .8": Crowd(**TABLE_1, camp_sd=0.8),
    "four of 46 always for the median": Crowd(**TABLE_1),
}
RIGGED = "four of 46 always for the median"
SURE = 0.95


def true_point(arena: ba.Arena, fit: ba.Fit) -> Point:
    """Return the truth in the parameters of the fitted model: mean theta 1, no position effect, nu = 1."""
    mean = arena.discrimination.mean()
    own = np.zeros_like(fit.point.own)
    if fit.target.free_discrimination:
        own[:, 0] = arena.discrimination / mean
    return Point(arena.strength * mean, np.zeros_like(fit.point.common), own)


def z_of_ranks(arena: ba.Arena, model: str) -> tuple[np.ndarray, np.ndarray]:
    fit = ba.fit(ba.read_votes(arena.votes), model=model, method="nuts", draws=500, seed=1)
    own = np.column_stack([arena.discrimination, arena.log_tie_propensity, arena.position])
    mean = own.mean(axis=0)
    truth = Point(arena.strength * mean[0], mean[1:], np.column_stack([own[:, 0] / mean[0], own[:, 1:] - mean[1:]]))
    strength = project(fit.target, truth, fit.cells.votes_by_annotator()).strength

    def z(drawn: np.ndarray, true: np.ndarray) -> np.ndarray:
        return ndtri(((drawn < true).sum(axis=0) + 0.5) / (len(drawn) + 1))

    return z(fit.samples.elo_strength, strength), z(fit.samples.own[:, :, 0], truth.own[:, 0])


def z_scores(arena: ba.Arena, model: str, interval: str) -> tuple[np.ndarray, np.ndarray]:
    cells = ba.read_votes(arena.votes)
    fit = ba.fit(cells, model=model, method="map" if interval == "sandwich" else None)
    votes = cells.votes_by_annotator()
    fitted = project(fit.target, fit.point, votes)
    truth = true_point(arena, fit)
    if fit.model.ties == "half":  # the soft likelihood estimates the expected score, not Davidson's parameters
        davidson = ba.fit(cells, model="am-davidson")
        true_strength = project(davidson.target, true_point(arena, davidson), votes).strength
    else:
        true_strength = project(fit.target, truth, votes).strength
    if interval == "sandwich":
        variance = sandwich_variance(fit, fitted.by_head, fitted.by_own)
    else:
        variance = np.diag(fit.laplace.covariance(fitted.by_head, fitted.by_own))
    z_elo = (fitted.strength - true_strength) / np.sqrt(variance)
    z_theta = np.zeros(0)
    if fit.target.free_discrimination:
        z_theta = (fit.discrimination - truth.own[:, 0]) / fit.discrimination_sd
    return z_elo, z_theta


def coverage(rows: list[np.ndarray]) -> str:
    return " | ".join(inside(np.array(rows), LEVELS))


def average_strength(theta: np.ndarray, nu: np.ndarray, strength: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Bradley-Terry projection of the average vote of annotators who are shown every pair in both orders alike.

    Theta, nu (Davidson's, its logarithm) and weight have one number an annotator, strength a row, tastes in it.
    """
    n = strength.shape[1]
    i, j = np.triu_indices(n, 1)
    score = np.zeros(len(i))
    for rows in np.array_split(np.arange(len(theta)), max(len(theta) // 100, 1)):
        e = 0.5 * theta[rows, None] * (strength[rows][:, i] - strength[rows][:, j])
        net = 2 * np.sinh(e) / (2 * np.cosh(e) + np.exp(nu[rows, None]))
        score += weight[rows] @ (0.5 + 0.5 * net)
    return strength_of(score / weight.sum(), n)


def truths(arena: HonestArena, crowd: Crowd, seed: int, size: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return r* of the honest annotators, and of endlessly many like them."""
    theta, nu, votes = (
        arena.habits.discrimination,
        arena.habits.log_tie_propensity,
        arena.cells.votes_by_annotator(),
    )
    rng = np.random.default_rng([seed, 9])
    many = draw_habits(crowd, size, rng)
    taste = rng.normal(0, crowd.taste_sd, (size, len(arena.strength)))
    if crowd.camp_sd:  # an annotator's taste is that of their camp
        second = np.isin(arena.cells.annotators, arena.second_camp)
        taste += np.where(
            rng.random((size, 1)) < crowd.camp_share,
            arena.taste[np.flatnonzero(second)[0]],
            arena.taste[np.flatnonzero(~second)[0]],
        )
    return (
        average_strength(theta, nu, arena.strength + arena.taste, votes),
        average_strength(many.discrimination, many.log_tie_propensity, arena.strength + taste, np.ones(size)),
    )


def drawn(name: str, seed: int) -> tuple[HonestArena, ba.Cells]:
    """Return an honest arena of a crowd, and its votes, with riggers' among them where it has some."""
    arena = honest_arena(CROWDS[name], competitors=20, votes=4321, strength_sd=1.0, seed=20_000 + seed)
    if name != RIGGED:
        return arena, arena.cells
    return arena, rig(arena.cells, "t-abstain", arena.ranked(10), accounts=4, votes=100, seed=seed).cells


def say_default(arenas: int, crowds: list[str]) -> None:
    """Print what the intervals of the default fit cover, in several crowds."""
    print(f"The default fit, {arenas} arenas a row: 20 competitors, 42 annotators, 4,321 votes\n")
    heads = "crowd | robust | true | 50 % | 89 % | 95 % | rms z | theta, 89 % | leader: said, true | leads: n, right"
    print(f"| {heads} | flagged | with votes discounted |")
    print("|---" * 12 + "|")
    for name in crowds:
        crowd = CROWDS[name]
        for robust in (True, False):
            here, all_, theta, said, right, flagged, discounted = [], [], [], [], [], 0, 0
            for seed in range(arenas):
                report(f"{name}, robust {robust}", seed, arenas)
                arena, cells = drawn(name, seed)
                honest = set(arena.cells.annotators)
                fit = ba.fit(cells, robust="auto" if robust else False)
                elo, sd = (one / PER_LOGIT for one in scores(fit))
                mean = elo - elo.mean()
                of_these, of_all = truths(arena, crowd, seed)
                here.append((mean - of_these) / sd)
                all_.append((mean - of_all) / sd)
                best = best_probabilities(decision_strengths(fit))
                said.append(best.max())
                right.append(best.argmax() == of_these.argmax())
                discounted += fit.votes_discounted > 0
                flagged += len(set(ba.flag(fit)) & honest)
                if not (crowd.taste_sd or crowd.camp_sd):
                    kept = [k for k, who in enumerate(fit.cells.annotators) if who in honest]
                    of_honest = dict(zip(arena.cells.annotators, arena.habits.discrimination, strict=True))
                    true = np.array([of_honest[fit.cells.annotators[k]] for k in kept])
                    ratio = fit.discrimination[kept].mean() / true.mean()
                    theta.append(
                        (np.abs(fit.discrimination[kept] - true * ratio) / fit.discrimination_sd[kept] < 1.598).mean()
                    )
            said_, right_ = np.array(said), np.array(right)
            sure = said_ >= SURE
            of_sure = f"{right_[sure].mean():.3f}" if sure.any() else "-"
            tail = " | ".join(
                [
                    f"{np.mean(theta):.3f}" if theta else "-",
                    f"{said_.mean():.3f}, {right_.mean():.3f}",
                    f"{sure.sum()}, {of_sure}",
                    f"{flagged / arenas:.2f}",
                    f"{discounted / arenas:.2f} |",
                ]
            )
            mode = "on" if robust else "off"
            print(f"| {name} | {mode} | of these annotators | {coverage(here)} | {tail}")
            print(f"| {name} | {mode} | of all like them | {coverage(all_)} | | | | | |", flush=True)


def main() -> None:
    parser = options_of(__doc__, arenas=100)
    parser.add_argument("--model", default="am-davidson", help="nuts: am-davidson")
    parser.add_argument("--interval", choices=("laplace", "sandwich", "nuts"), default="laplace")
    parser.add_argument("--default", nargs="*", choices=CROWDS, help="the fit as it comes, in these crowds, or all")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    if options.default is not None:
        say_default(options.arenas, options.default or list(CROWDS))
        return
    elo, theta = [], []
    for seed in range(options.arenas):
        report("arenas", seed, options.arenas)
        if options.interval == "nuts":
            scores = z_of_ranks(ba.simulate(tie_spread=0.8, position_spread=0.3, seed=10_000 + seed), options.model)
        else:
            scores = z_scores(ba.simulate(seed=10_000 + seed), options.model, options.interval)
        for rows, z in zip((elo, theta), scores, strict=True):
            rows.append(z)
    report("")
    kind = "" if options.interval == "laplace" else f", {options.interval}"
    print(f"{options.model}{kind}, {options.arenas} arenas\n")
    print("| | 50 % | 89 % | 95 % | rms z |\n|---|---|---|---|---|")
    print(f"| Elo strength | {coverage(elo)} |")
    if theta[0].size and options.interval != "sandwich":
        print(f"| theta | {coverage(theta)} |")


if __name__ == "__main__":
    main()
