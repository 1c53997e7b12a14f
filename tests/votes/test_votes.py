from dataclasses import replace

import numpy as np
import pytest

from bayes_arena.boards.leaderboard import leaderboard
from bayes_arena.errors import ArenaError, ModelError, OutputError, VotesError
from bayes_arena.fits.fit import fit
from bayes_arena.reading.read import read_votes
from bayes_arena.said import NOWHERE
from bayes_arena.votes.components import sides_follow_strength
from bayes_arena.votes.merge import merge
from bayes_arena.votes.votes import Votes

MODELS = np.array(["oak", "elm", "ash", "yew"])


def table(n=400, seed=0):
    """Return random votes as columns."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, 4, n)
    return {
        "model_a": MODELS[i].tolist(),
        "model_b": MODELS[(i + rng.integers(1, 4, n)) % 4].tolist(),
        "winner": rng.choice(["A", "B", "tie"], n).tolist(),
        "judge": [f"k{k}" for k in rng.integers(0, 9, n)],
        "prompt": [f"p{k}" for k in rng.integers(0, 20, n)],
        "x": rng.choice([-1.0, 0.0, 0.5], n).tolist(),
    }


@pytest.fixture(scope="module")
def votes():
    return read_votes(table(), features="x")


def assert_same(a, b):
    """Check that two votes are the same to the last bit."""
    assert (a.competitors, a.annotators, a.levels) == (
        b.competitors,
        b.annotators,
        b.levels,
    )
    for name in ("i", "j", "annotator", "counts"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in a.slices:
        np.testing.assert_array_equal(a.slices[name], b.slices[name])
    for name in a.features:
        np.testing.assert_array_equal(a.features[name], b.features[name])


def test_sizes_and_words(votes):
    assert (votes.n_votes, votes.n_competitors, votes.n_annotators) == (400, 4, 9)
    assert (
        repr(votes)
        == "<Votes: 400 votes on 4 competitors by 9 annotators, 20 levels of prompt>"
    )
    row = {"model_a": "oak", "model_b": "elm", "winner": "A", "judge": "k", "x": "p"}
    assert repr(read_votes([row], prompt="x")) == (
        "<Votes: 1 vote on 2 competitors by 1 annotator, 1 level of prompt>"
    )
    assert votes.votes_by_annotator.sum() == 400
    assert votes.votes_by_competitor.sum() == 800


def test_the_order_of_votes_decides_nothing(votes):
    turned = {name: values[::-1] for name, values in table().items()}
    assert_same(votes, read_votes(turned, features="x"))


def test_kept_votes_are_as_if_there_were_no_others(votes):
    columns = table()
    rows = [k for k, name in enumerate(columns["judge"]) if name in ("k1", "k2")]
    alone = read_votes(
        {n: [v[k] for k in rows] for n, v in columns.items()}, features="x"
    )
    assert_same(votes.keep(annotators=["k1", "k2"]), alone)
    assert_same(votes.drop(annotators=[f"k{k}" for k in (0, 3, 4, 5, 6, 7, 8)]), alone)
    pair = votes.keep(competitors=["oak", "elm"])
    assert pair.competitors == ("elm", "oak")
    assert_same(votes.drop(competitors=["ash", "yew"]), pair)
    cast = votes.votes_by_annotator
    assert (
        votes.keep(more_than=float(np.median(cast))).n_annotators
        == (cast > np.median(cast)).sum()
    )
    assert votes.drop(annotators="k1").n_annotators == 8


def test_unknown_names_are_refused(votes):
    with pytest.raises(VotesError, match=r"'K1'.*Did you mean 'k1'"):
        votes.keep(annotators="K1")
    with pytest.raises(VotesError, match="called 'x'"):
        votes.drop(competitors="x")
    with pytest.raises(VotesError, match="the most is"):
        votes.keep(more_than=1_000)
    with pytest.raises(VotesError, match="annotator="):
        votes.collapse().keep(more_than=1)
    with pytest.raises(VotesError, match=r"no slice 'langauge'.*Slices: prompt"):
        votes.level("langauge")


@pytest.mark.parametrize("by", [None, "annotator", "prompt"])
def test_parts_share_the_votes_and_the_names(votes, by):
    parts = votes.split(5, by=by, seed=1)
    assert_same(merge(*parts), votes)
    assert all(part.competitors == votes.competitors for part in parts)
    assert max(part.n_votes for part in parts) < 160
    if by is not None:
        levels = [set(part.level(by)) for part in parts]
        assert sum(map(len, levels)) == len(set.union(*levels))
    first, rest = votes.split(0.8, by=by, seed=1)
    assert 260 < first.n_votes < 380
    assert first.n_votes + rest.n_votes == 400


def test_parts_depend_on_the_seed_alone(votes):
    assert_same(votes.split(3, seed=2)[0], votes.split(3, seed=2)[0])
    assert votes.split(3, seed=2)[0].n_votes != votes.split(3, seed=3)[0].n_votes
    weighted = read_votes(table() | {"w": [0.5] * 400}, weight="w")
    assert sum(part.n_votes for part in weighted.split(3)) == 200
    for wrong in (1, 0, 1.5, -1, True):
        with pytest.raises(VotesError, match="parts must be"):
            votes.split(wrong)
    with pytest.raises(ModelError, match="seed"):
        votes.split(2, seed=-1)


def test_merged_votes_are_those_read_at_once():
    whole, columns = read_votes(table()), table()
    halves = [
        read_votes({n: v[part] for n, v in columns.items()})
        for part in (slice(0, 100), slice(100, None))
    ]
    assert_same(merge(*halves), whole)
    assert_same(merge(halves[1], halves[0]), whole)


def test_votes_that_do_not_fit_are_not_merged(votes):
    with pytest.raises(VotesError, match=r"some have annotators.*others no annotators"):
        merge(votes, votes.collapse(slices=["prompt"], features=["x"]))
    with pytest.raises(VotesError, match="merge takes Votes"):
        merge()


def test_votes_of_nobody_known_are_merged_saved_and_left_out_by_name(tmp_path):
    row = {"model_a": "oak", "model_b": "elm", "winner": "A"}
    one = read_votes([row | {"judge": judge} for judge in ("k1", "", "k2", "")])
    two = read_votes([row | {"judge": judge} for judge in ("", "k0")])
    whole = merge(one, two)
    assert (whole.annotators, whole.n_votes) == (("k0", "k1", "k2"), 6)
    assert whole.votes_by_annotator.tolist() == [1, 1, 1]
    path = tmp_path / "votes.npz"
    whole.save(path)
    assert_same(Votes.load(path), whole)
    assert whole.keep(annotators="k1").n_votes == 1
    assert whole.drop(annotators="k1").n_votes == 5
    assert whole.drop(annotators="k1").annotators == ("k0", "k2")
    assert whole.keep(more_than=0).n_votes == 3
    assert whole.known("annotator").n_votes == 3


def test_importance_weights_leave_the_numbers_of_votes(tmp_path):
    weight = np.random.default_rng(1).lognormal(size=400)
    options = {"weight": "w", "weights": "importance"}
    votes = read_votes(table() | {"w": weight}, **options)
    plain = read_votes(table())
    assert votes.counts.sum() == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert votes.counts.sum() < 200
    np.testing.assert_array_equal(votes.votes_by_competitor, plain.votes_by_competitor)
    board = leaderboard(fit(votes), min_votes=150).set_index("competitor")
    assert board["votes"].sum() == 800
    of_all = dict(zip(plain.competitors, plain.votes_by_competitor, strict=True))
    assert board["votes"].to_dict() == of_all
    assert board["rank"].notna().all()

    path = tmp_path / "votes.npz"
    votes.save(path)
    assert Votes.load(path).n_votes == merge(*votes.split(3, seed=2)).n_votes == 400
    assert merge(votes, plain).n_votes == 800
    kept = plain.keep(annotators=["k1", "k2"])
    assert votes.keep(annotators=["k1", "k2"]).n_votes == kept.n_votes
    assert votes.collapse().n_votes == 400


def test_rows_without_a_level_stand_alone():
    table = {"winner": list("xyxyzy"), "loser": list("yxzzxz")}
    prompts = ["p", "", "p", "q", "", "q"]
    votes = read_votes(table | {"prompt": prompts}, prompt="prompt")
    codes = votes.level_or_row("prompt")
    assert len(np.unique(codes)) == 4
    parts = votes.split(2, by="prompt", seed=1)
    for level in range(2):
        assert sum((part.level("prompt") == level).any() for part in parts) == 1


def test_saved_votes_are_the_same(votes, tmp_path):
    path = tmp_path / "votes.npz"
    votes.save(path)
    assert_same(Votes.load(path), votes)
    assert_same(read_votes(path), votes)
    # What was said stays; a saved file is read without options, so no remedy does.
    plain = [note.row(NOWHERE) for note in votes.remarks]
    assert [note.row() for note in Votes.load(path).remarks] == plain
    with pytest.raises(VotesError, match="no options apply"):
        read_votes(path, winner="winner")
    with pytest.raises(OutputError, match="Choose another place"):
        votes.save(tmp_path / "absent" / "votes.npz")


def test_saved_votes_are_small(tmp_path):
    votes = read_votes(table(5_000)).collapse(annotators=True, slices=["prompt"])
    votes.save(tmp_path / "votes.npz")
    assert (tmp_path / "votes.npz").stat().st_size < 8 * len(votes)


def test_files_that_hold_no_votes_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(VotesError, match="No file"):
        Votes.load(path)
    np.savez(path, x=np.arange(3))
    with pytest.raises(VotesError, match="damaged, or holds no votes"):
        Votes.load(path)
    np.savez(path, about=np.array([{}], object))
    with pytest.raises(VotesError, match=r"x.npz"):
        Votes.load(path)


def test_damaged_votes_are_refused(votes, tmp_path):
    path = tmp_path / "votes.npz"
    votes.save(path)
    arrays = dict(np.load(path))
    for name, value in (
        ("i", arrays["i"] + 9),
        ("i", arrays["i"][:-1]),
        ("counts 0", -arrays["counts 0"].astype(float)),
        ("slice 0", arrays["slice 0"] + 99),
        ("about", np.frombuffer(b'{"format": 1}', np.uint8)),
    ):
        np.savez(path, **arrays | {name: value})
        with pytest.raises(VotesError, match=r"votes.npz"):
            Votes.load(path)


def test_single_votes_and_pairs():
    rows = Votes(
        ("ash", "elm", "oak"),
        annotators=(),
        i=np.array([0, 2, 1]),
        j=np.array([2, 0, 0]),
        annotator=np.zeros(3, int),
        counts=np.array([[2.0, 0, 1], [0, 1, 0], [0, 0, 0]]),
    )
    row, outcome = rows.one_by_one()
    assert row.tolist() == [0, 0, 0, 1]
    assert outcome.tolist() == [0, 0, 2, 1]
    assert rows.score_of_first.tolist() == [2.5, 0, 0]
    first, second, other = rows.pair_code
    assert first == second != other
    assert not rows.has_fractions
    assert replace(rows, counts=rows.counts / 2).has_fractions


@pytest.mark.parametrize(
    ("shown", "is_same"),
    [
        ("ab ac", True),  # a one step above b and c
        ("ab bc", True),  # a, b, c in steps of one
        ("ab bc ac", False),  # a would be one step and two above c
        ("ab ba", False),
        ("ab cd", True),  # two groups
    ],
)
def test_where_the_first_side_is_a_strength(shown, is_same):
    rows = [{"model_a": x, "model_b": y, "winner": "model_a"} for x, y in shown.split()]
    assert sides_follow_strength(read_votes(rows)) is is_same


def test_what_is_asked_of_votes_is_checked(tmp_path):
    votes = read_votes(table())
    for call, text in (
        (lambda: votes.keep(more_than="5"), "finite number"),
        (lambda: votes.drop(competitors=3), "Names are text"),
        (lambda: votes.split("5"), "parts must be"),
        (lambda: votes.collapse().split(2, by="annotator"), "do not say who voted"),
        (lambda: votes.save(tmp_path / "votes.csv"), r"ends in \.npz"),
    ):
        with pytest.raises(ArenaError, match=text):
            call()
    assert not list(tmp_path.iterdir())
