"""Arenas in which it is known who votes how."""

import numpy as np
import pandas as pd

import bayes_arena as ba

N = 12  # competitors
KINDS = ("guesses", "reversed", "always ties", "first side")


def votes_of(
    seed=0, annotators=30, each=100, planted=(), loyal=0, ties=True, taste=0.2
):
    """Return votes of annotators named by what they do, as a dataframe.

    ``planted`` kinds have an annotator each.  With ``loyal``, the first annotator casts many
    votes, and as many as said on one competitor, nearly all for it.
    """
    rng = np.random.default_rng(seed)
    r = np.linspace(1.5, -1.5, N)
    names = [f"honest {k:02d}" for k in range(annotators)] + list(planted)
    kinds = np.array(["honest"] * annotators + list(planted))
    slope = {"guesses": 0.0, "reversed": -1.0, "always ties": 1.0, "first side": 0.0}
    theta = np.array([slope.get(kind, 1.0) for kind in kinds])
    tie = np.where(kinds == "always ties", 20.0, 0.0 if ties else -20.0)
    side = np.where(kinds == "first side", 4.0, 0.1)
    own = theta[:, None] * (r + rng.normal(0, taste, (len(names), N)))

    cast = np.where(np.isin(kinds, ["honest", "reversed"]), each, 3 * each)
    cast[0] *= 4 if loyal else 1
    k = np.repeat(np.arange(len(names)), cast)
    i = rng.integers(N, size=len(k))
    j = (i + rng.integers(1, N, size=len(k))) % N
    eta = own[k, i] - own[k, j] + side[k]
    logits = np.stack([eta / 2, -eta / 2, tie[k]])
    p = np.exp(logits - logits.max(axis=0))
    outcome = (rng.random(len(k)) > np.cumsum(p / p.sum(axis=0), axis=0)[:2]).sum(
        axis=0
    )
    votes = table(i, j, np.array(["model_a", "model_b", "tie"])[outcome])
    votes["judge"] = np.array(names)[k]
    if loyal:
        votes = votes[(k > 0) | ((i != N - 2) & (j != N - 2))]
    return pd.concat([votes, fan(rng, loyal)], ignore_index=True)


def fan(rng, size, favourite=N - 2, judge="honest 00"):
    """Return votes on a favourite, nineteen in twenty of them for it."""
    others = (favourite + 1 + np.arange(size) % (N - 1)) % N
    votes = table(np.full(size, favourite), others, "model_a")
    votes.loc[np.arange(size) % 20 == 19, "winner"] = "model_b"
    votes["judge"] = judge
    return votes


def table(i, j, winner):
    names = np.array([f"model {c:02d}" for c in range(N)])
    return pd.DataFrame({"model_a": names[i], "model_b": names[j], "winner": winner})


def rows(votes, **options):
    """Return the table of annotators, by name."""
    return ba.annotators(votes, **options).set_index("annotator")


def camp_votes(seed=0, camp=6, n_votes=4000, prompts=0, own_prompts=0):
    """Return votes of twenty people, of whom the first few prefer models 0 and 1 to 8 and 9.

    On each prompt every model is stronger or weaker.  With ``own_prompts``, nobody else
    sees the prompts of an annotator.
    """
    rng = np.random.default_rng(seed)
    shared = np.array([0.5, -0.5, 1.2, 0.8, 0.3, -0.3, -0.8, -1.2, 0.5, -0.5])
    strength = rng.uniform(0.5, 1.5, (20, 1)) * shared
    strength[:camp, :2] += 2.0
    strength[:camp, -2:] -= 2.0
    k = rng.integers(20, size=n_votes)
    i = rng.integers(10, size=n_votes)
    j = (i + rng.integers(1, 10, size=n_votes)) % 10
    eta = strength[k, i] - strength[k, j]
    prompt = rng.integers(max(prompts, 1), size=n_votes)
    if own_prompts:
        prompt = k * own_prompts + rng.integers(own_prompts, size=n_votes)
    by_prompt = rng.normal(0, 1.0, (prompt.max() + 1, 10))
    if prompts or own_prompts:
        eta += by_prompt[prompt, i] - by_prompt[prompt, j]
    p = np.exp(np.stack([eta / 2, -eta / 2, np.zeros(n_votes)]))
    outcome = (rng.random(n_votes) > np.cumsum(p / p.sum(axis=0), axis=0)[:2]).sum(
        axis=0
    )
    columns = {
        "model_a": [f"model {c}" for c in i],
        "model_b": [f"model {c}" for c in j],
        "winner": np.array(["model_a", "model_b", "tie"])[outcome],
        "judge": [f"judge {a:02d}" for a in k],
    }
    if prompts or own_prompts:
        columns["prompt"] = [f"prompt {q:03d}" for q in prompt]
    return pd.DataFrame(columns)
