import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba

COLUMNS = ["model_a", "model_b", "p_model_a", "p_tie", "p_model_b", "score"]


def arena(**options):
    sizes = {"competitors": 5, "annotators": 6, "votes": 600, "seed": 3}
    return ba.simulate(**{**sizes, **options}).votes


@pytest.fixture(scope="module")
def fit():
    return ba.fit(arena())


@pytest.fixture(scope="module")
def by_annotator():
    return ba.fit(arena(), model="am-davidson")


def test_pairs(fit):
    table = ba.predict(fit, [("model-1", "model-2"), ("model-2", "model-1")])
    assert list(table.columns) == COLUMNS
    outcomes = table[["p_model_a", "p_tie", "p_model_b"]].to_numpy()
    np.testing.assert_allclose(outcomes.sum(axis=1), 1)
    np.testing.assert_allclose(table["score"], outcomes[:, 0] + outcomes[:, 1] / 2)
    r = fit.strength
    assert (table["score"][0] > table["score"][1]) == (r[0] > r[1])


def test_a_dataframe_keeps_its_rows_in_order(by_annotator):
    votes = arena().drop(columns="winner")
    whole = ba.predict(by_annotator, votes)
    assert whole["judge"].tolist() == votes["judge"].tolist()
    some = ba.predict(by_annotator, votes.iloc[[7, 3, 100]])
    expected = whole.iloc[[7, 3, 100]].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, expected)


def test_votes_have_a_row_each(fit):
    assert len(ba.predict(fit, fit.votes)) == len(fit.votes)


def test_an_unknown_annotator_is_drawn_from_the_others(by_annotator):
    pair = ("model-1", "model-2")
    table = ba.predict(by_annotator, [(*pair, "nobody")])
    unnamed = ba.predict(by_annotator, [pair])
    assert table["p_tie"][0] == unnamed["p_tie"][0]
    names = by_annotator.votes.annotators
    known = ba.predict(by_annotator, [(*pair, name) for name in names])
    assert known["score"].min() < table["score"][0] < known["score"].max()


def test_an_annotator_who_is_not_given_is_drawn_from_the_others(by_annotator):
    rows = [("model-1", "model-2", "nobody"), ("model-1", "model-2", None)]
    table = ba.predict(by_annotator, rows)
    assert table["judge"].isna().tolist() == [False, True]
    assert table["score"][0] == table["score"][1]


def test_no_ties_no_probability_of_a_tie():
    votes = arena(tie_propensity=0)
    for model in ("davidson", "bradley-terry", "am-davidson"):
        table = ba.predict(ba.fit(votes, model=model), [("model-1", "model-2")])
        assert table["p_tie"][0] == 0
        assert table["score"][0] == pytest.approx(table["p_model_a"][0])


def test_half_wins_expect_the_score_of_bradley_terry():
    fit = ba.fit(arena(), model="bradley-terry", prior="flat")
    table = ba.predict(fit, [("model-1", "model-2")])
    lead = fit.strength[0] - fit.strength[1]
    assert table["score"][0] == pytest.approx(1 / (1 + np.exp(-lead)))
    ratio = table["p_tie"][0] ** 2 / table["p_model_a"][0] / table["p_model_b"][0]
    assert ratio == pytest.approx(1)  # Davidson with nu = 1


def test_slices_and_features():
    votes = arena()
    rng = np.random.default_rng(0)
    votes["topic"] = rng.choice(["art", "law"], len(votes))
    votes["length"] = rng.normal(size=len(votes))
    model = ba.Model("custom", strength_by=("topic",), style=("length",))
    fit = ba.fit(votes, model=model, slices=["topic"], features=["length"])
    pair = {"model_a": "model-1", "model_b": "model-2", "length": 0.5}
    scores = [
        ba.predict(fit, [{**pair, "topic": topic}])["score"][0]
        for topic in ("art", "law", "sport")
    ]
    assert len(set(scores)) == 3
    with pytest.raises(ba.ArenaError, match=r"feature 'length'.*has no column"):
        ba.predict(fit, [("model-1", "model-2")])


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([("model-1", "model-9")], "no estimate for 'model-9'"),
        ([("model-1", "model-1")], "meets itself"),
        ([("model-1",)], "A pair names two"),
        (("model-1", "model-2"), r"in a list.*: \[\('model-1', 'model-2'\)\]"),
        (["model-1", "model-2", "judge"], r"in a list.*: \[\('model-1', 'model-2', 'j"),
        (["votes.csv"], r"in a list.*: \[\('x', 'y'\)\]"),
        ([("model-1", "model-2"), ("model-1", "model-2", "x")], "all pairs alike"),
        ([{"colour": "red"}], "no pair of columns"),
        (
            [("model-1", "model-2"), ("model-1", None)],
            "In 1 of 2 votes a competitor has",
        ),
        ([{"model_a": "", "model_b": "model-1"}], "no name.*Fill it in"),
    ],
)
def test_mistakes(fit, votes, message):
    with pytest.raises(ba.ArenaError, match=message):
        ba.predict(fit, votes)


def test_flat_priors_predict_at_the_estimate():
    votes = pd.DataFrame(
        [("a", "b", "a"), ("a", "b", "b"), ("a", "c", "a")],
        columns=["model_a", "model_b", "winner"],
    )
    with pytest.warns(ba.errors.ArenaWarning, match="No finite estimate for 'c'"):
        fit = ba.fit(votes, model="bradley-terry", prior="flat")
    assert ba.predict(fit, [("a", "b")])["p_model_a"][0] == pytest.approx(0.5)
    with pytest.raises(ba.ArenaError, match="no estimate for 'c'"):
        ba.predict(fit, [("a", "c")])
