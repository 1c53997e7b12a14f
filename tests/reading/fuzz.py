"""Random small files and options: whatever they are, only typed errors are raised."""

import json
import random

import polars as pl

from bayes_arena.errors import ArenaError
from bayes_arena.reading.layouts import ALIASES, LAYOUTS
from bayes_arena.reading.read import read_votes

NAMES = ("oak", "elm", "ash", "yew")
SIDE = ("model_a", "model_b", "tie", "A>>B", "[[B>A]]", "oak", "-", "both_bad")
SCORE = ("0", "1", "2", "3", "")
GAMES = ('[{"score": "A>B"}, {"score": "B>>A"}]', '[{"score": null}, {"score": "A>B"}]')
PAIR = {"model_a": NAMES[:2], "model_b": NAMES[2:]}
FAMILIES: tuple[dict[str, tuple[str, ...]], ...] = (
    PAIR | {"winner": SIDE, "judge": ("k1", "k2"), "prompt": ("p1", "p2"), "count": SCORE},
    {"HomeTeam": NAMES[:2], "AwayTeam": NAMES[2:], "FTR": ("H", "D", "A"), "n": SCORE},
    {"winner": NAMES[:2], "loser": NAMES[2:], "count": SCORE},
    PAIR | {"score_a": SCORE, "score_b": SCORE},
    PAIR | {"wins_a": SCORE, "wins_b": SCORE, "ties": SCORE},
    PAIR | {"winner_model_a": ("0", "1"), "winner_model_b": ("0",), "winner_tie": ("0",)},
    PAIR | {"annotator1": SIDE[:3], "annotator2": SIDE[:3], "question": ("p1", "p2")},
    {"pair": ("oak / elm", "elm / ash"), "winner": SIDE[:3]},
    {"pair": ('["oak", "elm"]', '{"a": "oak", "b": "ash"}'), "winner": SIDE[:3]},
    {"ranking": ("1", "2"), "competitor": NAMES, "rank": SCORE, "judge": ("k1", "k2")},
    {"rank_oak": SCORE, "rank_elm": SCORE, "rank_ash": SCORE, "judge": ("k1", "k2")},
    {"name": NAMES, "oak": SCORE, "elm": SCORE, "ash": SCORE, "yew": SCORE},
    {"question_id": ("1", "2"), "model": NAMES, "judge": ("k",), "games": GAMES},
    {"model": NAMES[:3], "baseline": ("yew",), "judge": ("k",), "games": GAMES},
    {"generator_1": NAMES[:2], "generator_2": NAMES[2:], "preference": ("1", "1.5", "2")},
    {"model_1": NAMES[:2], "model_2": NAMES[2:], "g1_winner": ("model_1", "tie"),
     "g2_winner": ("model_2", "error"), "judge": ('["k", "pair"]',)},
    {"model_A": NAMES[:2], "model_B": NAMES[2:], "preference": ("0", "0.5", "0.9")},
    {"model_a_name": NAMES[:2], "model_b_name": NAMES[2:], "chosen_model_name": NAMES,
     "both_equal": ("True", "False")},
    {"data": ('{"model_id": "oak", "sibling_model_ids": ["elm", "ash"], "rating": 1}',),
     "type": ("rating",), "user_id": ("u1", "u2")},
    {"data": ('{"model_a": "oak", "model_b": "elm"}',), "annotations": (
        '[{"result": [{"type": "pairwise", "value": {"selected": "left"}}]}]',)},
    {"responses": ('{"q": [{"value": ["oak", "elm"], "user_id": 1}]}',
                   '{"q": [{"value": "left", "user_id": "u"}]}'),
     "metadata": ('{"model_a": "oak", "model_b": "elm"}',)},
)  # fmt: skip
KNOWN_COLUMNS = sorted({name for family in FAMILIES for name in family})
COLUMNS = (*KNOWN_COLUMNS, "", "row", " winner ", "a", "b")
ODD = (
    "OAK", "oak ", "1", "A", "café", "{x}", "é" * 50, "", "H", "C", "much better", "x",
    "A is better", "\x00", "winner", "error", "2.5", "-1", "nan", "inf", "1e400", "1e99",
    "1/2", "True", '{"name": "oak"}', "[1, 2", "[[[]]]", "null", '"text"', "[1]", "{}",
    '{"q": 1}', '{"q": [1]}', '{"q": [{"value": {"a": 1}}]}', '[{"result": "x"}]',
    '{"model_id": {"x": 1}, "sibling_model_ids": 3, "rating": "1"}', '[{"score": 3}]',
    '{"model_a": ["oak"], "model_b": null}', '[{"completed_by": [], "result": [null]}]',
    '[{"result": [{"type": "pairwise", "value": "left"}]}]', "[" * 2_000,
)  # fmt: skip
MEANINGS = ({"0": "tie"}, {"x": "maybe"}, {"x": ["tie"]}, {"unranked": "last"}, 1)
KNOWN = {
    "a": "model_a", "b": "model_b", "winner": "winner", "annotator": "judge",
    "weight": "count", "prompt": "prompt", "baseline": "elm", "judge": "k",
}  # fmt: skip


