"""All layouts, and which one a source has. A new one is an entry here, a function if it is rewritten, a golden file.

The layout is named, or the columns identify it. If several fit, the one that requires more columns is taken; otherwise
an error names them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import polars as pl

from bayes_arena.errors import ColumnError, VotesError, did_you_mean, listing, printable
from bayes_arena.votes.layouts import best_of_n, human_annotation, item_scores, llm_judges, rankings, tables
from bayes_arena.votes.layouts.layout import Layout
from bayes_arena.votes.names import ITEM
from bayes_arena.votes.sources.frames import Frame, in_polars

BATTLE = frozenset({"model_a", "model_b", "winner"})
ONE_HOT = frozenset({"winner_model_a", "winner_model_b", "winner_tie"})
WINNERS = frozenset({"winner", "label", "winner_model_a"})
PAIRS = frozenset({"model_a", "left"})
Rewritten = Callable[[pl.LazyFrame], pl.LazyFrame]
INSPECT_SAMPLES = frozenset({"sample_id", "id", "epoch"})
ENOUGH = 0.5
"""Least share of a layout's columns that a source must have to nearly fit it."""


def by_name_only(names: Collection[str]) -> bool:
    """Return False: another layout, or any table, has these columns too."""
    return False


dependent = partial(Layout, weights="information", sided=False)
"""A layout of pairs that stem from one choice, ranking or item."""


chosen = partial(dependent, unjudged=True)
"""A layout of choices of the best of several, some of which have no verdict."""


def scored(name: str, whose: str, columns: set[str], rewritten: Rewritten, **fields: Any) -> Layout:
    """Return a layout of scores of several systems on the same items."""
    return dependent(
        name,
        f"{whose}, paired by item: the higher score wins, and pairs are weighted as if all systems were equally strong",
        frozenset(columns),
        rewritten,
        slices=(ITEM, "criterion"),
        **fields,
    )


