import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError, VotesError
from tests.people.arenas import N, table, votes_of

JUDGES = ("judge a", "judge b", "judge c", "judge d")
MAKERS = {f"model {c:02d}": f"maker {'abcd'[c % 4]}" for c in range(N)}
MAKERS |= {judge: f"maker {judge[-1]}" for judge in JUDGES}


def judged(preference, seed=0, each=700):
    """Return votes of four judges, the first of whom prefers its own maker."""
    rng = np.random.default_rng(seed)
    k = np.repeat(np.arange(4), each)
    i = rng.integers(N, size=len(k))
    j = (i + rng.integers(1, N, size=len(k))) % N
    own = np.array([1.0, -0.5, 0.2, 0.0]).repeat(3)[rng.permutation(N)]
    slope = np.array([0.8, 1.6, 1.0, 0.7])
    eta = slope[k] * (own[i] - own[j])
    eta += preference * (k == 0) * ((i % 4 == 0).astype(int) - (j % 4 == 0))
    p = np.exp(np.stack([eta / 2, -eta / 2, 0 * eta]))
    outcome = (rng.random(len(k)) > np.cumsum(p / p.sum(axis=0), axis=0)[:2]).sum(
        axis=0
    )
    votes = table(i, j, np.array(["model_a", "model_b", "tie"])[outcome])
    return votes.assign(judge=np.array(JUDGES)[k])


def test_a_judge_that_prefers_its_own_maker_is_found():
    report = ba.judge_report(judged(1.2), "judge a", MAKERS)
    assert report.preference.lower > 0
    assert report.preference.value == pytest.approx(1.2, abs=0.5)
    assert "Preference for its own maker: +" in str(report)
    other = ba.judge_report(judged(1.2), "judge b", MAKERS)
    assert other.preference.lower < 0 < other.preference.upper


@pytest.mark.slow
def test_fair_judges_rarely_have_a_preference():
    seen = [
        ba.annotators(judged(0.0, seed), makers=MAKERS)[["own_lower", "own_upper"]]
        for seed in range(10)
    ]
    bounds = pd.concat(seen)
    outside = (bounds["own_lower"] > 0) | (bounds["own_upper"] < 0)
    assert outside.mean() < 0.1


def test_makers_are_a_column_of_annotators(tmp_path):
    votes = judged(1.2)
    path = tmp_path / "makers.csv"
    path.write_text("name,maker\n" + "".join(f"{a}, {b}\n" for a, b in MAKERS.items()))
    by_file = ba.annotators(votes, makers=path).set_index("annotator")
    by_mapping = ba.annotators(votes, makers=MAKERS).set_index("annotator")
    pd.testing.assert_frame_equal(by_file, by_mapping)
    assert by_file["own_maker"].idxmax() == "judge a"
    few = {name: maker for name, maker in MAKERS.items() if name != "judge d"}
    column = ba.annotators(votes, makers=few).set_index("annotator")["own_maker"]
    assert np.isnan(column["judge d"])


def test_the_report_holds_the_row_and_the_table():
    votes = judged(0.0)
    report = ba.judge_report(votes, "judge c")
    row = ba.annotators(votes).set_index("annotator").loc["judge c"]
    assert report.row["theta"] == pytest.approx(row["theta"])
    assert report.preference is None
    assert len(report.table) == N
    assert report.table["votes"].sum() == 2 * 700
    assert str(report).startswith("judge c: ordinary, 700 votes\nAgreement")


def test_agreement_by_hand():
    ab = {"model_a": "x", "model_b": "y"}
    votes = [
        ab | {"winner": "model_a", "judge": "bot", "prompt": "1"},
        ab | {"winner": "model_a", "judge": "u", "prompt": "1"},
        ab | {"winner": "tie", "judge": "v", "prompt": "1"},
        {
            "model_a": "y",
            "model_b": "x",
            "winner": "model_b",
            "judge": "bot",
            "prompt": "2",
        },
        ab | {"winner": "model_a", "judge": "u", "prompt": "2"},
        ab | {"winner": "model_a", "judge": "bot", "prompt": "3"},
    ]
    report = ba.judge_report(ba.read_votes(votes, prompt="prompt"), "bot")
    # Items 1 and 2 are common: agreement 1/2 and 1; ties 0 and 1/4 of the verdicts.
    assert report.items == 2
    assert report.agreement == pytest.approx(0.75)
    assert report.kappa == pytest.approx((0.75 - 0.375) / (1 - 0.375))


