"""Simulated arenas in which people disagree, with the board that their votes average to.

Annotator k votes by Davidson's model on leads of their own, shape (n, n), which need not come
from one ranking: eta = lead_k[i, j] + b_k.  The truth is what a board is about: the
Bradley-Terry strengths that expect the same scores as the average vote, without sides,
annotators weighing by the votes that they cast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayes_arena.inference.scale import bradley_terry_strengths
from bayes_arena.votes.votes import Votes, distinct_rows

Rng = np.random.Generator
N = 20  # competitors, where a regime does not say otherwise
FIRM = 100.0  # lead that decides every vote
SHY = 30.0  # ln nu of those who tie wherever they have no lead


@dataclass(frozen=True, eq=False)
class People:
    """What annotators think, and how many votes they cast, up to a factor.

    ``lead`` is (annotators, n, n), the others are (annotators,).
    """

    lead: np.ndarray
    tie: np.ndarray
    position: np.ndarray
    activity: np.ndarray


@dataclass(frozen=True, eq=False)
class Arena:
    """Votes, the true strengths of their average, (competitors,), and who cast them."""

    votes: Votes
    strength: np.ndarray
    people: People | None = None


def draw_arena(people: Callable[[Rng], People], n_votes: int, seed: int) -> Arena:
    """Draw people, pairs at random, and their votes."""
    rng = np.random.default_rng([seed, 17])
    crowd = people(rng)
    k, i, j = draw_pairs(crowd, n_votes, rng)
    votes = draw_votes(crowd, k, i, j, rng)
    strength = average_strength(crowd, np.bincount(k, minlength=len(crowd.lead)))
    return Arena(votes, strength, crowd)


def draw_pairs(people: People, n_votes: int, rng: Rng) -> tuple[np.ndarray, ...]:
    """Draw who votes, and on which pairs."""
    size, n = people.lead.shape[:2]
    k = rng.choice(size, n_votes, p=people.activity / people.activity.sum())
    i = rng.integers(n, size=n_votes)
    j = (i + rng.integers(1, n, size=n_votes)) % n
    return k, i, j


def draw_on_prompts(
    people: Callable[[Rng], People],
    n_votes: int,
    seed: int,
    prompts: int = 60,
    sd: float = 0.7,
    own: int = 0,
) -> Arena:
    """Draw votes on prompts, on each of which every competitor is stronger or weaker.

    Competitors differ by prompt with the sd given, in logits.  With ``own``, every
    annotator has so many prompts that nobody else sees.  The truth is on new prompts.
    """
    rng = np.random.default_rng([seed, 41])
    crowd = people(rng)
    size, n = crowd.lead.shape[:2]
    k, i, j = draw_pairs(crowd, n_votes, rng)
    if own:
        prompts = size * own
        prompt = k * own + rng.integers(own, size=n_votes)
    else:
        prompt = rng.integers(prompts, size=n_votes)
    by_prompt = rng.normal(0, sd, (prompts, n))
    shift = by_prompt[prompt, i] - by_prompt[prompt, j]
    outcome = draw_outcomes(crowd, k, crowd.lead[k, i, j] + shift, rng)
    votes = count_votes(k, i, j, outcome, n, size, prompt, prompts)
    strength = average_strength(crowd, np.bincount(k, minlength=size), sd)
    return Arena(votes, strength, crowd)


def draw_votes(people: People, k, i, j, rng: Rng) -> Votes:
    """Draw the outcomes of votes of annotators k on pairs (i, j)."""
    outcome = draw_outcomes(people, k, people.lead[k, i, j], rng)
    n, size = people.lead.shape[1], len(people.lead)
    return count_votes(k, i, j, outcome, n, size)


def draw_outcomes(people: People, k, lead, rng: Rng) -> np.ndarray:
    """Draw the outcomes of votes of annotators k who see some leads."""
    eta = lead + people.position[k]
    logits = np.stack([eta / 2, -eta / 2, people.tie[k]])
    p = np.exp(logits - logits.max(axis=0))
    p /= p.sum(axis=0)
    return (rng.random(len(k)) > p.cumsum(axis=0)[:2]).sum(axis=0)


def count_votes(k, i, j, outcome, n: int, size: int, prompt=None, prompts=0) -> Votes:
    """Count votes with codes of annotators, competitors and outcomes, and of prompts."""
    columns = [k, i, j] if prompt is None else [k, i, j, prompt]
    first, row = distinct_rows(columns)
    counts = np.zeros((len(first), 3))
    np.add.at(counts, (row, outcome), 1.0)
    slices, levels = {}, {}
    if prompt is not None:
        slices = {"prompt": prompt[first]}
        levels = {"prompt": numbered("prompt", prompts)}
    return Votes(
        competitors=numbered("model", n),
        annotators=numbered("judge", size),
        i=i[first],
        j=j[first],
        annotator=k[first],
        counts=counts,
        slices=slices,
        levels=levels,
    )


def numbered(kind: str, count: int) -> tuple[str, ...]:
    """Return numbered names."""
    return tuple(f"{kind}-{number:05d}" for number in range(count))


def average_strength(people: People, cast: np.ndarray, sd: float = 0.0) -> np.ndarray:
    """Return the strengths of the average vote of people who cast so many votes each.

    With an sd, leads differ by prompt, and the average is over new ones.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(15 if sd else 1)
    mean = np.zeros(people.lead.shape[1:])
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        score = expected_score(people, people.lead + np.sqrt(2) * sd * node)
        mean += weight * np.tensordot(cast / cast.sum(), score, 1)
    totals = mean.sum(axis=1) - np.diag(mean)
    return bradley_terry_strengths(totals)[0]


