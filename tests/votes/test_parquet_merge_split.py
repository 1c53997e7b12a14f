"""Cells on disk, and cells of several parts as one."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from helpers import assert_same, frame, run

import bayes_arena as ba

COUNTED = {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "y"], "wins_a": [3, 0, 1], "wins_b": [1, 2, 0]}
COUNTED["ties"] = [0, 1, 0]


@pytest.fixture(scope="module")
def table():
    """Votes with everything that cells can know."""
    rng = np.random.default_rng(5)
    names = np.array(["zeta", "Ä", "m/1", "alpha"])
    a = rng.integers(4, size=300)
    b = (a + rng.integers(1, 4, size=300)) % 4
    return pl.DataFrame(
        {
            "model_a": names[a],
            "model_b": names[b],
            "winner": rng.choice(["model_a", "model_b", "tie", "both_bad"], size=300),
            "judge": rng.choice(["kim", "bot", "ann"], size=300),
            "language": rng.choice(["de", "en"], size=300),
            "length": rng.choice([-1.5, 0.25, 2.0], size=300),
        }
    )


def read(table):
    return ba.read_votes(table, slices=["language"], features=["length"], programs="bot")


class TestFiles:
    def test_cells_come_back_as_they_were(self, table, tmp_path):
        cells = read(table)
        cells.save(tmp_path / "cells.parquet")
        assert_same(ba.read_cells(tmp_path / "cells.parquet"), cells)

    def test_what_was_dropped_and_who_was_first_and_fractions_come_back(self, tmp_path):
        votes = pl.DataFrame({"winner": ["x", "y", "x"], "loser": ["y", "z", "x"], "w": [0.3, 2.5, 1.0]})
        with pytest.warns(ba.errors.DroppedVotesWarning):
            cells = ba.read_votes(votes, weight="w", on_invalid="drop")
        cells.save(tmp_path / "cells.parquet")
        back = ba.read_cells(tmp_path / "cells.parquet")
        assert_same(back, cells)
        assert not back.sided and sum(back.dropped.values()) == 1

    def test_weights_of_importance_stay_what_they_are(self, tmp_path):
        votes = frame([("x", "y", "x"), ("y", "z", "y"), ("x", "z", "tie")]).with_columns(w=pl.Series([0.2, 1.0, 3.0]))
        cells = ba.read_votes(votes, weight="w", weights="importance")
        cells.save(tmp_path / "cells.parquet")
        assert ba.read_cells(tmp_path / "cells.parquet").design_effect == cells.design_effect > 1

    def test_counts_of_your_own_need_no_metadata(self, tmp_path):
        pl.DataFrame(COUNTED).write_parquet(tmp_path / "mine.parquet")
        cells = ba.read_cells(tmp_path / "mine.parquet")
        assert cells.annotators == () and cells.sided
        assert {
            (cells.competitors[i], cells.competitors[j]): list(counts)
            for i, j, counts in zip(cells.a, cells.b, cells.counts, strict=True)
        } == {
            ("x", "y"): [4, 1, 0, 0],
            ("y", "z"): [0, 2, 1, 0],
        }

    def test_saved_cells_are_read_wherever_votes_are(self, table, tmp_path):
        path = tmp_path / "cells.parquet"
        cells = read(table)
        cells.save(path)
        for again in (ba.read_votes(path), ba.read_votes([path], slices={})):
            assert_same(again, cells)
        assert "prompts" in set(ba.check(path)["check"])
        alone = ba.read_votes(table, slices=["language"], features=["length"], annotator=False)
        assert_same(ba.read_votes(path, annotator=False), alone)
        assert_same(ba.read_votes(path, programs="kim"), dataclasses.replace(cells, programs=("kim",)))
        with pytest.raises(ba.VotesError, match=r"cells\.parquet' holds cells.*where, dedupe cannot apply"):
            ba.read_votes(path, where="language == 'de'", dedupe=True)

    def test_counts_that_are_read_as_votes_name_read_cells(self, tmp_path):
        pl.DataFrame(COUNTED).write_parquet(tmp_path / "mine.parquet")
        with pytest.raises(ba.errors.ColumnError, match="the columns of cells: read them with read_cells"):
            ba.read_votes(tmp_path / "mine.parquet")

    @pytest.mark.slow
    def test_the_command_line_rates_saved_cells(self, table, tmp_path):
        read(table).save(tmp_path / "cells.parquet")
        assert "cells.parquet: 300 votes" in run("rank", tmp_path / "cells.parquet", "--model", "bradley-terry").stdout
        assert "300 votes" in run("check", tmp_path / "cells.parquet").stdout

    def test_any_order_of_rows_gives_the_same_bits(self, table, tmp_path):
        cells = read(table)
        cells.save(tmp_path / "cells.parquet")
        rows = pl.read_parquet(tmp_path / "cells.parquet")
        shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
        shuffled.write_parquet(
            tmp_path / "again.parquet", metadata=pl.read_parquet_metadata(tmp_path / "cells.parquet")
        )
        assert_same(ba.read_cells(tmp_path / "again.parquet"), cells)

    def test_another_suffix_is_refused(self, table, tmp_path):
        with pytest.raises(ba.errors.OutputError, match="parquet"):
            read(table).save(tmp_path / "cells.csv")

    def test_single_votes_are_no_cells(self, table, tmp_path):
        table.write_parquet(tmp_path / "votes.parquet")
        with pytest.raises(ba.errors.ColumnError, match=r"'wins_a', 'wins_b', 'ties'.*read_votes"):
            ba.read_cells(tmp_path / "votes.parquet")

    @pytest.mark.parametrize(
        ("column", "values", "said"),
        [
            ("wins_a", [3.0, -1.0, 1.0], "'wins_a' is negative (rows 1"),
            ("ties", [0.0, float("nan"), 0.0], "'ties' is missing or not finite (rows 1"),
            ("model_b", ["y", "z", None], "'model_b' is missing (rows 2"),
            ("wins_b", ["1", "two", "0"], "'wins_b' is missing or not finite (rows 1"),
            ("model_a", [["x"], ["y"], ["x"]], "no names or numbers in 'model_a' (List(String))"),
            ("model_b", ["x", "z", "y"], "a competitor meets itself (rows 0"),
        ],
    )
    def test_unsound_rows_are_named(self, tmp_path, column, values, said):
        pl.DataFrame(COUNTED | {column: values}).write_parquet(tmp_path / "bad.parquet")
        with pytest.raises(ba.errors.InvalidVotesError) as caught:
            ba.read_cells(tmp_path / "bad.parquet")
        assert said in str(caught.value)

    def test_a_file_of_a_later_version_is_refused(self, tmp_path):
        pl.DataFrame(COUNTED).write_parquet(tmp_path / "new.parquet", metadata={"bayes_arena.cells": '{"version": 99}'})
        with pytest.raises(ba.VotesError, match="later version"):
            ba.read_cells(tmp_path / "new.parquet")

    @pytest.mark.parametrize(
        "about", ["{", '{"sided": "x"}', '{"programs": 3}', '{"design_effect": NaN}', "[" * 100_000]
    )
    def test_damaged_metadata_are_refused(self, tmp_path, about):
        pl.DataFrame(COUNTED).write_parquet(tmp_path / "bad.parquet", metadata={"bayes_arena.cells": about})
        with pytest.raises(ba.VotesError, match="is damaged: its metadata"):
            ba.read_cells(tmp_path / "bad.parquet")

    def test_no_vote_is_an_error(self, tmp_path):
        pl.DataFrame(COUNTED).clear().write_parquet(tmp_path / "none.parquet")
        with pytest.raises(ba.errors.NoVotesError):
            ba.read_cells(tmp_path / "none.parquet")

    def test_a_file_that_is_not_there_is_named(self, tmp_path):
        with pytest.raises(ba.VotesError, match=r"absent\.parquet"):
            ba.read_cells(tmp_path / "absent.parquet")


class TestMerging:
    def test_parts_give_the_cells_of_the_whole_in_any_order(self, table, tmp_path):
        parts = [read(part) for part in (table[:100], table[100:110].extend(table[250:]), table[110:250])]
        assert_same(ba.merge(*parts), read(table))
        assert_same(ba.merge(*reversed(parts)), read(table))
        for number, part in enumerate(parts):
            part.save(tmp_path / f"{number}.parquet")
        assert_same(ba.read_cells([tmp_path / f"{number}.parquet" for number in range(3)]), read(table))

    def test_one_part_is_itself(self, table):
        cells = read(table)
        assert ba.merge(cells) is cells

    def test_parts_that_know_different_things_are_refused(self, table):
        with pytest.raises(ba.VotesError, match=r"slices language, .* no slices"):
            ba.merge(read(table), ba.read_votes(table))
        with pytest.raises(ba.VotesError, match="no annotators"):
            ba.merge(ba.read_votes(table), ba.read_votes(table, annotator=False))

    def test_weights_of_importance_are_refused(self):
        votes = frame([("x", "y", "x"), ("y", "z", "y")]).with_columns(w=pl.Series([0.2, 1.0]))
        part = ba.read_votes(votes, weight="w", weights="importance")
        with pytest.raises(ba.VotesError, match="importance"):
            ba.merge(part, part)

    def test_nothing_is_an_error(self):
        with pytest.raises(ba.errors.NoVotesError):
            ba.merge()
        with pytest.raises(ba.errors.NoVotesError):
            ba.read_cells([])


class TestSplitting:
    def test_a_part_is_what_reading_its_votes_alone_gives(self, table):
        parts = ba.split(read(table), ["language", "annotator"])
        assert list(parts) == [(language, name) for language in ("de", "en") for name in ("ann", "bot", "kim")]
        for (language, name), part in parts.items():
            alone = table.filter((pl.col("language") == language) & (pl.col("judge") == name))
            programs = "bot" if name == "bot" else ()
            assert_same(part, ba.read_votes(alone, slices=["language"], features=["length"], programs=programs))

    def test_competitors_without_a_vote_are_not_in_a_part(self):
        votes = frame([("x", "y", "x"), ("z", "y", "y")]).with_columns(month=pl.Series(["May", "June"]))
        parts = ba.split(ba.read_votes(votes, slices=["month"]), "month")
        assert {names: part.competitors for names, part in parts.items()} == {
            ("June",): ("y", "z"),
            ("May",): ("x", "y"),
        }

    def test_merging_puts_the_parts_together_again(self, table):
        cells = read(table)
        assert_same(ba.merge(*ba.split(cells, ["language", "annotator"]).values()), cells)

    def test_slices_that_are_not_there_and_weights_of_importance_are_refused(self, table):
        with pytest.raises(ba.ModelError, match="'month'"):
            ba.split(read(table), "month")
        for by in ([], ["language", "language"]):
            with pytest.raises(ba.ModelError, match="each once"):
                ba.split(read(table), by)
        with pytest.raises(ba.VotesError, match="not DataFrame"):
            ba.split(table, "language")
        weighed = table.with_columns(weight=pl.col("length") + 2)
        with pytest.raises(ba.VotesError, match="cannot be split"):
            ba.split(ba.read_votes(weighed, weight="weight", weights="importance", slices=["language"]), "language")
