"""How many votes, and whose, an order rests on."""

from dataclasses import replace
from itertools import combinations, combinations_with_replacement

import numpy as np
import polars as pl
import pytest
from conftest import real_votes
from helpers import answered_votes, frame, run

import bayes_arena as ba
from bayes_arena.decisions import fewest
from bayes_arena.decisions.fewest import Path, changes, fewest_along

BRADLEY_TERRY = ba.Model("plain")


@pytest.fixture(scope="module")
def votes(arena) -> pl.DataFrame:
    return arena.votes


@pytest.fixture(scope="module")
def fitted(arena_cells) -> ba.Fit:
    return ba.fit(arena_cells, model="am-davidson", method="map")


def lead(votes: pl.DataFrame, fit: ba.Fit, pair: tuple[str, str]) -> float:
    """By how much the one leads the other in a refit under the same prior."""
    again = ba.fit(ba.read_votes(votes), model=fit.model, prior=fit.spreads, method="map")
    strength = dict(zip(again.cells.competitors, again.strength + again.view.slices @ again.point.slices, strict=True))
    return strength[pair[0]] - strength[pair[1]]


def places(votes: pl.DataFrame, table) -> list[int]:
    """Rows of the votes that a table names, in its order."""
    found: list[int] = []
    every = votes.to_dicts()
    for row in table.to_dict("records"):
        cast = {**row, "judge": row["annotator"]}
        alike = [index for index, vote in enumerate(every) if all(value == cast[name] for name, value in vote.items())]
        assert len(alike) == row["of"]
        found += alike[: row["votes"]]
    return found


def fewest_by_brute_force(cells: ba.Cells, pair: tuple[int, int], at_most: int) -> float:
    """Fewest votes without which a refit has the pair the other way round, of all subsets."""
    stacks = np.argwhere(cells.counts > 0)
    for size in range(1, at_most + 1):
        for chosen in combinations_with_replacement(range(len(stacks)), size):
            counts = cells.counts.copy()
            np.subtract.at(counts, tuple(stacks[list(chosen)].T), 1)
            if (counts < 0).any():
                continue
            strength = ba.fit(cells.take(slice(None), counts=counts), model=BRADLEY_TERRY).strength
            if strength[pair[0]] - strength[pair[1]] < -1e-6:
                return size
    return np.inf


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 22])
def test_k_is_that_of_brute_force_over_all_subsets(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=11)
    b = (a + rng.integers(1, 3, size=11)) % 3
    winner = rng.choice(["model_a", "model_b", "tie"], p=[0.5, 0.3, 0.2], size=11)
    cells = ba.read_votes(frame([(f"m{i}", f"m{j}", word) for i, j, word in zip(a, b, winner, strict=True)]))
    table = ba.flips(ba.fit(cells, model=BRADLEY_TERRY), max_share=0.9)
    for row in table.to_dict("records"):
        pair = tuple(cells.competitors.index(row[side]) for side in ("competitor", "opponent"))
        assert fewest_by_brute_force(cells, pair, 4) == row["k"]
    assert (table["k_linear"] > table["k"]).any()


@pytest.mark.slow
def test_without_the_votes_named_the_order_is_the_other_and_with_one_of_them_returned_it_is_not(votes, fitted):
    row = ba.flips(fitted).sort_values("k").iloc[-1]
    pair = row["competitor"], row["opponent"]
    table = ba.flip_votes(fitted, *reversed(pair))
    named = places(votes, table)
    assert len(named) == row["k"] == table["votes"].sum() > 5
    assert row["share"] == row["k"] / len(votes)
    assert row["annotators"] == table["annotator"].nunique()
    assert lead(votes, fitted, pair) > 0
    for returned, sign in (([], -1), (named[-1:], 1), (named[:1], 1)):
        rest = [index for index in range(len(votes)) if index not in named or index in returned]
        assert np.sign(lead(votes[rest], fitted, pair)) == sign


@pytest.mark.slow
def test_votes_turned_round_turn_the_order(votes, fitted):
    pair = tuple(ba.flips(fitted, "top", how="flip").iloc[0][["competitor", "opponent"]])
    named = places(votes, ba.flip_votes(fitted, *pair, how="flip"))
    other = {"model_a": "model_b", "model_b": "model_a"}
    turned = [other[word] if row in named else word for row, word in enumerate(votes["winner"])]
    assert lead(votes.with_columns(winner=pl.Series(turned)), fitted, pair) < 0
    assert len(named) < ba.flips(fitted, "top").loc[0, "k"]


