"""Small arenas whose truth is known."""

import numpy as np

import bayes_arena as ba


def columns(n=6, votes=600, *, prompts=0, prompt_sd=0.0, tie=0.5, spread=1.0, seed=0):
    """Return votes as columns, and the strengths; ties are ``tie`` as likely as a win."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, spread, n)
    strength -= strength.mean()
    i = rng.integers(n, size=votes)
    j = (i + rng.integers(1, n, size=votes)) % n
    lead = strength[i] - strength[j]
    result = {
        "model_a": [f"m{c:02}" for c in i],
        "model_b": [f"m{c:02}" for c in j],
    }
    if prompts:
        prompt = rng.integers(prompts, size=votes)
        taste = rng.normal(0, prompt_sd, (prompts, n))
        lead = lead + taste[prompt, i] - taste[prompt, j]
        result["prompt"] = [f"p{g:03}" for g in prompt]
    weight = np.stack([np.exp(lead / 2), np.exp(-lead / 2), np.full(votes, tie)])
    weight /= weight.sum(axis=0)
    outcome = (rng.random(votes) > weight.cumsum(axis=0)[:2]).sum(axis=0)
    labels = np.array(["model_a", "model_b", "tie"])
    result["winner"] = labels[outcome].tolist()
    return result, strength


def fitted(n=6, votes=600, *, model="davidson", prior="default", **options):
    """Return a fit of such an arena."""
    return ba.fit(columns(n, votes, **options)[0], model=model, prior=prior)


def of_wins(wins):
    """Return votes as columns from (winner, loser, number)."""
    rows = [(a, b) for a, b, count in wins for _ in range(count)]
    return {
        "model_a": [a for a, _ in rows],
        "model_b": [b for _, b in rows],
        "winner": ["model_a"] * len(rows),
    }


def of_balanced_wins(wins):
    """Return such votes with the winner now on the first side, now on the second."""
    votes = of_wins(wins)
    for row in range(0, len(votes["winner"]), 2):
        a, b = votes["model_a"][row], votes["model_b"][row]
        votes["model_a"][row], votes["model_b"][row] = b, a
        votes["winner"][row] = "model_b"
    return votes


# Wang (2025) gives BradleyTerry2 each pair twice, once from each side.
SEED = {
    "model_a": ["B"] * 12 + ["C"] * 8 + ["A"] * 20,
    "model_b": ["A"] * 20 + ["B"] * 12 + ["C"] * 8,
    "winner": [
        label
        for wins, losses in ((4, 8), (5, 3), (8, 4), (3, 5))
        for label in ["model_a"] * wins + ["model_b"] * losses
    ],
}
ABOVE = [("a", "b", 9), ("b", "c", 8), ("a", "c", 6)]
BELOW = [("b", "a", 6), ("c", "b", 7), ("c", "a", 5)]
CYCLE = ABOVE + BELOW
