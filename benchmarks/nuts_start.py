"""What a call of ``method="nuts"`` costs as a whole process: the first ever, and the next.

    uv run python benchmarks/nuts_start.py > benchmarks/results/nuts_start.md

am-davidson by ``ba.fit(votes, method="nuts", seed=1)`` at the defaults, each call in a process of its own: importing,
reading, fitting. "First ever" has an empty folder of compiled code. Processor time is that of all threads; it is what
compares where a machine is shared. Looks for ``llmfao.csv`` and ``mt_bench_human.csv`` in ``$BAYES_ARENA_DATA`` (else
``../shared/data``) and skips what is absent. ``--package FOLDER`` measures another checkout.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import FILES, options_of

ONCE = """
import json, resource, sys, time, warnings
import bayes_arena as ba

warnings.simplefilter("ignore")
cells = ba.read_votes(sys.argv[1], prompt=False) if sys.argv[1] else ba.read_votes(ba.example_arena().votes)
fit = ba.fit(cells, model="am-davidson", method="nuts", seed=1)
wall, cpu = time.perf_counter(), time.process_time()
import arviz as az

draws = fit.tree["posterior"].to_dataset()
names = [name for name in draws if not name.endswith(("_unit", "_level"))]
ess = az.ess(draws[names])
print(json.dumps({
    "cpu": cpu,
    "ended": wall,
    "sampling": float(draws.attrs["sampling_time"]),
    "ess": min(float(ess[name].min()) for name in names),
    "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
}))
"""


def run(votes: str, cache: str, package: str) -> tuple[dict[str, float], str]:
    """Measure one process, from its start to the end of the fit, and return what it said on stderr."""
    flags = f"base_compiledir={cache}/pytensor"
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTENSOR_FLAGS": flags, "PYTHONPATH": package}
    command = f"import time; started = time.perf_counter()\n{ONCE}".replace('"ended": wall', '"wall": wall - started')
    done = subprocess.run(
        [sys.executable, "-c", command, votes], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout), done.stderr


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--package", default=str(Path(__file__).parents[1]))
    options = parser.parse_args()
    print("    uv run python benchmarks/nuts_start.py\n")
    print("| | process | seconds | processor seconds | seconds of sampling | min ESS a processor second | peak GiB |")
    print("|---|---|---:|---:|---:|---:|---:|")
    said = set()
    for name, path in (FILES | {"Example arena": None}).items():
        if path is not None and not path.is_file():
            continue
        with tempfile.TemporaryDirectory() as cache:
            for process in ("first ever", "second", "third"):
                found, stderr = run(str(path or ""), cache, options.package)
                said |= {line for line in stderr.splitlines() if line.startswith("compiling")}
                columns = [
                    f"{found['wall']:.1f}",
                    f"{found['cpu']:.1f}",
                    f"{found['sampling']:.1f}",
                    f"{found['ess'] / found['cpu']:.0f}",
                    f"{found['gib']:.2f}",
                ]
                print(f"| {name} | {process} | {' | '.join(columns)} |", flush=True)
    print("\nSaid on stderr while compiling:\n")
    print("\n".join(f"- {line}" for line in sorted(said)) or "- nothing")


if __name__ == "__main__":
    main()