def random_source(rng: random.Random) -> object:
    """Return records, columns, or a dataframe, mostly of columns that belong together."""
    family = dict(rng.choice(FAMILIES))
    n_rows = rng.randint(0, 8)
    if rng.random() < 0.3:
        del family[rng.choice(list(family))]
    if rng.random() < 0.3:
        family[rng.choice(COLUMNS)] = ODD
    oddness = rng.choice((0.0, 0.0, 0.05, 0.5))
    columns = {
        name: [
            rng.choice((None, *ODD)) if rng.random() < oddness else rng.choice(pool)
            for _ in range(n_rows)
        ]
        for name, pool in family.items()
    }
    match rng.randrange(4):
        case 0:
            return columns
        case 1:
            return [
                dict(zip(columns, row, strict=True))
                for row in zip(*columns.values(), strict=True)
            ]
        case 2:
            return pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
        case _:
            return [
                {name: parsed(value) for name, value in zip(columns, row, strict=True)}
                for row in zip(*columns.values(), strict=True)
            ]


def parsed(value: str | None) -> object:
    """Return a value as JSON has it."""
    try:
        return json.loads(value or "null")
    except ValueError:
        return value


def names_of(source: object) -> list[str]:
    """Return the columns of a source."""
    if isinstance(source, pl.DataFrame):
        return source.columns
    return list(source if isinstance(source, dict) else source[0] if source else {})


def random_options(rng: random.Random, names: list[str]) -> dict[str, object]:
    """Return some options, right and wrong."""
    options: dict[str, object] = {}
    if rng.random() < 0.08:
        options["layout"] = rng.choice(
            [*(each.name for each in LAYOUTS), *ALIASES, "votse"]
        )
    for name in rng.sample(list(KNOWN), rng.choice((0, 0, 0, 1, 3))):
        values = [
            *[KNOWN[name], *names] * 3,
            "absent",
            "",
            3,
            None,
            False,
            ["winner", "judge"],
        ]
        options[name] = rng.choice(values)
    if rng.random() < 0.08:
        options["winner"] = rng.sample(names, min(len(names), rng.randint(2, 3)))
    if rng.random() < 0.08:
        options["slices"] = rng.choice(
            (rng.sample(names, 1), {"s": "judge"}, "prompt", 3)
        )
    if rng.random() < 0.08:
        options["features"] = rng.choice((names[:1], {"f": names[:2]}, {"f": 1}))
    if rng.random() < 0.08:
        options["outcomes"] = rng.choice(
            ({"0": "tie"}, {"x": "maybe"}, {"unranked": "last"}, 1)
        )
    for name, values in (
        ("on_invalid", ("raise", *["drop"] * 9, "ignore")),
        ("weights", (*["frequency", "importance"] * 4, 1)),
        ("both_bad", (*["tie", "drop"] * 4, None)),
    ):
        if rng.random() < 0.15:
            options[name] = rng.choice(values)
    return options


def fuzz(calls: int, seed: int) -> tuple[int, list[str]]:
    """Return how many calls gave votes, and what went wrong in others."""
    n_read, faults = 0, []
    for call in range(calls):
        rng = random.Random(f"{seed} {call}")
        source = random_source(rng)
        names = names_of(source)
        options = random_options(rng, names or ["winner"])
        try:
            votes = read_votes(source, **options)
        except ArenaError as error:
            if error.__cause__ is not None:
                faults.append(f"{call}: {error} from {error.__cause__!r}")
            elif len(str(error)) > 2_000:
                faults.append(f"{call}: a message of {len(str(error))} characters")
        except Exception as error:  # what the test is about
            faults.append(f"{call}: {type(error).__name__}: {error}")
        else:
            n_read += 1
            is_sound = (votes.counts >= 0).all() and votes.n_votes > 0
            is_named = all(name == name.strip() != "" for name in votes.competitors)
            if not (is_sound and is_named):
                faults.append(f"{call}: {votes!r}")
    return n_read, faults
