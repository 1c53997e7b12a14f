"""The paper's tables and figures on small arenas: numbers that can be checked, files that are there."""

import warnings
from functools import partial
from itertools import count

import numpy as np
import pandas as pd
import polars as pl
import pytest
from crowds import Crowd, honest_arena
from helpers import frame, run

import bayes_arena as ba
from bayes_arena.paper import case_study, figures, perturbation, reproduction, summaries, tables
from bayes_arena.paper.measures import detection as score
from bayes_arena.paper.perturbation import METHODS, perturb, stability
from bayes_arena.validation.prediction import Ratings, predict_cells

SMALL = {"splits": 2, "shuffles": 20, "starts": 2, "epochs": 5, "runs": 2, "shares": (0.25,)}


@pytest.fixture(scope="module")
def arena_of_one_flipper() -> ba.Arena:
    """Eight annotators with over fifty votes each, of whom one votes against the ranking."""
    return ba.simulate(competitors=7, annotators=8, votes=900, anomalous=1, discrimination_sd=0.2, seed=4)


@pytest.fixture(scope="module")
def votes(arena_of_one_flipper) -> pl.DataFrame:
    """The arena, and a visitor with a few votes."""
    few = arena_of_one_flipper.votes.head(9).with_columns(judge=pl.lit("visitor"))
    return pl.concat([arena_of_one_flipper.votes, few])


@pytest.fixture(scope="module")
def material(votes) -> reproduction.Material:
    cells, sequence = ba.read_votes(votes), ba.read_sequence(votes)
    return reproduction.Material(
        ba.keep_annotators(cells, more_than=50), ba.keep_annotators(sequence, more_than=50), **SMALL
    )


@pytest.fixture(scope="module")
def table2(material) -> pd.DataFrame:
    return tables.table2(material.cells, splits=2, shuffles=20)


def test_table_1_of_the_twin_is_the_papers():
    twin = ba.keep_annotators(ba.read_votes(reproduction.twin().votes), more_than=50)
    values = tables.table1(twin).set_index("statistic")["value"]
    paper = {"annotators": 42, "models": 20, "votes": 4321, "votes per annotator": 102.88}
    paper |= {"votes per model": 216.05, "votes per model pair": 22.74}
    for statistic, value in paper.items():
        assert values[statistic] == pytest.approx(value, abs=0.005)
    assert values["share of pairs met"] == 1
    assert 0.1 < values["share of ties"] < 0.6


@pytest.mark.slow
def test_table_2_compares_the_methods_on_the_same_splits(table2):
    columns = [f"{score}{end}" for score in ("mse", "auc", "auc_ties", "log_score") for end in ("", "_se")]
    columns += [f"{score}_diff{end}" for score in ("mse", "auc", "auc_ties", "log_score") for end in ("", "_se")]
    columns += [f"{score}_verdict" for score in ("mse", "auc", "auc_ties", "log_score")]
    assert table2.columns[0] == "method"
    assert sorted(table2.columns[1:]) == sorted(columns)
    assert table2.columns.tolist()[1:5] == ["mse", "mse_se", "auc", "auc_se"]
    rows = table2.set_index("method")
    assert list(rows.index) == ["elo", "elo, bootstrap", "m-elo", "am-elo", "am-elo, default prior", "am-davidson"]
    np.testing.assert_allclose(rows["mse_diff"], rows["mse"] - rows.loc["m-elo", "mse"], atol=1e-15)
    assert rows.loc["am-elo", "mse"] < rows.loc["m-elo", "mse"]  # one annotator votes against the ranking
    assert rows.loc["elo", "mse"] == pytest.approx(rows.loc["m-elo", "mse"], abs=0.05)


@pytest.mark.slow
def test_verdicts_of_table_2_say_what_lies_within_its_error(table2):
    for score_name, sign in (("mse", -1), ("auc", 1), ("auc_ties", 1), ("log_score", 1)):
        for _, row in table2.iterrows():
            gain, error = sign * row[f"{score_name}_diff"], row[f"{score_name}_diff_se"]
            expected = "within its error" if abs(gain) <= 2 * error else "better" if gain > 0 else "worse"
            assert row[f"{score_name}_verdict"] == ("reference" if row["method"] == "m-elo" else expected)
    marked = table2.assign(mse_verdict=["within its error", "worse", "reference", "better", "better", "better"])
    assert "MSE of elo" in summaries.note_table2({"table2": marked})


