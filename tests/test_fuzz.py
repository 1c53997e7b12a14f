"""Random arenas on which something broke once."""

import pytest
from fuzz import VERBS, arena, attempt, holes

import bayes_arena as ba

FLAT = {"model": "am-davidson", "prior": "flat"}
BROKE = [
    (74, FLAT, "annotators"),
    (199, FLAT, "flag"),
    (216, {}, "integrity"),
    (700113, {"dimensions": 1}, "leaderboard"),
    (700212, {}, "leaderboard"),
    (701298, {}, "versus"),
    (900131, {"model": "davidson", "prior": "weak"}, "flips by annotator"),  # took minutes
    (4002384, {"model": ba.Model("grid", ties="glenn-david", position="common")}, "judge_report"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "how", "verb"), BROKE)
def test_what_broke_once_holds(seed, how, verb):
    table, options = arena(seed)
    fit, broken = attempt(lambda: ba.fit(ba.read_votes(table, **options), **how))
    assert not broken
    names = {"k000": fit.cells.annotators[0], "m000": fit.cells.competitors[0], "m001": fit.cells.competitors[1]}
    answer, broken = attempt(lambda: VERBS[verb](fit, names))
    assert (broken, holes(verb, answer), isinstance(answer, ba.ArenaError)) == ("", "", False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")
def test_one_vote_does_not_reverse_a_lead_of_which_all_draws_are_sure():
    """Votes of billions, of which Newton finds no mode with some left out: refused, where one vote was the answer."""
    table, options = arena(2001811)
    fit = ba.fit(ba.read_votes(table, **options), model="am-elo")
    with pytest.raises(ba.errors.ConvergenceError, match="No mode was found after"):
        ba.flips(fit)
