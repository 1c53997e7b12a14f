"""Camps of annotators: found where there are some, declared, and their boards; and rankings about a crowd."""

import zlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from camped import REGIMES, by_degrees, tastes, two_camps, two_programs
from camps import fitted, matched
from helpers import frame
from true_boards import PER_LOGIT

import bayes_arena as ba
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.votes.cells import single_votes

pytestmark = pytest.mark.slow
ONE_DIRECTION = replace(PRESETS["am-davidson"], dimensions=1)


def fit(cells: ba.Cells, **options) -> ba.Fit:
    return ba.fit(cells, robust=False, **{"model": ONE_DIRECTION, **options})


def scores(table) -> np.ndarray:
    return table.set_index("competitor").sort_index()["elo"].to_numpy()


def one_by_one(cells: ba.Cells, *, turned: bool = False, renamed: dict[str, str] | None = None) -> pl.DataFrame:
    """Votes as a table, with sides swapped or other names of annotators."""
    row, outcome = single_votes(cells)
    names, people = np.array(cells.competitors), np.array(cells.annotators)
    sides = (cells.b, cells.a) if turned else (cells.a, cells.b)
    winner = np.array(["model_b", "model_a", "tie"] if turned else ["model_a", "model_b", "tie"])[outcome]
    judge = people[cells.annotator[row]]
    judge = judge if renamed is None else np.array([renamed[one] for one in judge])
    columns = dict(zip(("model_a", "model_b"), (names[side[row]] for side in sides), strict=True))
    return pl.DataFrame({**columns, "winner": winner, "judge": judge})


@pytest.fixture(scope="module")
def arena():
    return two_camps(np.random.default_rng(0), share=0.2, theta=(0.6, 0.2), theta_of_camp=3.0)


@pytest.fixture(scope="module")
def found(arena):
    return ba.camps(fit(arena.cells))


class TestFound:
    def test_members_and_sizes_are_right(self, arena, found):
        assert found.names == ("A", "B") and found.gain > 6
        assert (found.membership.argmax(axis=1) == arena.camp).all() and not found.unsure.any()
        assert found.table["annotators"].to_numpy() == pytest.approx([32, 8], abs=0.1)
        assert found.table["votes"].sum() == pytest.approx(arena.cells.n_votes)
        assert found.table["share"].sum() == pytest.approx(1)
        assert found.members["votes"].sum() == arena.cells.n_votes
        of_b = found.members[found.members["camp"] == "B"]["annotator"]
        assert set(of_b) == {name for name, camp in zip(arena.cells.annotators, arena.camp, strict=True) if camp}
        assert found.evidence["chosen"].tolist()[:2] == [False, True]
        assert str(found).startswith("2 camps: A with 32 annotators")

    def test_annotators_are_said_to_belong_to_them(self, arena, found):
        table = ba.annotators(found.fit)
        told = table[table["verdict"] == "reliable"].set_index("annotator")["kind"]
        camp = {name: f"camp {'AB'[which]}" for name, which in zip(arena.cells.annotators, arena.camp, strict=True)}
        assert len(told) > 35 and (told == told.index.map(camp)).all()

    def test_boards_cover_what_members_think(self):
        covered, errors = [], []
        for seed in range(4):
            arena = two_camps(np.random.default_rng(seed), correlation=0.5, theta=(0.8, 0.25), theta_of_camp=1.8)
            found = ba.camps(fitted(arena.cells))
            for camp, name in matched(found, arena).items():
                truth = 1000 + PER_LOGIT * arena.truth(camp)
                table = found.board(name).set_index("competitor").loc[list(arena.cells.competitors)]
                covered.append(((table["lower"] <= truth) & (truth <= table["upper"])).mean())
                errors.append(np.polyfit(truth, table["elo"], 1)[0])
        assert len(covered) == 8
        assert np.mean(covered) > 0.9
        assert np.mean(errors) == pytest.approx(1, abs=0.1)  # not drawn towards the other camp

    def test_a_board_is_close_to_that_of_the_members_votes_alone(self, arena, found):
        for camp, name in enumerate(found.names):
            theirs = arena.cells.take(arena.camp[arena.cells.annotator] == camp)
            alone = ba.leaderboard(fit(theirs, model="am-davidson"))
            assert np.corrcoef(scores(found.board(name)), scores(alone))[0, 1] > 0.95

    def test_contrasts_are_differences_of_boards(self, found):
        table = found.contrasts.set_index("competitor").sort_index()
        first, second = scores(found.board("A")), scores(found.board("B"))
        np.testing.assert_allclose(table["elo"], first)
        np.testing.assert_allclose(table["difference"], first - second, atol=1e-9)
        assert ((table["lower"] < table["difference"]) & (table["difference"] < table["upper"])).all()
        assert found.contrasts["z"].abs().is_monotonic_decreasing

    def test_every_table_that_ranks_is_about_the_camp(self, found):
        best = found.board("B")["competitor"][0]
        assert ba.leaderboard(found.of("B")).attrs["crowd"] == "8 of 40 annotators"
        assert ba.verdict(found.of("B")).leader == best
        assert ba.verdict(found.of("A")).leader == found.board("A")["competitor"][0]

    def test_names_of_annotators_and_sides_do_not_matter(self, arena, found):
        people = arena.cells.annotators
        renamed = dict(
            zip(people, [f"p{one:03d}" for one in np.random.default_rng(1).permutation(len(people))], strict=True)
        )
        for table, names in (
            (one_by_one(arena.cells, renamed=renamed), renamed),
            (one_by_one(arena.cells, turned=True), {name: name for name in people}),
        ):
            other = ba.camps(fit(ba.read_votes(table)))
            place = [other.fit.cells.annotators.index(names[name]) for name in people]
            np.testing.assert_allclose(other.membership[place], found.membership, atol=1e-3)
            np.testing.assert_allclose(scores(other.board("B")), scores(found.board("B")), atol=0.5)

    def test_few_votes_leave_members_unsure(self):
        name = "30 % camp, ten votes each"
        arena = REGIMES[name](np.random.default_rng([zlib.crc32(name.encode()), 1]))
        found = ba.camps(fit(arena.cells))
        assert len(found.names) == 2 and found.unsure.sum() > 50
        assert f"{found.unsure.sum()} of 400 annotators could belong to another camp" in str(found)
        votes = found.board("B")["votes"].sum() / 2
        assert votes == pytest.approx(found.table["votes"][1]) and votes % 1