@pytest.mark.slow
def test_table_2_shows_the_papers_numbers_with_their_errors(table2):
    """Its AUC ranks ties in the middle, so it stands under ours that does."""
    short = summaries.table2(table2)
    rows = dict(zip(short["method"], zip(short["MSE"], short["AUC"], short["AUC with ties"], strict=True), strict=True))
    assert rows["elo, paper"] == ("0.1238 ± 0.0031", "", "0.7492 ± 0.0068")
    assert rows["m-elo, paper"] == ("0.1234 ± 0.0029", "", "0.7503 ± 0.0066")
    assert rows["am-elo, paper"] == ("0.1208 ± 0.0034", "", "0.7581 ± 0.0067")
    assert list(rows)[: len(table2)] == list(table2["method"])
    assert "authors' program" in summaries.note_table2({"table2": table2})


def test_elo_of_the_authors_program_is_the_median_over_resamples(material):
    table = ba.bootstrapped_elo(material.sequence, resamples=300).set_index("competitor")["median"]
    ours = tables.median_elo(material.cells, resamples=300)
    points = 1000 + 400 / np.log(10) * ours.strength
    np.testing.assert_allclose(points, table.loc[list(ours.competitors)], atol=6)  # other resamples
    mean = tables.mean_elo(material.cells, shuffles=300)
    assert np.abs(ours.strength - mean.strength).max() > 1e-4


def test_elo_predicts_by_its_ratings(material):
    cells = material.cells
    ratings = tables.mean_elo(cells, shuffles=3)
    from bayes_arena.ratings.online import shuffled_ratings
    from bayes_arena.votes.sequence import one_by_one

    points = shuffled_ratings(one_by_one(cells), shuffles=3).mean(axis=0)
    expected = 1 / (1 + 10 ** ((points[cells.b] - points[cells.a]) / 400))
    prediction = predict_cells(ratings, cells)
    np.testing.assert_allclose(prediction.score, expected, rtol=1e-10)
    np.testing.assert_allclose(np.exp(prediction.log_p).sum(axis=0), 1, rtol=1e-12)
    fit = ba.fit(cells, model="m-elo", prior="flat")
    same = predict_cells(Ratings(cells.competitors, fit.strength), cells)
    np.testing.assert_allclose(same.log_p, predict_cells(fit, cells).log_p, rtol=1e-12)
    with pytest.raises(ba.ModelError, match=f"does not know {cells.competitors[0]}"):
        predict_cells(Ratings(cells.competitors[1:], ratings.strength[1:]), cells)


@pytest.mark.slow
def test_annotators_whom_the_papers_filter_leaves_out_are_predicted_like_the_average_one(votes, material):
    cells = ba.read_votes(votes)
    fit = tables.candidates(cells)["am-elo"](cells)
    assert set(cells.annotators) - set(fit.cells.annotators) == {"visitor"}
    np.testing.assert_array_equal(fit.strength, ba.fit(material.cells, model="am-elo", prior="flat").strength)


def test_figure_1_has_the_spread_and_every_annotator(material):
    table = case_study.figure1(material.sequence, shuffles=20)
    mixed = table[table["source"] == case_study.SHUFFLED]
    assert mixed["elo"].is_monotonic_decreasing
    assert (mixed["min"] < mixed["elo"]).all() and (mixed["elo"] < mixed["max"]).all() and (mixed["sd"] > 0).all()
    assert set(table["source"]) == {case_study.SHUFFLED, *material.cells.annotators}


