"""The paper's way to am-ELO, 2,000 full-batch epochs of Adam at rate 0.1, beside ``fit``: time, and the loss reached.

    uv run --group benchmark --with torch python benchmarks/epochs.py [--into FOLDER]

LLMFAO, annotators of more than 50 votes, as in the paper. ``descend`` is the package's own, on counts, with derivatives
written out. The others are what one would write without it, a row for every vote: in PyTorch, the authors' library, an
epoch is a few calls and a backward pass, in single precision by default; in JAX all epochs are one compiled loop. Both
are written from the paper. PyTorch is not among our dependencies: without ``--with torch`` its row says that it is
missing.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measuring import FILES, Clock, attempt, digits, keep, markdown, parser, peak_mib, publish

import bayes_arena as ba
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import FLAT
from bayes_arena.paper.convergence import EPOCHS, FIRST, LEARNING_RATE, SECOND, TINY, descend, random_start

LEAST_VOTES = 50
ROUNDS, LAPS, LIMIT = 2, 5, 300.0
AIM = 4000
"""How many times slower than ``fit`` the epochs were expected to be."""
LOWER, HIGHER = 1e-9, 1e-5
"""What a mean loss may be below that of ``fit``, by rounding, and above it."""
SAID = (
    "All votes of annotators with more than 50 of them on LLMFAO. Medians of calls after the first, in two processes "
    "each, in turn; the first call imports and compiles. PyTorch and JAX have one row for every vote, derivatives by "
    "the library, and the same start and rule (Adam at rate 0.1, theta divided by its sum in the likelihood); they "
    "are programs written for this page from the paper, not the authors'. PyTorch computes in single precision, its "
    "default, and by one thread: with arrays this small, more of them only wait for each other. JAX computes in double "
    "precision. PyTorch is in the table only if it is installed, by `--with torch`."
)


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
    x = tuple(jnp.asarray(numbers) for numbers in start(cells))

    def loss(x):
        scores, theta = x
        eta = (theta / theta.sum())[k] * (scores[i] - scores[j])
        return jnp.sum(jax.nn.softplus(eta) - y * eta)

    def epoch(number, state):
        x, first, second = state
        gradient = jax.grad(loss)(x)
        first = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, first, gradient)
        second = jax.tree.map(lambda v, g: SECOND * v + (1 - SECOND) * g**2, second, gradient)

        def step(x, m, v):
            return x - LEARNING_RATE * m / (1 - FIRST**number) / (jnp.sqrt(v / (1 - SECOND**number)) + TINY)

        return jax.tree.map(step, x, first, second), first, second

    @jax.jit
    def epochs(x):
        rest = jax.tree.map(jnp.zeros_like, x)
        return jax.lax.fori_loop(1, EPOCHS + 1, epoch, (x, rest, rest))[0]

    x = epochs(x)
    return float(loss(x)) / len(y)


def by_torch(cells: ba.Cells) -> float:
    """Do the same eagerly; the loss at the end is taken in double precision."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    torch.set_num_threads(1)
    i, j, k, y = (torch.from_numpy(column) for column in rows(cells))
    scores, theta = (torch.tensor(numbers, dtype=torch.float32, requires_grad=True) for numbers in start(cells))

    def loss(scores, theta, y):
        eta = (theta / theta.sum())[k] * (scores[i] - scores[j])
        return binary_cross_entropy_with_logits(eta, y, reduction="sum")

    optimiser = torch.optim.Adam([scores, theta], lr=LEARNING_RATE)
    single = y.to(scores.dtype)
    for _ in range(EPOCHS):
        optimiser.zero_grad()
        loss(scores, theta, single).backward()
        optimiser.step()
    with torch.no_grad():
        return float(loss(scores.double(), theta.double(), y)) / len(y)


def start(cells: ba.Cells) -> tuple[np.ndarray, np.ndarray]:
    """Return random scores and theta, as ``descend`` starts."""
    return random_start(objective(cells, PRESETS["am-elo"], FLAT), 0, normalised=True)