def test_a_judge_alone_or_unknown_is_an_error():
    with pytest.raises(ModelError, match="voted alone"):
        ba.judge_report(votes_of(annotators=1), "honest 00")
    with pytest.raises(ModelError, match="Did you mean 'judge"):
        ba.judge_report(judged(0.0, each=60), "judge x")


@pytest.mark.parametrize(
    ("makers", "message"),
    [
        ({"judge a": "maker a"}, "None of the competitors has a maker"),
        ({"model 00": "maker a"}, "None of the annotators has a maker"),
        ("no such file.csv", "Cannot read"),
    ],
)
def test_makers_that_do_not_fit(makers, message):
    with pytest.raises(VotesError, match=message):
        ba.annotators(judged(0.0, each=60), makers=makers)


def test_a_file_of_makers_has_two_columns(tmp_path):
    path = tmp_path / "makers.csv"
    path.write_text("model 00,maker a\nmodel 01\n")
    with pytest.raises(VotesError, match=r"two columns.*rows 2"):
        ba.annotators(judged(0.0, each=60), makers=path)


def judge_of(copies, labels):
    """Return votes of two people who agree, and of a bot that votes by some labels."""
    rng = np.random.default_rng(0)
    i = rng.integers(N, size=copies)
    j = (i + rng.integers(1, N, size=copies)) % N
    people = table(i, j, rng.choice(["model_a", "model_b"], copies))
    people["prompt"] = [f"p{k}" for k in range(copies)]
    bot = people.assign(winner=people["winner"].map(labels), judge="bot")
    return pd.concat([people.assign(judge="ann"), people.assign(judge="ben"), bot])


@pytest.mark.parametrize(
    ("labels", "agreement", "kappa"),
    [
        ({"model_a": "model_a", "model_b": "model_b"}, 1, 1),
        ({"model_a": "model_b", "model_b": "model_a"}, 0, -1),
        ({"model_a": "tie", "model_b": "tie"}, 0, 0),
    ],
)
def test_agreement_of_one_who_copies_reverses_or_ties(labels, agreement, kappa):
    votes = ba.read_votes(judge_of(60, labels), prompt="prompt")
    report = ba.judge_report(votes, "bot")
    assert report.items == 60
    assert report.agreement == pytest.approx(agreement)
    assert report.kappa == pytest.approx(kappa)


def test_a_judge_who_shares_no_item_has_no_agreement():
    votes = judge_of(40, {"model_a": "model_a", "model_b": "model_b"})
    votes.loc[votes["judge"] == "bot", "prompt"] += " again"
    report = ba.judge_report(ba.read_votes(votes, prompt="prompt"), "bot")
    assert report.items == 0
    assert np.isnan(report.agreement) and np.isnan(report.kappa)
    assert "they saw none of its items" in str(report) and "nan" not in str(report)


@pytest.mark.slow
def test_sides_decide_nothing_about_a_judge():
    votes = judged(1.2)
    other = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    turned = votes.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    turned = turned.assign(winner=votes["winner"].map(other))
    one, two = (ba.judge_report(rows, "judge a", MAKERS) for rows in (votes, turned))
    assert one.agreement == pytest.approx(two.agreement)
    assert one.preference.value == pytest.approx(two.preference.value, abs=1e-3)


def test_a_judge_whose_maker_has_no_competitor_has_no_preference():
    makers = MAKERS | {"judge a": "another maker"}
    report = ba.judge_report(judged(0.0, each=100), "judge a", makers)
    assert report.preference is None
    assert "maker" not in str(report)