@pytest.mark.slow
def test_figure_1_compares_an_annotator_with_as_many_votes_of_everybody(material, arena_of_one_flipper):
    """Few votes leave every rating near 1000; who votes against the ranking is outside the range, the others hardly."""
    table = case_study.figure1(material.sequence, shuffles=200)
    single = table[table["source"] != case_study.SHUFFLED]
    pooled = table.set_index("source").loc[case_study.SHUFFLED]["elo"]
    assert (single["upper"] - single["lower"]).median() < np.ptp(pooled)  # on the scale of so few votes
    outside = ((single["elo"] < single["lower"]) | (single["elo"] > single["upper"])).groupby(single["source"]).mean()
    (flipper,) = arena_of_one_flipper.anomalous
    assert outside.idxmax() == flipper
    assert outside[flipper] > 0.4 > 0.2 > outside.drop(flipper).mean()
    note = summaries.note_figure1({"fig1": table})
    assert f"Of {len(single)} ratings" in note and "do not show" not in note
    alike = table.assign(lower=table["elo"] - 1, upper=table["elo"] + 1)
    assert "do not show that annotators differ" in summaries.note_figure1({"fig1": alike})
    drawn = [axes.get_title(loc="left") for axes in figures.figure1(table).axes]
    assert drawn[0] == "" and len(drawn) == 1 + figures.ANNOTATORS
    assert all("votes: " in title and title.endswith("of 7 outside") for title in drawn[1:])


def test_an_annotator_alone_on_their_pairs_is_everybody_there():
    rows = [("a", "b", "a", "one")] * 9 + [("c", "d", "c", "two"), ("c", "d", "d", "three")] * 5
    table = case_study.figure1(ba.read_sequence(frame(rows)), shuffles=50).set_index(["source", "competitor"])
    one = table.loc["one"]
    np.testing.assert_array_equal(one["lower"], one["elo"])
    np.testing.assert_array_equal(one["upper"], one["elo"])
    assert table.loc[("two", "c"), "lower"] < 1000 < table.loc[("two", "c"), "upper"]  # half of the votes there


@pytest.mark.slow
def test_figure_3_draws_the_spread_of_elo(material):
    table = case_study.figure3(material.cells, shuffles=20)
    elo = table[table["method"] == "elo"]
    assert (elo["score_sd"] > 0).all()
    assert (table.loc[table["method"] != "elo", "score_sd"] == 0).all()
    drawn = tables.elo_draws(material.cells, 20)
    spread = pd.Series(drawn.std(axis=0, ddof=1) / np.ptp(drawn.mean(axis=0)), material.cells.competitors)
    np.testing.assert_allclose(elo["score_sd"], spread.loc[elo["competitor"]])
    above = figures.figure3(table).axes[0]
    assert [line.get_label() for line in above.containers if line.has_yerr] == ["elo, ± 1 sd over orders"]


@pytest.mark.slow
def test_losses_of_figure_3_are_those_of_the_fit(material):
    table = case_study.figure3(material.cells, shuffles=20)
    assert list(table["method"].unique()) == ["elo", "m-elo", "am-elo", "am-davidson"]
    for _, own in table.groupby("method"):
        assert (own["score"].min(), own["score"].max()) == (0, 1)
        assert own["votes"].sum() == 2 * material.cells.n_votes
    for method in ("m-elo", "am-elo"):
        own = table[table["method"] == method]
        fit = ba.fit(material.cells, model=method, prior="flat")
        assert np.average(own["loss"], weights=own["votes"]) == pytest.approx(fit.mean_loss, rel=1e-9)


def test_figure_4_counts_who_beat_whom():
    """A above B, C, D above E; B, C, D in the order of Elo, and am-ELO turns the three round most."""
    rows = [("A", "B", "A")] * 3 + [("C", "A", "C")] * 2 + [("B", "C", "tie")] + [("C", "D", "D")] * 4
    rows += [("B", "C", "B"), ("B", "D", "D")]
    rows += [("E", "D", "D")] * 5 + [("E", "B", "E")] + [("A", "E", "A")] * 7
    cells = ba.read_votes(frame([(*row, "k") for row in rows]))
    elo = {"A": 9.0, "B": 3.0, "C": 2.0, "D": 1.0, "E": -9.0}
    am = {"A": 9.0, "B": 1.0, "C": 2.0, "D": 3.0, "E": -9.0}
    scores = pd.DataFrame(
        [(m, c, (am if m == "am-elo" else elo)[c]) for m in case_study.SHOWN for c in "ABCDE"],
        columns=["method", "competitor", "strength"],
    )
    table = case_study.figure4(scores, cells).set_index("winner")
    assert list(table.index) == ["Better", "B", "C", "D", "Worse"]
    assert table.loc["Better"].tolist()[:5] == [0, 3, 0, 0, 0]  # Better against Worse is not counted
    assert table.loc["C", "over Better"] == 2
    assert table.loc["B"].tolist()[:5] == [0, 0, 1, 0, 0]
    assert table.loc["D"].tolist()[:5] == [0, 1, 4, 0, 5]
    assert table.loc["Worse", "over B"] == 1
    assert table.loc[["B", "C", "D"], "rank_elo"].tolist() == [2, 3, 4]
    assert table.loc[["B", "C", "D"], "rank_am-elo"].tolist() == [4, 3, 2]
    with pytest.raises(ba.ModelError, match="three models"):
        case_study.figure4(scores[scores["competitor"].isin(["A", "B"])], ba.read_votes(frame([("A", "B", "A", "k")])))


