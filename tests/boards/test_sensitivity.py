"""Whether the prior decides."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.boards.sensitivity import prior_sensitivity
from bayes_arena.errors import ArenaWarning
from tests.boards.arenas import fitted

TRUTH = np.linspace(1.9, -1.9, 20)


def chain(n=20, votes=4000, seed=1):
    """Return votes among neighbours only, each a fifth of a logit ahead of the next."""
    rng = np.random.default_rng(seed)
    i = rng.integers(n - 1, size=votes)
    won = rng.random(votes) < 1 / (1 + np.exp(TRUTH[1] - TRUTH[0]))
    names = np.array([f"m{c:02}" for c in range(n)])
    winner = np.where(won, "model_a", "model_b")
    return {"model_a": names[i], "model_b": names[i + 1], "winner": winner.tolist()}


def test_a_chain_depends_on_the_prior():
    fit = ba.fit(chain())
    note = prior_sensitivity(fit)
    assert note is not None and note.kind == "prior" and "prior='weak'" in str(note)
    with pytest.warns(ArenaWarning, match="depend on the prior"):
        ba.leaderboard(fit)


def test_the_remedy_covers_what_the_default_does_not():
    covered = {}
    for prior in ("default", "weak"):
        board = ba.fit(chain(), prior=prior).marginals.board
        covered[prior] = np.mean(np.abs(board.value - TRUTH) < 1.96 * board.sd)
    assert covered["weak"] > 0.8 > covered["default"]


def test_random_pairs_do_not():
    assert prior_sensitivity(fitted(12, 600)) is None


def test_few_votes_may_move_as_they_like():
    assert prior_sensitivity(ba.fit(chain()), min_votes=1e6) is None


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({"prior": "weak"}, "davidson"),
        ({"prior": "flat"}, "davidson"),
        ({"method": "map"}, "davidson"),
    ],
)
def test_only_the_default_is_judged(options, model):
    fit = ba.fit(chain(), model=model, **options)
    assert prior_sensitivity(fit) is None
