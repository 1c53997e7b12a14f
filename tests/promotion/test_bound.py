"""What accounts move a competitor at most: attacks against the bounds of docs/limits.md."""

import numpy as np
import pytest
from crowds import Crowd, honest_arena
from promotion import Attack, attacked
from scipy.special import expit

import bayes_arena as ba

pytestmark = [pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning"), pytest.mark.slow]
CAP = 0.05


def wins(fit: ba.Fit, target: int) -> float:
    """Return the mean probability with which a competitor wins against the others, ties half, by the board."""
    board = fit.board
    return float(np.delete(expit(board[target] - board), target).mean())


@pytest.mark.parametrize("robust", ["auto", False])
@pytest.mark.parametrize("habit, others", [("for", "honest"), ("for", "copied"), ("against", "ties")])
def test_what_one_account_thinks_moves_the_average_by_its_capped_share(robust, habit, others):
    """A third of the votes is by one account, half of these on the target."""
    arena = honest_arena(Crowd(annotators=60, taste_sd=0.4), competitors=10, votes=2_000, strength_sd=0.8, seed=5)
    target = int(np.argsort(-arena.strength)[5])
    cells, (account,) = attacked(arena.cells, arena.strength, target, Attack("one", 1, 500, 500, habit, others), seed=5)
    fit = ba.fit(cells, robust=robust, answers=False)
    everybody, others_alone = (wins(one, target) for one in (fit, fit.of(set(cells.annotators) - {account})))
    moved = everybody - others_alone
    assert moved <= CAP * (1 - others_alone) + 1e-6 and -moved <= CAP * others_alone + 1e-6
    if robust is False:
        assert abs(moved) > 0.1 * CAP  # the attack is one: what it does comes near the bound
        uncapped = wins(fit.of("everybody", cap=1), target) - others_alone
        assert abs(uncapped) > 2 * abs(moved)
