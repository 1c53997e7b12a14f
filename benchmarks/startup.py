"""What a command costs as a whole process, beside a ten-line script of evalica.

``python benchmarks/startup.py [--old PATH] [--runs 5]``; PATH is a checkout of version 0.4
with an environment of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import DATA, least, markdown, python, write_page

EVALICA = """
import evalica, numpy as np, pandas as pd
votes = pd.read_csv({path!r})
meaning = {{"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}}
winner = [meaning.get(label, evalica.Winner.Draw) for label in votes["winner"]]
result = evalica.bradley_terry(votes["model_a"], votes["model_b"], winner)
scores = 1000 + 400 * np.log10(result.scores)
print(scores.sort_values(ascending=False).round(1).to_string())
"""
COMMANDS = ("rank", "annotators", "pairs", "next")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "300.csv"
        lines = (DATA / "llmfao.csv").read_text().splitlines(keepends=True)
        small.write_text("".join(lines[:301]))
        files = {
            "LLMFAO, 8,931 votes": DATA / "llmfao.csv",
            "MT-bench, 3,355 votes": DATA / "mt_bench_human.csv",
            "300 votes": small,
        }
        rows = [
            row(name, path, command, options)
            for name, path in files.items()
            for command in COMMANDS
        ]
    header = ["file", "command", "CPU s", "evalica", "ratio"]
    if options.old:
        header += ["0.4", "now / 0.4"]
    text = (
        "CPU seconds of whole processes, the least of several runs, bytecode "
        "compiled on both sides. The script of evalica reads the file with pandas and "
        "prints Bradley-Terry scores, without intervals or annotators.\n"
    )
    parts = [text, markdown(header, rows)]
    write_page("startup", "Startup", parts, "python benchmarks/startup.py --old PATH")


def row(
    name: str, path: Path, command: str, options: argparse.Namespace
) -> list[object]:
    """Return a row of the table."""
    ours = least(
        [str(Path(sys.executable).with_name("bayes-arena")), command, str(path)],
        options.runs,
    )
    rival = least(python(EVALICA.format(path=str(path))), options.runs)
    cells: list[object] = [
        name,
        command,
        f"{ours.cpu:.2f}",
        f"{rival.cpu:.2f}",
        f"{ours.cpu / rival.cpu:.2f}",
    ]
    if options.old:
        program = options.old / ".venv" / "bin" / "bayes-arena"
        old = least([str(program), command, str(path)], options.runs)
        cells += [f"{old.cpu:.2f}", f"{ours.cpu / old.cpu:.2f}"]
    return cells


if __name__ == "__main__":
    main()
