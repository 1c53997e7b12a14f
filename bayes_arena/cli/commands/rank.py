"""``rank`` and ``boards``: leaderboards."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Option

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import BoardChoice, IntervalChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.headings import (
    RECORD,
    board_named,
    discounted_named,
    how_fitted,
    shown_leaderboard,
    verdict_as_json,
    verdict_of,
)
from bayes_arena.cli.options import MODEL, RANKING, Without, takes_options
from bayes_arena.cli.output import Output, Picture
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.votes.names import ANNOTATOR, PROMPT

By = Annotated[
    list[str],
    Option(
        "--by",
        metavar="NAME",
        help="A board for each category, language or week: name a column, or a slice that --slice reads, annotator "
        "or prompt. Repeatable: a board for each combination.",
        rich_help_panel=MODEL,
    ),
]


@app.command(rich_help_panel=RANKING)
@takes_options
def rank(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    intervals: IntervalChoice,
    scale: ScaleChoice,
    explain: Annotated[
        bool,
        Option(
            "--explain",
            help="Also show how likely each is the best, what is lost if the likeliest is not, and how many more votes "
            "it would take.",
        ),
    ] = False,
    picture: Picture,
    output: Output,
) -> None:
    """Say which competitor is best, and rate all: Elo scores, intervals, and the ranks that the votes leave open."""
    elo = scale.elo()
    with collected_warnings() as notes:
        import numpy as np

        from bayes_arena.likelihood.presets import PRESETS
        from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
        from bayes_arena.ratings.intervals.laplace import error_of_sd
        from bayes_arena.ratings.leaderboard import leaderboard_columns

        asked = source.annotator is not None or source.delta is not None or source.program is not None
        asked = asked or intervals.by_annotator or model.by_annotator
        if not source.is_saved and model.model is not None and not PRESETS[model.model].needs_annotators and not asked:
            source = replace(source, no_annotator=True)  # votes grouped by annotators take several times as long
        result = board.seen(model.fitted(source.grouped_by(intervals.by)))
        interval = intervals.chosen(model.seed, result)
        columns = leaderboard_columns(result, interval, level=intervals.level, elo=elo)
        said = verdict_of(result, intervals.level)
        if said is not None and explain:
            chance = dict(zip(result.cells.competitors, best_probabilities(decision_strengths(result)), strict=True))
            columns["p_best"] = np.array([chance[name] for name in columns["competitor"]])
    about, how = how_fitted(result)
    shown_as = interval.about(result) | error_of_sd(result, interval) | result.about
    head = {**about, "level": intervals.level, **shown_as, "verdict": verdict_as_json(said), "warnings": notes}
    shown = shown_leaderboard(columns, intervals.level)
    title = f"{source.title(result.cast)}\n{how}{board_named(shown_as)}{discounted_named(result)}"
    if said is not None:
        title = "\n".join([title, said.sentence, *(said.explained if explain else ())])
    with picture.beside(lambda: plots.board(result, level=intervals.level, elo=elo, interval=interval)):
        output.write(columns, schema="rank/1", key="leaderboard", head=head, title=title, shown=shown, spare=RECORD)


@app.command(rich_help_panel=RANKING)
@takes_options
def boards(
    *,
    source: VoteSource,
    by: By,
    model: Annotated[ModelChoice, Without("strength_by", "style")],
    intervals: Annotated[IntervalChoice, Without("by", "resamples")],
    scale: ScaleChoice,
    output: Output,
) -> None:
    """Rate the competitors in every category, language or week: many leaderboards in one table."""
    elo = scale.elo()
    with collected_warnings() as notes:
        from bayes_arena.fits.many import fit_many
        from bayes_arena.ratings.leaderboard import leaderboards_columns
        from bayes_arena.votes.periods import are_times

        read = {text.rpartition("=")[0] or text for text in source.slice or []} | {ANNOTATOR, PROMPT}
        source = replace(source, slice=[*(source.slice or []), *(name for name in by if name not in read)])
        cells = model.read(source)
        found = fit_many(cells, by, model=model.model, prior=model.spreads(), **model.asked, seed=model.seed)
        columns, about = leaderboards_columns(found, intervals.interval, level=intervals.level, elo=elo)
    failed = [{"board": list(names), "why": why} for names, why in about.pop("failed").items()]
    models = list(dict.fromkeys(fit.model.name for fit in found.values()))
    head = {"slices": by, "models": models, "prior": str(model.spreads()), **about, "failed": failed, "warnings": notes}
    many = f"{len(found):,} board{'s' if len(found) > 1 else ''} by {', '.join(by)}"
    title = f"{source.title(cells)}\n{', '.join(models)}, {many}{board_named(about)}"
    for name in by:
        if are_times(cells.slice_names.get(name, ())):
            title += f"\nevery {name} by its own votes alone; for strengths that move in one fit: rank --drift"
    output.write(
        columns,
        schema="boards/1",
        key="leaderboards",
        head=head,
        title=title,
        shown={name: list(columns[name]) for name in by} | shown_leaderboard(columns, intervals.level),
        spare=RECORD,
    )
