"""Graded verdicts: how they are read, counted, folded and kept."""

import numpy as np
import polars as pl
import pytest
from helpers import frame, run
from numpy.testing import assert_array_equal

import bayes_arena as ba
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.votes.outcomes import (
    by_result,
    count_columns,
    grades_of,
    n_outcomes,
    outcome_names,
    outcome_scores,
    turned,
    wins_by,
    wins_losses_ties,
    with_grades,
)
from bayes_arena.votes.reading.decoding import by_words

ARROWS = ["A>>>B", "A>>B", "A>B", "A=B", "B>A", "B>>A", "both_bad"]


def of(*labels, **options):
    """The counts of votes with these labels between two competitors."""
    cells = ba.read_votes(frame([("x", "y", label) for label in labels]), **options)
    return cells.counts.sum(axis=0).tolist()


@pytest.mark.parametrize("grades", [1, 2, 4])
def test_the_columns_of_counts(grades):
    size = n_outcomes(grades)
    assert (grades_of(size), len(outcome_names(grades)), len(count_columns(grades))) == (grades, size, size)
    counts = np.random.default_rng(0).integers(9, size=(5, size)).astype(float)
    around = counts[:, turned(size)]
    assert_array_equal(around[:, turned(size)], counts)
    wins, losses, ties = wins_losses_ties(counts)
    for one, other in zip(wins_losses_ties(around), (losses, wins, ties), strict=True):
        assert_array_equal(one, other)
    assert_array_equal(wins + losses + ties, counts.sum(axis=1))
    assert_array_equal(counts @ outcome_scores(size), wins + ties / 2)
    assert sorted(outcome for part in by_result(size) for outcome in part) == list(range(size))


def test_stronger_grades_count_as_the_strongest_that_is_kept():
    counts = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]])
    assert with_grades(counts, 2).tolist() == [[1, 2, 3, 4, 12, 14]]
    assert with_grades(counts, 1).tolist() == [[13, 16, 3, 4]]
    assert with_grades(counts, 4).tolist() == [[*range(1, 9), 0, 0]]
    assert with_grades(counts, 3) is counts


def test_words_say_by_how_much():
    words = [
        ["slightly ", "marginally ", "somewhat ", "a bit ", "a little "],
        [""],
        ["much ", "significantly ", "far ", "a lot ", "considerably ", "strongly ", "clearly "],
    ]
    said = {f"response b is {word}better": wins_by(grade)[1] for grade, some in enumerate(words, 1) for word in some}
    assert by_words(said) == said


@pytest.mark.parametrize(
    ("labels", "counts"),
    [
        (ARROWS, [1, 1, 1, 1, 1, 1, 1, 0]),
        (["[[A>>B]]", "b << a", "A=B"], [0, 0, 1, 0, 2, 0]),
        (["A is much better", "A is slightly better", "B is slightly better", "About the same"], [1, 1, 1, 0, 1, 0]),
        (["Response 2 is better than response 1", "response_1_much_better", "tie"], [0, 1, 1, 0, 1, 0]),
        (["A is slightly better", "A is better", "B is significantly better"], [1, 0, 0, 0, 1, 0, 0, 1]),
        (["left", "A>B", "right"], [2, 1, 0, 0]),
    ],
)
def test_grades_are_found_in_labels(labels, counts):
    assert of(*labels) == counts
    folded = of(*labels, grades="fold")
    assert folded == with_grades(np.array([counts], float), 1)[0].tolist()


@pytest.mark.parametrize("ungraded", ["model_a", "left", "x"])
def test_a_win_without_a_grade_beside_graded_ones_is_invalid(ungraded):
    with pytest.raises(
        ba.errors.InvalidVotesError, match=rf"(?s)row 1: verdict off the scale .*winner='{ungraded}'.*'fold'"
    ):
        of("A>>B", ungraded, "tie")
    assert of("A>>B", ungraded, "tie", grades="fold") == [2, 0, 1, 0]
    with pytest.warns(ba.errors.DroppedVotesWarning, match="1 × verdict off the scale"):
        assert of("A>>B", ungraded, on_invalid="drop") == [0, 0, 0, 0, 1, 0]
    if ungraded != "x":
        assert of("A>>B", ungraded, outcomes={ungraded: "model_a"}) == [1, 0, 0, 0, 1, 0]


def test_a_grade_far_beyond_those_of_all_others_is_invalid():
    with pytest.raises(ba.errors.InvalidVotesError, match=r"(?s)row 1: verdict off the scale .*winner='A>>>>>B'"):
        of("A>>B", "A>>>>>B", "tie")
    assert of("A>>B", "A>>>>>B", outcomes={"A>>>>>B": "model_a_2"}) == [0, 0, 0, 0, 2, 0]
    assert of("A>B", "A>>>B")[-2:] == [1, 0]


