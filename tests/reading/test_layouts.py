import json
import re

import numpy as np
import polars as pl
import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.layouts import ALIASES, LAYOUTS
from bayes_arena.reading.read import read_votes
from bayes_arena.reading.sources import open_source, to_polars
from tests.reading.samples import SAMPLES, Sample

NAMES = [f"{sample.layout}-{place}" for place, sample in enumerate(SAMPLES)]
SCORES = np.array([[1, 0, 0.5, 1, 0], [0, 1, 0.5, 0, 1]])


def score(votes):
    """Return the wins of each competitor, ties as halves."""
    first, second = SCORES[:, : votes.counts.shape[1]] @ votes.counts.T
    total = np.bincount(votes.i, first, votes.n_competitors)
    total += np.bincount(votes.j, second, votes.n_competitors)
    return dict(zip(votes.competitors, total.round(9).tolist(), strict=True))


def test_every_layout_has_a_sample():
    assert {sample.layout for sample in SAMPLES} == {layout.name for layout in LAYOUTS}


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_the_columns_tell_the_layout(sample: Sample, tmp_path):
    votes = read_votes(sample.write(tmp_path))
    assert score(votes) == pytest.approx(sample.score)
    assert votes.annotators == sample.annotators


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_a_dataframe_is_read_as_its_file(sample: Sample, tmp_path):
    table = to_polars(open_source(sample.write(tmp_path)))
    assert score(read_votes(table)) == pytest.approx(sample.score)
    assert score(read_votes(table, layout=sample.layout)) == pytest.approx(sample.score)


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES if s.renamed], ids=lambda s: s.layout
)
def test_the_hint_names_options_that_work(sample: Sample, tmp_path):
    table = to_polars(open_source(sample.write(tmp_path)))
    table = table.rename(
        {name: f"c{place}" for place, name in enumerate(table.columns)}
    )
    assert sample.renamed is not None
    with pytest.raises(VotesError) as error:
        read_votes(table, layout=sample.layout)
    hinted = set(re.findall(r"\b(\w+)=", str(error.value)))
    assert hinted >= sample.renamed.keys() - {"annotator"}
    votes = read_votes(table, layout=sample.layout, **sample.renamed)
    assert sorted(score(votes).values()) == pytest.approx(sorted(sample.score.values()))


def test_a_winner_that_is_named_is_not_passed_over():
    games = {"model_1": ["x"], "model_2": ["y"]}
    games |= {"g1_winner": ["model_1"], "g2_winner": ["model_2"]}
    assert score(read_votes(games)) == {"x": 1, "y": 1}
    assert score(read_votes(games, winner="g1_winner")) == {"x": 1, "y": 0}
    with pytest.raises(VotesError, match="No column 'winner'"):
        read_votes(games, winner="winner")


def test_layouts_have_names_for_formats_with_the_same_columns(tmp_path):
    assert set(ALIASES.values()) <= {layout.name for layout in LAYOUTS}
    votes = read_votes(SAMPLES[1].write(tmp_path), layout="evalica")
    assert score(votes) == SAMPLES[1].score


def test_an_unknown_layout_lists_all():
    with pytest.raises(VotesError, match=r"Did you mean 'votes'.*label-studio"):
        read_votes({"a": ["x"]}, layout="vote")


def test_constants_stand_for_columns():
    votes = read_votes(
        {"model": ["oak"], "winner": ["model"]}, baseline="elm", judge="gpt"
    )
    assert (votes.competitors, votes.annotators) == (("elm", "oak"), ("gpt",))
    assert score(votes) == {"elm": 0, "oak": 1}
    games = [{"model": "oak", "games": [{"score": "A>B"}, {"score": "B>A"}]}]
    assert read_votes(games, baseline="ash").competitors == ("ash", "oak")
    with pytest.raises(VotesError, match="Give one"):
        read_votes(games, baseline="ash", judge="k", annotator="model")