def test_figure_4_takes_models_that_met_and_says_when_they_hardly_did():
    """Of B, C and D, whom am-ELO turns round most, B and D never met; A, B and C did, though not often."""
    rows = [("A", "B", "A"), ("B", "C", "B"), ("A", "C", "A"), ("C", "D", "C"), ("B", "D", "tie")]
    cells = ba.read_votes(frame([(*row, "k") for row in rows]))
    elo, am = {"A": 4.0, "B": 3.0, "C": 2.0, "D": 1.0}, {"A": 2.5, "B": 1.0, "C": 2.0, "D": 3.0}
    names = pd.MultiIndex.from_product([case_study.SHOWN, list("ABCD")], names=["method", "competitor"])
    strength = [(am if method == "am-elo" else elo)[name] for method, name in names]
    table = case_study.figure4(names.to_frame(index=False).assign(strength=strength), cells)
    assert table["winner"].tolist() == ["Better", "A", "B", "C", "Worse"]
    note = summaries.note_figure4({"fig4": table})
    assert "A, B, C follow one another in Elo's ranking; am-elo reverses 1 of their three pairs." in note
    assert "Decided votes between them: 1, 1, 1 by pair, too few to tell the three apart." in note
    same = summaries.note_figure4({"fig4": table.assign(**{"rank_am-elo": table["rank_elo"]})})
    assert "am-elo keeps their order" in same


def test_the_papers_three_models_are_taken_where_they_are():
    elo = {"alpaca-13b": 5.0, "zephyr": 4.0, "koala-13b": 3.0, "vicuna-7b": 2.0, "gpt4all-13b-snoozy": 1.0}
    am = elo | {"alpaca-13b": 2.5, "zephyr": 4.5}  # the best three are those that am-ELO turns round
    cells = ba.read_votes(frame([(a, b, a, "k") for a in elo for b in elo if a < b]))
    rows = [(m, c, (am if m == "am-elo" else elo)[c]) for m in case_study.SHOWN for c in elo]
    table = case_study.figure4(pd.DataFrame(rows, columns=["method", "competitor", "strength"]), cells)
    assert table["winner"].tolist() == ["Better", "koala-13b", "vicuna-7b", "gpt4all-13b-snoozy", "Worse"]
    assert summaries.note_figure4({"fig4": table}) == "The paper's three models."


@pytest.mark.slow
def test_figure_7_finds_the_annotators_that_were_turned_round(material, arena_of_one_flipper):
    planted = arena_of_one_flipper.anomalous
    suspect = perturbation.suspects(material.cells).set_index("annotator")
    assert suspect.loc[list(planted), ["by_anomaly", "by_theta"]].to_numpy().all()
    honest = ba.drop_annotators(material.cells, suspect.index)
    assert set(honest.annotators) == set(material.cells.annotators) - set(suspect.index)
    assert honest.n_votes < material.cells.n_votes
    table = perturbation.detections(honest, kinds=("flip",), shares=(0.3,), seeds=(1,)).set_index("rule")
    assert list(table.index) == ["theta <= 0", "theta <= 0.005", "A > 0.5", "FDR 0.05"]
    perturbed, who = perturb(honest, "flip", 0.3, 1)
    with warnings.catch_warnings(action="ignore", category=ba.ArenaWarning):
        fit = ba.fit(perturbed, model="am-elo", prior="flat")
    found = [name for name, theta in zip(perturbed.annotators, fit.discrimination, strict=True) if theta < 0]
    assert table.loc["theta <= 0", "f1"] == score(found, who).f1
    assert table.loc["A > 0.5", "f1"] == 1


