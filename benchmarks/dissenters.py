"""Annotators whose disagreement is known: what they think, how they vote, what their votes average to.

An annotator k votes by Davidson's model on leads of their own, shape (n, n), which need not come from a ranking:

    eta = lead_k[i, j] + b_k,        lead_k[i, j] = theta_k (r_ki - r_kj) of those with a ranking r_k.

The truth is what the leaderboard is about (:mod:`bayes_arena.inference.projection`): the Bradley-Terry strengths that
predict the same average vote, from the true expected scores at b = 0 of every annotator, weighing by the votes cast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from boards import named
from crowds import Habits, draw_outcomes
from scipy.optimize import minimize
from scipy.special import expit

import bayes_arena as ba
from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.votes.cells import Cells

LABELS = pl.Series(["model_a", "model_b", "tie"])
MODELS, JUDGES = named("model", 20), named("judge", 150)
N = 20
"""Competitors, where a regime does not say otherwise."""
FIRM = 100.0
"""Lead that decides every vote: e to its half is far above e to the SHY, and that far above 1."""
SHY = 30.0
"""ln nu of those who call a tie wherever they have no lead."""


@dataclass(frozen=True, eq=False)
class People:
    """What annotators think.

    Attributes
    ----------
    lead : ndarray, shape (n_annotators, n_competitors, n_competitors)
        Log-odds by which k prefers i to j before ties, skew-symmetric in i and j.
    tie : ndarray, shape (n_annotators,)
        ln nu.
    position : ndarray, shape (n_annotators,)
        b.
    activity : ndarray, shape (n_annotators,)
        Share of the votes, up to a factor.
    """

    lead: Floats
    tie: Floats
    position: Floats
    activity: Floats


@dataclass(frozen=True, eq=False)
class Dissent:
    """Votes, and what they average to.

    Attributes
    ----------
    cells : Cells
        The votes.
    strength : ndarray, shape (n_competitors,)
        True strengths of the average vote, in logits, of mean zero.
    """

    cells: Cells
    strength: Floats


@dataclass(frozen=True)
class Regime:
    """How people disagree.

    Attributes
    ----------
    people : callable
        Draws them.
    votes : int
        How many they cast.
    specified : bool
        Whether the model without directions is true.
    """

    people: Callable[[np.random.Generator], People]
    votes: int = 4000
    specified: bool = False


def draw(regime: Regime, seed: int) -> Dissent:
    """Draw people and their votes; the same seed gives the same."""
    rng = np.random.default_rng([seed, 17])
    people = regime.people(rng)
    size, n = people.lead.shape[:2]
    k = rng.choice(size, regime.votes, p=people.activity / people.activity.sum())
    a = rng.integers(n, size=regime.votes)
    b = (a + rng.integers(1, n, size=regime.votes)) % n
    outcome = draw_outcomes(people.lead[k, a, b], Habits(np.ones(size), people.tie, people.position), k, rng)
    columns = {"model_a": MODELS[a], "model_b": MODELS[b], "winner": LABELS[outcome], "judge": JUDGES[k]}
    return Dissent(ba.read_votes(pl.DataFrame(columns)), average(people, np.bincount(k, minlength=size)))


def average(people: People, votes: Ints) -> Floats:
    """Return the Bradley-Terry strengths of the average vote of people who cast so many votes each."""
    tie = np.broadcast_to(people.tie[:, None, None], people.lead.shape)
    score = np.tensordot(votes / votes.sum(), davidson.expected_score(np.array([people.lead, tie]))[0], 1)

    def loss(r: Floats) -> tuple[float, Floats]:
        eta = r[:, None] - r
        return 0.5 * float((np.logaddexp(0, eta) - score * eta).sum()), (expit(eta) - score).sum(axis=1)

    r = minimize(loss, np.zeros(len(score)), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return np.asarray(r - r.mean())


def of_rankings(strength: Floats, rng: np.random.Generator, **given: Floats) -> People:
    """Return people with rankings of their own, shape (n_annotators, n), theta in them, and with ordinary habits."""
    return of_leads(strength[:, :, None] - strength[:, None, :], rng, **given)


def of_leads(lead: Floats, rng: np.random.Generator, **given: Floats) -> People:
    """Return people with leads, and with ordinary habits where none are given."""
    size = len(lead)
    ordinary = {"tie": rng.normal(0, 0.4, size), "position": rng.normal(0.1, 0.2, size), "activity": np.ones(size)}
    return People(lead, **(ordinary | given))


def thetas(rng: np.random.Generator, size: int, sd: float = 0.3, mean: float = 1.0) -> Floats:
    """Draw discriminations as a column."""
    return rng.normal(mean, sd, (size, 1))


def agreeing(rng: np.random.Generator, *, annotators: int = 40) -> People:
    """Give all one ranking, as am-davidson says."""
    return of_rankings(thetas(rng, annotators, 0.35) * rng.normal(size=N), rng)


def camp(
    rng: np.random.Generator,
    *,
    share: float,
    annotators: int = 40,
    alike: float = 0.3,
    inside: float = 1.0,
    outside: float = 1.0,
) -> People:
    """Give a share of them a ranking that correlates so much with that of the others; both camps have mean thetas."""
    shared, apart = rng.normal(size=(2, N))
    dissents = np.arange(annotators)[:, None] < round(share * annotators)
    theta = np.where(dissents, thetas(rng, annotators, 0.1 * inside, inside), thetas(rng, annotators, 0.3, outside))
    other = alike * shared + np.sqrt(1 - alike**2) * apart
    return of_rankings(theta * np.where(dissents, other, shared), rng)


def two_programs(rng: np.random.Generator) -> People:
    """Let two of 62 cast half of the votes, sure of themselves, of nearly one taste, which differs, with few ties."""
    shared = rng.normal(0, 0.7, 12)
    taste = shared + rng.normal(0, 0.5, 12)
    own = np.vstack([taste, taste + rng.normal(0, 0.2, 12)])
    strength = np.vstack([2.5 * own, thetas(rng, 60) * shared])
    tie = np.append(np.full(2, -1.9), rng.normal(0, 0.4, 60))
    return of_rankings(strength, rng, tie=tie, activity=np.append(np.full(2, 30.0), np.ones(60)))


def heavy_expert(rng: np.random.Generator) -> People:
    """Let one of 41 cast a fifth of the votes, three times as sure, by a ranking of their own."""
    shared, apart = rng.normal(0, 0.7, (2, 12))
    strength = np.vstack([3.0 * (shared + apart), thetas(rng, 40) * shared])
    tie = np.append(-1.6, rng.normal(0, 0.4, 40))
    return of_rankings(strength, rng, tie=tie, activity=np.append(10.0, np.ones(40)))


def along(rng: np.random.Generator, loading: Floats, *, shared: float = 1.0, apart: float = 0.8) -> People:
    """Give each their loadings, shape (n_annotators, n_directions), of directions in which they differ."""
    theta = np.exp(rng.normal(0, 0.4, (len(loading), 1)))
    return of_rankings(theta * (rng.normal(0, shared, N) + loading @ rng.normal(0, apart, (loading.shape[1], N))), rng)


def one_direction(rng: np.random.Generator) -> People:
    """Give them normal loadings of a second dimension."""
    return along(rng, rng.normal(size=(40, 1)), shared=0.7)


def gradient(rng: np.random.Generator) -> People:
    """Give them loadings that are as likely anywhere from one end to the other."""
    return along(rng, rng.uniform(-1.7, 1.7, (40, 1)), apart=0.6)


def drift(rng: np.random.Generator) -> People:
    """Let half of them vote before the competitors have changed a little, and half after."""
    return along(rng, np.repeat([-0.5, 0.5], 20)[:, None], apart=0.8)


def three_camps(rng: np.random.Generator) -> People:
    """Divide them in three camps of one size, whose rankings correlate .4 with each other."""
    rankings = np.sqrt(0.4) * rng.normal(size=N) + np.sqrt(0.6) * rng.normal(size=(3, N))
    return of_rankings(thetas(rng, 60) * rankings[np.arange(60) % 3], rng)


def tastes(rng: np.random.Generator, *, sd: float) -> People:
    """Give each a taste of their own for every competitor."""
    return of_rankings(rng.normal(size=N) + rng.normal(0, sd, (40, N)), rng)


def fans(rng: np.random.Generator) -> People:
    """Let a fifth overrate one middling competitor by four logits."""
    strength = rng.normal(size=N)
    own = thetas(rng, 40) * strength
    own[:8, np.argsort(strength)[N // 2]] += 4.0
    return of_rankings(own, rng)


def riggers(rng: np.random.Generator) -> People:
    """Let 20 of 120, with 11 % of the votes, vote for one middling competitor where it is shown, and tie otherwise."""
    strength = rng.normal(size=N)
    own = np.vstack([thetas(rng, 100) * strength, np.zeros((20, N))])
    own[100:, np.argsort(strength)[N // 2]] = FIRM
    tie = np.append(rng.normal(0, 0.4, 100), np.full(20, SHY))
    position = np.append(rng.normal(0.1, 0.2, 100), np.zeros(20))
    return of_rankings(own, rng, tie=tie, position=position, activity=np.append(np.full(100, 5.0), np.full(20, 3.0)))


def few_matters(rng: np.random.Generator) -> People:
    """Let three in ten differ on three competitors only, by two logits."""
    own = np.tile(rng.normal(size=N), (40, 1))
    own[:12, rng.permutation(N)[:3]] += 2.0 * rng.choice([-1.0, 1.0], 3)
    return of_rankings(thetas(rng, 40) * own, rng)


def specialists(rng: np.random.Generator) -> People:
    """Let each know a third of the competitors, and guess where they know neither."""
    strength = thetas(rng, 60) * rng.normal(size=N)
    knows = rng.random((60, N)).argsort(axis=1) < N // 3
    either = knows[:, :, None] | knows[:, None, :]
    return of_leads((strength[:, :, None] - strength[:, None, :]) * either, rng)


def light_camp(rng: np.random.Generator) -> People:
    """Give activities a heavy tail, and the least active three in ten another ranking."""
    shared, apart = rng.normal(size=(2, N))
    activity = np.sort(rng.pareto(1.2, 100) + 0.2)
    dissents = (np.arange(100) < 30)[:, None]
    return of_rankings(
        thetas(rng, 100) * np.where(dissents, 0.3 * shared + np.sqrt(1 - 0.3**2) * apart, shared),
        rng,
        activity=activity,
    )


def _regimes() -> dict[str, Regime]:
    sure: dict[str, Any] = {"share": 0.2, "inside": 3.0, "outside": 0.6}
    return {
        "camp of 30 %, 40 annotators": Regime(partial(camp, share=0.3)),
        "camp of 30 %, 150 annotators": Regime(partial(camp, share=0.3, annotators=150), 9000),
        "camp of 10 %": Regime(partial(camp, share=0.1, alike=0.0)),
        "two programs, half of the votes": Regime(two_programs),
        "one heavy expert": Regime(heavy_expert),
        "consistent minority": Regime(partial(camp, **sure)),
        "mild minority": Regime(partial(camp, share=0.2, alike=0.5, inside=1.8, outside=0.8)),
        "a second dimension": Regime(one_direction),
        "fans, 20 %": Regime(fans),
        "riggers who tie otherwise": Regime(riggers, 11_200),
        "tastes of sd .4": Regime(partial(tastes, sd=0.4)),
        "tastes of sd .8": Regime(partial(tastes, sd=0.8)),
        "three camps": Regime(three_camps, 6000),
        "camp on three competitors": Regime(few_matters),
        "gradient": Regime(gradient),
        "specialists": Regime(specialists, 6000),
        "camp of light voters": Regime(light_camp, 6000),
        "drift between two halves": Regime(drift),
        "consistent minority, 800 votes": Regime(partial(camp, **sure), 800),
        "no camps": Regime(agreeing, specified=True),
        "no camps, 400 votes": Regime(agreeing, 400, specified=True),
    }


REGIMES = _regimes()