def test_words_beside_arrows_are_another_scale():
    with pytest.raises(
        ba.errors.InvalidVotesError, match=r"(?s)row 1: verdict off the scale .*winner='B is much better'"
    ):
        of("A>>B", "B is much better", "tie")
    assert of("A>>B", "B is much better", "tie", grades="fold") == [1, 1, 1, 0]
    assert of("A>B", "tie", "B is much better") == [1, 1, 1, 0]  # without a further grade there is one scale


def test_a_scale_of_numbers_is_given_its_meaning():
    """1 to 7 and -3 to 3, in either direction; beside a scale, another number is off it."""
    for scale in (range(1, 8), range(-3, 4)):
        with pytest.raises(ba.errors.InvalidVotesError) as error:
            of(*map(str, scale))
        option = str(error.value).split("--outcome ")[1].split(" or ")[0]
        meaning = VoteSource(outcome=[option]).reading()["outcomes"]
        assert of(*map(str, scale), outcomes=meaning) == [1, 1, 1, 0, 1, 1, 1, 1]
        with pytest.raises(
            ba.errors.InvalidVotesError,
            match=r"row 7: unknown winner(?s:.*)not on the scale of the other.*outcomes=\{'8': \.\.\.\} \(--outcome 8=",
        ):
            of(*map(str, scale), "8", "9", outcomes=meaning)
    with pytest.raises(ba.VotesError, match=r"'model_a_12'; use one of model_a, .*such as model_a_2"):
        of("1", outcomes={"1": "model_a_12"})


def test_margins_are_cut_at_thresholds():
    games = pl.DataFrame(
        {"home_team": "x", "away_team": "y", "home_score": [0, 1, 3, 9, 0], "away_score": [0, 0, 0, 0, 2]}
    )

    def read(**options):
        return ba.read_votes(games, layout="two-scores", **options).counts.sum(axis=0).tolist()

    assert read() == read(grades="fold") == [3, 1, 1, 0]
    assert read(grades=[1, 3]) == [1, 1, 1, 0, 2, 0]
    assert read(grades=[2, 3, 5]) == [0, 1, 2, 0, 1, 0, 1, 0]
    with pytest.raises(ba.VotesError, match="cuts margins of two scores"):
        of("A>B", grades=[1, 3])
    for wrong in ("cut", [3, 1], [0, 1], [], [1, "2"], 3):
        with pytest.raises(ba.VotesError, match="grades must be 'keep', 'fold', or increasing positive margins"):
            of("A>B", grades=wrong)


def test_what_is_saved_merged_and_split_keeps_its_grades(graded, tmp_path):
    graded.save(tmp_path / "cells.parquet")
    read = ba.read_cells(tmp_path / "cells.parquet")
    assert_array_equal(read.counts, graded.counts)
    assert graded.grades == 3 and "3 grades" in repr(graded)
    folded = ba.read_votes(tmp_path / "cells.parquet", grades="fold")
    assert_array_equal(folded.counts, with_grades(graded.counts, 1))
    with pytest.raises(ba.VotesError, match=r"holds cells .*grades cannot apply"):
        ba.read_votes(tmp_path / "cells.parquet", grades=[1.0, 2.0])
    parts = ba.split(graded, "annotator")
    assert_array_equal(ba.merge(*parts.values()).counts, graded.counts)
    both = ba.merge(graded, folded)
    assert both.n_votes == 2 * graded.n_votes
    assert_array_equal(both.counts, graded.counts + with_grades(folded.counts, 3))
    assert sum(column.startswith("wins_") for column in pl.read_parquet(tmp_path / "cells.parquet").columns) == 6


@pytest.mark.slow
def test_the_command_reads_folds_and_counts_grades(tmp_path):
    file = tmp_path / "votes.csv"
    frame([(*pair, label) for pair in ("xy", "yz", "zx") for label in ARROWS * 4]).write_csv(file)
    checked = run("check", file)
    assert "3, with 40.0 %, 40.0 %, 20.0 % of the decided votes, weakest first" in checked.stdout
    assert "grades" not in run("check", file, "--grades", "fold").stdout
    kept, folded = (run("rank", file, "--grades", how) for how in ("keep", "fold"))
    assert "davidson (no sides) with 3 grades" in kept.stdout and "grades" not in folded.stdout
    assert "increasing positive margins" in run("rank", file, "--grades", "cut").stderr
