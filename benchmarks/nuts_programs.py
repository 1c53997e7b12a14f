"""am-Davidson as others would sample it: PyMC with a row for every vote, NumPyro and BlackJAX with counts.

Model and priors are those of ``ba.fit(votes, model="am-davidson", method="nuts", dimensions=0)``. Strengths are centred
and sum to zero, annotators' numbers are not centred. JAX computes in single precision unless it is told otherwise, in
half the time. What they return is a dataset (chain, draw, ...) by the names of our own draws, with ``seconds`` of
sampling, without compiling, and gradients a draw in its attributes.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import xarray as xr

import bayes_arena as ba
from bayes_arena.inference.density.coordinates import Coordinates
from bayes_arena.inference.density.log_density import log_density as compiled_density
from bayes_arena.likelihood.problem import Problem

CHAINS, DRAWS, WARM_UP = 4, 1000, 500
"""Half of the warm-up that PyMC and NumPyro propose is enough here, for all of them."""
DIMS = {"strength": "competitor", **dict.fromkeys(["discrimination", "log_tie_propensity", "position"], "annotator")}
SHARED = ["tie_propensity_common", "position_common"]
SPREADS = ["strength_sd", "discrimination_sd", "tie_spread", "position_spread"]
PARAMETERS = [*DIMS, *SHARED, *SPREADS]


def plain_program(cells: ba.Cells) -> Any:
    """Return am-davidson in PyMC, one row a vote, as the textbooks would have it."""
    import pymc as pm
    import pytensor.tensor as pt

    votes = cells.counts.astype(int)
    i, j, k = (np.repeat(column, votes.sum(axis=1)) for column in (cells.a, cells.b, cells.annotator))
    outcome = np.repeat(np.tile([0, 2, 1, 1][: votes.shape[1]], len(votes)), votes.ravel())
    hyper = ba.Prior().hyper
    with pm.Model(coords={"competitor": list(cells.competitors), "annotator": list(cells.annotators)}) as program:

        def own(label: str, scale: float) -> Any:
            return pm.HalfNormal(label, scale) * pm.ZeroSumNormal(f"{label}_unit", dims="annotator")

        strength_sd = pm.HalfNormal("strength_sd", hyper.strength)
        pm.Potential("maxwell", 2 * pm.math.log(strength_sd))
        strength = pm.ZeroSumNormal("strength", sigma=strength_sd, dims="competitor")
        theta = pm.Deterministic("discrimination", 1 + own("discrimination_sd", hyper.discrimination), dims="annotator")
        tie = pm.Normal("tie_propensity_common", 0, 1) + own("tie_spread", hyper.tie_spread)
        tie = pm.Deterministic("log_tie_propensity", tie, dims="annotator")
        position = pm.Normal("position_common", 0, 0.5) + own("position_spread", hyper.position_spread)
        position = pm.Deterministic("position", position, dims="annotator")
        eta = theta[k] * (strength[i] - strength[j]) + position[k]
        pm.Categorical("vote", logit_p=pt.stack([eta / 2, tie[k], -eta / 2], axis=1), observed=outcome)
    return program


def counted_program(cells: ba.Cells, double: bool) -> Callable[[], None]:
    """Return the same model in NumPyro, one row a cell, in double precision or JAX's default, single."""
    import jax
    import jax.numpy as jnp
    import numpyro
    from numpyro.distributions import HalfNormal, Normal, ZeroSumNormal

    jax.config.update("jax_enable_x64", double)
    i, j, k = (jnp.asarray(column) for column in (cells.a, cells.b, cells.annotator))
    counts = np.column_stack([cells.counts[:, :2], cells.counts[:, 2:].sum(axis=1)])
    counts = jnp.asarray(counts, dtype=float)
    competitors, annotators = (cells.n_competitors,), (cells.n_annotators,)
    hyper = ba.Prior().hyper

    def program() -> None:
        def own(label: str, scale: float) -> Any:
            spread = numpyro.sample(label, HalfNormal(scale))
            return spread * numpyro.sample(f"{label}_unit", ZeroSumNormal(1.0, annotators))

        strength_sd = numpyro.sample("strength_sd", HalfNormal(hyper.strength))
        numpyro.factor("maxwell", 2 * jnp.log(strength_sd))
        strength = numpyro.sample("strength", ZeroSumNormal(strength_sd, competitors))
        theta = numpyro.deterministic("discrimination", 1 + own("discrimination_sd", hyper.discrimination))
        tie = numpyro.sample("tie_propensity_common", Normal(0.0, 1.0)) + own("tie_spread", hyper.tie_spread)
        tie = numpyro.deterministic("log_tie_propensity", tie)
        position = numpyro.sample("position_common", Normal(0.0, 0.5)) + own("position_spread", hyper.position_spread)
        position = numpyro.deterministic("position", position)
        eta = theta[k] * (strength[i] - strength[j]) + position[k]
        logits = jnp.stack([eta / 2, -eta / 2, tie[k]], axis=1)
        numpyro.factor("votes", jnp.sum(counts * jax.nn.log_softmax(logits)))

    return program


