"""All layouts. A new one is an entry here, a function if its records have to be rewritten, and a golden file.

Where several fit, the one that asks for more columns is meant; layouts that none contains are named in an error.
"""

from __future__ import annotations

from bayes_arena.votes.reading.layouts.arenas import comparia, has_times, win_counts, win_matrix
from bayes_arena.votes.reading.layouts.choices import inspect, one_of_n, promptfoo
from bayes_arena.votes.reading.layouts.judges import (
    alpaca_eval,
    arena_hard,
    criteria,
    has_criteria,
    judge_arena,
    mt_bench,
)
from bayes_arena.votes.reading.layouts.layout import Layout

BATTLE = frozenset({"model_a", "model_b", "winner"})
ONE_HOT = frozenset({"winner_model_a", "winner_model_b", "winner_tie"})
WINNERS = frozenset({"winner", "label", "winner_model_a"})
PAIRS = frozenset({"model_a", "left"})

LAYOUTS = (
    Layout("votes", "one vote a row", BATTLE),
    Layout("evalica", "one vote a row", frozenset({"left", "right", "winner"})),
    Layout("crowd-kit", "one vote a row", frozenset({"worker", "left", "right", "label"})),
    Layout(
        "arena-33k",
        "hf:lmsys/chatbot_arena_conversations",
        BATTLE | {"question_id", "judge", "turn", "anony"},
    ),
    Layout(
        "arena-55k",
        "hf:lmarena-ai/arena-human-preference-55k",
        ONE_HOT | {"id", "model_a", "model_b", "prompt"},
    ),
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
        comparia,
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
        criteria,
        slices=("criterion",),
        without=WINNERS | {"score"},
        also=has_criteria,
        unjudged=True,
    ),
    Layout(
        "arena-hard",
        "judgments of arena-hard-auto: two games a record, and A>>B counts three times",
        frozenset({"judge", "model", "baseline", "games"}),
        arena_hard,
        slices=("category",),
        weights="importance",
        unjudged=True,
    ),
    Layout(
        "alpaca-eval",
        "annotations of AlpacaEval: preferences are soft scores, and 1.5 is a tie",
        frozenset({"generator_1", "generator_2", "preference"}),
        alpaca_eval,
        options={"winner": "winner", "score": "score"},
        sided=False,
        unjudged=True,
    ),
    Layout(
        "mt-bench",
        "pairs of MT-bench (FastChat): two games a record",
        frozenset({"model_1", "model_2", "g1_winner", "g2_winner", "judge"}),
        mt_bench,
        unjudged=True,
    ),
    Layout(
        "judge-arena",
        "annotations of JudgeArena: preferences are soft scores, and 0.5 is a tie",
        frozenset({"model_A", "model_B", "preference"}),
        judge_arena,
        options={"winner": "winner", "score": "score"},
        unjudged=True,
    ),
    Layout(
        "one-of-n",
        "the best of several, as of DeepEval's ArenaGEval: a pair with each of the others",
        frozenset({"contestants", "winner"}),
        one_of_n,
        weights="information",
        sided=False,
        unjudged=True,
    ),
    Layout(
        "promptfoo",
        "results of promptfoo: the best of several outputs, a pair with each of the others",
        frozenset({"results", "config"}),
        promptfoo,
        slices=("criterion",),
        weights="information",
        sided=False,
        unjudged=True,
    ),
    Layout(
        "promptfoo-lines",
        "lines of results of promptfoo: the best of several outputs, a pair with each of the others",
        frozenset({"testIdx", "promptIdx", "provider", "gradingResult"}),
        promptfoo,
        slices=("criterion",),
        weights="information",
        sided=False,
        unjudged=True,
    ),
    Layout(
        "inspect",
        "logs of Inspect: comparisons in the metadata of scores",
        frozenset({"eval", "samples"}),
        inspect,
        unjudged=True,
    ),
    Layout(
        "inspect-samples",
        "samples of Inspect: comparisons in the metadata of scores",
        frozenset({"sample_id", "id", "epoch"}),
        inspect,
        also=lambda names: any(name.startswith("score_") and name.endswith("_metadata") for name in names),
        unjudged=True,
    ),
    Layout("winner-loser", "one vote a row", frozenset({"winner", "loser"}), without=PAIRS),
    Layout(
        "win-counts",
        "how often a winner beat a loser",
        frozenset({"winner", "loser"}),
        win_counts,
        without=PAIRS,
        also=has_times,
        sided=False,
    ),
    Layout("wins", "how often each of a pair won", frozenset({"player1", "player2", "win1", "win2"})),
    Layout(
        "win-matrix",
        "how often the competitor of a row beat that of a column",
        frozenset(),
        win_matrix,
        also=lambda names: False,
        sided=False,
    ),
)
BY_NAME = {layout.name: layout for layout in LAYOUTS}