def test_votes_added_for_the_opponent_turn_the_order(votes):
    anonymous = votes.drop("judge")
    fit = ba.fit(ba.read_votes(anonymous), model=ba.Model("side", ties="davidson", position="common"))
    assert "annotators" not in ba.flips(fit, "top")  # nobody is known
    row = ba.flips(fit, "top", how="add").iloc[0]
    pair, k = (row["competitor"], row["opponent"]), int(row["k"])
    assert row["share"] == k / len(votes)

    def with_added(size: int) -> pl.DataFrame:
        sides = [(*pair, "model_b"), (*reversed(pair), "model_a")]
        added = frame([sides[index % 2] for index in range(size)])
        return pl.concat([anonymous.select(added.columns), added])

    assert lead(with_added(k + 1), fit, pair) < 0 < lead(with_added(k - 2), fit, pair)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["am-davidson", ba.Model("ties", ties="davidson", ties_by=("competitor",))])
def test_annotators_named_are_those_without_whom_the_order_is_the_other(arena_cells, model):
    fitted = ba.fit(arena_cells, model=model, method="map")
    row = ba.flips(fitted, by="annotator", max_share=0.9).sort_values("k").iloc[0]
    lead = {}
    for dropped in (row["annotator"], row["annotator"][:-1]):
        again = ba.fit(ba.drop_annotators(arena_cells, dropped), model=model, prior=fitted.spreads, method="map")
        strength = dict(zip(again.cells.competitors, again.strength, strict=True))
        lead[len(dropped)] = strength[row["competitor"]] - strength[row["opponent"]]
    assert lead[row["k"]] < 0 < lead[row["k"] - 1]


@pytest.mark.slow
def test_answers_are_refitted_with_the_rest():
    votes, _ = answered_votes(competitors=4, prompts=12, votes=300, answers_sd=0.8)
    fit = ba.fit(ba.read_votes(votes, prompt="prompt"), model="am-davidson", method="map", answers=True)
    row = ba.flips(fit, "top").iloc[0]
    pair = row["competitor"], row["opponent"]
    named = places(votes, ba.flip_votes(fit, *pair))
    again = ba.fit(
        ba.read_votes(votes[[index for index in range(len(votes)) if index not in named]], prompt="prompt"),
        model=fit.model,
        prior=fit.spreads,
        method="map",
    )
    strength = dict(zip(again.cells.competitors, again.strength, strict=True))
    assert strength[pair[0]] < strength[pair[1]]
    prompts = ba.flips(fit, "top", by="prompt", max_share=0.9)
    assert len(prompts.loc[0, "prompt"]) == prompts.loc[0, "k"] <= 12


@pytest.mark.slow
def test_votes_of_programs_are_named_with_them(votes):
    programs = ["annotator-1", "annotator-2"]
    fit = ba.fit(ba.read_votes(votes, programs=programs), model="am-davidson")
    pair = ba.leaderboard(fit)["competitor"][:2]
    (row,) = ba.flips(fit, [tuple(pair)]).to_dict("records")
    table = ba.flip_votes(fit, *pair)
    assert table["votes"].sum() == row["k"] > 0
    assert set(table["program"]) <= {*programs, ""}
    assert ((table["program"] == table["annotator"]) | (table["program"] == "")).all()


@pytest.mark.slow
def test_an_order_that_no_allowed_change_turns_says_so(fitted):
    table = ba.flips(fitted, max_share=1 / 600)
    assert np.isinf(table["k"].max())
    assert (np.isinf(table["k"]) == np.isinf(table["share"])).all()
    assert ba.flip_votes(fitted, *table.sort_values("k").iloc[-1][["competitor", "opponent"]], max_share=1 / 600).empty


def test_units_whose_effect_is_lost_to_rounding_end_the_search_as_others_do():
    votes = [("a", "b", "model_a")] * 7 + [("a", "b", "model_b")] * 3 + [("a", "b", "tie")] * 2
    fit = ba.fit(ba.read_votes(frame(votes)), model=BRADLEY_TERRY)
    allowed = changes(fit, "vote", "drop", (0, 1))
    effect = {7.0: -1e-20, 3.0: 1.0, 2.0: -1.0}
    path = Path(allowed, np.array([effect[size] for size in allowed.available]), 9.0)
    assert fewest_along(path, fit, np.array([1.0, -1.0])).units == 2 + 5


def test_of_millions_of_votes_that_hardly_matter_few_numbers_are_tried(monkeypatch):
    cells = ba.read_votes(frame([("a", "b", "model_a")]).with_columns(votes=4_000_000), weight="votes")
    fit, tried = ba.fit(cells, model=BRADLEY_TERRY), []

    def refit(changed, taken, fit, start):
        tried.append(taken.sum())
        return replace(start, strength=np.array([0.01 - 1e-8 * taken.sum(), 0.0]))

    monkeypatch.setattr(fewest, "refit", refit)
    path = Path(changes(fit, "vote", "drop", (0, 1)), np.array([-1.0]), 3e6)
    assert abs(fewest_along(path, fit, np.array([1.0, -1.0])).units - 1_000_000) < 1000
    assert len(tried) < 60


