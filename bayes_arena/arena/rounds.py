"""Rounds of the Stable Arena: who takes part, whom they judge, and what the file keeps of them.

One round (Algorithm 3 of the am-ELO paper), with S the stored votes and delta_k the number of votes of annotator k:

1. S' = votes of the annotators who are not excluded and have delta_k > delta; the others wait for more votes.
2. Strengths R and discriminations theta are fitted to S' and published.
3. Annotators with theta_k <= epsilon, on the paper's scale (sum_k theta_k = 1), are warned, or excluded from later
   rounds. Their votes stay stored, so that they can be readmitted; the next round then judges them again.

With ``prior="flat", delta=50, exclude="exclude"`` this is the paper's algorithm. By default no annotator has to wait,
since the pooled model copes with annotators of few votes, and annotators are only warned. Where votes on a competitor
are not those of one crowd, step 2 discounts some of them (:mod:`bayes_arena.promotion`).

Source: Liu et al., "am-ELO", ICML 2025, section 4.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from bayes_arena.arena.store import Session, Store, now
from bayes_arena.arrays import Columns, DataFrame
from bayes_arena.errors import StoreError
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.laplace import Laplace
from bayes_arena.reliability.annotators import annotator_columns
from bayes_arena.reliability.flagging import discoveries, flag_by_theta
from bayes_arena.version import __version__
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import whole_counts
from bayes_arena.votes.selection import drop_annotators, keep_annotators

Decision = Literal["warned", "excluded", "readmitted"]
Policy = Literal["warn", "exclude"]
DECISIONS: Mapping[Policy, Decision] = {"warn": "warned", "exclude": "excluded"}


@dataclass(frozen=True, eq=False)
class Round:
    """What a round published and decided.

    Attributes
    ----------
    number : int
        1 for the first.
    fit : Fit
        Its fit, from which every table of the package can be made.
    flagged : mapping of str to str
        Annotators warned or excluded by the round, and why.
    decision : {"warned", "excluded"}
        Whether flagged annotators were warned or excluded.
    waiting, excluded : tuple of str
        Annotators not in the round: for too few votes, or by an earlier decision.
    ratings : dict of str to sequence
        Columns of :func:`~bayes_arena.leaderboard`, at the round's level and on its scale.
    """

    number: int
    fit: Fit
    ratings: Columns
    flagged: Mapping[str, str]
    decision: Decision
    waiting: tuple[str, ...]
    excluded: tuple[str, ...]


def ability_columns(fit: Fit, *, level: float) -> Columns:
    """Return the table of a round's annotators: their votes and, if the model has such numbers, how well they vote."""
    if not fit.target.own:
        return {"annotator": list(fit.cells.annotators), "votes": fit.cast.votes_by_annotator()}
    return annotator_columns(fit, Laplace(), level=level)


def publish(
    store: Store, round: Round, abilities: Columns, *, level: float, elo: EloScale, settings: Mapping[str, Any]
) -> None:
    """Write the round after the last in the file, with columns of :func:`ability_columns`, in one transaction."""
    result = round.fit
    settings = {
        **settings,
        "level": level,
        "elo": asdict(elo),
        "model": asdict(result.model),
        "prior": asdict(result.prior),
        "spreads": asdict(result.spreads),
    }
    about = {
        "round": round.number,
        "time": now(),
        "version": __version__,
        "votes": result.cast.n_votes,
        "competitors": result.cells.n_competitors,
        "annotators": result.cells.n_annotators,
        "waiting": len(round.waiting),
        "excluded": len(round.excluded),
        "flagged": len(round.flagged),
        "model": result.model.name,
        "prior": str(result.prior),
        "method": result.method,
        "evidence": result.evidence,
        "mean_loss": result.mean_loss,
        "warnings": list(result.warnings),
        "settings": _json(settings),
    }
    judged = {name: abilities[name] for name in ("annotator", "votes", *JUDGED) if name in abilities}
    tables = (("rating", "competitor", round.ratings), ("ability", "annotator", judged))
    with store.transaction() as session:
        if last_round(session) != round.number - 1:
            raise StoreError(f"Another part of this program has published round {round.number} first. Rate again.")
        session.execute(
            f"insert into round ({', '.join(about)}) values ({', '.join('?' for _ in about)})", list(about.values())
        )
        for table, kind, columns in tables:
            codes = session.codes(kind)
            numbers = np.array([codes[name] for name in columns[kind]], dtype=np.int64)
            session.insert(table, columns | {kind: numbers, "round": np.full(len(numbers), round.number)})
        decide(session, round.flagged, round.decision, round.number)


def _json(settings: Mapping[str, Any]) -> str:
    """Write settings as JSON; infinity, which JSON lacks, becomes text."""
    return json.dumps(json.loads(json.dumps(settings), parse_constant=str), ensure_ascii=False)


