"""Which model predicts real votes best?  Votes, annotators and prompts held out.

    python benchmarks/prediction.py > docs/measured/prediction.md

Looks for the files in ``$BAYES_ARENA_DATA`` (else ``../shared/data``); takes 2 minutes.
"""

import os
import sys
import warnings
from pathlib import Path

import pandas as pd

import bayes_arena as ba

HOME = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYES_ARENA_DATA", HOME.parent / "shared" / "data"))
SPLITS = 10

PROMPTS = ba.Model(
    "davidson by prompt", ties="davidson", position="common", strength_by=("prompt",)
)


def paper(votes: ba.Votes) -> ba.Fit:
    """Fit am-ELO as the paper does: annotators with more than 50 votes."""
    return ba.fit(votes.keep(more_than=50), model="am-elo", prior="flat")


def flat_m_elo(votes: ba.Votes) -> ba.Fit:
    return ba.fit(votes, model="m-elo", prior="flat")


ALIKE = {"davidson": "davidson", "bradley-terry": "bradley-terry"}
BY_ANNOTATOR = {
    "davidson": "davidson",
    "m-elo": "m-elo",
    "am-elo": "am-elo",
    "am-davidson": "am-davidson",
}
FLAT = {"m-elo, flat": flat_m_elo, "am-elo, flat, delta 50": paper}
OF_PROMPTS = {"davidson by prompt": PROMPTS}
LABELS = {"1": "model_a", "2": "model_b", "0": "tie"}  # PandaLM's
ARENAS = (
    ("LLMFAO", "llmfao.csv", "vote", BY_ANNOTATOR | FLAT | OF_PROMPTS),
    ("LLMFAO", "llmfao.csv", "annotator", BY_ANNOTATOR),
    ("LLMFAO", "llmfao.csv", "prompt", BY_ANNOTATOR | OF_PROMPTS),
    ("MT-bench", "mt_bench_human.csv", "vote", BY_ANNOTATOR | FLAT | OF_PROMPTS),
    ("MT-bench", "mt_bench_human.csv", "annotator", BY_ANNOTATOR),
    ("MT-bench", "mt_bench_human.csv", "prompt", BY_ANNOTATOR | OF_PROMPTS),
    ("PandaLM", "pandalm_testset.json", "vote", BY_ANNOTATOR),
    ("Football", "football_internationals.csv", "vote", ALIKE),
)


def markdown(table: pd.DataFrame) -> str:
    """Return a table of scores and differences, with standard errors in brackets."""
    lines = [
        "| model | log score | squared error | AUC "
        "| log score less davidson's | squared error less davidson's |",
        "|---|---|---|---|---|---|",
    ]
    for _, row in table.iterrows():
        cells = [
            row["model"],
            f"{row['log_score']:.4f}",
            f"{row['squared_error']:.4f}",
            f"{row['auc']:.3f}",
        ]
        for score in ("log_score", "squared_error"):
            difference, error = row[f"{score}_diff"], row[f"{score}_diff_se"]
            is_first = row["model"] == "davidson"
            cells.append("" if is_first else f"{difference:+.4f} ({error:.4f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


INTRODUCTION = f"""# Which model predicts votes?

`python benchmarks/prediction.py`: {SPLITS} random splits each, a fifth of the votes,
annotators or prompts left out. Differences are taken split by split; standard errors
(in brackets) are corrected for splits that overlap. Log scores are in nats a vote and
higher is better; squared errors are of the expected score, and lower is better.

With ties as half wins (`bradley-terry`, `m-elo`, `am-elo`), ties are scored as by
Davidson's model with nu = 1.

Reading: where the same annotators vote on, `am-davidson` predicts better than
`davidson`, mostly because annotators differ in how often they tie. For annotators whom
nobody has seen it has no advantage. Strengths by prompt are worth most where the same
prompts come again; on new prompts they gain little. In football `davidson` knows the side
at home, and `bradley-terry` does not.
"""


def main() -> None:
    warnings.simplefilter("ignore", ba.errors.ArenaWarning)
    print(INTRODUCTION, end="")
    for title, file, by, models in ARENAS:
        if not (DATA / file).is_file():
            print(f"{file} is not in {DATA}", file=sys.stderr)
            continue
        outcomes = LABELS if title == "PandaLM" else None
        votes = ba.read_votes(DATA / file, outcomes=outcomes)
        table = ba.held_out(votes, models, over=by, splits=SPLITS)
        print(
            f"\n## {title}, by {by}\n\n{votes.n_votes:,.0f} votes.\n\n{markdown(table)}"
        )


if __name__ == "__main__":
    main()