@pytest.mark.slow
def test_suspects_are_those_whom_either_rule_suspects():
    """Leaving out whom one rule suspects would spare that rule its false alarms."""
    cells = ba.read_votes(ba.simulate(tie_spread=0.8, seed=101).votes)
    suspect = perturbation.suspects(cells).set_index("annotator")
    anomaly = ba.annotators(ba.fit(cells, robust=False)).set_index("annotator")["anomaly_probability"]
    theta = ba.annotators(ba.fit(cells, model="am-elo", prior="flat")).set_index("annotator")["theta_paper"]
    by_anomaly, by_theta = set(anomaly.index[anomaly >= 0.2]), set(theta.index[theta <= 0.005])
    assert by_anomaly != by_theta
    assert list(suspect.index) == sorted(by_anomaly | by_theta)
    assert set(suspect.index[suspect["by_anomaly"]]) == by_anomaly
    assert set(suspect.index[suspect["by_theta"]]) == by_theta


@pytest.mark.slow
def test_hardly_anybody_is_found_where_annotators_form_camps():
    cells = honest_arena(Crowd(annotators=60, camp_sd=1.0), competitors=20, votes=6000, seed=2).cells
    found = perturbation.flagged_by(cells)
    assert len(found["A > 0.5"]) <= 3
    assert len(found) == 4


@pytest.mark.slow
def test_theta_of_figure_6_is_on_the_papers_scale(material):
    table = perturbation.abilities(material.cells, kinds=("flip", "equal"), shares=(0.25,), seed=3)
    sums = table.groupby("kind")["theta"].sum()
    np.testing.assert_allclose(sums, 1)
    flip = table[table["kind"] == "flip"].set_index("annotator")
    assert flip["perturbed"].sum() == 2  # a quarter of eight
    assert table.loc[(table["kind"] == "equal") & table["perturbed"], "theta"].abs().max() < 1e-6


def test_missing_fits_are_counted():
    rows = [("flip", 0.1, "elo", 5), ("flip", 0.1, "am-davidson", 4), ("flip", 0.2, "elo", 5)]
    table = pd.DataFrame([*rows, ("flip", 0.2, "am-davidson", 5)], columns=["kind", "share", "method", "runs"])
    assert summaries.note_figure6({"fig6": table}).endswith("left out: 1 of am-davidson.")
    assert summaries.note_figure6({"fig6": table.assign(runs=5)}) == ""


@pytest.fixture(scope="module")
def written(material, tmp_path_factory):
    """Everything, with little effort, and what was said of progress."""
    folder, said = tmp_path_factory.mktemp("paper") / "new", []
    with pytest.MonkeyPatch.context() as patch:
        for module in ("convergence", "perturbation"):
            patch.setattr(f"bayes_arena.paper.{module}.report", lambda *what: said.append(what))
        answers = {name: reproduction.reproduce(name, material, folder) for name in reproduction.TARGETS}
    return folder, answers, said


@pytest.mark.slow
def test_every_target_writes_its_numbers_and_its_picture(written):
    folder, answers, said = written
    assert set(answers) == {"table1", "table2", "fig1", "fig3", "fig4", "fig5", "fig6", "fig7"}
    for name, (short, _, files) in answers.items():
        assert files[0] == folder / f"{name}.csv"
        assert len({len(values) for values in short.values()}) == 1
        endings = {path.suffix for path in files}
        assert endings == ({".csv", ".md"} if name.startswith("table") else {".csv", ".png", ".pdf"})
        for path in files:
            magic = {".png": b"\x89PNG", ".pdf": b"%PDF"}.get(path.suffix, b"")
            assert path.read_bytes().startswith(magic)
            assert path.stat().st_size > (5000 if magic else 20) or path.name == "fig7_left_out.csv"
    of_figure5, perturbations = ([("perturbations", number, many) for number in range(many)] for many in (4, 8))
    last = ("random starts, am-elo without normalisation", 1, 2)
    assert said[5:] == [last, ("",), *perturbations, ("",), *of_figure5, ("",), *perturbations, ("",)]


