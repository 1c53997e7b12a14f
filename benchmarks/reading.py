"""Count boards that come out of columns that hold no competitors, or no result.

    python benchmarks/reading.py > docs/measured/reading.md

Takes five minutes of processor time.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bayes_arena.errors import VotesError
from bayes_arena.reading.check import check

CHOICES = 2_000
ROWS = 60
SEED = 20261128

INTRODUCTION = f"""# Columns that hold no result

Twenty headers of public files (`benchmarks/headers.txt`), each column labelled by hand: c for
a competitor's, r for a result, n for neither. Columns with the same letter behind c are those
of one pair. Values are drawn anew, {ROWS} rows of the kind that the public file has.

{CHOICES:,} seeded choices a header of `a=`, `b=` and `winner=` are read: both competitors,
with and without the winner, the winner alone, one competitor and the winner. A board is wrong
if a column is used for what it is not.
"""
# Each a title with the source, and a line of its columns: name:label:values.
HEADERS = Path(__file__).with_name("headers.txt")
NAMES = ["Oak", "Elm", "Ash", "Fir", "Yew", "Box", "Bay", "Fig"]
CITIES = ["Bonn", "Gera", "Jena", "Trier", "Ulm"]
WORDS = ("the", "of", "and", "to", "in", "that", "it", "is", "was", "for", "on", "are")


@dataclass(frozen=True)
class Game:
    """What a row of a file is about."""

    first: str
    second: str
    scores: tuple[int, int]
    place: int

    @property
    def outcome(self) -> int:
        """0 if the first won, 1 if the second did, 2 for a tie."""
        a, b = self.scores
        return 0 if a > b else 1 if a < b else 2

    def label(self, first: object, second: object, tie: object) -> object:
        """Return the label of the outcome."""
        return (first, second, tie)[self.outcome]


def names(game: Game) -> dict[str, object]:
    """Return the values that name who met and who won."""
    won, lost = (
        (game.second, game.first) if game.outcome == 1 else (game.first, game.second)
    )
    number = {name: 1610612737 + place for place, name in enumerate(NAMES)}
    return {
        "first": game.first, "second": game.second, "first_id": number[game.first],
        "second_id": number[game.second], "won": won, "lost": lost, "won_id": number[won],
        "lost_id": number[lost], "cell": f"{game.first}_{game.second}",
        "winner": game.label(game.first, game.second, None),
        "side": game.label("model_a", "model_b", "tie"), "hda": game.label("H", "A", "D"),
        "white_black": game.label("white", "black", "draw"),
        "red_blue": game.label("Red", "Blue", "Draw"),
        "left_right": game.label("left", "right", "left"),
        "preference": game.label(1.0, 2.0, 1.5),
        "hot_a": int(game.outcome == 0), "hot_b": int(game.outcome == 1),
        "hot_tie": int(game.outcome == 2), "is_tie": game.outcome == 2,
        "score_a": game.scores[0], "score_b": game.scores[1],
        "margin": game.scores[1] - game.scores[0],
    }  # fmt: skip


def others(game: Game, rng: np.random.Generator) -> dict[str, object]:
    """Return the values that tell nothing of who won."""
    k = game.place
    return {
        "hash": f"{rng.integers(2**40):x}", "user": f"user_{rng.integers(12)}",
        "text": " ".join(rng.choice(WORDS, 60)),
        "verdict": int(rng.integers(3)), "one_two": int(rng.integers(1, 3)),
        "bool": bool(rng.integers(2)), "language": str(rng.choice(["English", "German"])),
        "stamp": 1.68e9 + k * 97.5, "small": int(rng.integers(1, 40)), "serial": k,
        "league": str(rng.choice(["E0", "E1", "D1"])), "date": f"2026-03-{k % 28 + 1:02d}",
        "decimal": round(float(rng.uniform(1, 6)), 2), "year": int(rng.integers(2018, 2026)),
        "city": str(rng.choice(CITIES)), "either": str(rng.choice([game.first, game.second])),
        "bat": str(rng.choice(["field", "bat"])), "normal": "normal",
        "hand": str(rng.choice(["R", "L"])), "sets": "6-4 6-3",
        "status": str(rng.choice(["mate", "resign", "outoftime"])),
        "increment": str(rng.choice(["15+2", "5+5"])), "rating": int(rng.integers(800, 2500)),
        "clock": f"{rng.integers(12, 21)}:{rng.choice(['00', '15', '30'])}",
        "zero_one": int(rng.integers(2)), "random_hda": str(rng.choice(["H", "D", "A"])),
    }  # fmt: skip


def headers() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the label and the kind of values of each column, by file."""
    files = {}
    for block in HEADERS.read_text(encoding="utf-8").strip().split("\n\n"):
        title, columns = block.split("\n")
        specs = (column.split(":") for column in columns.split())
        files[title.split(" | ")[0]] = {
            name: (label, kind) for name, label, kind in specs
        }
    return files


