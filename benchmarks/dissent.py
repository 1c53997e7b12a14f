"""What the model does where people disagree: coverage, error and directions in simulated arenas, and votes held out.

    uv run python benchmarks/dissent.py [--arenas 10] [--seed 0] [--only "three camps" gradient]
    uv run python benchmarks/dissent.py --annotators [--arenas 8]
    uv run python benchmarks/dissent.py --held-out [--splits 5] [--data LLMFAO] [--over vote]

Regimes of :mod:`dissenters`, an arena a seed, twice as many where the model without directions is true. Three fits:
Bradley-Terry, am-davidson without directions, and the default, which looks for them by evidence. Their leaderboards, of
the average over votes without a cap (which Bradley-Terry lacks), are held against the true strengths of the average
vote: the share of competitors inside their 95 % intervals, the standard error between arenas in brackets; root mean
square error divided by Bradley-Terry's in the same arenas; mean width of the intervals in Elo points; CPU seconds of
the fit and the leaderboard. Then in how many arenas the default found no direction, one or two, and what warnings said
and what failed. The last line counts directions in arenas that have none. Four CPU minutes with ten arenas; most is the
default's search.

With ``--annotators`` what is said of people, where some form a camp: an arena's mean number of dissenters and of all
others who are anomalous (more likely than not) and flagged (at a false discovery rate of .05), and of how many of these
that is true: their own leads say less than a fifth of the median annotator's, or are largely the average turned round.

With ``--held-out`` the real votes of ``slices_heldout.py``: nats a vote, on votes left out one by one, by annotator
or by prompt, that the default gains over am-davidson without directions, without answers and with them. Standard
errors by Nadeau & Bengio. Six CPU minutes with five splits, nearly all of them for LLMFAO.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from dissenters import JUDGES, REGIMES, Dissent, People, draw
from measuring import FILES, markdown, options_of
from true_boards import Boards, by_name

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.progress import report
from bayes_arena.reliability.anomaly import REVERSED, TOLERANCE

LEVEL = 0.95
PLAIN, NONE, DEFAULT = "bradley-terry", "no directions", "default"
FITS: dict[str, dict[str, Any]] = {PLAIN: {"model": "bradley-terry"}, NONE: {"dimensions": 0}, DEFAULT: {}}
CAMPS = {"consistent minority": 8, "mild minority": 8, "camp of 10 %": 4, "camp of 30 %, 40 annotators": 12}
"""Regimes of which it is known who dissents: so many, the first ones."""
PROMPTS = {"LLMFAO": "prompt", "MT-bench": "question_id"}


@dataclass
class Findings(Boards):
    """What fits of one kind were like in the arenas of a regime, an entry an arena.

    Attributes
    ----------
    seconds : list of float
        CPU seconds.
    directions : list of int
        How many the model has.
    said : Counter
        Warnings and errors, by their first words.
    """

    seconds: list[float] = field(default_factory=list)
    directions: list[int] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)

    def add_fit(self, arena: Dissent, options: dict[str, Any]) -> None:
        """Fit, and compare with the truth."""
        start = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fit = ba.fit(arena.cells, **options)
                whole = fit.of("everybody", cap=1) if fit.target.n_annotators else fit
                board = by_name(whole, level=LEVEL)
            except ba.ArenaError as error:
                fit = None
                self.said[f"{type(error).__name__}: {error}"[:90]] += 1
        self.seconds.append(time.process_time() - start)
        self.said.update(f"{one.category.__name__}: {one.message}"[:90] for one in caught)
        if fit is None:
            return
        self.add(board, arena.strength)
        self.directions.append(fit.model.dimensions)


def in_arenas(names: Iterable[str], arenas: int, first: int) -> None:
    """Print the table of simulated arenas, then what was said in them."""
    heads = ["regime", *(f"coverage, {name}" for name in FITS)]
    for what, those in (("RMSE / BT", (NONE, DEFAULT)), ("width", FITS), ("CPU s", FITS)):
        heads += [f"{what}, {name}" for name in those]
    print(markdown([*heads, "found 0, 1, 2"], []), flush=True)
    said, false, honest = list[str](), 0, 0
    for name in names:
        regime = REGIMES[name]
        found = {fit: Findings() for fit in FITS}
        size = arenas * (1 + regime.specified)
        for seed in range(first, first + size):
            report(name, seed - first, size)
            arena = draw(regime, seed)
            for fit, options in FITS.items():
                found[fit].add_fit(arena, options)
        each = found.values()
        directions = found[DEFAULT].directions
        if regime.specified:
            false, honest = false + sum(count > 0 for count in directions), honest + len(directions)
        cells = [
            name,
            *(one.coverage for one in each),
            *(f"{found[fit].rmse / found[PLAIN].rmse:.2f}" for fit in (NONE, DEFAULT)),
            *(f"{np.mean(one.width):.0f}" for one in each),
            *(f"{np.mean(one.seconds):.2f}" for one in each),
            ", ".join(str(directions.count(count)) for count in range(3)),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
        said += [f"- {name}, {fit}, {count} x {text}" for fit, one in found.items() for text, count in one.said.items()]
    report("")
    print("\n" + "\n".join([*said, f"- Directions found where there are none: in {false} of {honest} arenas."]))


def said_of_people(arenas: int, first: int) -> None:
    """Print the table of who is anomalous, and who is flagged."""
    counts = ["said to be anomalous", "truly so", "flagged", "truly anomalous"]
    print(markdown(["regime", *(f"{who}: {count}" for who in ("dissenters", "others") for count in counts)], []))
    for name, dissenters in CAMPS.items():
        found = np.zeros((2, 4))
        for seed in range(first, first + arenas):
            report(name, seed - first, arenas)
            arena = draw(REGIMES[name], seed)
            truly = anomalous(REGIMES[name].people(np.random.default_rng([seed, 17])), arena.strength)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ba.ArenaWarning)
                fit = ba.fit(arena.cells)
                table = ba.annotators(fit)
            who = table["annotator"].map(list(JUDGES).index).to_numpy()
            for column, said in enumerate((table["verdict"] == "anomalous", table["annotator"].isin(ba.flag(fit)))):
                for side, part in enumerate((who < dissenters, who >= dissenters)):
                    those = who[said.to_numpy() & part]
                    found[side, 2 * column : 2 * column + 2] += len(those), truly[those].sum()
        print(f"| {name} | {' | '.join(f'{number:.2f}' for number in (found / arenas).ravel())} |", flush=True)
    report("")


def anomalous(people: People, strength: Floats) -> np.ndarray:
    """Return whose leads say little, or are largely the average turned round, by the definitions of the package."""
    i, j = np.triu_indices(len(strength), 1)
    z = np.array([people.lead[:, i, j], np.broadcast_to(people.tie[:, None], (len(people.tie), len(i)))])
    score = davidson.LIKELIHOOD.net_score(z)
    size, net = np.abs(score).mean(axis=1), (np.sign(strength[i] - strength[j]) * score).mean(axis=1)
    return np.asarray((size < TOLERANCE * np.median(size)) | (net < -REVERSED * size))


def gains(file: str, over: str, answers: bool, splits: int) -> tuple[list[str], Counter[str]]:
    """Return a row of the table of votes held out, and what warnings said."""
    votes = ba.read_votes(FILES[file], prompt=PROMPTS[file])
    counts = Counter[int]()

    def default(train: ba.Cells) -> ba.Fit:
        fit = ba.fit(train, answers=answers)
        counts[fit.model.dimensions] += 1
        return fit

    plain = partial(ba.fit, answers=answers, dimensions=0)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = ba.held_out(
            votes, {NONE: plain, DEFAULT: default}, over=None if over == "vote" else over, splits=splits
        ).set_index("name")
    heard = Counter(f"{one.category.__name__}: {one.message}"[:90] for one in caught)
    gain, error = table.loc[DEFAULT, ["log_score_diff", "log_score_diff_se"]]
    cells = [
        file,
        over,
        "yes" if answers else "no",
        *(f"{table.loc[name, 'log_score']:.4f}" for name in (NONE, DEFAULT)),
        f"{gain:+.4f} ({error:.4f})",
        ", ".join(str(counts[count]) for count in range(3)),
        f"{time.process_time() - start:.0f}",
    ]
    return cells, heard


def main() -> None:
    parser = options_of(__doc__, splits=5)
    parser.add_argument("--arenas", type=int, default=10, help="of a regime")
    parser.add_argument("--seed", type=int, default=0, help="of the first arena")
    parser.add_argument("--only", nargs="*", default=list(REGIMES), choices=list(REGIMES), metavar="REGIME")
    parser.add_argument("--annotators", action="store_true", help="what is said of people instead")
    parser.add_argument("--held-out", action="store_true", help="real votes held out instead")
    parser.add_argument("--data", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--over", nargs="*", default=["vote", "annotator", "prompt"])
    options = parser.parse_args()
    if options.annotators:
        said_of_people(options.arenas, options.seed)
        return
    if not options.held_out:
        in_arenas(options.only, options.arenas, options.seed)
        return
    heads = ["votes", "left out by", "answers", NONE, DEFAULT, "gain, nats a vote", "found 0, 1, 2", "CPU s"]
    print(markdown(heads, []), flush=True)
    said = list[str]()
    for file in options.data:
        for over in options.over:
            for answers in (False, True):
                cells, heard = gains(file, over, answers, options.splits)
                print(f"| {' | '.join(cells)} |", flush=True)
                said += [f"- {file}, {over}, answers {answers}: {count} x {text}" for text, count in heard.items()]
    print("\n" + "\n".join(said))


if __name__ == "__main__":
    main()