@pytest.mark.slow
def test_numbers_read_back(written):
    folder, answers, _ = written
    columns = {
        "table1": ["statistic", "value"],
        "fig1": ["source", "competitor", "elo", "sd", "min", "max", "votes", "lower", "upper"],
        "fig3": ["method", "competitor", "strength", "score", "score_sd", "loss", "votes"],
        "fig5": ["method", "epoch", "loss", "consistency"],
        "fig6_theta": ["kind", "share", "annotator", "theta", "perturbed"],
        "fig7_left_out": [
            "annotator",
            "anomaly_probability",
            "theta",
            "by_anomaly",
            "by_theta",
        ],
    }
    for name, expected in columns.items():
        assert pd.read_csv(folder / f"{name}.csv").columns.tolist() == expected
    detected = pd.read_csv(folder / "fig7.csv")
    assert set(detected["rule"]) == {"theta <= 0", "theta <= 0.005", "A > 0.5", "FDR 0.05"}
    assert detected[["f1", "precision", "recall"]].apply(lambda column: column.between(0, 1).all()).all()
    stable = pd.read_csv(folder / "fig6.csv")
    assert (stable["runs"] == 2).all()
    assert answers["fig7"][1].startswith("Left out")
    assert "Adam" in answers["fig5"][1]
    assert (folder / "table2.md").read_text().startswith("| method | MSE | AUC |")


@pytest.mark.slow
def test_the_same_votes_give_the_same_files(material, tmp_path):
    for name in ("fig1", "table1"):
        first = reproduction.reproduce(name, material, tmp_path / "a")[2]
        again = reproduction.reproduce(name, material, tmp_path / "b")[2]
        for one, other in zip(first, again, strict=True):
            assert one.read_bytes() == other.read_bytes()


@pytest.mark.slow
def test_every_line_has_a_colour_of_its_own_in_its_figure(written):
    folder, *_ = written
    names = set(pd.read_csv(folder / "fig6.csv")["method"]) | set(pd.read_csv(folder / "table2.csv")["method"])
    assert names | set(pd.read_csv(folder / "fig7.csv")["rule"]) <= set(figures.STYLES)
    assert len({figures.STYLES[name]["color"] for name in names}) == len(names)


@pytest.mark.slow
def test_the_command_filters_as_the_paper_does_and_says_what_it_wrote(votes, tmp_path):
    votes.write_csv(tmp_path / "votes.csv")
    done = run("reproduce", "table1", "--data", tmp_path / "votes.csv", "-o", tmp_path / "paper")
    assert (done.returncode, done.stderr) == (0, "")
    assert "900 votes, 7 models, 8 annotators" in done.stdout
    assert str(tmp_path / "paper" / "table1.csv") in done.stdout
    done = run("reproduce", *2 * ["table1"], "--data", tmp_path / "votes.csv", "-o", tmp_path / "paper", "--delta", 0)
    assert done.stdout.count("table1:") == 1
    assert "909 votes, 7 models, 9 annotators" in done.stdout
    done = run("reproduce", "table1", "--data", tmp_path / "votes.csv", "-o", tmp_path / "paper", "--delta", 2000)
    assert done.returncode == 2
    assert "No annotator has more than 2000 votes" in done.stderr


@pytest.mark.slow
def test_without_data_the_command_takes_the_twin(tmp_path):
    done = run("reproduce", "fig4", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "simulated twin" in done.stdout
    assert "4,321 votes, 20 models, 42 annotators" in done.stdout
    assert (tmp_path / "fig4.png").stat().st_size > 5000
    assert run("reproduce", "fig2", "-o", tmp_path).returncode == 2


@pytest.mark.slow
def test_the_command_says_which_fits_of_figure_6_are_missing(votes, tmp_path, monkeypatch):
    calls = count()

    def fails_at_first(cells):
        """Fail on the first perturbed votes; call 0 is for the votes as they are."""
        if next(calls) == 1:
            raise ba.errors.ConvergenceError("no end in sight")
        return METHODS["m-elo"](cells)

    methods = {"m-elo": METHODS["m-elo"], "am-davidson": fails_at_first}
    monkeypatch.setattr(reproduction, "stability", partial(stability, methods=methods))
    votes.write_csv(tmp_path / "votes.csv")
    done = run("reproduce", "fig6", "--data", tmp_path / "votes.csv", "-o", tmp_path)
    assert done.returncode == 0
    runs = pd.read_csv(tmp_path / "fig6.csv").groupby("method")["runs"].sum()
    note = f"Of {runs['m-elo']} runs each, fits that did not converge and are left out: 1 of am-davidson.\n"
    assert note in done.stdout
