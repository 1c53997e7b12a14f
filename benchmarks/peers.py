"""Point estimates beside other packages: from file to leaderboard, and the fit alone; the answers have to be the same.

    uv run --group benchmark python benchmarks/peers.py [--rounds 2] [--into FOLDER]

Votes that neither side has chosen: LLMFAO, MT-bench, and 1.67 million votes of Chatbot Arena (``arena_votes.py``).
What the others are and how they are called stands in ``point_peers.py``.
Every round starts every package once in a process of its own, in turn. Its first call, which imports and compiles, is
kept apart (``lap`` 0 in the CSV file); the next ones are what the tables show, as medians. Strengths that differ from
ours by more than 1e-3 logits where they should be equal end the run with an error.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from arena_votes import write_arena_votes
from measuring import (
    FILES,
    HERE,
    Clock,
    attempt,
    digits,
    in_own_process,
    keep,
    kept,
    markdown,
    parser,
    peak_mib,
    publish,
)
from point_peers import HALF, PEERS, counts

LAPS, SECONDS, LIMIT = 10, 2.0, 90.0
"""Of a process: at most so many calls after the first, as long as they take so long; and when it is stopped."""
EQUAL = 1e-3
BARE = "Polars: scan and group-by alone"
ARENA = "Chatbot Arena"
WHOLE, FIT = "file to leaderboard", "fit"
SLOWER_THAN_OURS, THAN_BARE = 15.0, 1.5
"""What was aimed at on 1.67 million votes."""
SAID = (
    "Medians of calls after the first, one process for each package and round, in turn; `times ours` against our fit "
    "of the same model. `fit` leaves out reading and, for us, holds the leaderboard. `MiB` is the peak of the process, "
    "imports included; `apart` the largest difference to our strengths, in logits."
)


def estimate(name: str, path: Path) -> dict[str, Any]:
    """Time one package in this process: laps of both kinds, and its strengths."""
    laps, strengths = [], None
    total = 0.0
    while not laps or (len(laps) <= LAPS and (total < SECONDS or len(laps) < 2)):
        clock = Clock()
        prepared = counts(path) if name == BARE else PEERS[name].prepare(path)
        reading = clock.lap()
        strengths = None if name == BARE else PEERS[name].fit(prepared)
        fitting = clock.lap()
        laps.append((reading, fitting))
        total += (reading["wall_s"] + fitting["wall_s"]) * (len(laps) > 1)
    return {"laps": laps, "strengths": strengths, "peak_mib": peak_mib()}


def race(votes: str, path: Path, rounds: int) -> list[dict[str, Any]]:
    """Run all packages on one file in turn, and hold their strengths to ours."""
    runs, truth, out = [], {}, set()
    for turn in range(rounds):
        for name in [BARE, *PEERS]:
            if name in out:
                continue
            peer, row = PEERS.get(name), {"row": votes, "tool": name, "round": turn}
            found = attempt(row, [peer.package if peer else "polars"], estimate, name, path, limit=LIMIT)
            if found["note"]:
                out.add(name)
                runs.append(found | {"what": WHOLE})
                continue
            laps, strengths = found.pop("laps"), found.pop("strengths")
            apart = None
            if peer:
                truth.setdefault(peer.ties, strengths)  # ours comes first of those that estimate the same
                apart = distance(strengths, truth[peer.ties])
            for lap, (reading, fitting) in enumerate(laps):
                both = found | {"lap": lap, "apart": apart}
                runs.append(both | {"what": WHOLE} | {key: reading[key] + fitting[key] for key in reading})
                if peer:
                    runs.append(both | {"what": FIT} | fitting)
    return runs


def distance(theirs: dict[str, float], ours: dict[str, float]) -> float:
    """Return the largest difference of strengths around their mean, in logits."""
    one, two = (np.array([strengths[name] for name in ours]) for strengths in (theirs, ours))
    return float(np.abs((one - one.mean()) - (two - two.mean())).max())


def summary(runs: pl.DataFrame) -> pl.DataFrame:
    """Return a row for every package: medians of calls after the first, as such and as multiples of ours."""
    again, first, whole = pl.col("lap") > 0, pl.col("lap") == 0, pl.col("what") == WHOLE
    medians = {
        "wall": pl.col("wall_s").filter(again & whole),
        "cpu": pl.col("cpu_s").filter(again & whole),
        "fit": pl.col("wall_s").filter(again & ~whole),
        "first": pl.col("wall_s").filter(first & whole),
    }
    table = runs.group_by("tool", maintain_order=True).agg(
        pl.col("version").first(),
        pl.col("note").drop_nulls().first(),
        pl.col("peak_mib", "apart").max(),
        **{name: column.median() for name, column in medians.items()},
    )
    ties = {name: peer.ties for name, peer in PEERS.items()} | {BARE: HALF}
    own = {peer.ties: name for name, peer in PEERS.items() if peer.package == "bayes-arena"}
    ours = pl.col("tool").replace_strict(ties).replace_strict(own).alias("ours")
    reference = table.select(pl.col("tool").alias("ours"), pl.col("wall", "cpu", "fit").name.suffix("_of_ours"))
    joined = table.with_columns(ours).join(reference, on="ours", how="left", maintain_order="left")
    times = [(pl.col(name) / pl.col(f"{name}_of_ours")).alias(f"{name}_times") for name in ("wall", "cpu", "fit")]
    return joined.with_columns(times)


def section(votes: str, runs: pl.DataFrame) -> str:
    """Return the table of one file."""
    rows = []
    for row in summary(runs).iter_rows(named=True):
        peer = PEERS.get(row["tool"])
        gives = ", ".join(filter(None, ["strengths", peer.gives])) if peer else "counts"
        gives = f"{gives}; votes counted by Polars" if peer and peer.counted else gives
        numbers = [row[key] for key in ("wall", "wall_times", "cpu", "cpu_times", "fit", "fit_times", "first")]
        peak, apart = row["peak_mib"], row["apart"] if peer else None
        rows.append(
            [
                row["tool"],
                row["version"] or "",
                "; ".join(filter(None, [gives if row["wall"] is not None else "", row["note"]])),
                *map(digits, numbers),
                "" if peak is None else f"{peak:,.0f}",
                "" if apart is None else f"{apart:.0e}",
            ]
        )
    header = ["", "version", "gives", "s", "times ours", "CPU s", "times ours", "fit, s", "times ours"]
    return f"## {votes}\n\n{markdown([*header, 'first call, s', 'MiB', 'apart'], rows)}"


def aims(runs: pl.DataFrame) -> str:
    """Say how the 1.67 million votes stand against what was aimed at; peers with another answer do not count."""
    table = summary(runs.filter(pl.col("row") == ARENA))
    bare = table.filter(pl.col("tool") == BARE)["wall_times"].drop_nulls()
    lines = [f"- {1 / times:.2f} times a bare group-by; aim: at most {THAN_BARE:g}." for times in bare]
    others = [name for name, peer in PEERS.items() if peer.package != "bayes-arena"]
    right = table.filter(pl.col("tool").is_in(others) & (pl.col("apart") <= EQUAL)).sort("wall_times")
    for counted, kind, aim in (
        (False, "that reads votes", f"; aim: at least {SLOWER_THAN_OURS:g}"),
        (True, "given counts that Polars made", ""),
    ):
        for name, times in right.select("tool", "wall_times").rows():
            if PEERS[name].counted is counted:
                lines.append(f"- The fastest peer {kind}, {name}, takes {times:.3g} times our time{aim}.")
                break
    return "\n".join(lines)


def differing(runs: pl.DataFrame) -> list[str]:
    """Name what should be equal and is not, and what of ours is missing."""
    ours = [name for name, peer in PEERS.items() if peer.package == "bayes-arena"]
    missing = runs.filter(pl.col("tool").is_in(ours) & pl.col("note").is_not_null())
    exact = [name for name, peer in PEERS.items() if peer.exact]
    wrong = runs.filter(pl.col("tool").is_in(exact) & (pl.col("apart") > EQUAL))
    said = [f"{row}, {tool}: {note}" for row, tool, note in missing.select("row", "tool", "note").rows()]
    apart = wrong.select("row", "tool", "apart").unique(maintain_order=True).rows()
    return [*said, *(f"{row}, {tool}: {logits:.1e} logits apart" for row, tool, logits in apart)]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--votes", nargs="+", choices=[*FILES, ARENA], default=[*FILES, ARENA])
    given = options.parse_args()
    for name in given.votes:
        path = in_own_process(write_arena_votes, HERE / "data") if name == ARENA else FILES[name]
        if isinstance(path, Path) and path.is_file():
            keep(given.into, "peers", race(name, path, given.rounds), by="row")
    table = kept(given.into, "peers")
    parts = [SAID, *(section(name, own) for name in [*FILES, ARENA] if len(own := table.filter(pl.col("row") == name)))]
    if ARENA in table["row"]:
        parts.append(aims(table))
    publish(given.into, "peers", "Point estimates beside other packages", parts)
    if wrong := differing(table):
        raise SystemExit(f"Not the same answers: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
