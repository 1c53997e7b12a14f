"""Chains that disagree, diverge or stand still."""

import numpy as np
import pytest

from bayes_arena.fits.chains import faults, largest_r_hat

pytestmark = pytest.mark.slow  # ArviZ takes a second to import


def draws(chains=4, size=3, seed=1):
    return np.random.default_rng(seed).normal(size=(chains, 500, size))


def said(samples, **stats):
    return [str(note) for note in faults(samples, stats)]


def test_good_chains_have_no_fault():
    assert said({"strength": draws(), "tie": draws(size=1, seed=2)}) == []


def test_chains_that_disagree_or_diverge_are_named():
    apart = draws() + np.arange(4)[:, None, None]
    diverging = np.zeros((4, 500), bool)
    diverging[0, :3] = True
    samples = {"tie": draws(size=1, seed=2), "strength": apart}
    first, second = said(samples, diverging=diverging)
    assert first.startswith("The chains disagree: r-hat of strength is ")
    assert second.startswith("Divergent draws: 3.")


def test_a_chain_that_stands_still_is_named():
    samples = {"strength": draws(), "tie": draws(size=1, seed=2)}
    for values in samples.values():
        values[2, 10:] = values[2, 10]
    first, second = said(samples)
    assert first.startswith("Chains that stand still: 2 (counted from 0).")
    assert second.startswith("The chains disagree")


def test_a_chain_that_rejects_many_draws_moves():
    # As Metropolis's does, one of four of whose proposals is taken.
    thinned = np.repeat(draws(size=1), 4, axis=1)
    assert not any(
        text.startswith("Chains that stand") for text in said({"tie": thinned})
    )


def test_numbers_that_a_program_holds_have_no_r_hat():
    held = draws()
    held[:, :, 1] = 0.0
    assert largest_r_hat(held) < 1.01
    assert largest_r_hat(held[:, :, [1]]) == 1.0


def test_a_single_chain_is_compared_with_itself():
    drifting = draws(chains=1) + np.linspace(0, 5, 500)[:, None]
    assert largest_r_hat(draws(chains=1)) < 1.02
    assert largest_r_hat(drifting) > 1.5