def table_of(
    columns: dict[str, tuple[str, str]], rng: np.random.Generator
) -> pl.DataFrame:
    """Return a table with a header's columns."""
    rows = []
    for place in range(ROWS):
        first, second = rng.choice(NAMES, 2, replace=False)
        scores = int(rng.integers(4)), int(rng.integers(4))
        game = Game(str(first), str(second), scores, place)
        told = names(game)
        row = {}
        for name, (_, kind) in columns.items():
            row[name] = told[kind] if kind in told else others(game, rng)[kind]
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def choice_of(columns: list[str], rng: np.random.Generator) -> dict[str, str]:
    """Return some of a, b and winner, each a column that no other is."""
    options = [
        ("a", "b"),
        ("a", "b", "winner"),
        ("a", "b", "winner"),
        ("winner",),
        ("a", "winner"),
    ]
    chosen = options[rng.integers(len(options))]
    named = rng.choice(columns, min(len(chosen), len(columns)), replace=False)
    return dict(zip(chosen, map(str, named), strict=False))


def is_wrong(used: dict[str, str], columns: dict[str, tuple[str, str]]) -> bool:
    """Whether a column is used as a competitor's or a result that holds none."""
    label = {name: tag for name, (tag, _) in columns.items()}
    competitors = {label[used[role]] for role in ("a", "b", "pair") if role in used}
    results = [used[role] for role in RESULTS if role in used]
    results += [column for role, column in used.items() if role == column in RATERS]
    is_pair = len(competitors) == 1 and competitors <= {"c", "cI", "cN"}
    return not is_pair or any(label[name] != "r" for name in results)


OPTIONS = (
    ("a", "b"), ("a", "b", "winner"), ("a", "b", "winner"), ("winner",), ("a", "winner"),
)  # fmt: skip
RATERS = ("annotator1", "annotator2", "annotator3")
RESULTS = (
    "winner", "winner_2", "wins_a", "wins_b", "ties", "score_a", "score_b", "hot_a", "hot_b",
    "rank", "score",
)  # fmt: skip


def read_choices(
    name: str, columns: dict[str, tuple[str, str]]
) -> tuple[Counter, list[str]]:
    """Return how many choices became boards, how many were refused, and which are wrong."""
    rng = np.random.default_rng([SEED, *name.encode()])
    table = table_of(columns, rng)
    count: Counter[str] = Counter()
    wrong = []
    for _ in range(CHOICES):
        options = choice_of(list(columns), rng)
        try:
            used = check(table, **options).columns
        except VotesError:
            count["refused"] += 1
            continue
        count["read"] += 1
        if is_wrong(used, columns):
            wrong.append(f"{name} {options}: {used}")
    return count, wrong


def main() -> None:
    """Print the page."""
    files, faults = headers(), []
    print(INTRODUCTION)
    print("| file | read without options | refused | boards | wrong boards |")
    print("|---|---|---:|---:|---:|")
    for name, columns in files.items():
        table = table_of(columns, np.random.default_rng([SEED, *name.encode()]))
        try:
            plain = check(table).layout
        except VotesError:
            plain = "refused"
        count, wrong = read_choices(name, columns)
        faults += wrong
        cells = (name, plain, f"{count['refused']:,}", f"{count['read']:,}", len(wrong))
        print(f"| {' | '.join(map(str, cells))} |")
    print(
        f"\nWrong boards: {len(faults)} of {CHOICES * len(files):,} choices. Seed {SEED}."
    )
    for fault in faults:
        print(fault, file=sys.stderr)


if __name__ == "__main__":
    main()
