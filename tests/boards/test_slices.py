"""Boards by slice, and where they differ."""

import numpy as np
import pytest

import bayes_arena as ba
from tests.boards.arenas import columns, fitted

MODEL = ba.Model("by category", ties="davidson", strength_by=("category",))


def votes_of_two(n=900, swap=1.5, seed=2):
    """Return votes in two categories; m00 and m01 change places between them."""
    maths, _ = columns(5, n, seed=seed)
    rng = np.random.default_rng(seed)
    rows = {"model_a": [], "model_b": [], "winner": [], "category": []}
    strength = {"m00": swap, "m01": -swap, "m02": 0.3, "m03": 0.0, "m04": -0.3}
    for category, sign in (("maths", 1), ("prose", -1)):
        for a, b in zip(maths["model_a"], maths["model_b"], strict=True):
            lead = sign_of(a, sign, strength) - sign_of(b, sign, strength)
            rows["model_a"].append(a)
            rows["model_b"].append(b)
            won = rng.random() < 1 / (1 + np.exp(-lead))
            rows["winner"].append("model_a" if won else "model_b")
            rows["category"].append(category)
    return rows


def sign_of(name, sign, strength):
    return strength[name] * (sign if name in ("m00", "m01") else 1)


@pytest.fixture(scope="module")
def fit():
    votes = ba.read_votes(votes_of_two(), slices=("category",))
    return ba.fit(votes, model=MODEL)


def test_one_board_for_each_level(fit):
    table = ba.leaderboard(fit, by="category")
    assert next(iter(table)) == "category"
    maths, prose = (table[table["category"] == name] for name in ("maths", "prose"))
    assert maths["competitor"].iloc[0] == "m00"
    assert prose["competitor"].iloc[0] == "m01"
    assert maths["elo"].mean() == pytest.approx(1000)
    assert maths["votes"].sum() == 2 * 900
    assert maths["p_best"].sum() == pytest.approx(1)


def test_levels_lie_between_their_own_board_and_the_whole(fit):
    pooled = ba.leaderboard(fit, by="category").set_index(["category", "competitor"])
    apart = ba.leaderboards(ba.fit_many(fit.votes, by="category"))
    apart = apart.set_index(["board", "competitor"])
    overall = ba.leaderboard(fit).set_index("competitor")
    for name in ("m00", "m01"):
        own, level = (
            apart.loc[("maths", name), "elo"],
            pooled.loc[("maths", name), "elo"],
        )
        assert abs(level - own) < 0.25 * abs(own - overall.loc[name, "elo"])


def test_gaps_name_who_changes(fit):
    table = ba.slice_gaps(fit, "category")
    names = ["category", "competitor", "gap", "lower", "upper", "p_above", "flagged"]
    assert list(table) == names
    assert set(table["competitor"][:4]) == {"m00", "m01"}
    first = table.set_index(["category", "competitor"]).loc[("maths", "m00")]
    assert first["lower"] > 0 and first["p_above"] > 0.999
    others = table[~table["competitor"].isin(["m00", "m01"])]
    inside = (others["lower"] < 0) & (others["upper"] > 0)
    assert inside.mean() > 0.5
    for _, part in table.groupby("category"):
        assert part["gap"].sum() == pytest.approx(0, abs=1e-6)


def test_a_level_is_held_against_the_votes_as_they_came():
    """Two levels that reverse each other, nine votes in ten at one: it hardly differs."""
    votes = ba.read_votes(votes_of_two(), slices=("category",))
    few = votes.take(
        np.flatnonzero(
            (votes.slices["category"] == 0) | (np.arange(len(votes)) % 9 == 0)
        )
    )
    table = ba.slice_gaps(ba.fit(few, model=MODEL), "category")
    gap = table.set_index(["category", "competitor"])["gap"]
    assert gap["prose"]["m00"] < -3 * gap["maths"]["m00"] < 0


def test_no_difference_is_rarely_flagged():
    votes, _ = columns(8, 1500, seed=3)
    rng = np.random.default_rng(0)
    votes["category"] = rng.choice(["a", "b", "c"], 1500).tolist()
    fit = ba.fit(ba.read_votes(votes, slices=("category",)), model=MODEL)
    assert not ba.slice_gaps(fit, "category")["flagged"].any()


