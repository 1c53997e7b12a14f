"""What a reader of a board has to know: a function a note, the weightiest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

import numpy as np
from scipy.special import expit

from bayes_arena.boards.frontier import describe_choice
from bayes_arena.boards.unexplained import no_ranking_explains
from bayes_arena.errors import listing, plural
from bayes_arena.people.contested import describe_contested
from bayes_arena.people.groups import BOARDS_BY_GROUP, describe_groups
from bayes_arena.people.shared import RANDOM_EXPOSURE, SURE, SharedRanking
from bayes_arena.rating.combining import NO_SHARE, is_combinable
from bayes_arena.rating.rated import Rated
from bayes_arena.rating.wording import MOST_NAMED, describe_favouring
from bayes_arena.reading.facts import PRICES
from bayes_arena.said import Call, Note, Said, Use
from bayes_arena.votes.components import sides_follow_strength

MOST_NOTES = 5
ALWAYS, FEWEST_DECIDED = 0.97, 30  # share of decided votes, and how many, to say it
LEFT_OUT = 0.05  # share of the votes left out from which it is said
SURE_SIDE = 2.0  # standard deviations from which a side is said to win more often


def notes_of(rated: Rated) -> tuple[Note, ...]:
    """Return what a reader has to know, the weightiest first; five at most.

    That there are remarks on the file is said beside these.
    """
    notes = chain.from_iterable(say(rated) for say in NOTES)
    return (*islice(notes, MOST_NOTES), *remarks(rated))


def remarks(rated: Rated) -> Iterator[Note]:
    """Say where remarks on the file are to be seen."""
    if count := len(rated.votes.remarks):
        text = (f"{plural(count, 'remark')} on the file", (": ", Call("check")))
        yield Note("remarks", text)


def changes(rated: Rated) -> Iterator[Note]:
    """Say what changed since a former board."""
    if rated.changes is not None:
        yield rated.changes.note


def sides(rated: Rated) -> Iterator[Note]:
    """Say that the votes cannot tell the advantage of a side from strength."""
    if rated.votes.sided and sides_follow_strength(rated.votes):
        text = (
            "Each pair was shown one way only: the advantage of a side cannot be told "
            "from strength."
        )
        yield Note("sides", text)


def winners_first(rated: Rated) -> Iterator[Note]:
    """Say that the first side wins nearly always, where sides are known."""
    first, second, _ = rated.votes.folded.sum(axis=0)
    decided = first + second
    if not rated.votes.sided or decided < FEWEST_DECIDED or first < ALWAYS * decided:
        return
    text = (
        f"The first side won {first:,.0f} of {plural(decided, 'decided vote')}: either "
        "rows list the winner first",
        (" (", Use(layout="winner-loser"), ")"),
        ", or voters take the first side; then this board is about neither.",
    )
    yield Note("winners_first", text)


def left_out(rated: Rated) -> Iterator[Note]:
    """Say that a twentieth of the votes, or more, was left out on reading."""
    dropped = rated.votes.dropped
    n = sum(dropped.values())
    total = rated.votes.n_votes + n
    if n >= LEFT_OUT * total > 0:
        reasons = listing(f"{count:,} {reason}" for reason, count in dropped.items())
        text = f"{n:,} of {plural(total, 'vote')} were left out: {reasons}."
        yield Note("left_out", text)


def gaps(rated: Rated) -> Iterator[Note]:
    """Say how many votes lack an annotator, where annotators are judged."""
    if not rated.judges_annotators:
        return
    if n := rated.votes.n_votes - rated.known_votes.n_votes:
        verb = "lacks" if n == 1 else "lack"
        text = f"{n:,.0f} of {plural(rated.votes.n_votes, 'vote')} {verb} an annotator"
        yield Note("gaps", f"{text}: annotators are judged by the others.")


def divided(rated: Rated) -> Iterator[Note]:
    """Say that about half of the annotators vote against the others."""
    if rated.is_divided:
        text = (
            "About half of the annotators vote against the ranking of the others, and "
            "which half is right, votes cannot tell."
        )
        yield Note("direction", text, more=Call("annotators"))


def judged(rated: Rated) -> Iterator[Note]:
    """Say who is anomalous and who has a favourite, or why nobody was judged."""
    n = rated.votes.n_annotators
    if rated.is_full and n > 1 and not rated.judges_annotators:
        text = (
            f"The {n:,} annotators were not judged: that takes minutes with so many of "
            "them, or of competitors."
        )
        yield Note("annotators", text)
    if isinstance(rated.judge, Note):
        yield rated.judge
    if rated.judge is not None:
        phrases = [*anomalous(rated), *describe_favouring(rated.named_favourites)]
        if phrases:
            who = "; ".join(phrases[: 1 + MOST_NAMED])
            text = f"Annotators: {who}. Their votes count."
            yield Note("annotators", text, more=Call("annotators"))


def anomalous(rated: Rated) -> Iterator[str]:
    """Yield how many annotators are anomalous; by name, where they are few."""
    is_anomalous = np.asarray(rated.annotator_columns["verdict"]) == "anomalous"
    names = np.asarray(rated.annotator_columns["annotator"])[is_anomalous]
    if len(names):
        verb = "is" if len(names) == 1 else "are"
        who = f" ({', '.join(names)})" if len(names) <= MOST_NAMED else ""
        yield f"{len(names)} of {len(is_anomalous):,} {verb} anomalous{who}"


def contested(rated: Rated) -> Iterator[Note]:
    """Say about whom annotators disagree far more than about others."""
    if rated.disagreement is not None:
        names = rated.known_votes.competitors
        texts = describe_contested(rated.pair_table, names, rated.disagreement)
        for text in texts[:1]:
            yield Note("contested", text)


def without_facts(rated: Rated) -> Iterator[Note]:
    """Say about whom there are no facts, and about whom there are, but no votes."""
    if rated.about is None:
        return
    known, rated_ones = rated.about.competitors, rated.votes.competitors
    parts = []
    if lacking := [name for name in rated_ones if name not in set(known)]:
        parts.append(f"No facts about {listing(lacking)}.")
    if unrated := [name for name in known if name not in set(rated_ones)]:
        parts.append(f"Facts, but no votes: {listing(unrated)}.")
    if parts:
        yield Note("about", " ".join(parts))


def which_to_ship(rated: Rated) -> Iterator[Note]:
    """Say who is the cheapest that nobody is surely better than."""
    if rated.about is None or rated.price_frontier is None:
        return
    column = f"{rated.about.priced_in}"
    by = "" if column.lower() in PRICES else f" by {column}"
    if text := describe_choice(rated.price_frontier, f"cheaper{by}", rated.elo):
        yield Note("frontier", text)


def two_groups(rated: Rated) -> Iterator[Note]:
    """Say who ranks differently from the others, and what they prefer.

    It is asked where annotators do not share one ranking.
    """
    if (
        rated.shared is not None
        and rated.shared.p_value < SURE
        and rated.groups.members
    ):
        sentence = describe_groups(rated.groups, rated.annotator_columns)
        yield Note("groups", sentence, more=BOARDS_BY_GROUP)


def two_boards(rated: Rated) -> Iterator[Note]:
    """Say whether the boards of equal and of weighed votes differ by more than chance."""
    result = rated.shared
    if result is None or result.p_value >= SURE:
        return
    if result.exposure > RANDOM_EXPOSURE:
        yield Note("boards", other_competitors(rated, result))
    elif rated.share is None:
        yield Note("boards", one_average(rated, result))


def other_competitors(rated: Rated, result: SharedRanking) -> Said:
    """Say that annotators saw different competitors, and what allows for it."""
    moved = int(np.argmax(np.abs(result.gap)))
    name = rated.votes.competitors[moved]
    allowing: Said = (" ", Use(model="am-davidson"), " allows for that.")
    if len(rated.named_favourites.get("annotator", ())):  # whose votes would weigh most
        leaving_out = Use(without="favourites")
        allowing = (" First leave out who has a favourite (", leaving_out, ").")
    return (
        "Annotators saw different competitors.",
        allowing,
        f" Weighing votes by their annotator would move '{name}' the most: "
        f"{abs(result.gap[moved]):.0f} Elo.",
    )


def one_average(rated: Rated, result: SharedRanking) -> Said:
    """Say that the board is an average, and how far it could safely go from there."""
    text = "Annotators disagree on the ranking; this board averages over them."
    if not is_combinable(rated.fit, rated.standing.look):
        return text
    if result.share < NO_SHARE:
        return f"{text} Weighing them is not sure to help."
    moved = int(np.argmax(np.abs(result.gap)))
    name, size = rated.votes.competitors[moved], result.share * abs(result.gap[moved])
    return (
        f"{text} Weighing them as far as is safe",
        (" (", Use(combined=True), f", here {100 * result.share:.0f} %)"),
        f" would move '{name}' the most: {size:.0f} Elo.",
    )


def unexplained(rated: Rated) -> Iterable[Note]:
    """Say which result no ranking explains."""
    return no_ranking_explains(rated.fit)


def reservations(rated: Rated) -> Iterable[Note]:
    """Say what intervals do not allow for, and who has no rank."""
    return rated.standing.reservations


def advantage(rated: Rated) -> Iterator[Note]:
    """Say whether the side shown first wins more often."""
    posterior = rated.fit.posterior
    if not posterior.design.has("position"):
        return
    b = posterior.common("position")
    if abs(b) < SURE_SIDE * float(posterior.sd_of("position")[0]):
        return
    side = "first" if b > 0 else "second"
    share = 100 * float(expit(abs(b)))
    text = (
        f"Between equals the {side} side wins {share:.0f} % of the decided votes; scores "
        "allow for it."
    )
    yield Note("advantage", text)


NOTES: tuple[Callable[[Rated], Iterable[Note]], ...] = (
    changes,
    sides,
    winners_first,
    left_out,
    which_to_ship,
    without_facts,
    gaps,
    divided,
    judged,
    two_groups,
    contested,
    two_boards,
    unexplained,
    reservations,
    advantage,
)
