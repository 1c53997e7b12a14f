"""What is it worth to know on what a vote was cast? Gains over am-davidson, votes and whole prompts left out.

    uv run python benchmarks/slices_heldout.py [--splits 10] [--only llmfao] [--prompts]

Looks for ``llmfao.csv`` and ``mt_bench_human.csv`` in ``$BAYES_ARENA_DATA`` (else ``../shared/data``). Every effect of
slices is added to am-davidson by itself, then one after the other: answers (prompt x competitor), tie propensities of
prompts, strengths by category (MT-bench's are ten questions each), tie propensities of competitors, taste (annotator x
competitor). Style is not there, since these files have no texts.

By vote: splits 80/20, standard errors by Nadeau & Bengio. With ``--prompts`` whole prompts are left out instead (all
turns of a question together), answers to which are integrated out or, for comparison, taken for their mean, u = 0;
standard errors are clustered by what is left out. Printed are differences to am-davidson: nats a vote, Brier score
over win, tie and loss, MSE of the score. Gains have a plus in nats, a minus in Brier and MSE.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from measuring import DATA, options_of

import bayes_arena as ba
from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import SMALLEST
from bayes_arena.validation.cross_validation import clustered, split_votes, vote_scores
from bayes_arena.validation.prediction import predict_cells
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROMPT

SETS = {
    "LLMFAO, 13 prompts": ("llmfao.csv", PROMPT),
    "MT-bench, question x turn": ("mt_bench_human.csv", ["question_id", "turn"]),
    "MT-bench, question alone": ("mt_bench_human.csv", "question_id"),
}
TEST = 0.2
FOLDS = 13
BASE = PRESETS["am-davidson"]
CATEGORY = "category"
CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
EFFECTS = {
    "answers": {"strength_by": (PROMPT,)},
    "tie per prompt": {"ties_by": (PROMPT,)},
    "category": {"strength_by": (CATEGORY,)},
    "tie per competitor": {"ties_by": (COMPETITOR,)},
    "taste": {"strength_by": (ANNOTATOR,)},
}


def read(name: str, prompt: str | list[str]) -> ba.Cells:
    """Read votes, MT-bench's with their categories."""
    if not name.startswith("mt_bench"):
        return ba.read_votes(DATA / name, prompt=prompt)
    votes = pl.read_csv(DATA / name)
    place = (votes["question_id"].to_numpy() - 81) // 10
    votes = votes.with_columns(pl.Series(CATEGORY, np.array(CATEGORIES)[place]))
    return ba.read_votes(votes, prompt=prompt, slices={CATEGORY: CATEGORY})


def models(cells: ba.Cells) -> dict[str, ba.Model]:
    """Return am-davidson, with every effect by itself, and with more and more of them."""
    effects = {name: effect for name, effect in EFFECTS.items() if name != CATEGORY or CATEGORY in cells.slices}
    found, together = {"am-davidson": BASE} | {name: replace(BASE, **effect) for name, effect in effects.items()}, BASE
    for count, effect in enumerate(effects.values(), start=1):
        for field, names in effect.items():
            together = replace(together, **{field: (*getattr(together, field), *names)})
        found[" + ".join(list(effects)[:count])] = together
    found["answers + tie per competitor"] = replace(BASE, **EFFECTS["answers"], **EFFECTS["tie per competitor"])
    return found


def score(fit: ba.Fit, cells: ba.Cells) -> tuple[Floats, Floats]:
    """Return log score, Brier score and squared error of every vote, shape (3, 3, n_cells), and how many they are."""
    prediction = predict_cells(fit, cells)
    squares, logs, votes = vote_scores(prediction, cells.counts)
    p = np.exp(prediction.log_p)
    brier = (p**2).sum(axis=0) + 1 - 2 * p
    return np.array([logs, brier, squares]), votes


def by_vote(cells: ba.Cells, splits: int) -> None:
    """Print a table of splits by vote."""
    fitted = models(cells)
    values = np.empty((splits, len(fitted), 3))
    seconds = np.zeros(len(fitted))
    for index, (train, left_out) in enumerate(split_votes(cells, splits=splits, test=TEST, seed=0)):
        for row, model in enumerate(fitted.values()):
            start = time.process_time()
            of_votes, votes = score(ba.fit(train, model=model), left_out)
            seconds[row] += time.process_time() - start
            values[index, row] = (of_votes * votes).sum(axis=(1, 2)) / votes.sum()
    differences = values - values[:, :1]
    errors = math.sqrt(1 / splits + TEST / (1 - TEST)) * differences.std(axis=0, ddof=1)
    say(list(fitted), values.mean(axis=0), differences.mean(axis=0), errors, seconds / splits)


