"""Ratings in words: who favours whom, what was fitted, numbers as a reader wants them."""

from __future__ import annotations

from pathlib import Path

from bayes_arena.errors import join_words, plural
from bayes_arena.fits.options import OWN
from bayes_arena.fits.result import Fit
from bayes_arena.model.priors import name_of_prior
from bayes_arena.tables import Columns, Row, records
from bayes_arena.votes.votes import PROMPT, Votes

MOST_NAMED = 3  # annotators that a note names
MOST_IN_RING = 5  # and accounts that favour the same competitor
RING = 3  # of these, from which their votes are said together
# Models by name: the name as a text has it, and how votes weigh.
IN_WORDS = {
    "davidson": ("Davidson", "all votes have equal weight"),
    "bradley-terry": (
        "Bradley-Terry",
        "all votes have equal weight, ties are half wins",
    ),
    "m-elo": ("m-ELO", "all votes have equal weight, ties are half wins"),
    "am-elo": ("am-ELO", "votes weigh by their annotator's discrimination"),
    "am-davidson": (
        "am-Davidson",
        "votes weigh by how closely their annotator follows the ranking",
    ),
}


def describe_favouring(columns: Columns, fewest: int = 1) -> list[str]:
    """Return who favours whom, with the counts: a phrase for each competitor.

    Competitors whom fewer annotators favour than ``fewest`` are left out.
    """
    by_target: dict[tuple[str, bool], list[Row]] = {}
    for row in records(columns):
        target = row["competitor"], row["direction"] == "for"
        by_target.setdefault(target, []).append(row)
    return [
        describe_ring(*target, rows)
        for target, rows in by_target.items()
        if len(rows) >= fewest
    ]


def describe_ring(competitor: str, is_for: bool, rows: list[Row]) -> str:
    """Return who favours a competitor, or votes against it: a ring with its sum of votes."""
    names = sorted(row["annotator"] for row in rows)
    if len(names) > MOST_IN_RING:
        names[MOST_IN_RING:] = [f"{len(names) - MOST_IN_RING:,} more"]
    counts = [(row["wins"], row["votes"]) for row in rows]
    if len(counts) >= RING:
        counts = [(sum(wins for wins, _ in counts), sum(votes for _, votes in counts))]
    votes = join_words([f"{wins:,.0f} of {votes:,.0f}" for wins, votes in counts])
    one, many = ("favours", "favour") if is_for else ("votes against", "vote against")
    verb = one if len(rows) == 1 else many
    return f"{join_words(names)} {verb} {competitor} ({votes} votes)"


def describe_source(votes: object) -> str:
    """Return a name of where votes come from."""
    if isinstance(votes, str | Path):
        return Path(votes).name
    return "votes"


def name_of_model(fit: Fit) -> str:
    """Return the name of a fit's model, as a text has it."""
    return IN_WORDS.get(fit.model.name, (fit.model.name,))[0]


def describe_fit(fit: Fit) -> str:
    """Return what was fitted, in plain words."""
    sentences = [f"{': '.join(IN_WORDS.get(fit.model.name, (fit.model.name,)))}."]
    if fit.method == OWN:
        return f"{sentences[0]} Draws of your own."
    if fit.prior.is_flat:
        return f"{sentences[0]} Maximum likelihood."
    prior = name_of_prior(fit.prior)
    if prior is None:
        sentences.append("Prior of your own.")
    elif prior != "default":
        sentences.append(f"Prior: {prior}.")
    if fit.method == "nuts":
        sentences.append("The posterior was sampled by NUTS.")
    return " ".join(sentences)


def describe_votes(votes: Votes, source: str) -> str:
    """Return how many votes there are, on whom and by whom, in a line."""
    text = (
        f"{source}: {plural(votes.n_votes, 'vote')} on "
        f"{plural(votes.n_competitors, 'competitor')}"
    )
    if votes.n_annotators:
        text += f" by {plural(votes.n_annotators, 'annotator')}"
    if PROMPT in votes.slices:
        text += f", {plural(len(votes.levels[PROMPT]), 'prompt')}"
    return text