def density(program: Callable[[], None], seed: int) -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """Return a start for every chain, the log density in free coordinates, and how these become the model's numbers."""
    import jax
    from numpyro.infer.util import initialize_model

    keys = jax.random.split(jax.random.PRNGKey(seed), CHAINS)
    start, potential, postprocess, _ = initialize_model(keys, program)
    starts = [jax.tree.map(lambda numbers, chain=chain: numbers[chain], start.z) for chain in range(CHAINS)]
    return starts, lambda position: -potential(position), postprocess


def by_pymc(cells: ba.Cells, seed: int) -> xr.Dataset:
    import pymc as pm

    with plain_program(cells):
        tree = pm.sample(
            DRAWS, tune=WARM_UP, chains=CHAINS, random_seed=seed, nuts_sampler="nutpie", progressbar=False, quiet=True
        )
    return from_tree(tree)


def by_fit(cells: ba.Cells, seed: int) -> xr.Dataset:
    return from_tree(ba.fit(cells, model="am-davidson", method="nuts", robust=False, dimensions=0, seed=seed).tree)


def from_tree(tree: Any) -> xr.Dataset:
    draws, said = tree["posterior"].to_dataset()[PARAMETERS], tree["sample_stats"]
    return draws.assign_attrs(
        seconds=float(tree["posterior"].attrs["sampling_time"]),
        gradients=float(said["n_steps"].mean()),
        divergences=int(said["diverging"].sum()),
    )


def by_numpyro(cells: ba.Cells, seed: int, *, double: bool) -> xr.Dataset:
    import numpyro

    numpyro.set_host_device_count(CHAINS)
    import jax
    from numpyro.infer import MCMC, NUTS

    compiling = CompilingSeconds()
    clock = compiling.clock()
    sampler = MCMC(
        NUTS(counted_program(cells, double)),
        num_warmup=WARM_UP,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="parallel",
        progress_bar=False,
    )
    sampler.run(jax.random.PRNGKey(seed), extra_fields=("num_steps", "diverging"))
    draws = jax.device_get(sampler.get_samples(group_by_chain=True))
    said = sampler.get_extra_fields()
    return dataset(draws, clock(), float(said["num_steps"].mean()), int(said["diverging"].sum()))


def by_blackjax(cells: ba.Cells, seed: int) -> xr.Dataset:
    import blackjax
    import jax

    compiling = CompilingSeconds()
    starts, log_density, postprocess = density(counted_program(cells, double=False), seed)

    @jax.jit
    def chain(key: Any, start: Any) -> Any:
        warm_key, key = jax.random.split(key)
        (state, tuned), _ = blackjax.window_adaptation(blackjax.nuts, log_density).run(warm_key, start, WARM_UP)
        kernel = blackjax.nuts(log_density, **tuned)

        def step(state: Any, key: Any) -> Any:
            state, info = kernel.step(key, state)
            return state, (state.position, info.num_integration_steps, info.is_divergent)

        _, kept = jax.lax.scan(step, state, jax.random.split(key, DRAWS))
        return kept

    keys = jax.random.split(jax.random.PRNGKey(seed), CHAINS)
    compiled = chain.lower(keys[0], starts[0]).compile()
    clock = compiling.clock()
    with ThreadPoolExecutor() as pool:
        chains = list(pool.map(compiled, keys, starts))
        jax.block_until_ready(chains)
    seconds = clock()
    positions, steps, diverging = jax.tree.map(lambda *each: np.stack(each), *chains)
    draws = jax.device_get(jax.vmap(jax.vmap(postprocess))(positions))
    return dataset(draws, seconds, float(steps.mean()), int(diverging.sum()))