def unscattered(fit: ba.Fit) -> ba.Fit:
    """Return a fit that takes slices that it has not seen for the mean of all, u = 0."""
    problem = fit.mode.problem
    none = problem.prior.with_spreads({effect.spread: SMALLEST for effect in fit.target.slices})
    return replace(fit, mode=replace(fit.mode, problem=replace(problem, prior=none)))


def folds_of_prompts(cells: ba.Cells) -> Iterator[tuple[ba.Cells, ba.Cells, Floats]]:
    """Yield votes kept, votes left out, and the question of the latter."""
    names = np.array([name.split("/")[0] for name in cells.slice_names[PROMPT]])
    questions, code = np.unique(names, return_inverse=True)
    fold = np.random.default_rng(0).permutation(len(questions)) % FOLDS
    question = code[cells.slices[PROMPT]]
    for number in range(FOLDS):
        inside = fold[question] == number
        yield cells.take(~inside), cells.take(inside), question[inside]


def by_prompt(cells: ba.Cells) -> None:
    """Print a table of folds of prompts."""
    fitted = models(cells)
    everything = list(fitted)[-2]
    rows: dict[str, tuple[ba.Model, Callable[[ba.Fit], ba.Fit]]] = {
        name: (model, lambda fit: fit) for name, model in fitted.items()
    } | {f"{name}, u = 0": (fitted[name], unscattered) for name in ("answers", "answers + tie per prompt", everything)}
    size = max(len(cells.slice_names[PROMPT]), FOLDS)
    sums, votes_of, seconds = np.zeros((len(rows), 3, size)), np.zeros(size), np.zeros(len(rows))
    for train, left_out, question in folds_of_prompts(cells):
        votes_of += sum_by(question, left_out.counts.sum(axis=1), size)
        fits: dict[str, ba.Fit] = {}
        for row, (name, (model, view)) in enumerate(rows.items()):
            start, key = time.process_time(), name.removesuffix(", u = 0")
            fits[key] = fits.get(key) or ba.fit(train, model=model)
            of_votes, votes = score(view(fits[key]), left_out)
            seconds[row] += time.process_time() - start
            for column, of_score in enumerate((of_votes * votes).sum(axis=1)):
                sums[row, column] += sum_by(question, of_score, size)
    seen = votes_of > 0
    values, differences = sums.sum(axis=2) / votes_of.sum(), (sums - sums[0])[:, :, seen]
    means, errors = clustered(differences, votes_of[seen])
    say(list(rows), values, means, errors, seconds / FOLDS)


def say(names: list[str], values: Floats, differences: Floats, errors: Floats, seconds: Floats) -> None:
    """Print a table in Markdown."""
    print("| | log score | Brier | MSE | gain, nats a vote | Brier less | MSE less | CPU s |\n" + "|---" * 8 + "|")
    for name, value, difference, error, second in zip(names, values, differences, errors, seconds, strict=True):
        changes = [f"{d:+.4f} ({e:.4f})" for d, e in zip(difference, error, strict=True)]
        shown = [
            f"{value[0]:.4f}",
            f"{value[1]:.4f}",
            f"{value[2]:.4f}",
            *(changes if name != "am-davidson" else "   "),
        ]
        print("| " + " | ".join([name, *shown, f"{second:.2f}"]) + " |")
    print(flush=True)


def main() -> None:
    parser = options_of(__doc__, splits=10)
    parser.add_argument("--only", default="", help="data sets whose file's name begins so")
    parser.add_argument("--prompts", action="store_true", help="leave out whole prompts")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    for title, (name, prompt) in SETS.items():
        if name.startswith(options.only):
            cells = read(name, prompt)
            what = f"{FOLDS} folds of prompts" if options.prompts else f"{options.splits} splits by vote"
            print(f"## {title}: {cells.n_votes:.0f} votes, {what}\n")
            by_prompt(cells) if options.prompts else by_vote(cells, options.splits)


if __name__ == "__main__":
    main()