def rows(cells: ba.Cells) -> tuple[np.ndarray, ...]:
    """Return competitors, annotator and score (1, 0, or 1/2 for a tie) of every vote."""
    votes = cells.counts.astype(int)
    times = votes.sum(axis=1)
    score = np.repeat(np.tile([1.0, 0.0, 0.5, 0.5][: votes.shape[1]], len(votes)), votes.ravel())
    return *(np.repeat(column, times) for column in (cells.a, cells.b, cells.annotator)), score


OURS = "`fit`"
CONTESTANTS: dict[str, tuple[str, Callable[[ba.Cells], float]]] = {
    OURS: ("bayes-arena", by_fit),
    "descend, on counts": ("bayes-arena", by_descend),
    "PyTorch, one row a vote": ("torch", by_torch),
    "JAX, one row a vote": ("jax", by_jax),
}
"""By name: the package, and what runs it and returns the mean loss."""


def measure(name: str, path: Path) -> dict[str, Any]:
    """Run one of them in this process: a first time, and again."""
    votes, laps = ba.read_votes(path, prompt=False), []
    for lap in range(LAPS + 1):
        cells = ba.keep_annotators(votes, more_than=LEAST_VOTES)  # new ones: nothing is kept from the run before
        clock = Clock()
        loss = CONTESTANTS[name][1](cells)
        laps.append({"lap": lap, **clock.lap(), "loss": loss, "peak_mib": peak_mib()})
    return {"laps": laps}


def race(path: Path) -> list[dict[str, Any]]:
    """Run all of them in turn."""
    runs: list[dict[str, Any]] = []
    for turn in range(ROUNDS):
        for name, (package, _) in CONTESTANTS.items():
            row = {"row": "am-ELO, LLMFAO", "tool": name, "round": turn}
            found = attempt(row, [package], measure, name, path, limit=LIMIT)
            runs += [found | lap for lap in found.pop("laps", [{}])]
    return runs


def page(runs: pl.DataFrame) -> str:
    """Return the table."""
    after = runs.filter(pl.col("lap") > 0)
    of_fit = after.filter(pl.col("tool") == OURS)
    seconds, best, rows = of_fit["wall_s"].median(), of_fit["loss"].first(), []
    for name in CONTESTANTS:
        mine = after.filter(pl.col("tool") == name)
        if mine.is_empty():
            version, why = runs.filter(pl.col("tool") == name).select("version", "note").row(0)
            rows.append([name, version or "", why, *[""] * 5])
            continue
        wall, cpu, loss = (float(mine[key].median()) for key in ("wall_s", "cpu_s", "loss"))
        first = runs.filter((pl.col("tool") == name) & (pl.col("lap") == 0))["wall_s"].median()
        numbers = map(digits, (wall, cpu, seconds and wall / seconds, first))
        failed = "".join(f"; in one round {note}" for note in runs.filter(pl.col("tool") == name)["note"].drop_nulls())
        rows.append(
            [name + failed, mine["version"][0], *numbers, f"{loss:.9f}", f"{loss - best:+.1e}" if seconds else ""]
        )
    header = ["", "version", "s", "CPU s", f"times `fit` (aim: {AIM:,})", "first call, s", "mean loss", "above `fit`"]
    return markdown(header, rows)


def differing(runs: pl.DataFrame) -> list[str]:
    """Name what did not arrive where ``fit`` did; a loss that is no number is named too."""
    reached = runs.drop_nulls("loss").select("tool", "loss").unique(maintain_order=True).rows()
    best = next((loss for tool, loss in reached if tool == OURS), np.nan)
    return [f"{tool}: {loss!r}" for tool, loss in reached if not -LOWER <= loss - best <= HIGHER]


def main() -> None:
    given = parser(__doc__).parse_args()
    if not FILES["LLMFAO"].is_file():
        raise SystemExit("llmfao.csv is not in $BAYES_ARENA_DATA.")
    runs = keep(given.into, "epochs", race(FILES["LLMFAO"]))
    publish(given.into, "epochs", f"am-ELO by {EPOCHS:,} full-batch epochs", [SAID, page(runs)], beside=["torch"])
    if wrong := differing(runs):
        raise SystemExit(f"Mean losses are not those of fit: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
