"""What a place costs."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import frame, run
from price import Attack, lead

import bayes_arena as ba
from bayes_arena.decisions.price import MOST, Board, campaign, scores
from bayes_arena.likelihood.presets import PRESETS

PLAIN = math.inf
NAMES = [f"m{place}" for place in range(6)]


@pytest.fixture(scope="module")
def cells() -> ba.Cells:
    """Six competitors, all of which met, without annotators."""
    size = {"competitors": 6, "annotators": 1, "votes": 600}
    arena = ba.simulate(**size, strength_sd=0.3, discrimination_sd=0.0, tie_propensity=0.5, seed=4)
    return ba.read_votes(arena.votes.drop("judge"))


@pytest.fixture(scope="module")
def fitted(cells) -> ba.Fit:
    return ba.fit(cells, model="bradley-terry", method="map")


@pytest.fixture(scope="module")
def crowd() -> pl.DataFrame:
    """Annotators who differ much, so that a new account does not count as much as an old one."""
    return ba.simulate(
        competitors=12, annotators=60, votes=3000, strength_sd=0.6, discrimination_sd=0.9, tie_spread=0.8, seed=2
    ).votes


def expected_votes(fit: ba.Fit, target: int, votes: float, push: float, focus: float | None) -> ba.Cells:
    """Votes, not whole ones, of accounts as they are described, and everybody's."""
    cells, n = fit.cells, fit.cells.n_competitors
    cast = np.zeros((n, n))
    np.add.at(cast, (cells.a, cells.b), cells.counts.sum(axis=1))
    cast += cast.T
    shown = cast.sum(axis=0)
    on_it = shown[target] / (shown.sum() / 2) if focus is None else focus
    others = cast.copy()
    others[target] = others[:, target] = 0
    offered = (1 - on_it) * others / (others.sum() / 2)
    opponent = np.where(np.arange(n) == target, 0, shown)
    offered[target] = offered[:, target] = on_it * opponent / opponent.sum()
    sign = (cells.a == target).astype(float) - (cells.b == target)
    with np.errstate(over="ignore"):
        pushed = fit.strength[cells.a] - fit.strength[cells.b] + np.where(sign, sign * min(push, 1e3), 0)
        p = 1 / (1 + np.exp(-pushed))
    more = votes * offered[cells.a, cells.b] / 2  # a pair has two rows, one for each order
    counts = cells.counts + np.column_stack([more * p, more * (1 - p), 0 * more, 0 * more])
    return cells.take(slice(None), counts=counts)


@pytest.mark.parametrize("push", [PLAIN, 1.5])
@pytest.mark.parametrize("focus", [None, 0.6, 1.0])
def test_bradley_terry_moves_as_in_a_refit_with_the_expected_votes(fitted, push, focus):
    assert len(fitted.cells.a) == 30  # every pair, in both orders
    target = int(np.argsort(fitted.strength)[1])
    board = Board.of(fitted)
    planned = campaign(board, target, scores(fitted, board, push), focus)
    moved, _ = planned.moved(90.0, board.strength)
    there = expected_votes(fitted, target, 90.0, push, focus)
    again = ba.fit(there, model=fitted.model, prior=fitted.spreads, method="map")
    np.testing.assert_allclose(moved, again.strength, atol=1e-6)
    assert moved[target] > board.strength[target] + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("focus", [None, 1.0])