class TestNone:
    @pytest.mark.parametrize(
        "make",
        [lambda rng: tastes(rng, 0.8), by_degrees, lambda rng: tastes(rng, 0.0)],
        ids=("tastes", "degrees", "none"),
    )
    def test_there_is_one_camp(self, make):
        result = fit(make(np.random.default_rng(3)).cells)
        found = ba.camps(result)
        assert found.names == ("A",) and found.gain == 0 and found.of("A") is result
        assert str(found) == "The votes show no camps: 1 direction but with one hump: annotators differ by degrees."
        assert found.contrasts.empty and found.table["annotators"].tolist() == [40]

    def test_a_fit_without_directions_shows_none(self, arena):
        result = fit(arena.cells, model="am-davidson", dimensions=0)
        found = ba.camps(result)
        assert str(found) == "The votes show no camps: no direction in which annotators disagree."
        assert found.evidence.empty and found.board("A").equals(ba.leaderboard(result))


class TestDeclared:
    def test_boards_of_programs_and_people(self):
        arena = two_programs(np.random.default_rng(1))
        found = ba.camps(fit(arena.cells, model="am-davidson"), declared="programs")
        assert set(found.names) == {"people", "programs"} and "(declared)" in str(found)
        for camp, name in enumerate(("people", "programs")):
            truth = 1000 + PER_LOGIT * arena.truth(camp)
            table = found.board(name).set_index("competitor").loc[list(arena.cells.competitors)]
            assert np.sqrt(np.mean((table["elo"] - truth) ** 2)) < 60

    def test_declared_by_name_is_as_found(self, arena, found):
        names = dict(zip(arena.cells.annotators, np.array(["most", "few"])[arena.camp], strict=True))
        declared = ba.camps(found.fit, declared=names)
        assert declared.names == ("most", "few") and declared.gain > 6
        for mine, theirs in zip(found.names, declared.names, strict=True):
            np.testing.assert_allclose(scores(declared.board(theirs)), scores(found.board(mine)), atol=35)

    def test_camps_that_agree_have_like_boards(self):
        same = ba.camps(
            fit(tastes(np.random.default_rng(5), 0.0).cells, model="am-davidson"),
            declared={f"person-{one:04d}": str(one % 2) for one in range(40)},
        )
        beyond = (same.contrasts["lower"] > 0) | (same.contrasts["upper"] < 0)
        assert beyond.mean() < 0.2 and same.contrasts["difference"].abs().max() < 60

    def test_of_a_mode_only_clearness_differs(self, arena):
        result = fit(arena.cells, model="am-davidson", method="map")
        names = {name: "one" if place < 10 else "two" for place, name in enumerate(arena.cells.annotators)}
        found = ba.camps(result, declared=names)
        assert "differ only in how clear" in str(found)
        assert np.corrcoef(scores(found.board("one")), scores(found.board("two")))[0, 1] > 0.99


