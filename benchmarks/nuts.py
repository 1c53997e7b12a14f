"""NUTS on LLMFAO by am-Davidson: CPU seconds and effective draws, beside NumPyro and 0.3.

``python benchmarks/nuts.py [--old PATH]`` needs NumPyro.  All have the same counts and priors,
4 chains of 300 + 1,000 draws (NumPyro warms up with 500), in processes of their own; the least
bulk ESS is over strengths, theta, ties and sides.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measuring import DATA, markdown, python, run, write_page

OURS = """
import time
import arviz_stats, numpy as np
import bayes_arena as ba
votes = ba.read_votes({path!r}, prompt=False)
start = time.process_time()
fit = ba.fit(votes, model="am-davidson", method="nuts", seed={seed}, draws=1000, tune=300)
cpu = time.process_time() - start
names = "strength", "discrimination", "tie_by_annotator", "position_by_annotator"
draws = [fit.samples["strength"], fit.samples["discrimination"]]
for name in ("tie", "position"):
    draws.append(fit.samples[name] + fit.samples[name + "_by_annotator"])
from arviz_stats.base import array_stats
ess = min(array_stats.ess(d[:, :, c], chain_axis=0, draw_axis=1, method="bulk")
          for d in draws for c in range(d.shape[2]))
print(cpu, float(ess))
"""
NUMPYRO = """
import time
import numpyro
numpyro.set_host_device_count(4)
import jax, jax.numpy as jnp, numpy as np
from numpyro.distributions import HalfNormal, Normal, ZeroSumNormal
from numpyro.infer import MCMC, NUTS
from arviz_stats.base import array_stats
import bayes_arena as ba
jax.config.update("jax_enable_x64", True)
votes = ba.read_votes({path!r}, prompt=False)
i, j, k = (jnp.asarray(c) for c in (votes.i, votes.j, votes.annotator))
counts = jnp.asarray(votes.folded, float)
n, m = votes.n_competitors, votes.n_annotators

def pooled(label, scale):
    spread = numpyro.sample(label, HalfNormal(scale))
    return spread * numpyro.sample(label + "_unit", ZeroSumNormal(1.0, (m,)))

def program():
    sd = numpyro.sample("strength_sd", HalfNormal(1.5))
    numpyro.factor("rayleigh", jnp.log(sd))
    r = numpyro.sample("strength", ZeroSumNormal(sd, (n,)))
    theta = numpyro.deterministic("theta", 1 + pooled("theta_sd", 1.0))
    t = numpyro.sample("t", Normal(0.0, 1.0)) + pooled("tie_sd", 1.0)
    b = numpyro.sample("b", Normal(0.0, 0.5)) + pooled("position_sd", 0.5)
    numpyro.deterministic("tie", t)
    numpyro.deterministic("position", b)
    eta = theta[k] * (r[i] - r[j]) + b[k]
    logits = jnp.stack([eta / 2, -eta / 2, t[k]], axis=1)
    numpyro.factor("votes", jnp.sum(counts * jax.nn.log_softmax(logits)))

start = time.process_time()
sampler = MCMC(NUTS(program), num_warmup=500, num_samples=1000, num_chains=4,
               chain_method="parallel", progress_bar=False)
sampler.run(jax.random.PRNGKey({seed}))
draws = jax.device_get(sampler.get_samples(group_by_chain=True))
cpu = time.process_time() - start
bulk = dict(chain_axis=0, draw_axis=1, method="bulk")
ess = min(array_stats.ess(np.asarray(draws[name])[:, :, c], **bulk)
          for name in ("strength", "theta", "tie", "position")
          for c in range(draws[name].shape[2]))
print(cpu, float(ess))
"""
OLD = """
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
import bayes_arena as ba
from arviz_stats.base import array_stats
votes = ba.read_votes({path!r}, prompt=False)
options = dict(robust=False, dimensions=0, answers=False, draws=1000, tune=300)
start = time.process_time()
fit = ba.fit(votes, model="am-davidson", method="nuts", seed={seed}, **options)
cpu = time.process_time() - start
posterior = ba.to_datatree(fit, votes=False)["posterior"]
names = "strength", "discrimination", "log_tie_propensity", "position"
bulk = dict(chain_axis=0, draw_axis=1, method="bulk")
ess = min(array_stats.ess(posterior[name].values[:, :, c], **bulk)
          for name in names for c in range(posterior[name].shape[2]))
print(cpu, float(ess))
"""


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path)
    options = parser.parse_args()
    settings = {"path": str(DATA / "llmfao.csv"), "seed": 1}
    run(python(OURS.format(**settings)))  # compiles; the next one finds it compiled
    rows = [row("models/am_davidson.py by nutpie", OURS.format(**settings))]
    rows.append(row("NumPyro, the same counts", NUMPYRO.format(**settings)))
    if options.old:
        interpreter = str(options.old / ".venv" / "bin" / "python")
        code = OLD.format(**settings)
        run(python(code, interpreter))
        rows.append(row("0.3, its own density", code, interpreter))
    header = ["sampler", "CPU s of the call", "least bulk ESS", "ESS a CPU s", "wall s"]
    text = (
        "LLMFAO, am-Davidson, 124 annotators; 4 x (300 + 1,000). Compilation is in the "
        "seconds; what PyTensor and numba keep from a former process is used.\n"
    )
    parts = [text, markdown(header, rows)]
    write_page("nuts", "NUTS", parts, "python benchmarks/nuts.py --old PATH")


def row(name: str, code: str, *interpreter: str) -> list[object]:
    """Return a row of the table."""
    cost = run(python(code, *interpreter))
    cpu, ess = map(float, cost.output.split()[-2:])
    return [name, f"{cpu:.1f}", f"{ess:,.0f}", f"{ess / cpu:.1f}", f"{cost.wall:.0f}"]


if __name__ == "__main__":
    main()
