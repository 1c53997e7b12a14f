"""Scores of several systems on the same items, as pairs."""

import json

import numpy as np
import polars as pl
import pytest

import bayes_arena as ba
from bayes_arena.votes.cells import with_counts

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.errors.LayoutWarning")


def table(scores: np.ndarray) -> pl.DataFrame:
    items, systems = scores.shape
    return pl.DataFrame(
        {
            "item": np.repeat(np.arange(items), systems),
            "model": np.tile([f"m{i}" for i in range(systems)], items),
            "score": scores.ravel(),
        }
    )


def right_or_wrong(rng: np.random.Generator, items: int, systems: int) -> np.ndarray:
    ahead = np.linspace(-0.8, 0.8, systems) - rng.normal(0, 1.5, (items, 1))
    return (ahead + rng.logistic(size=(items, systems)) > 0).astype(float)


@pytest.mark.parametrize(
    ("scores", "weight"),
    [
        ([1, 2], 1),
        ([1, 1], 1),
        ([4, 3, 2, 1], 3 / 5),
        ([1, 0, 0, 0], 1 / 2),
        ([1, 1, 0, 0], 1 / 2),
        ([1, 1, 1, 1], 1 / 2),
    ],
)
def test_pairs_of_an_item_weigh_as_a_ranking_or_as_a_choice(scores, weight):
    votes = ba.read_votes(table(np.array([scores], dtype=float)))
    assert votes.counts.sum(axis=1) == pytest.approx(weight)
    assert (len(votes.a), votes.sided) == (len(scores) * (len(scores) - 1) / 2, False)


def test_only_systems_that_were_scored_meet():
    rows = [("q1", "x", 1.0), ("q1", "y", None), ("q1", "z", 0.0), ("q2", "x", 1.0), ("q3", "y", float("nan"))]
    votes = ba.read_votes(pl.DataFrame(rows, schema=["item", "system", "score"], orient="row"))
    assert (votes.competitors, votes.n_votes, votes.slice_names["item"]) == (("x", "z"), 1, ("q1",))


def test_a_margin_says_by_how_much():
    votes = table(np.array([[0.9, 0.1], [0.52, 0.5], [0.2, 0.6]]))
    assert ba.read_votes(votes, where="margin > 0.1 or margin < -0.1").n_votes == 2


def test_scores_that_are_none_and_scores_told_twice_are_refused():
    once = table(np.array([[1.0, 0.0]]))
    with pytest.raises(ba.VotesError, match="several scores for m0 on 0, m1 on 0"):
        ba.read_votes(pl.concat([once, once]))
    with pytest.raises(ba.VotesError, match="'good' is not a score"):
        ba.read_votes(once.with_columns(score=pl.lit("good")))
    assert ba.read_votes(once.with_columns(score=pl.Series(["True", "false"]))).counts.tolist() == [[1, 0, 0, 0]]


def sample(**fields: object) -> str:
    return json.dumps({"doc_id": 0, "filtered_resps": ["a"], "filter": "none", "doc_hash": "h", **fields}) + "\n"


def test_metrics_and_filters_of_lm_eval_are_criteria_and_parts_of_a_corpus_score_are_none(tmp_path):
    for model, acc in (("alder", 1.0), ("birch", 0.0)):
        lines = [
            sample(metrics=["acc", "acc_norm", "f1"], acc=acc, acc_norm=1.0, f1=[1, 0]),
            sample(metrics=["exact_match"], filter="strict", exact_match=acc),
        ]
        (tmp_path / f"{model}.jsonl").write_text("".join(lines))
    votes = ba.read_votes(str(tmp_path / "*.jsonl"))
    assert votes.competitors == ("alder", "birch") and votes.slice_names["criterion"][:2] == ("acc", "acc_norm")
    assert ba.choose(votes).problem.model.strength_by == ("criterion", "item")  # an item is one comparison
    (tmp_path / "cedar.jsonl").write_text((tmp_path / "birch.jsonl").read_text() + "\n")
    with pytest.warns(ba.DependentVotesWarning, match="acc, acc_norm, exact_match,strict"):
        ba.read_votes(str(tmp_path / "*.jsonl"))
    (tmp_path / "cedar.jsonl").unlink()
    one = ba.read_votes(str(tmp_path / "*.jsonl"), where="criterion == 'acc'")
    assert one.counts.tolist() == [[1, 0, 0, 0]]