def dataset(draws: Any, seconds: float, gradients: float, divergences: int) -> xr.Dataset:
    arrays = {
        name: (("chain", "draw", *([DIMS[name]] if name in DIMS else [])), np.asarray(draws[name]))
        for name in PARAMETERS
    }
    return xr.Dataset(arrays, attrs={"seconds": seconds, "gradients": gradients, "divergences": divergences})


class CompilingSeconds:
    """Seconds in which JAX traces or compiles, from when this was made; what lies within another counts once."""

    def __init__(self) -> None:
        from jax import monitoring

        self._spans: list[tuple[float, float]] = []
        monitoring.register_event_duration_secs_listener(self._heard)

    def _heard(self, event: str, seconds: float, **_: object) -> None:
        if event.startswith("/jax/core/compile/"):
            self._spans.append((perf_counter() - seconds, perf_counter()))

    def clock(self) -> Callable[[], float]:
        """Return what tells the seconds that passed since, without those of compiling."""
        start = perf_counter()

        def passed() -> float:
            compiling, end = 0.0, start
            for first, last in sorted(self._spans):
                compiling += max(last - max(first, end), 0.0)
                end = max(end, last)
            return perf_counter() - start - compiling

        return passed


def gradient_of_ours(cells: ba.Cells) -> Callable[[], object]:
    """Return the density that ``fit`` hands to nutpie; what the votes are known to say changes nothing in its cost."""
    problem = Problem.of(cells, "am-davidson", "default")
    at = Coordinates.of(problem, dict.fromkeys(problem.objective.spreads, 1.0))
    return partial(compiled_density(at), at.start)


def gradient_of_plain(cells: ba.Cells) -> Callable[[], object]:
    from pymc.blocking import DictToArrayBijection

    program = plain_program(cells)
    function = program.logp_dlogp_function(ravel_inputs=True, mode="NUMBA")
    function.set_extra_values({})
    start = program.initial_point()
    return partial(function, DictToArrayBijection.map({one.name: start[one.name] for one in program.value_vars}))


def gradient_of_counted(cells: ba.Cells, *, double: bool) -> Callable[[], object]:
    import jax

    starts, log_density, _ = density(counted_program(cells, double), 0)
    function = jax.jit(jax.value_and_grad(log_density))
    return lambda: jax.block_until_ready(function(starts[0]))


@dataclass(frozen=True)
class Rival:
    """Somebody who samples am-Davidson.

    Attributes
    ----------
    needs : list of str
        Packages: the one that it is a part of, and what is imported before the clock starts.
    sample : callable
        From votes and a seed to draws.
    gradient : callable
        From votes to the log density and its gradient at some point.
    """

    needs: list[str]
    sample: Callable[[ba.Cells, int], xr.Dataset]
    gradient: Callable[[ba.Cells], Callable[[], object]]


SAMPLERS = {
    'fit(method="nuts")': Rival(["bayes-arena", "nutpie", "numba"], by_fit, gradient_of_ours),
    "PyMC, one row a vote, nutpie": Rival(["pymc", "pymc", "nutpie", "numba"], by_pymc, gradient_of_plain),
    "NumPyro, counts, double precision": Rival(
        ["numpyro", "numpyro", "jax"], partial(by_numpyro, double=True), partial(gradient_of_counted, double=True)
    ),
    "NumPyro, counts": Rival(
        ["numpyro", "numpyro", "jax"], partial(by_numpyro, double=False), partial(gradient_of_counted, double=False)
    ),
    "BlackJAX, counts": Rival(
        ["blackjax", "blackjax", "numpyro", "jax"], by_blackjax, partial(gradient_of_counted, double=False)
    ),
}
