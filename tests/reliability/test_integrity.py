"""Whose votes carry a competitor: suspects named by hand on small arenas, and found among simulated attacks."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from conftest import real_votes
from crowds import Crowd, honest_arena
from numpy.testing import assert_allclose
from rigging import rig
from scipy.stats import binom

import bayes_arena as ba
from bayes_arena.reliability.favours import sentences
from bayes_arena.reliability.suspect_groups import SuspectGroup
from bayes_arena.trust.judgement import Campaign, Judgement
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.search.drips import find_drips

TARGET = "model-3"


def judged(cells: ba.Cells, members: list[str], *, down: bool = False, unjudged: str = "") -> Judgement:
    """Return the judgement that some accounts favour the target, or hate it, and nobody else does."""
    who = np.isin(cells.annotators, members)
    campaigns = (Campaign(cells.competitors.index(TARGET), down),) if members else ()
    return Judgement(cells, None, campaigns, (), np.where(who, 0, -1), np.where(who, 0.99, 0.0), unjudged)


@pytest.fixture(scope="module")
def rigged(arena) -> ba.Cells:
    """The small arena, and two accounts that vote for one: 30 of 30 times, and 18 of 20 beside 10 ties elsewhere."""
    others = [name for name in arena.competitors if name != TARGET]
    rows = [(TARGET, others[n % 5], "model_a", "rigger-1") for n in range(30)]
    rows += [(others[n % 5], TARGET, "model_b" if n < 18 else "tie", "rigger-2") for n in range(20)]
    rows += [(others[n % 5], others[(n + 1) % 5], "tie", "rigger-2") for n in range(10)]
    votes = pl.DataFrame(rows, schema=arena.votes.columns, orient="row")
    return ba.read_votes(pl.concat([arena.votes, votes]))


def fitted(cells: ba.Cells, trust: Judgement) -> ba.Fit:
    """Return Bradley-Terry's model of the votes that count."""
    fit = ba.fit(cells if trust.unjudged else trust.counted, model="bradley-terry")
    return replace(fit, trust=trust)


@pytest.fixture(scope="module")
def table(rigged):
    return ba.integrity(fitted(rigged, judged(rigged, ["rigger-1", "rigger-2"])))


def test_the_doubtful_one_comes_first_and_its_votes_are_counted(table, arena_cells):
    first = table.iloc[0]
    assert first["competitor"] == TARGET
    assert first[["favoured_by", "hated_by", "suspect_votes"]].tolist() == [2, 0, 50]
    honest = ba.leaderboard(ba.fit(arena_cells, model="bradley-terry")).set_index("competitor").loc[TARGET]
    assert first["votes"] == honest["votes"] + 50 and first["accounts"] == 7
    assert first["largest_share"] > 30 / first["votes"]
    assert first["favour_probability"] == 0.99
    assert (table["honest_only_if"] != "").tolist() == [True] + [False] * 5
    assert (table["suspect_votes"][1:] == 0).all()


def test_with_and_without_are_the_boards_of_bradley_terry(table, rigged, arena_cells):
    for column, cells in (("with", rigged), ("without", arena_cells)):
        board = ba.leaderboard(ba.fit(cells, model="bradley-terry")).set_index("competitor")
        ours = table.set_index("competitor").loc[board.index]
        assert_allclose(ours[f"elo_{column}"], board["elo"], atol=1e-4)
        assert ours[f"rank_{column}"].tolist() == board["rank"].tolist()
    assert table.attrs["leaderboard"] == "without" and table.attrs["unjudged"] == ""


def test_an_anchor_holds_with_and_without(rigged):
    fit = fitted(rigged, judged(rigged, ["rigger-1"]))
    table = ba.integrity(fit, elo=ba.EloScale(anchor=("model-1", 1500.0))).set_index("competitor")
    assert_allclose(table.loc["model-1", ["elo_with", "elo_without"]].tolist(), 1500.0)