def test_other_documents_under_the_same_number_are_not_compared(tmp_path):
    for model in ("alder", "birch"):
        (tmp_path / f"{model}.jsonl").write_text(sample(doc_hash=model, acc=1.0))
    with pytest.raises(ba.errors.NoVotesError, match="no rows"):
        ba.read_votes(str(tmp_path / "*.jsonl"))


def test_a_dataframe_says_whose_its_samples_are():
    samples = pl.DataFrame({"doc_id": [0, 0], "filtered_resps": ["a", "b"], "acc": [1.0, 0.0]})
    with pytest.raises(ba.VotesError, match="add a column 'system', or read one file per system"):
        ba.read_votes(samples)
    assert ba.read_votes(samples.with_columns(model=pl.Series(["x", "y"]))).n_votes == 1
    of_inspect = pl.DataFrame({"sample_id": ["u"], "id": ["1"], "epoch": [1], "score_match": ["C"]})
    with pytest.raises(ba.VotesError, match="EvalModel"):
        ba.read_votes(of_inspect)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")
@pytest.mark.parametrize("kind", ["right or wrong", "graded"])
def test_intervals_are_those_of_a_bootstrap_over_items(kind):
    rng = np.random.default_rng(5)
    binary = right_or_wrong(rng, 300, 6)
    votes = ba.read_votes(table(binary if kind == "right or wrong" else binary + rng.normal(size=binary.shape)))
    sd = ba.strengths(ba.fit(votes)).set_index("competitor")["sd"][list(votes.competitors)].to_numpy()
    item, items = votes.slices["item"], len(votes.slice_names["item"])
    drawn = [
        ba.fit(
            with_counts(
                votes, votes.counts * np.bincount(rng.integers(0, items, items), minlength=items)[item][:, None]
            )
        )
        for _ in range(100)
    ]
    ratio = sd / np.std([fit.strength for fit in drawn], axis=0)
    assert np.median(ratio) == pytest.approx(1, abs=0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")
@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_with_ties_as_an_outcome_the_weights_alone_are_right_and_else_never_too_small(ties):
    rng = np.random.default_rng(6)
    estimates, sds = [], []
    for _ in range(100):
        correct = (rng.random((200, 6)) < rng.uniform(0.2, 0.8, (200, 1))).astype(float)
        fit = ba.fit(ba.read_votes(table(correct)), model=ba.Model("mine", ties=ties), prior="flat", method="map")
        estimates.append(fit.strength)
        sds.append(ba.strengths(fit, interval="laplace")["sd"])
    ratio = np.sqrt(np.mean(np.square(sds)) / np.mean(np.square(estimates)))
    assert ratio == pytest.approx(1, abs=0.06) if ties == "davidson" else ratio > 1


def test_tasks_of_annotation_tools_name_the_systems(tmp_path):
    answer = {"completed_by": 1, "result": [{"type": "pairwise", "from_name": "pw", "value": {"selected": "left"}}]}
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": 3, "data": {"text1": "x"}, "annotations": [answer]}]))
    with pytest.raises(ba.VotesError, match="data of task 3 do not name the two systems; call them model_a"):
        ba.read_votes(tmp_path / "tasks.json")
    responses = {"better": [{"value": "model_b", "user_id": "u"}], "order": [{"value": ["y", "x"], "user_id": "u"}]}
    record = {
        "id": "r",
        "fields": {},
        "responses": {**responses, "why": []},
        "metadata": {"model_a": "x", "model_b": "y"},
    }
    (tmp_path / "records.json").write_text(json.dumps([record]))
    votes = ba.read_votes(tmp_path / "records.json", where="criterion == 'better'")
    assert (votes.counts.tolist(), votes.annotators) == ([[0, 1, 0, 0]], ("u",))
    record["metadata"] = {}
    (tmp_path / "records.json").write_text(json.dumps([record]))
    assert ba.read_votes(tmp_path / "records.json").slice_names["criterion"] == ("order",)