LAYOUTS = (
    Layout("votes", "one vote per row", BATTLE),
    Layout("evalica", "one vote per row", frozenset({"left", "right", "winner"})),
    Layout("crowd-kit", "one vote per row", frozenset({"worker", "left", "right", "label"})),
    Layout("arena-33k", "hf:lmsys/chatbot_arena_conversations", BATTLE | {"question_id", "judge", "turn", "anony"}),
    Layout("arena-55k", "hf:lmarena-ai/arena-human-preference-55k", ONE_HOT | {"id", "model_a", "model_b", "prompt"}),
    Layout(
        "arena-100k",
        "hf:lmarena-ai/arena-human-preference-100k, where judge_hash is the annotator",
        BATTLE | {"question_id", "judge_hash"},
        options={"annotator": "judge_hash"},
    ),
    Layout(
        "arena-140k",
        "hf:lmarena-ai/arena-human-preference-140k",
        BATTLE | {"id", "evaluation_session_id", "evaluation_order"},
    ),
    Layout(
        "arena-expert",
        "hf:lmarena-ai/arena-expert-5k",
        BATTLE | {"id", "evaluation_session_id", "evaluation_order", "occupational_tags"},
    ),
    Layout(
        "comparia",
        "votes of compar:IA",
        frozenset({"model_a_name", "model_b_name", "chosen_model_name", "both_equal"}),
        human_annotation.comparia,
        unjudged=True,
    ),
    Layout(
        "scores",
        "a score s of the first competitor is s of a win and 1 - s of a loss",
        frozenset({"model_a", "model_b", "score"}),
        options={"score": "score"},
        without=WINNERS,
    ),
    Layout(
        "criteria",
        "a vote for every criterion, in columns such as overall_winner and trust_winner",
        frozenset({"model_a", "model_b"}),
        llm_judges.criteria,
        slices=("criterion", ITEM),
        without=WINNERS | {"score"},
        also=llm_judges.has_criteria,
        unjudged=True,
    ),
    Layout(
        "arena-hard",
        "judgments of arena-hard-auto: two games per record; A>>B is a grade, or weighs three times as much if folded",
        frozenset({"judge", "model", "baseline", "games"}),
        llm_judges.arena_hard,
        slices=("category",),
        weights="importance",
        grade_weights=True,
        unjudged=True,
    ),
    Layout(
        "helpsteer",
        "preferences of HelpSteer3 with the models' names: from -3, the first is much better, to 3",
        frozenset({"overall_preference"}),
        human_annotation.helpsteer,
        also=tables.names_pair,
        without=WINNERS,
    ),
    Layout(
        "alpaca-eval",
        "annotations of AlpacaEval: preferences are soft scores, and 1.5 is a tie",
        frozenset({"generator_1", "generator_2", "preference"}),
        llm_judges.alpaca_eval,
        options={"winner": "winner", "score": "score"},
        sided=False,
        unjudged=True,
    ),
    Layout(
        "mt-bench",
        "pairs of MT-bench (FastChat): two games per record",
        frozenset({"model_1", "model_2", "g1_winner", "g2_winner", "judge"}),
        llm_judges.mt_bench,
        unjudged=True,
    ),
    Layout(
        "judge-arena",
        "annotations of JudgeArena: preferences are soft scores, and 0.5 is a tie",
        frozenset({"model_A", "model_B", "preference"}),
        llm_judges.judge_arena,
        options={"winner": "winner", "score": "score"},
        unjudged=True,
    ),
    Layout(
        "judge-arena-battles",
        "battles of JudgeArena, judged by language models and by people",
        BATTLE | {"source", "judge_model"},
        llm_judges.judge_arena_battles,
    ),
    Layout(
        "orq-arena",
        "rounds of orq-arena, decided by the jury's majority; orq-arena-judges reads a vote of every judge",
        BATTLE | {"prompt_hash", "judge_votes", "majority_verdict"},
        llm_judges.orq_arena,
        slices=("prompt_category",),
        sided=False,
        unjudged=True,
    ),
    Layout(
        "orq-arena-judges",
        "rounds of orq-arena, a vote of every judge; judges that contradict themselves abstain",
        BATTLE | {"prompt_hash", "judge_votes", "majority_verdict"},
        llm_judges.orq_arena_judges,
        slices=("prompt_category",),
        also=by_name_only,
        sided=False,
        unjudged=True,
    ),
    chosen(
        "open-webui",
        "feedback of Open WebUI: an answer is better or worse than those beside it",
        frozenset({"user_id", "type", "data", "meta"}),
        best_of_n.open_webui,
    ),
    Layout(
        "label-studio",
        "tasks of Label Studio, annotated by Pairwise tags; their data name the systems",
        frozenset({"id", "data", "annotations"}),
        human_annotation.label_studio,
        slices=("criterion",),
    ),
    dependent(
        "argilla",
        "records of Argilla: answers to label and ranking questions; their metadata name the systems",
        frozenset({"id", "fields", "metadata", "responses"}),
        human_annotation.argilla,
        slices=(ITEM, "criterion"),
    ),
    chosen(
        "langwatch",
        "results of LangWatch as CSV: the best of several, paired with each of the others",
        frozenset({"index"}),
        best_of_n.langwatch,
        slices=(ITEM, "criterion"),
        also=best_of_n.has_candidates,
    ),
    chosen(
        "one-of-n",
        "the best of several, as in DeepEval's ArenaGEval, paired with each of the others",
        frozenset({"contestants", "winner"}),
        best_of_n.one_of_n,
    ),
    chosen(
        "promptfoo",
        "results of promptfoo: the best of several outputs, paired with each of the others",
        frozenset({"results", "config"}),
        best_of_n.promptfoo,
        slices=("criterion",),
    ),
    chosen(
        "promptfoo-lines",
        "result lines of promptfoo: the best of several outputs, paired with each of the others",
        frozenset({"testIdx", "promptIdx", "provider", "gradingResult"}),
        best_of_n.promptfoo,
        slices=("criterion",),
    ),
    Layout(
        "inspect",
        "logs of Inspect: comparisons in the metadata of scores",
        frozenset({"eval", "samples"}),
        best_of_n.inspect,
        unjudged=True,
        otherwise="inspect-scores",
    ),
    Layout(
        "inspect-samples",
        "samples of Inspect: comparisons in the metadata of scores",
        INSPECT_SAMPLES,
        best_of_n.inspect,
        also=lambda names: any(name.startswith("score_") for name in names),
        unjudged=True,
        otherwise="inspect-samples-scores",
    ),
    scored(
        "inspect-scores",
        "logs of Inspect, one per model",
        {"eval", "samples"},
        item_scores.inspect_logs,
        also=by_name_only,
    ),
    scored(
        "inspect-samples-scores",
        "samples of Inspect with their models",
        {*INSPECT_SAMPLES, "model"},
        item_scores.inspect_samples,
        also=by_name_only,
    ),
    scored(
        "item-scores",
        "scores of systems on items",
        {ITEM, "score"},
        item_scores.long,
        also=item_scores.has_system,
        without=PAIRS,
    ),
    scored("item-table", "scores with a column for every system", set(), item_scores.wide, also=by_name_only),
    scored("lm-eval", "samples of lm-eval", {"doc_id", "filtered_resps"}, item_scores.lm_eval, by_file=True),
    scored("mteb", "scores of MTEB", {"model_name", "task_name", "score"}, item_scores.mteb),
    scored(
        "mteb-results",
        "results of MTEB",
        {"task_name", "mteb_version", "scores"},
        item_scores.mteb_results,
        by_file=True,
    ),
    scored("reward-bench", "results of RewardBench", {"model", "subset", "id", "results"}, item_scores.reward_bench),
    scored(
        "openai-evals",
        "logs of OpenAI evals",
        {"spec", "run_id", "sample_id", "type", "data"},
        item_scores.openai_evals,
    ),
    scored(
        "langsmith",
        "feedback of LangSmith's evaluate_comparative",
        {"key", "score", "session_id", "feedback_group_id", "comparative_experiment_id"},
        item_scores.langsmith,
    ),
    scored(
        "langsmith-experiments",
        "results of LangSmith, a file for every experiment",
        {"example_id", "execution_time"},
        item_scores.langsmith_experiments,
        by_file=True,
    ),
    dependent(
        "rankings",
        "rankings, one row per competitor ranked: pairs, won by the lower rank",
        frozenset({"rank"}),
        rankings.rankings,
        slices=("ranking",),
        also=rankings.has_rankings,
    ),
    dependent(
        "wmt-rankings",
        "rankings of WMT, one per row: pairs, won by the lower rank",
        frozenset({"system1Id", "system1rank", "system2Id", "system2rank"}),
        rankings.wmt_rankings,
        slices=("ranking",),
    ),
    dependent(
        "rank-columns",
        "rankings, one per row, with a column per competitor: pairs, won by the lower rank",
        frozenset(),
        rankings.rank_columns,
        slices=("ranking",),
        also=rankings.has_rank_columns,
    ),
    Layout(
        "annotator-columns",
        "a row is an item, and every annotator has a column of verdicts",
        frozenset(),
        tables.annotator_columns,
        also=tables.has_annotator_columns,
        unjudged=True,
    ),
    Layout(
        "two-scores",
        "the higher of two scores wins, and equal ones are a tie",
        frozenset(),
        tables.two_scores,
        also=tables.has_two_scores,
        unjudged=True,
    ),
    Layout(
        "pair-cell",
        "one vote per row, and one cell names both competitors",
        frozenset({"winner"}),
        tables.pair_cell,
        also=lambda names: tables.has_pair_cell(names) and not tables.has_annotator_columns(names),
    ),
    Layout("winner-loser", "one vote per row", frozenset({"winner", "loser"}), without=PAIRS),
    Layout(
        "win-counts",
        "how often a winner beat a loser",
        frozenset({"winner", "loser"}),
        tables.win_counts,
        without=PAIRS,
        also=tables.has_times,
        sided=False,
    ),
    Layout("wins", "how often each of a pair won", frozenset({"player1", "player2", "win1", "win2"})),
    Layout(
        "win-matrix",
        "how often the competitor of a row beat that of a column",
        frozenset(),
        tables.win_matrix,
        also=by_name_only,
        sided=False,
    ),
)


