"""What goes with a cell wherever it goes."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import bayes_arena as ba
from bayes_arena.validation.cross_validation import split_votes
from bayes_arena.votes.cells import Cells, components
from bayes_arena.votes.groups import groups_of


@pytest.fixture(scope="module")
def long_answers(arena_cells):
    """Cells that know by how much a's answer is the longer one, each by a number of its own."""
    return replace(arena_cells, features={"length": np.arange(len(arena_cells.a), dtype=float)})


def by_feature(cells: Cells) -> dict[float, tuple[str, str, str]]:
    """Who met whom before which annotator, by the feature of the cell."""
    rows = zip(cells.features["length"], cells.a, cells.b, cells.annotator, strict=True)
    return {length: (cells.competitors[a], cells.competitors[b], cells.annotators[k]) for length, a, b, k in rows}


def test_features_go_with_the_votes_of_those_who_are_kept(long_answers):
    everybody = by_feature(long_answers)
    kept = by_feature(ba.drop_annotators(long_answers, long_answers.annotators[:2]))
    assert kept == {length: who for length, who in everybody.items() if who[2] not in long_answers.annotators[:2]}


def test_features_go_with_the_votes_of_a_split(long_answers):
    everybody = by_feature(long_answers)
    ((train, left_out),) = split_votes(long_answers, splits=1, test=0.3, seed=0)
    for part in (train, left_out):
        assert by_feature(part).items() < everybody.items()
    assert train.n_votes + left_out.n_votes == long_answers.n_votes


def test_rows_are_taken_in_the_order_asked_for(long_answers):
    turned = long_answers.take(slice(None, None, -1))
    assert by_feature(turned) == by_feature(long_answers)
    assert turned.features["length"][0] == len(long_answers.a) - 1
    assert turned.tally(by_annotator=True).counts.tolist() == long_answers.tally(by_annotator=True).counts.tolist()


def test_cells_that_were_taken_cannot_be_written_to(long_answers):
    some = long_answers.take(np.arange(3))
    for array in (some.a, some.counts, some.features["length"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_votes_on_different_prompts_are_apart_where_it_is_asked(arena_cells):
    prompt = np.arange(len(arena_cells.a)) % 3
    cells = replace(arena_cells, slices={"prompt": prompt}, slice_names={"prompt": ("p", "q", "r")})
    tally = cells.tally(by_annotator=False, slices=("prompt",))
    whole = cells.tally(by_annotator=False)
    assert len(tally.i) > len(whole.i)
    assert tally.counts.sum(axis=0).tolist() == whole.counts.sum(axis=0).tolist()
    for code in range(3):
        alone = cells.take(prompt == code).tally(by_annotator=False)
        assert tally.counts[tally.slices[0] == code].tolist() == alone.counts.tolist()


@pytest.mark.parametrize(
    ("slices", "names"),
    [
        ({"annotator": 0}, {"annotator": ("x",)}),
        ({"prompt": 1}, {"prompt": ("x",)}),
        ({"prompt": -1}, {"prompt": ("x",)}),
        ({"prompt": 0}, {}),
    ],
)
def test_slices_are_indices_into_names(arena_cells, slices, names):
    codes = {name: np.full(len(arena_cells.a), code) for name, code in slices.items()}
    with pytest.raises(ba.ModelError, match="lice"):
        replace(arena_cells, slices=codes, slice_names=names)


def test_cells_are_sorted_by_more_slices_than_fit_into_one_number():
    rng = np.random.default_rng(0)
    slices = {f"slice{place:02d}": rng.integers(0, 40, 60).astype(str) for place in range(14)}  # 40**14 > 2**63
    table = pl.DataFrame({"model_a": ["x"] * 60, "model_b": ["y"] * 60, "winner": ["x"] * 60, **slices})
    cells = ba.read_votes(table, slices=list(slices))
    assert len(cells.a) == 60
    names = [[cells.slice_names[name][code] for code in cells.slices[name]] for name in slices]
    assert list(zip(*names, strict=True)) == sorted(zip(*slices.values(), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 60, (2, 35 + 5 * seed))
    found = components(60, a, b)
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(60, 60))
    number, expected = connected_components(graph, directed=False)
    assert len(set(zip(found, expected, strict=True))) == number == found.max() + 1
    assert (np.diff(np.bincount(found)) <= 0).all()


@pytest.mark.parametrize(("over", "option"), [("prompt", "--prompt COLUMN"), ("day", "--slice day=COLUMN")])
def test_votes_without_a_group_say_how_to_read_it(arena_cells, over, option):
    with pytest.raises(
        ba.ModelError, match=rf"grouped by '{over}': they carry annotator\. Name its column.*{option}\."
    ):
        groups_of(arena_cells, over)