def test_no_baseline_is_invented():
    games = [{"model": "oak", "games": [{"score": "A>B"}, {"score": "A>>B"}]}]
    with pytest.raises(
        VotesError, match=r"not name the baseline.*Use baseline='gpt-4-"
    ):
        read_votes(games)
    votes = read_votes(games, baseline="gpt-4-0314")
    assert score(votes) == {"gpt-4-0314": 1, "oak": 1}
    counts = {"model": ["oak", "elm"], "games": [12, 11], "opponent": ["elm", "oak"]}
    assert "arena-hard" not in refusal(counts)
    with pytest.raises(VotesError, match="not name the baseline"):
        read_votes(games, layout="arena-hard")


def refusal(source, **options):
    """Return why votes are refused."""
    with pytest.raises(VotesError) as error:
        read_votes(source, **options)
    return str(error.value)


@pytest.mark.parametrize("column", ["judge", "Worker ID", "user"])
def test_the_one_annotator_replaces_no_column(column):
    rows = [{"model_a": "x", "model_b": "y", "winner": "x", column: "k"}]
    with pytest.raises(VotesError, match=f"judge='gpt' says.*column '{column}' names"):
        read_votes(rows, judge="gpt")
    assert read_votes(rows, judge="gpt", annotator=False).annotators == ("gpt",)
    assert read_votes(rows).annotators == ("k",)


@pytest.mark.parametrize("option", ["judge", "annotator"])
def test_records_that_say_who_voted_take_no_other_annotator(option):
    raters = {"model_a": ["x"], "model_b": ["y"], "rater1": ["A"], "rater2": ["B"]}
    with pytest.raises(VotesError, match="leave out judge= and annotator="):
        read_votes(raters, **{option: "model_a"})


def test_sides_are_known_only_where_the_layout_tells():
    assert read_votes({"model_a": ["b"], "model_b": ["a"], "winner": ["a"]}).sided
    votes = read_votes({"winner": ["b"], "loser": ["a"]})
    assert not votes.sided
    assert (votes.i.tolist(), votes.counts.tolist()) == ([0], [[0, 1, 0]])


def test_clear_wins_have_columns_of_their_own():
    votes = read_votes(
        {"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["B>>A", "A>B"]}
    )
    assert votes.counts.tolist() == [[1, 0, 0, 0, 1]]
    assert votes.folded.tolist() == [[1, 1, 0]]


def test_a_ranking_weighs_as_the_choice_that_it_is():
    ranks = {
        "rank_a": ["1", "1"],
        "rank_b": ["2", "1"],
        "rank_c": ["3", "1"],
        "rank_d": ["4", "1"],
    }
    assert read_votes(ranks).n_votes == pytest.approx(6 * 3 / 5 + 6 * 2 / 4)
    tied = {"rank_a": ["1"], "rank_b": ["2"], "rank_c": ["2"]}
    assert read_votes(tied).n_votes == pytest.approx(3 * 3 * (2 + 1 + 1) / (8 + 5 + 5))


def test_what_is_no_rank_is_refused():
    ranks = {"rank_A": ["1"], "rank_B": ["2"], "rank_C": ["x"]}
    with pytest.raises(VotesError, match="no ranks: 'x'"):
        read_votes(ranks)
    twice = {"ranking": ["1", "1"], "model": ["x", "x"], "rank": ["1", "2"]}
    with pytest.raises(VotesError, match="several ranks"):
        read_votes(twice)


def test_shares_are_no_wins():
    with pytest.raises(VotesError, match="shares of wins"):
        read_votes(
            {"m": ["x", "y"], "x": ["", "0.4"], "y": ["0.6", ""]}, layout="win-matrix"
        )


def test_records_that_do_not_name_competitors_are_refused():
    task = {
        "data": {"text1": "x"},
        "annotations": [{"result": [{"type": "pairwise", "value": {}}]}],
    }
    with pytest.raises(VotesError, match="Call them model_a and model_b"):
        read_votes([task])
    with pytest.raises(VotesError, match="hold no vote"):
        read_votes([{"type": "rating", "data": json.dumps({"model_id": "x"})}])
    with pytest.raises(VotesError, match="not an object"):
        read_votes(
            pl.DataFrame({"type": ["rating"], "data": ["3"]}).with_columns(
                data=pl.lit("x")
            )
        )