def test_the_price_is_where_a_refit_has_the_competitor_at_the_place(fitted, focus):
    table = ba.price(fitted, place=2, push=2.0, focus=focus)
    names = fitted.cells.competitors
    for row in table.to_dict("records"):
        target = names.index(row["competitor"])
        for kind, push in (("plain", PLAIN), ("soft", 2.0)):
            votes = row[f"{kind}_votes"]
            if math.isfinite(votes):
                for cast, ahead in ((votes, True), (votes - 1, False)):
                    there = expected_votes(fitted, target, cast, push, focus)
                    again = ba.fit(there, model=fitted.model, prior=fitted.spreads, method="map")
                    assert (lead(again.strength, target, 2) > -1e-7) == ahead
    assert np.isfinite(table["plain_votes"]).all() and np.isfinite(table["soft_votes"]).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "push"),
    [
        ("bradley-terry", PLAIN),
        ("bradley-terry", 1.5),
        ("am-davidson", PLAIN),
        ("am-davidson", 1.5),
        ("directions", PLAIN),
    ],
)
def test_campaigns_at_the_price_gain_what_it_says(crowd, model, push):
    chosen = replace(PRESETS["am-davidson"], dimensions=1) if model == "directions" else PRESETS[model]
    fit = ba.fit(crowd, model=chosen, robust=False)
    board = Board.of(fit)
    target = int(np.argsort(-board.strength)[5])
    planned = campaign(board, target, scores(fit, board, push), None)
    price = planned.price(3)
    moved, _ = planned.moved(price, board.strength)
    predicted = moved[target] - board.strength[target]
    size = 20
    attacks = [Attack(fit, crowd, target, push, size, seed) for seed in range(4)]
    at, half, twice = (
        np.array([attack.board(math.ceil(times * price / size)) for attack in attacks]) for times in (1.0, 0.5, 2.0)
    )
    assert 1 / 1.5 < predicted / (at[:, target].mean() - board.strength[target]) < 1.5
    assert np.mean([lead(strength, target, 3) for strength in half]) < 0
    assert np.mean([lead(strength, target, 3) for strength in twice]) > 0


def test_a_vote_of_a_new_account_counts_as_the_crowd_is_clear(crowd):
    """At the mode, which says nothing of how sure the discriminations are."""
    fit = ba.fit(crowd.head(600), model="am-elo", method="map", robust=False)
    share, theta = fit.cells.votes_by_annotator() / fit.cells.n_votes, fit.discrimination
    assert Board.of(fit).weight == pytest.approx(share @ theta / (share @ theta**2))


@pytest.mark.slow
def test_a_vote_of_a_new_account_counts_less_where_annotators_differ(crowd):
    alike = ba.simulate(competitors=12, annotators=60, votes=3000, discrimination_sd=0.0, seed=2).votes
    weights = [Board.of(ba.fit(votes, model="am-davidson", robust=False)).weight for votes in (crowd, alike)]
    assert 0.4 < weights[0] < 0.75 < 0.9 < weights[1] <= 1.0
    assert Board.of(ba.fit(crowd, model="davidson")).weight == 1.0


def test_two_competitors_by_hand():
    votes = frame([("a", "b", "model_a")] * 30 + [("a", "b", "model_b")] * 10)
    row = ba.price(ba.fit(votes, model="bradley-terry", prior="flat"), push=2.0, account_votes=7).iloc[0]
    assert (row["rank"], row["competitor"], row["opponent"]) == (2, "b", "a")
    assert row["elo_gap"] == pytest.approx(400 * math.log10(3))
    assert row["plain_votes"] == 20  # until both won 30
    assert row["plain_share"] == 20 / 40
    assert row["plain_accounts"] == 3
    soft = 1 / (1 + 3 * math.exp(-2))
    assert row["soft_votes"] == math.ceil(20 / (2 * soft - 1))


def test_a_push_that_does_not_close_the_gap_has_no_price():
    votes = frame([("a", "b", "model_a")] * 30 + [("a", "b", "model_b")] * 10)
    fit = ba.fit(votes, model="bradley-terry", prior="flat")
    assert np.isinf(ba.price(fit, push=math.log(3) - 0.01).loc[0, "soft_votes"])
    assert np.isinf(ba.price(fit, push=math.log(3) + 0.01).loc[0, "soft_share"])  # beyond MOST times the votes
    score = 0.5 + 10 / (40 * MOST)
    just = math.log(score / (1 - score)) + math.log(3)
    assert ba.price(fit, push=just + 0.01).loc[0, "soft_votes"] <= 40 * MOST


def test_the_better_the_place_and_the_weaker_the_push_the_dearer(fitted):
    last = ba.leaderboard(fitted)["competitor"].iloc[-1]
    by_place = [ba.price(fitted, [last], place=place, push=3.0).iloc[0] for place in (5, 4, 3, 2, 1)]
    for kind in ("plain_votes", "soft_votes", "elo_gap"):
        assert (np.diff([row[kind] for row in by_place]) > 0).all()
    soft = [ba.price(fitted, [last], push=push).loc[0, "soft_votes"] for push in (0.5, 1.0, 2.0, 5.0)]
    assert (np.diff(soft) < 0).all()
    assert soft[-1] > ba.price(fitted, [last]).loc[0, "plain_votes"]