def test_annotators_go_as_long_as_their_votes_may_change(fitted):
    allowed = replace(
        changes(fitted, "annotator", "drop", (0, 1)),
        available=np.array([1.0, 2.0, 1.0]),
        votes=np.array([3.0, 2.0, 4.0]),
    )
    effect = np.array([-3.0, -2.0, -1.0])
    assert [Path(allowed, effect, most).longest for most in (2.0, 3.0, 5.0, 7.0, 10.0, 11.0)] == [0, 1, 2, 3, 3, 4]


def test_few_votes_go_with_an_open_order(arena_cells):
    fit = ba.fit(arena_cells, model="bradley-terry")
    table = ba.flips(fit, list(combinations(arena_cells.competitors, 2)))
    assert (table["elo_gap"] > 0).all() and (table["p_better"] > 0.5).all()
    doubtful = table[table["p_better"] < 1]  # the others are all alike by so many draws
    assert doubtful["k"].rank().corr(doubtful["p_better"].rank()) > 0.9


def test_one_vote_is_expected_to_be_enough_where_it_is():
    cells = ba.read_votes(frame([("x", "y", "model_a")] * 11 + [("x", "y", "model_b")] * 10))
    (row,) = ba.flips(ba.fit(cells, model=BRADLEY_TERRY), how="flip").to_dict("records")
    assert (row["k"], row["k_linear"]) == (1, 1)


@pytest.mark.slow
def test_a_mean_has_flips_of_the_mode_at_its_spreads():
    cells = ba.read_votes(ba.simulate(competitors=4, annotators=60, votes=300, seed=1).votes)
    fit = ba.fit(cells)
    again = ba.fit(cells, model=fit.model, prior=fit.spreads, method="map")
    assert fit.evidence == "variational"
    for column in ("k", "k_linear", "annotators"):
        assert ba.flips(fit)[column].equals(ba.flips(again)[column])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "steal"}, "drop, flip, add"),
        ({"pairs": "best"}, "adjacent, top"),
        ({"by": "prompt"}, "prompt"),
        ({"max_share": 0}, "max_share"),
        ({"by": "annotator", "how": "add"}, "one by one"),
        ({"pairs": [("nobody", "else")]}, "nobody"),
    ],
)
def test_what_cannot_be_asked(fitted, options, message):
    with pytest.raises(ba.ModelError, match=message):
        ba.flips(fitted, **options)


def test_what_cannot_be_refitted(arena_cells):
    with pytest.raises(ba.ModelError, match="flat prior"):
        ba.flips(ba.fit(arena_cells, model="am-elo", prior="flat"))
    fractions = arena_cells.take(slice(None), counts=arena_cells.counts / 3)
    with pytest.raises(ba.ModelError, match="fractional"):
        ba.flips(ba.fit(fractions, model="bradley-terry"))
    with pytest.raises(ba.ModelError, match="list"):
        ba.flip_votes(ba.fit(arena_cells, model="bradley-terry"), *arena_cells.competitors[:2], how="add")


@pytest.mark.slow
def test_the_command(tmp_path, votes):
    votes.write_csv(tmp_path / "votes.csv")
    asked = ("pairs", tmp_path / "votes.csv", "--model", "bradley-terry", "-n", 3, "--without")
    assert "votes to drop" in " ".join(run(*asked, "vote").stdout.split())
    table = pl.read_csv(run(*asked, "annotator", "--format", "csv").stdout.encode())
    pairs = table.select("competitor", "opponent").rows()
    alone = ba.flips(ba.fit(votes, model="bradley-terry"), pairs, by="annotator")
    at_mode = list(zip(alone["competitor"], alone["opponent"], strict=True))
    assert table["k"].to_list() == [k if pair in pairs else 0 for k, pair in zip(alone["k"], at_mode, strict=True)]


@pytest.mark.slow
def test_mt_bench():
    cells = ba.read_votes(real_votes("mt_bench_human.csv"), prompt=False)
    row = ba.flips(ba.fit(cells), "top").iloc[0]
    assert (row["competitor"], row["opponent"]) == ("gpt-4", "claude-v1")
    assert (row["k"], row["k_linear"], row["annotators"]) == (93, 125, 36)


@pytest.mark.slow
def test_llmfao(llmfao):
    table = ba.flips(ba.fit(llmfao, model="bradley-terry"), by="annotator")
    assert table["k"].value_counts().to_dict() == {1: 49, 2: 6, 3: 2, 8: 1}


@pytest.mark.slow
def test_votes_are_added_by_annotators_with_numbers_of_their_own(arena_cells):
    fit = ba.fit(arena_cells, model="am-davidson", robust=False, dimensions=0)
    first, second = ba.leaderboard(fit)["competitor"][:2]
    row = ba.flips(fit, "top", how="add").iloc[0]
    assert (row["competitor"], row["opponent"]) == (first, second) and row["k"] >= 1
    assert row["k_linear"] <= row["k"] < arena_cells.n_votes / 2