def expected_score(people: People, lead: np.ndarray) -> np.ndarray:
    """Return the score that each annotator's vote is expected to give at some leads."""
    tie = people.tie[:, None, None]
    top = np.maximum(np.abs(lead) / 2, tie)
    win, lose = np.exp(lead / 2 - top), np.exp(-lead / 2 - top)
    drawn = np.exp(tie - top)
    return (win + drawn / 2) / (win + drawn + lose)


def of_leads(lead: np.ndarray, rng: Rng, **given: np.ndarray) -> People:
    """Return people with some leads, and with ordinary habits where none are given."""
    size = len(lead)
    tie = given.get("tie", rng.normal(0, 0.4, size))
    position = given.get("position", rng.normal(0.1, 0.2, size))
    return People(lead, tie, position, given.get("activity", np.ones(size)))


def of_rankings(strength: np.ndarray, rng: Rng, **given: np.ndarray) -> People:
    """Return people with rankings of their own, (annotators, n), theta in them."""
    return of_leads(strength[:, :, None] - strength[:, None, :], rng, **given)


def thetas(rng: Rng, size: int, sd: float = 0.3, mean: float = 1.0) -> np.ndarray:
    """Draw discriminations, as a column."""
    return rng.normal(mean, sd, (size, 1))


def agreeing(rng: Rng, annotators: int = 40) -> People:
    """All have one ranking, as am-Davidson says."""
    return of_rankings(thetas(rng, annotators, 0.35) * rng.normal(size=N), rng)


def crowd(rng: Rng, bad: float = 0.0, kind: str = "reversed") -> People:
    """One ranking, of which some guess or vote the reverse."""
    theta = np.abs(thetas(rng, 40))
    planted = np.arange(40)[:, None] < round(bad * 40)
    theta = np.where(planted, -theta if kind == "reversed" else 0.0, theta)
    return of_rankings(theta * rng.normal(size=N), rng)


def camp(
    rng: Rng,
    share: float,
    annotators: int = 40,
    alike: float = 0.3,
    inside: float = 1.0,
    outside: float = 1.0,
) -> People:
    """Give a share of them a ranking that correlates so much with the others'."""
    shared, apart = rng.normal(size=(2, N))
    dissents = np.arange(annotators)[:, None] < round(share * annotators)
    own = thetas(rng, annotators, 0.1 * inside, inside)
    theta = np.where(dissents, own, thetas(rng, annotators, 0.3, outside))
    other = alike * shared + np.sqrt(1 - alike**2) * apart
    return of_rankings(theta * np.where(dissents, other, shared), rng)


def two_programs(rng: Rng) -> People:
    """Two of 62 cast half of the votes, of nearly one taste, sure and with few ties."""
    shared = rng.normal(0, 0.7, 12)
    taste = shared + rng.normal(0, 0.5, 12)
    own = np.vstack([taste, taste + rng.normal(0, 0.2, 12)])
    strength = np.vstack([2.5 * own, thetas(rng, 60) * shared])
    tie = np.append(np.full(2, -1.9), rng.normal(0, 0.4, 60))
    activity = np.append(np.full(2, 30.0), np.ones(60))
    return of_rankings(strength, rng, tie=tie, activity=activity)


def heavy_expert(rng: Rng) -> People:
    """One of 41 casts a fifth of the votes, three times as sure, by a ranking apart."""
    shared, apart = rng.normal(0, 0.7, (2, 12))
    strength = np.vstack([3.0 * (shared + apart), thetas(rng, 40) * shared])
    tie = np.append(-1.6, rng.normal(0, 0.4, 40))
    activity = np.append(10.0, np.ones(40))
    return of_rankings(strength, rng, tie=tie, activity=activity)


def along(
    rng: Rng, loading: np.ndarray, shared: float = 1.0, apart: float = 0.8
) -> People:
    """Each has loadings on directions in which they differ."""
    theta = np.exp(rng.normal(0, 0.4, (len(loading), 1)))
    directions = rng.normal(0, apart, (loading.shape[1], N))
    return of_rankings(theta * (rng.normal(0, shared, N) + loading @ directions), rng)


def one_direction(rng: Rng) -> People:
    """They differ along a second dimension."""
    return along(rng, rng.normal(size=(40, 1)), shared=0.7)