def test_a_model_without_the_slice_is_refused():
    with pytest.raises(ba.errors.ModelError, match="strength_by=\\('category',\\)"):
        ba.leaderboard(fitted(), by="category")
    with pytest.raises(ba.errors.ModelError, match="no strengths by"):
        ba.slice_gaps(fitted(), "category")


def test_prompts_cluster_the_boards_of_slices_too():
    votes = votes_of_two()
    rng = np.random.default_rng(0)
    votes["prompt"] = [f"p{k}" for k in rng.integers(20, size=len(votes["winner"]))]
    fit = ba.fit(ba.read_votes(votes, slices=("category",)), model=MODEL)
    table = ba.leaderboard(fit, by="category")
    assert table.attrs["interval"] == "clustered"
    plain = ba.leaderboard(fit, by="category", interval="posterior")
    ratio = (table["upper"] - table["lower"]) / (plain["upper"] - plain["lower"])
    assert 0.6 < ratio.median() < 1.7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Divergent draws")  # one of 4,000
def test_gaps_of_a_fit_by_nuts_are_those_of_its_samples(fit):
    gaussian = ba.slice_gaps(fit, "category").set_index(["category", "competitor"])
    sampled = ba.fit(
        ba.read_votes(votes_of_two(), slices=("category",)),
        model=MODEL,
        method="nuts",
        draws=1000,
        tune=1000,
        seed=1,
    )
    table = ba.slice_gaps(sampled, "category").set_index(["category", "competitor"])
    assert not np.allclose(table["gap"], gaussian["gap"].loc[table.index], atol=1e-6)
    half_width = (gaussian["upper"] - gaussian["lower"]) / 2
    shift = (table["gap"] - gaussian["gap"]).abs() / half_width
    assert shift.max() < 0.4


def test_a_level_of_few_prompts_is_about_these():
    """It has the posterior's intervals, and says so; the others allow for new prompts."""
    votes = votes_of_two()
    maths = np.array(votes["category"]) == "maths"
    number = np.arange(len(maths))
    prompt = np.where(maths, number % 5, 10 + number % 60).astype(str)
    read = ba.read_votes(votes | {"prompt": prompt.tolist()}, slices=("category",))
    fit = ba.fit(read, model=MODEL)
    board = ba.leaderboard(fit, by="category")
    assert board.attrs["notes"] == (
        "maths: The board is about its prompts only: too few to allow for others.",
        "prose: Intervals allow for new prompts like these.",
    )
    posterior = ba.leaderboard(fit, by="category", interval="posterior")
    is_same = board["upper"] == posterior["upper"]
    assert is_same[board["category"] == "maths"].all()
    assert not is_same[board["category"] == "prose"].any()
    gaps, sure = (
        ba.slice_gaps(fit, "category", interval=x) for x in (None, "posterior")
    )
    is_same = gaps.set_index(["category", "competitor"])["upper"].eq(
        sure.set_index(["category", "competitor"])["upper"]
    )
    assert is_same.loc["maths"].all() and not is_same.loc["prose"].any()


def test_an_anchor_has_votes_on_every_board(fit):
    rows = votes_of_two()
    is_kept = [
        not (category == "prose" and "m04" in (a, b))
        for a, b, category in zip(
            rows["model_a"], rows["model_b"], rows["category"], strict=True
        )
    ]
    kept = {name: np.array(x)[is_kept].tolist() for name, x in rows.items()}
    partial = ba.fit(ba.read_votes(kept, slices=("category",)), model=MODEL)
    anchored = ba.EloScale(anchor=("m04", 1200.0))
    assert len(ba.leaderboard(fit, by="category", elo=anchored)) == 10
    with pytest.raises(ba.errors.ModelError, match="no votes in category 'prose'"):
        ba.leaderboard(partial, by="category", elo=anchored)


def test_of_strengths_by_slice_no_pair_is_tested_and_levels_are_the_limit(fit):
    pairs = ba.pairs(fit)
    assert pairs["p_unexplained"].isna().all() and not pairs["flagged"].any()
    assert set(pairs["more_votes"].dropna()) <= {0}
    close = ba.pairs(fit, between=("m02", "m03"))
    assert close["more_votes"].isna().all()
    assert (
        "More levels of category would settle it; more votes on these 2 would not."
        in (ba.verdict(fit))
    )
