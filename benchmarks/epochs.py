"""The paper's way to am-ELO, 2,000 full-batch epochs of Adam at rate 0.1, beside ``fit``: time, and the loss reached.

    uv run --group benchmark python benchmarks/epochs.py [--into FOLDER]

LLMFAO, annotators of more than 50 votes, as in the paper. ``descend`` is the package's own, on counts, with derivatives
written out. The other is what one would write without it: a row for every vote, derivatives by JAX, the epoch compiled.
The authors' program is of this kind, in PyTorch.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measuring import FILES, Clock, Unfinished, digits, in_own_process, keep, markdown, parser, peak_mib, publish

import bayes_arena as ba
from bayes_arena.experiments.descent import EPOCHS, FIRST, LEARNING_RATE, SECOND, TINY, descend

LEAST_VOTES = 50
LAPS = 20
AIM = 4000
"""How many times slower than ``fit`` the epochs were expected to be."""


def by_fit(cells: ba.Cells) -> float:
    return ba.fit(cells, model="am-elo", prior="flat").mean_loss


def by_descend(cells: ba.Cells) -> float:
    return float(descend(cells).loss[-1])


def by_jax(cells: ba.Cells) -> float:
    """Normalise theta inside the loss, as the authors do, and step by Adam."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    i, j, k, y = (jnp.asarray(column) for column in rows(cells))
    rng = np.random.default_rng(0)
    size, many = cells.n_competitors, cells.n_annotators
    theta = rng.uniform(-1, 1, many) * np.sqrt(6 / (many + 1))
    scores = rng.uniform(-1, 1, size) * np.sqrt(6 / (size + 1))
    x = (jnp.asarray(scores), jnp.asarray(theta + (1 - theta.sum()) / many))

    def loss(x):
        scores, theta = x
        eta = (theta / theta.sum())[k] * (scores[i] - scores[j])
        return jnp.sum(jax.nn.softplus(eta) - y * eta)

    @jax.jit
    def epoch(x, first, second, number):
        gradient = jax.grad(loss)(x)
        first = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, first, gradient)
        second = jax.tree.map(lambda v, g: SECOND * v + (1 - SECOND) * g**2, second, gradient)

        def step(x, m, v):
            return x - LEARNING_RATE * m / (1 - FIRST**number) / (jnp.sqrt(v / (1 - SECOND**number)) + TINY)

        return jax.tree.map(step, x, first, second), first, second

    first = second = jax.tree.map(jnp.zeros_like, x)
    for number in range(1, EPOCHS + 1):
        x, first, second = epoch(x, first, second, float(number))
    return float(loss(x)) / len(y)


def rows(cells: ba.Cells) -> tuple[np.ndarray, ...]:
    """Return competitors, annotator and score (1, 0, or 1/2 for a tie) of every vote."""
    votes = cells.counts.astype(int)
    times = votes.sum(axis=1)
    score = np.repeat(np.tile([1.0, 0.0, 0.5, 0.5][: votes.shape[1]], len(votes)), votes.ravel())
    return *(np.repeat(column, times) for column in (cells.a, cells.b, cells.annotator)), score


OURS = "`fit`"
CONTESTANTS: dict[str, Callable[[ba.Cells], float]] = {
    OURS: by_fit,
    "descend, on counts": by_descend,
    "JAX, one row a vote": by_jax,
}


def laps(name: str, path: Path) -> list[dict[str, Any]]:
    """Run one of them in this process: a first time, and again."""
    votes, runs = ba.read_votes(path, prompt=False), []
    while len(runs) < 2 or (len(runs) <= LAPS and name == OURS):
        cells = ba.keep_annotators(votes, more_than=LEAST_VOTES)  # new ones: nothing is kept from the run before
        clock = Clock()
        loss = CONTESTANTS[name](cells)
        runs.append({"lap": len(runs), **clock.lap(), "loss": loss, "peak_mib": peak_mib()})
    return runs


def page(runs: pl.DataFrame) -> str:
    """Return the table."""
    medians = (
        runs.filter(pl.col("lap") > 0)
        .group_by("tool", maintain_order=True)
        .agg(pl.col("wall_s", "cpu_s").median(), pl.col("loss").first())
    )
    (own,) = medians.filter(pl.col("tool") == OURS).iter_rows(named=True)
    rows = [
        [tool, *map(digits, (wall, cpu, wall / own["wall_s"])), f"{loss:.9f}", f"{loss - own['loss']:+.1e}"]
        for tool, wall, cpu, loss in medians.rows()
    ]
    rows += [[tool, note, *[""] * 4] for tool, note in runs.select("tool", "note").drop_nulls().rows()]
    return markdown(["", "s", "CPU s", f"times `fit` (aim: {AIM:,})", "mean loss", "above `fit`"], rows)


def main() -> None:
    given = parser(__doc__).parse_args()
    if not FILES["LLMFAO"].is_file():
        raise SystemExit("llmfao.csv is not in $BAYES_ARENA_DATA.")
    runs: list[dict[str, Any]] = []
    for name in CONTESTANTS:
        found = in_own_process(laps, name, FILES["LLMFAO"])
        own = [{"note": found.why}] if isinstance(found, Unfinished) else found
        runs += [{"row": "am-ELO, LLMFAO", "tool": name, "note": None, **run} for run in own]
    publish(given.into, "epochs", f"am-ELO by {EPOCHS:,} full-batch epochs", [page(keep(given.into, "epochs", runs))])


if __name__ == "__main__":
    main()