def gradient(rng: Rng) -> People:
    """They lie evenly between two ends."""
    return along(rng, rng.uniform(-1.7, 1.7, (40, 1)), apart=0.6)


def drift(rng: Rng) -> People:
    """Half of them vote before the competitors have changed a little."""
    return along(rng, np.repeat([-0.5, 0.5], 20)[:, None], apart=0.8)


def three_camps(rng: Rng) -> People:
    """Three camps of one size, whose rankings correlate .4."""
    own = np.sqrt(0.4) * rng.normal(size=N) + np.sqrt(0.6) * rng.normal(size=(3, N))
    return of_rankings(thetas(rng, 60) * own[np.arange(60) % 3], rng)


def tastes(rng: Rng, sd: float) -> People:
    """Each has a taste for every competitor."""
    return of_rankings(rng.normal(size=N) + rng.normal(0, sd, (40, N)), rng)


def fans(rng: Rng) -> People:
    """Let a fifth overrate one middling competitor by four logits."""
    strength = rng.normal(size=N)
    own = thetas(rng, 40) * strength
    own[:8, np.argsort(strength)[N // 2]] += 4.0
    return of_rankings(own, rng)


def riggers(rng: Rng) -> People:
    """20 of 120 vote for one middling competitor where it is shown, and tie otherwise."""
    strength = rng.normal(size=N)
    own = np.vstack([thetas(rng, 100) * strength, np.zeros((20, N))])
    own[100:, np.argsort(strength)[N // 2]] = FIRM
    tie = np.append(rng.normal(0, 0.4, 100), np.full(20, SHY))
    position = np.append(rng.normal(0.1, 0.2, 100), np.zeros(20))
    activity = np.append(np.full(100, 5.0), np.full(20, 3.0))
    return of_rankings(own, rng, tie=tie, position=position, activity=activity)


def few_matters(rng: Rng) -> People:
    """Three in ten differ on three competitors only, by two logits."""
    own = np.tile(rng.normal(size=N), (40, 1))
    own[:12, rng.permutation(N)[:3]] += 2.0 * rng.choice([-1.0, 1.0], 3)
    return of_rankings(thetas(rng, 40) * own, rng)


def specialists(rng: Rng) -> People:
    """Each knows a third of the competitors, and guesses where neither is known."""
    strength = thetas(rng, 60) * rng.normal(size=N)
    knows = rng.random((60, N)).argsort(axis=1) < N // 3
    either = knows[:, :, None] | knows[:, None, :]
    return of_leads((strength[:, :, None] - strength[:, None, :]) * either, rng)


def light_camp(rng: Rng) -> People:
    """Activity is heavy-tailed, and the least active three in ten have another ranking."""
    shared, apart = rng.normal(size=(2, N))
    activity = np.sort(rng.pareto(1.2, 100) + 0.2)
    dissents = (np.arange(100) < 30)[:, None]
    other = 0.3 * shared + np.sqrt(1 - 0.3**2) * apart
    strength = thetas(rng, 100) * np.where(dissents, other, shared)
    return of_rankings(strength, rng, activity=activity)


SURE = {"share": 0.2, "inside": 3.0, "outside": 0.6}
MILD = {"share": 0.2, "alike": 0.5, "inside": 1.8, "outside": 0.8}
REGIMES: dict[str, tuple[Callable[[Rng], People], int]] = {
    "camp of 30 %, 40 annotators": (partial(camp, share=0.3), 4000),
    "camp of 30 %, 150 annotators": (partial(camp, share=0.3, annotators=150), 9000),
    "camp of 10 %": (partial(camp, share=0.1, alike=0.0), 4000),
    "two programs, half of the votes": (two_programs, 4000),
    "one heavy expert": (heavy_expert, 4000),
    "consistent minority": (partial(camp, **SURE), 4000),
    "mild minority": (partial(camp, **MILD), 4000),
    "a second dimension": (one_direction, 4000),
    "fans, 20 %": (fans, 4000),
    "riggers who tie otherwise": (riggers, 11_200),
    "tastes of sd .4": (partial(tastes, sd=0.4), 4000),
    "tastes of sd .8": (partial(tastes, sd=0.8), 4000),
    "three camps": (three_camps, 6000),
    "camp on three competitors": (few_matters, 4000),
    "gradient": (gradient, 4000),
    "specialists": (specialists, 6000),
    "camp of light voters": (light_camp, 6000),
    "drift between two halves": (drift, 4000),
    "consistent minority, 800 votes": (partial(camp, **SURE), 800),
    "no camps": (agreeing, 4000),
    "no camps, 400 votes": (agreeing, 400),
}
CROWDS: dict[str, tuple[Callable[[Rng], People], int]] = {
    "honest": (partial(crowd), 4000),
    "15 % guess": (partial(crowd, bad=0.15, kind="guess"), 4000),
    "30 % guess": (partial(crowd, bad=0.3, kind="guess"), 4000),
    "15 % reversed": (partial(crowd, bad=0.15), 4000),
    "30 % reversed": (partial(crowd, bad=0.3), 4000),
}
