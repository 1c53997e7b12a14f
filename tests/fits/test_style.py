"""Style, from files to the board: a planted taste for long answers is found and removed."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba

NAMES = np.array([f"m{k}" for k in range(8)])
STRENGTH = np.linspace(-0.7, 0.7, 8)
LENGTH = 200 * np.exp(np.array([1.0, -0.5, 0.0, 0.5, -1.0, 0.5, 0.0, -0.5]))
TASTE = 0.6  # logits for a standard deviation of length
LONG, SHORT = "m0", "m4"  # the weakest writes most, a middling one least
STYLED = ba.Model("styled", ties="davidson", style=("length",))


def arena(path, seed, n_votes=3000):
    """Write votes with the answers, of annotators who like long ones."""
    rng = np.random.default_rng(seed)
    a, b = np.argsort(rng.random((n_votes, 8)), axis=1)[:, :2].T
    length = [np.ceil(LENGTH[k] * rng.lognormal(0, 0.3, n_votes)) for k in (a, b)]
    longer = (length[0] - length[1]) / (length[0] + length[1])
    longer /= np.sqrt(np.mean(longer**2))
    eta = STRENGTH[a] - STRENGTH[b] + TASTE * longer
    logits = np.stack([eta / 2, -eta / 2, np.full(n_votes, -0.3)], axis=1)
    drawn = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    votes = {
        "model_a": NAMES[a],
        "model_b": NAMES[b],
        "winner": np.array(["model_a", "model_b", "tie"])[drawn],
        "answer_a": ["x" * int(n) for n in length[0]],
        "answer_b": ["x" * int(n) for n in length[1]],
    }
    pd.DataFrame(votes).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("style")
    read = []
    for seed in range(10):
        path = arena(folder / f"{seed}.csv", seed)
        features = ba.style_features(path, a="answer_a", b="answer_b")
        read.append(ba.read_votes(features, features=("length",)))
    return read


def error(fit):
    """Return the root mean square error of the strengths."""
    return np.sqrt(np.mean((fit.strength - STRENGTH) ** 2))


@pytest.mark.slow
def test_intervals_hold_the_taste_for_length(votes):
    tables = [ba.effects(ba.fit(each, model=STYLED)) for each in votes]
    taste = pd.concat([table[table["effect"] == "style_length"] for table in tables])
    assert len(taste) == len(votes)
    assert taste["estimate"].mean() == pytest.approx(TASTE, abs=0.05)
    held = taste["lower"].lt(TASTE) & taste["upper"].gt(TASTE)
    assert held.sum() >= 8


@pytest.mark.slow
def test_a_board_that_knows_the_style_is_of_what_is_left(votes):
    for each in votes:
        plain, styled = ba.fit(each), ba.fit(each, model=STYLED)
        assert error(styled) < error(plain) / 2
        elo = [
            ba.leaderboard(f).set_index("competitor")["elo"] for f in (plain, styled)
        ]
        assert elo[1][LONG] < elo[0][LONG] - 50
        assert elo[1][SHORT] > elo[0][SHORT] + 50


def test_a_style_that_never_differs_tells_nothing():
    rows = ba.example_arena().votes.head(300).assign(length=0.0)
    votes = ba.read_votes(rows, features=("length",))
    plain = ba.fit(votes, model=ba.Model("plain", ties="davidson"))
    styled = ba.fit(votes, model=STYLED)
    np.testing.assert_allclose(styled.strength, plain.strength, atol=1e-6)
    slope = ba.effects(styled).set_index("effect").loc["style_length"]
    assert slope["estimate"] == pytest.approx(0, abs=1e-6)