def test_every_place_costs_twice_as_much_among_twice_as_many_votes(cells):
    once, twice = (
        ba.price(ba.fit(cells.take(slice(None), counts=times * cells.counts), model="bradley-terry", prior="flat"))
        for times in (1, 2)
    )
    np.testing.assert_allclose(twice["plain_votes"], 2 * once["plain_votes"], atol=1)
    np.testing.assert_allclose(twice["plain_share"], once["plain_share"], atol=1 / cells.n_votes)


def test_accounts_that_vote_on_nothing_else_need_fewer_votes(fitted):
    natural, focused = ba.price(fitted, place=1), ba.price(fitted, place=1, focus=1.0)
    share = natural["plain_votes"] / focused["plain_votes"]
    assert (share > 2).all()  # a third of the votes show a competitor of six


def test_prices_of_the_first_place(fitted):
    table, board = ba.price(fitted, place=1), ba.leaderboard(fitted)
    assert table["rank"].tolist() == [2, 3, 4, 5, 6]
    assert table["competitor"].tolist() == board["competitor"].tolist()[1:]
    assert set(table["opponent"]) == {board.loc[0, "competitor"]}
    np.testing.assert_allclose(table["elo_gap"], board.loc[0, "elo"] - board["elo"][1:])
    np.testing.assert_allclose(table["elo"], board["elo"][1:])
    following = ba.price(fitted)
    assert following["opponent"].tolist() == board["competitor"].tolist()[:-1]
    assert following.loc[0].equals(table.loc[0])
    assert (following["plain_votes"] <= table["plain_votes"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bradley-terry", "am-davidson"])
def test_names_sides_and_the_order_of_votes_change_nothing(arena, model):
    votes = arena.votes
    first = ba.price(ba.fit(votes, model=model, robust=False))
    other = {"model_a": "model_b", "model_b": "model_a"}
    turned = votes.select(
        model_a="model_b", model_b="model_a", winner=pl.col("winner").replace(other), judge="judge"
    ).sample(fraction=1.0, shuffle=True, seed=1)
    if PRESETS[model].position == "none":
        again = ba.price(ba.fit(turned, model=model, robust=False))
        np.testing.assert_allclose(again["plain_votes"], first["plain_votes"])
    names = sorted(set(votes["model_a"]) | set(votes["model_b"]))
    renamed = dict(zip(names, [f"x{place:02}" for place in reversed(range(len(names)))], strict=True))
    called = votes.with_columns(pl.col("model_a", "model_b").replace(renamed)).sample(
        fraction=1.0, shuffle=True, seed=2
    )
    again = ba.price(ba.fit(called, model=model, robust=False))
    assert again["competitor"].tolist() == [renamed[name] for name in first["competitor"]]
    for column in ("plain_votes", "soft_votes"):
        np.testing.assert_allclose(again[column], first[column], atol=1)


@pytest.mark.slow
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_preset_has_prices(arena, preset):
    fit = ba.fit(arena.votes, model=preset, robust=False)
    table = ba.price(fit, account_votes=10)
    assert len(table) == fit.cells.n_competitors - 1
    assert (table["plain_votes"] >= 1).all() and np.isfinite(table["plain_votes"]).all()
    assert (table["soft_votes"] >= table["plain_votes"]).all()
    assert (table["plain_accounts"] == np.ceil(table["plain_votes"] / 10)).all()


def test_accounts_are_counted_where_there_are_annotators(arena, fitted):
    fit = ba.fit(arena.votes, model="bradley-terry")
    table = ba.price(fit)
    assert table.attrs["account_votes"] == fit.cells.n_votes / fit.cells.n_annotators
    assert "plain_accounts" in table and "soft_accounts" in table
    assert not [name for name in ba.price(fitted) if name.endswith("accounts")]
    assert "soft_accounts" in ba.price(fitted, account_votes=3)


def test_who_was_never_beaten_can_be_passed():
    rows = [("a", "b", "model_a")] * 5 + [("b", "c", "model_a"), ("b", "c", "model_b"), ("b", "c", "model_a")] * 5
    table = ba.price(ba.fit(frame(rows), model="bradley-terry"), place=1)
    assert table.loc[0, "opponent"] == "a"
    assert np.isfinite(table["plain_votes"]).all()
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(frame(rows), model="bradley-terry", prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="no finite estimate"):
        ba.price(fit)


def test_ties_that_are_dropped_are_no_votes(cells):
    model = ba.Model("decided", ties="drop")
    decided = cells.take(slice(None), counts=cells.counts * [1, 1, 0, 0])
    assert ba.price(ba.fit(cells, model=model)).equals(ba.price(ba.fit(decided, model=model)))
    assert cells.counts[:, 2].sum() > 50


def test_who_is_never_shown_has_no_price_by_chance():
    rows = [("a", "b", "model_a")] * 5 + [("a", "b", "model_b")] * 4 + [("b", "c", "tie")] * 3
    fit = ba.fit(frame(rows), model=ba.Model("decided", ties="drop"))
    low = ba.price(fit).set_index("competitor")["plain_votes"]
    assert np.isinf(low["c"]) if "c" in low else np.isfinite(low).all()
    assert np.isfinite(ba.price(fit, focus=0.5)["plain_votes"]).all()


def test_groups_that_never_met_have_no_places():
    rows = [("a", "b", "model_a"), ("a", "b", "model_b"), ("c", "d", "model_a"), ("c", "d", "model_b")]
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = ba.fit(frame(rows), model="bradley-terry", prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="never compared"):
        ba.price(fit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"place": 0}, "place must be a rank from 1 to 5, not 0"),
        ({"place": 6}, "not 6"),
        ({"place": 1.5}, "not 1.5"),
        ({"push": 0.0}, "push must be a positive number of logits, not 0.0"),
        ({"push": math.inf}, "not inf"),
        ({"push": math.nan}, "not nan"),
        ({"account_votes": 0}, "account_votes must be a positive number of votes, not 0"),
        ({"focus": 0.0}, "focus must be a share"),
        ({"focus": 1.1}, "not 1.1"),
        ({"competitors": ["nobody"]}, "'nobody' is not a competitor"),
        ({"competitors": "model-1"}, "a sequence of names"),
    ],
)
def test_what_cannot_be_asked_is_refused(fitted, options, message):
    with pytest.raises(ba.ModelError, match=message):
        ba.price(fitted, **options)