BY_NAME = {layout.name: layout for layout in LAYOUTS}


def named_layout(name: str, names: Sequence[str]) -> Layout:
    """Return the layout of that name, provided the source has its columns."""
    if name not in BY_NAME:
        raise VotesError(f"No layout is called {name!r}.{did_you_mean(name, BY_NAME)} Layouts: {', '.join(BY_NAME)}.")
    layout = BY_NAME[name]
    if missing := sorted(layout.columns.difference(names)):
        raise ColumnError(
            f"The layout {name} ({layout.about}) also needs {listing(map(repr, missing))}. "
            f"The source has: {printable(', '.join(names))}."
        )
    return layout


def recognised_layout(names: Collection[str]) -> Layout | None:
    """Return the layout that the columns identify, None if there is none."""
    fitting = [layout for layout in LAYOUTS if layout.fits(names)]
    fitting = [one for one in fitting if not any(_is_more(other, one) for other in fitting)]
    if len(fitting) > 1 and any(layout.rewritten for layout in fitting):
        raise ColumnError(
            f"The columns fit the layouts {' and '.join(layout.name for layout in fitting)}. "
            f"Choose one with layout=... (--layout {fitting[-1].name})."
        )
    return fitting[0] if len(fitting) == 1 else None


def is_win_matrix(frame: Frame) -> bool:
    """Whether a source of no other layout is a square table: its first column holds the names of all others."""
    names = frame.collect_schema().names()
    if len(names) < 3 or not all(isinstance(name, str) for name in names):
        return False
    first, *others = names
    found = in_polars(frame.select(nw.col(first).cast(nw.String)).head(len(others) + 1)).collect().to_series()
    return found.null_count() == 0 and sorted(found) == sorted(others)


def nearly(names: Collection[str]) -> str:
    """Return a sentence, with a space before it, on the layout that a source nearly fits, or an empty text."""
    lacking = [layout for layout in LAYOUTS if layout.rewritten and not layout.columns.issubset(names)]
    layout = max(lacking, key=lambda layout: _share(layout, names))
    if _share(layout, names) < ENOUGH:
        return ""
    missing = listing(map(repr, sorted(layout.columns.difference(names))))
    return f" With {missing} it would fit the layout {layout.name} ({layout.about})."


def _share(layout: Layout, names: Collection[str]) -> float:
    """Return the share of a layout's columns that the source has."""
    return len(layout.columns.intersection(names)) / len(layout.columns)


def _is_more(one: Layout, other: Layout) -> bool:
    """Whether a layout requires all that the other requires, and more."""
    return one.columns > other.columns or (one.columns == other.columns and one.also is not None and other.also is None)