def test_what_would_have_to_be_true_in_words(table):
    said = table["honest_only_if"][0]
    assert said.startswith("2 accounts voted for it 48 of 50 times, where ")
    assert said.endswith(f"or it happened by chance (1 in 10^{int(-table['log10_chance'][0])})")
    assert -20 < table["log10_chance"][0] < -6


def test_who_hates_is_counted_the_other_way_round(rigged):
    turned = np.isin(rigged.annotator, np.flatnonzero([name.startswith("rigger") for name in rigged.annotators]))
    counts = rigged.counts.copy()
    counts[turned] = counts[turned][:, [1, 0, 2, 3]]
    cells = replace(rigged, counts=counts)
    first = ba.integrity(fitted(cells, judged(cells, ["rigger-1", "rigger-2"], down=True))).iloc[0]
    assert first[["competitor", "favoured_by", "hated_by"]].tolist() == [TARGET, 0, 2]
    assert first["honest_only_if"].startswith("2 accounts voted against it 48 of 50 times, where ")
    assert first["elo_with"] < first["elo_without"]


def test_where_nobody_can_be_judged_all_votes_count_and_the_question_is_who_is_wrong(rigged):
    trust = judged(rigged, ["rigger-1", "rigger-2"], unjudged="Too many.")
    table = ba.integrity(fitted(rigged, trust))
    assert table.attrs == {"leaderboard": "with", "unjudged": "Too many."}
    board = ba.leaderboard(ba.fit(rigged, model="bradley-terry")).set_index("competitor")
    assert_allclose(table["elo_with"], board["elo"].loc[table["competitor"]], atol=1e-4)
    assert table["elo_without"][0] < table["elo_with"][0]
    assert table["honest_only_if"][0].endswith("and cast 9% of all votes: the others would have to be wrong")


def test_nobody_suspect_moves_nothing(rigged):
    table = ba.integrity(fitted(rigged, judged(rigged, [])))
    assert (table["elo_with"] == table["elo_without"]).all()
    assert set(table["honest_only_if"]) == {""} and set(table["log10_chance"]) == {0.0}
    assert not table.isna().to_numpy().any()


def test_a_fit_that_did_not_look_is_refused_with_a_remedy(arena_cells):
    with pytest.raises(ba.ModelError, match="robust=True"):
        ba.integrity(ba.fit(arena_cells, robust=False))


def test_too_few_annotators_are_said_to_be(arena, arena_cells):
    few = ba.keep_annotators(arena_cells, more_than=int(np.sort(arena_cells.votes_by_annotator())[1]))
    fit = ba.fit(few, robust=True, method="map")
    assert "fewer than 5 annotators" in ba.integrity(fit).attrs["unjudged"]


def test_small_accounts_are_set_against_the_rest(arena):
    rows = [(TARGET, "model-1", "model_a", f"new-{n}") for n in range(60)]
    rows += [("model-5", "model-6", "model_a" if n % 2 else "model_b", f"new-{n}") for n in range(20)]
    cells = ba.read_votes(pl.concat([arena.votes, pl.DataFrame(rows, schema=arena.votes.columns, orient="row")]))
    drips = find_drips(Ballots.of(cells), np.ones(cells.n_annotators, dtype=bool))
    trust = Judgement(cells, None, (), drips, np.full(cells.n_annotators, -1), np.zeros(cells.n_annotators), "")
    table = ba.integrity(fitted(cells, trust)).set_index("competitor")
    assert table.index[0] == TARGET
    pushed = table.loc[TARGET]
    assert pushed[["small_accounts", "small_votes", "suspect_votes"]].tolist() == [60, 60, 60]
    assert pushed["small_z"] == pytest.approx(drips[0].z) and pushed["small_shift"] > 100
    assert pushed["honest_only_if"].startswith("60 small accounts voted for it 60 of 60 times")
    assert abs(table.loc["model-1", "small_z"]) == 0  # pushed away by votes for the other
    assert table.loc["model-5", "small_votes"] == 20
    alone = ba.integrity(fitted(cells.take(cells.a >= 0), replace(trust, drips=())))
    assert set(alone["honest_only_if"]) == {""}


