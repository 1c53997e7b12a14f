"""How unlikely the suspects' votes are by chance.

Of their n votes on a competitor, m are for it (against it, if they hate it). Others who call as many ties would vote so
on vote v with probability p_v, under Davidson's model with the strengths from the others' votes. With p the mean of
p_v, and q = m / n above p,

    P(m or more) <= exp(-n KL(q, p)),        KL(q, p) = q ln(q / p) + (1 - q) ln((1 - q) / (1 - p)),

the bound on the binomial tail, which holds whatever the individual p_v are. The g suspects were selected as the most
striking of A accounts, for or against one of N competitors, so the bound is multiplied by the number of selections,
C(A, g) 2 N. Small accounts are not selected one by one: for them the factor is 2 N. For several groups on one
competitor the bounds are multiplied.

Reference: Hoeffding, W. (1963), "Probability inequalities for sums of bounded random variables", JASA 58, theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, rel_entr

from bayes_arena.reliability.favours import Aims
from bayes_arena.trust.classes import TIE
from bayes_arena.trust.judgement import SMALL, Judgement
from bayes_arena.trust.plain.ballots import DAVIDSON, Ballots
from bayes_arena.trust.plain.strengths import strengths
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import WIN, wins_losses_ties


@dataclass(frozen=True)
class SuspectGroup:
    """Suspects who push one competitor, and their votes on it.

    Attributes
    ----------
    competitor : int
    down : bool
        Whether they push it down.
    accounts : int
        Number of accounts with a vote on it.
    votes, meant, expected : float
        Their votes on it; those for it (against it, if they push it down); the number expected of other annotators.
    share : float
        Their share of all votes.
    small : bool
        Whether they are small accounts, taken together.
    log_ways : float
        Logarithm of the number of ways to select such a group.
    """

    competitor: int
    down: bool
    accounts: int
    votes: float
    meant: float
    expected: float
    share: float
    small: bool
    log_ways: float

    @property
    def log10_chance(self) -> float:
        """Upper bound on the decimal logarithm of the probability of such votes, or more extreme ones, by chance."""
        q, p = self.meant / self.votes, self.expected / self.votes
        if q <= p:
            return 0.0
        divergence = float(rel_entr(q, p) + rel_entr(1 - q, 1 - p))
        return min(self.log_ways - self.votes * divergence, 0.0) / math.log(10)

    def said(self, *, judged: bool) -> str:
        """Say what would have to be true for them to be honest."""
        kind, way = "small account" if self.small else "account", "against" if self.down else "for"
        seen = (
            f"{self.accounts:,} {kind}{'s' * (self.accounts != 1)} voted {way} it {self.meant:,.12g} of "
            f"{self.votes:,.12g} times, where {self.expected / self.votes:.0%} is expected of others"
        )
        if not judged:
            return f"{seen}, and cast {self.share:.0%} of all votes: the others would have to be wrong"
        taste = f"{'they share' if self.accounts > 1 else 'it has'} a {'dislike of' if self.down else 'liking for'} it"
        exponent = math.floor(-self.log10_chance)
        odds = f" (1 in {f'10^{exponent}' if exponent > 6 else f'{10**exponent:,}'})" if exponent > 0 else ""
        return f"{seen}: {taste} that others do not have, or it happened by chance{odds}"


def suspect_groups(trust: Judgement, aims: Aims, others: Cells) -> list[SuspectGroup]:
    """Find the groups of suspects who push a competitor.

    Parameters
    ----------
    trust : Judgement
        Whose votes count.
    aims : Aims
        The competitors that suspects favour or hate.
    others : Cells
        The votes of annotators who are not suspect.
    """
    cells, votes = trust.cells, trust.cells.votes_by_annotator()
    log_aims, size = math.log(2 * cells.n_competitors), cells.n_annotators
    suspects = []
    for c, down in sorted({(int(c), bool(h)) for c, h in zip(aims.competitor, aims.hates, strict=True) if c >= 0}):
        who = (aims.competitor == c) & (aims.hates == down)
        g = int(who.sum())
        suspects.append((c, down, who, float(gammaln(size + 1) - gammaln(g + 1) - gammaln(size - g + 1)) + log_aims))
    small = (votes <= SMALL) & (aims.competitor < 0)
    pushed = [(drip.competitor, drip.down, small, log_aims) for drip in trust.drips]
    if not suspects and not pushed:
        return []
    point = strengths(Ballots.of(others))
    log_ties = np.full(size, point.common[0]) if trust.kinds is None else trust.kinds.numbers[:, TIE]
    found = []
    for c, down, who, log_ways in suspects + pushed:
        rows = np.flatnonzero(who[cells.annotator] & ((cells.a == c) | (cells.b == c)))
        if not len(rows):
            continue
        a, b, annotator = cells.a[rows], cells.b[rows], cells.annotator[rows]
        upwards = (a == c) ^ down
        a_wins, b_wins, ties = wins_losses_ties(cells.counts[rows])
        lead = np.where(upwards, 1.0, -1.0) * (point.strength[a] - point.strength[b])
        p = np.exp(DAVIDSON.likelihood.log_probabilities(np.array([lead, log_ties[annotator]]))[WIN])
        group = SuspectGroup(
            competitor=c,
            down=down,
            accounts=len(np.unique(annotator)),
            votes=float((a_wins + b_wins + ties).sum()),
            meant=float(np.where(upwards, a_wins, b_wins).sum()),
            expected=float(((a_wins + b_wins + ties) * p).sum()),
            share=float(votes[who].sum() / cells.n_votes),
            small=who is small,
            log_ways=log_ways,
        )
        found.append(group)
    return found