def test_who_is_there_already_is_refused(fitted):
    first, second = ba.leaderboard(fitted)["competitor"][:2]
    with pytest.raises(ba.ModelError, match=f"'{first}' is number 1 already"):
        ba.price(fitted, [first])
    with pytest.raises(ba.ModelError, match=f"'{second}' is number 2 already"):
        ba.price(fitted, [second], place=3)


@pytest.mark.slow
def test_integrity_prints_both_prices_of_the_next_place(tmp_path, arena):
    arena.votes.write_csv(tmp_path / "votes.csv")
    done = run("integrity", tmp_path / "votes.csv", "--model", "am-davidson", "--method", "map")
    assert done.returncode == 0 and "votes up: those that would move it up a rank" in done.stdout
    prices = ba.price(ba.fit(arena.votes, model="am-davidson", method="map", robust=True)).set_index("competitor")
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if "model-" in line}
    for name, row in prices.iterrows():
        assert lines[name][-2:] == [f"{row['plain_votes']:,.0f}", f"{row['soft_votes']:,.0f}"], name


def test_equals_have_a_price_whatever_rounding_makes_of_them():
    board = ba.fit(ba.read_votes(frame([("x", "y", "tie"), ("y", "z", "tie"), ("z", "x", "tie")])))
    rounded = replace(board.mode, point=replace(board.point, strength=np.array([1e-17, -1e-17, 0.0])))
    assert ba.price(replace(board, mode=rounded)).equals(ba.price(board))


def test_small_leads_count_on_the_board():
    """With many ties a lead is smaller on the board than in the model, and the prior holds it the more."""
    votes = [("x", "y", "x")] * 21 + [("x", "y", "y")] * 20 + [("x", "y", "tie")] * 60
    found = ba.fit(ba.read_votes(frame(votes)), model=ba.Model("davidson", ties="davidson"))
    assert np.abs(found.strength).max() < 0.1
    assert Board.of(found).precision * found.target.strength_sd**2 > 1.2


def test_it_says_how_far_it_is(fitted, monkeypatch):
    said = []
    monkeypatch.setattr("bayes_arena.decisions.price.report", lambda text, *done: said.append(text))
    ba.price(fitted)
    assert said[:2] == ["competitor 1 of 5", "competitor 2 of 5"]