def group(votes: float, meant: float, expected: float, log_ways: float = 0.0) -> SuspectGroup:
    return SuspectGroup(0, False, 1, votes, meant, expected, 0.1, False, log_ways)


@pytest.mark.parametrize(("n", "m", "p"), [(10, 10, 0.3), (110, 106, 0.25), (40, 20, 0.4), (7, 7, 0.99)])
def test_the_chance_is_above_the_binomial_tail_and_not_far(n, m, p):
    exact = binom.logsf(m - 1, n, p) / np.log(10)
    assert exact <= group(n, m, n * p).log10_chance <= exact + np.log10(n + 1)


def test_the_chance_bounds_votes_of_different_probability_too():
    p = np.linspace(0.05, 0.75, 30)
    exact = np.ones(1)
    for each in p:
        exact = np.convolve(exact, [1 - each, each])
    for m in range(13, 31):
        assert np.log10(exact[m:].sum()) <= group(30, m, p.sum()).log10_chance


def test_fewer_votes_than_expected_or_picked_among_many_are_no_surprise():
    assert group(10, 3, 4).log10_chance == 0
    assert group(10, 8, 4, log_ways=50.0).log10_chance == 0
    assert "or it happened by chance" in group(10, 3, 4).said(judged=True)


def test_how_somebody_favours(rigged):
    said = dict(zip(rigged.annotators, sentences(judged(rigged, ["rigger-1", "rigger-2"]), 0.1), strict=True))
    on_target = np.isin(rigged.competitors, [TARGET])[[rigged.a, rigged.b]].any(axis=0)
    theirs = rigged.annotator == rigged.annotators.index("rigger-2")
    usual = rigged.counts[on_target & ~theirs].sum() / rigged.counts[~theirs].sum()
    times = f"{20 / 30 / usual:.1f}"
    assert said["rigger-1"].startswith("votes for it 30 of 30 times; meets it ")
    assert said["rigger-1"].endswith("; votes on nothing else")
    assert (
        said["rigger-2"]
        == f"votes for it 18 of 20 times; meets it {times} times as often as others; ties elsewhere 100%"
    )
    assert {text for name, text in said.items() if not name.startswith("rigger")} == {""}


@pytest.mark.slow
def test_a_bought_rank_is_seen_through():
    arena = honest_arena(Crowd(annotators=40), competitors=12, votes=3_000, seed=2)
    target = arena.ranked(8)
    attack = rig(arena.cells, "t-abstain", target, accounts=5, votes=60, seed=1)
    with pytest.warns(ba.SuspectVotesWarning):
        fit = ba.fit(attack.cells)
    first = ba.integrity(fit).iloc[0]
    honest = ba.leaderboard(ba.fit(arena.cells)).set_index("competitor")["rank"][target]
    assert first["competitor"] == target and first["favoured_by"] == 5 and first["suspect_votes"] == 300
    assert first["rank_with"] <= 2 and abs(first["rank_without"] - honest) <= 1
    assert first["log10_chance"] < -80
    table = ba.annotators(fit).set_index("annotator")
    assert set(table.index[table["how"].str.startswith("votes for it 60 of 60 times; ")]) == set(attack.riggers)


@pytest.mark.slow
def test_llmfao_and_mt_bench(llmfao):
    with pytest.warns(ba.SuspectVotesWarning, match="Weaver 12k"):
        fit = ba.fit(llmfao)
    table = ba.integrity(fit)
    assert table["competitor"][0] == "Weaver 12k" and table["honest_only_if"][0].startswith(
        "2 accounts voted for it 149"
    )
    assert set(table["honest_only_if"][1:]) == {""}
    how = ba.annotators(fit).set_index("annotator")["how"]
    assert how["worker_15"].startswith("votes for it 106 of 110 times; meets it 1.0 times")
    nobody = ba.integrity(ba.fit(ba.read_votes(real_votes("mt_bench_human.csv"), prompt=False)))
    assert set(nobody["honest_only_if"]) == {""}