class TestErrors:
    def test_of_camps(self, arena, found):
        with pytest.raises(ba.ModelError, match=r"no camp 'C'.*'A', 'B'"):
            found.board("C")
        with pytest.raises(ba.ModelError, match="does not tell annotators apart"):
            ba.camps(fit(arena.cells, model="bradley-terry"))
        with pytest.raises(ba.ModelError, match=r"by 'map'.*method='marginal'"):
            ba.camps(replace(found.fit, method="map", evidence=None))
        with pytest.raises(ba.ModelError, match="0 and 1"):
            ba.camps(found.fit, level=2)

    def test_of_declared_camps(self, arena, found):
        names = dict.fromkeys(arena.cells.annotators, "one")
        with pytest.raises(ba.ModelError, match="All annotators belong to one camp, 'one'"):
            ba.camps(found.fit, declared=names)
        with pytest.raises(ba.ModelError, match=r"'people'.*programs="):
            ba.camps(found.fit, declared="programs")
        with pytest.raises(ba.ModelError, match=r"'persn-0001' cast none.*'person-0001'"):
            ba.camps(found.fit, declared=names | {"persn-0001": "two"})
        with pytest.raises(ba.ModelError, match="No camp is declared for 'person-0001'"):
            ba.camps(found.fit, declared={name: camp for name, camp in names.items() if name != "person-0001"})
        with pytest.raises(ba.ModelError, match="must be 'programs'"):
            ba.camps(found.fit, declared="people")
        with pytest.raises(ba.ModelError, match="40 camps are too many"):
            ba.camps(found.fit, declared={name: name for name in arena.cells.annotators})


class TestCrowd:
    def test_everybody_is_the_fit_itself(self, found):
        everybody = ba.leaderboard(found.fit.of(found.fit.cells.annotators))
        plain = ba.leaderboard(found.fit)
        for column in plain.columns:
            assert (everybody[column] == plain[column]).all() or np.allclose(everybody[column], plain[column])

    def test_shares_and_names(self, arena, found):
        some = arena.cells.annotators[:3]
        assert ba.leaderboard(found.fit.of(some)).equals(ba.leaderboard(found.fit.of(dict.fromkeys(some, 1.0))))
        halved = ba.leaderboard(found.fit.of(dict.fromkeys(some, 0.5)))
        np.testing.assert_allclose(halved["elo"], ba.leaderboard(found.fit.of(some))["elo"])
        np.testing.assert_allclose(2 * halved["votes"], ba.leaderboard(found.fit.of(some))["votes"])

    def test_draws_follow(self, found):
        fit_of, whole = found.of("B"), found.fit
        mean = ba.draw(fit_of).elo_strength.mean(axis=0)
        table = ba.leaderboard(fit_of).set_index("competitor").loc[list(whole.cells.competitors)]
        np.testing.assert_allclose(1000 + PER_LOGIT * mean, table["elo"], atol=12)

    def test_a_sampled_fit_ranks_for_a_crowd(self):
        rows = [("x", "y", "model_a", who) for who in ("p", "q", "r")] * 3 + [("y", "z", "model_b", "r")] * 4
        result = ba.fit(ba.read_votes(frame(rows)), model="am-davidson", method="map", robust=False)
        drawn = replace(result, samples=ba.draw(result, size=50))
        mine = drawn.of("p")
        assert mine.samples.elo_strength.shape == drawn.samples.elo_strength.shape
        assert not np.allclose(mine.samples.elo_strength, drawn.of("r").samples.elo_strength)

    def test_it_is_saved(self, arena, tmp_path):
        result = fit(arena.cells, model="am-davidson").of(arena.cells.annotators[:3])
        ba.save(result, tmp_path / "fit.nc")
        again = ba.load(tmp_path / "fit.nc")
        assert again.crowd == result.crowd
        np.testing.assert_allclose(scores(ba.leaderboard(again)), scores(ba.leaderboard(result)))

    def test_errors(self, arena, found):
        with pytest.raises(ba.ModelError, match="'nobody' cast none"):
            found.fit.of(["nobody"])
        with pytest.raises(ba.ModelError, match="between 0 and 1, not 2 of 'person-0003'"):
            found.fit.of({"person-0003": 2.0})
        with pytest.raises(ba.ModelError, match="Name at least one"):
            found.fit.of([])
        with pytest.raises(ba.ModelError, match="does not tell annotators apart"):
            fit(arena.cells, model="bradley-terry").of(["person-0003"])