def decide(session: Session, reasons: Mapping[str, str], decision: Decision, round: int) -> None:
    """Record a decision about annotators, with the reason for each, in the caller's transaction."""
    if not reasons:
        return
    codes = session.codes("annotator")
    ((last,),) = session.rows("select coalesce(max(number), 0) from decision")
    size = len(reasons)
    session.insert(
        "decision",
        {
            "number": last + np.arange(1, size + 1),
            "annotator": np.array([codes[name] for name in reasons]),
            "round": np.full(size, round),
            "time": np.full(size, np.datetime64(now(), "us")),
            "decision": np.full(size, decision, dtype=object),
            "reason": np.array(list(reasons.values()), dtype=object),
        },
    )


def last_round(session: Session) -> int:
    """Return the number of the last round, 0 if there was none."""
    ((number,),) = session.rows("select coalesce(max(round), 0) from round")
    return int(number)


JUDGED = (
    "verdict",
    "kind",
    "anomaly_probability",
    "net_agreement",
    "theta",
    "theta_lower",
    "theta_upper",
    "theta_paper",
    "p_negative",
)
"""Columns of :func:`~bayes_arena.annotators` that a round publishes."""


EXCLUDED = """
select annotator from decision where decision in ('excluded', 'readmitted')
group by annotator having arg_max(decision, number) = 'excluded'
"""


def excluded_annotators(session: Session) -> tuple[str, ...]:
    """Return the annotators that the next round leaves out, whatever their number of votes."""
    return tuple(
        name for (name,) in session.rows(f"select name from annotator where code in ({EXCLUDED}) order by name")
    )


def status_table(session: Session) -> DataFrame:
    """Return the status of every annotator."""
    table = session.table(f"""
        with stored as (select annotator as code, sum(weight * n) as votes from cell group by annotator),
        rated as (
            select annotator as code, * exclude (annotator, votes) from ability
            qualify row_number() over (partition by annotator order by round desc) = 1
        ),
        last as (select (annotator, decision) from decision where round = (select max(round) from round))
        select name as annotator, stored.votes,
            case
                when code in ({EXCLUDED}) then 'excluded'
                when (code, 'warned') in (from last) then 'warned'
                when rated.round is distinct from (select max(round) from round) then 'waiting'
                else 'active'
            end as status,
            rated.round, {", ".join(name for name in JUDGED if name not in ("theta_lower", "theta_upper"))}
        from annotator join stored using (code) left join rated using (code)
        order by theta nulls last, name
    """)
    return table.assign(votes=whole_counts(table["votes"].to_numpy()), round=table["round"].astype("Int64"))


def rating_table(session: Session) -> DataFrame:
    """Return the ratings of all rounds, with the level of their intervals in ``attrs`` if there is only one."""
    table = session.table(
        "select round, name as competitor, elo, lower, upper, rank "
        "from rating join competitor on code = competitor order by round, rank, name"
    )
    settings = {text for (text,) in session.rows("select settings from round")}
    try:
        levels = {float(json.loads(text)["level"]) for text in settings}
    except (LookupError, RecursionError, TypeError, ValueError):
        levels = set()
    session.require(len(levels) or not settings, "a round lacks the level of its intervals")
    if len(levels) == 1:
        table.attrs["level"] = levels.pop()
    return table


def round_table(session: Session) -> DataFrame:
    """Return a summary of every round."""
    table = session.table("select * from round order by round")
    return table.assign(votes=whole_counts(table["votes"].to_numpy()))


def decision_table(session: Session) -> DataFrame:
    """Return who was warned, excluded or readmitted."""
    return session.table(
        "select name as annotator, decision, round, time, reason "
        "from decision join annotator on code = annotator order by number"
    )


def taking_part(cells: Cells, excluded: tuple[str, ...], delta: float) -> Cells:
    """Return the votes of the annotators who are not excluded and have more than ``delta`` votes."""
    if excluded:
        cells = drop_annotators(cells, excluded)
    if delta > 0:
        cells = keep_annotators(cells, more_than=delta)
    return cells


def flagged_by_theta(fit: Fit, epsilon: float) -> dict[str, str]:
    """Return the annotators with too little discrimination, and why."""
    if not fit.target.free_discrimination:
        return {}
    return dict.fromkeys(flag_by_theta(fit, epsilon=epsilon), f"theta (sum 1) not above {epsilon:g}")


def flagged_at_fdr(fit: Fit, abilities: Columns, fdr: float) -> dict[str, str]:
    """Return the annotators flagged at a false discovery rate, as by :func:`~bayes_arena.flag`, and why."""
    if not fit.target.own:
        return {}
    anomaly, names = np.asarray(abilities["anomaly_probability"]), abilities["annotator"]
    return {
        str(names[k]): f"anomaly probability {anomaly[k]:.3f}, false discovery rate {fdr:g}"
        for k in discoveries(anomaly, fdr)
    }
