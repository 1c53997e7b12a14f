"""What the columns of tables mean, for --explain."""

from __future__ import annotations

from collections.abc import Iterable

MEANING = {
    "rank": "1 for the best; none with fewer than --min-votes votes",
    "elo": "score: 400 points more mean ten wins to one loss, ties as half wins",
    "lower": "lower end of the interval",
    "upper": "upper end of the interval",
    "rank_lower": "best rank that the competitor's own uncertainty allows, at --level",
    "rank_upper": "worst rank that it allows",
    "votes": "votes, or the sum of their weights",
    "p_best": "probability of being the best of all that have a rank",
    "rank_before": "rank with the votes that --without leaves out",
    "elo_before": "score with them",
    "gap": "Elo points by which the first is ahead",
    "p_ahead": "probability that the first is stronger",
    "score": "share of votes that the first is expected to get, ties as half votes",
    "more_votes": "on the two, as the others came, until their order is settled; 0 if it is",
    "points": "of the first in the votes on the two, ties as half",
    "expected": "points that the ranking lets expect of these votes",
    "p_unexplained": "chance of such points, or further off, by a ranking: at most this",
    "flagged": "whether it is said: one in twenty of these is false, at most",
    "worth": "of a vote on the pair, relative to the best pair",
    "verdict": "anomalous (P of .8, ten votes, a fault), has a favourite, suspect (P of .5), "
    "differs (a ranking of its own), ordinary",
    "why": "what speaks for the verdict",
    "reason": "its kind: copies, favourite, reversed, ties, side, chance, loose, own ranking, "
    "opposed",
    "p_anomaly": "probability that the agreement is below .4 of the median annotator's",
    "agreement": "with the others: 0 is chance, 1 is always, below 0 is against them",
    "theta": "discrimination: 1 on average, 0 for guessing, negative for reversed votes",
    "ties": "ties; of an annotator their share",
    "side": "share of the decided votes that went to the first side",
    "theta_of_sum_one": "theta as the paper has it: the sum over annotators is 1",
    "flagged_by_theta": "whether theta is at or below 0: the paper's rule",
    "own_maker": "preference for competitors of its own maker, in logits",
    "own_lower": "lower end of its interval",
    "own_upper": "upper end of its interval",
    "elpd": "log score of votes left out one at a time, summed, in nats; higher is better",
    "elpd_diff": "difference from the best model",
    "se": "standard error of elpd",
    "dse": "standard error of the difference",
    "weight": "share of the model in the best mixture of predictions",
    "pareto_k": "above .7 the estimate is unreliable: use --over",
    "log_score": "of a vote held out, in nats; higher is better",
    "squared_error": "of the expected score of a vote held out; lower is better",
    "auc": "share of decided votes on the right side, ranked by prediction",
    "log_score_diff": "difference from the first model; _se is the standard error",
    "status": "ok; note: the ranking stands; problem: it may not",
    "sd": "standard deviation of the score",
    "excluded": "annotators with theta at or below epsilon",
    "waiting": "annotators with delta votes or fewer",
}


def explanations(names: Iterable[str]) -> list[str]:
    """Return a line for each column whose name does not say it all."""
    known = [name for name in names if name in MEANING]
    width = max(map(len, known), default=0)
    return [f"{name:<{width}}  {MEANING[name]}" for name in known]
