"""The command line as a user meets it; in a process of its own where only that shows what is tested."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest
from helpers import COMMAND, frame, prompted, run, run_on_terminal

import bayes_arena as ba
from bayes_arena.cli.output import rounded

COLUMNS = ["rank", "competitor", "elo", "lower", "upper", "rank_lower", "rank_upper", "votes", "wins", "losses", "ties"]


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    done = run("simulate", "-o", path, "--truth", path.with_suffix(".json"), "--anomalous", 2, "--seed", 5)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


@pytest.mark.slow
def test_rank_without_a_file_rates_the_named_example():
    done = run("rank")
    assert done.returncode == 0
    assert "simulated" in done.stderr
    assert "example arena (simulated): 4,321 votes, 20 competitors, 42 annotators" in done.stdout
    assert "model-18" in done.stdout


@pytest.mark.slow
def test_rank_json_has_the_promised_keys(votes_file):
    options = ("--format", "json", "--model", "m-elo", "--prior", "flat")
    answer = json.loads(run("rank", votes_file, *options, "--annotator", "judge").stdout)
    assert list(answer) == [
        "schema",
        "model",
        "prior",
        "method",
        "evidence",
        "n_votes",
        "n_competitors",
        "n_annotators",
        "votes_discounted",
        "dropped",
        "kept",
        "mean_loss",
        "mirror_probability",
        "plan",
        "discounted",
        "level",
        "interval",
        "verdict",
        "warnings",
        "leaderboard",
    ]
    assert [answer[key] for key in list(answer)[1:8]] == ["m-elo", "flat", "map", None, 4321, 20, 42]
    assert (answer["mirror_probability"], answer["discounted"], answer["warnings"]) == (None, None, [])
    assert (answer["kept"], answer["dropped"]) == ([], [])
    assert (answer["interval"], answer["level"]) == ("laplace", 0.95)
    assert list(answer["leaderboard"][0]) == COLUMNS
    cells = ba.read_votes(votes_file)
    fit = ba.fit(cells, model="m-elo", prior="flat")
    assert answer["mean_loss"] == rounded(fit.mean_loss)
    assert answer["leaderboard"] == rounded(ba.leaderboard(fit).to_dict("records"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "read"),
    [
        (("--model", "m-elo"), False),
        (("--model", "am-elo"), True),
        (("--model", "m-elo", "--annotator", "judge"), True),
        (("--model", "m-elo", "--delta", "50"), True),
        (("--model", "m-elo", "--interval", "clustered"), True),
    ],
)
def test_annotators_are_read_where_something_asks_for_them(votes_file, options, read):
    """Votes grouped by annotators take several times as long and as much memory; the ratings are the same."""
    answer = json.loads(run("rank", votes_file, "--format", "json", "--prior", "flat", *options).stdout)
    assert answer["n_annotators"] == (42 if read else 0)
    if not read:
        expected = ba.leaderboard(ba.fit(ba.read_votes(votes_file), model="m-elo", prior="flat")).to_dict("records")
        assert answer["leaderboard"] == rounded(expected)


@pytest.mark.slow
def test_json_has_no_number_for_what_lies_at_infinity(tmp_path):
    rows = ["x,y,model_a,p", "y,z,model_a,p", "x,z,model_a,p", "z,y,tie,q", "x,y,model_b,q", "y,x,model_a,q"]
    (tmp_path / "few.csv").write_text("\n".join(["model_a,model_b,winner,judge", *rows]))
    done = run("annotators", tmp_path / "few.csv", "--model", "am-davidson", "--prior", "flat", "--format", "json")
    answer = json.loads(done.stdout, parse_constant=pytest.fail)
    assert any("No finite" in text for text in answer["warnings"])
    assert {row["tie_propensity"] for row in answer["annotators"]} == {None}


@pytest.mark.slow
def test_annotators_json_finds_the_planted_ones(votes_file):
    answer = json.loads(run("annotators", votes_file, "--fdr", 0.05, "--format", "json").stdout)
    assert (answer["model"], answer["prior"]) == ("am-davidson", "default")
    rows = answer["annotators"]
    fit = ba.fit(ba.read_votes(votes_file))
    table = ba.annotators(fit)
    assert list(rows[0]) == [*table.columns, "flagged"]
    assert {row["annotator"] for row in rows if row["flagged"]} == set(ba.flag(fit, fdr=0.05))
    truth = json.loads(votes_file.with_suffix(".json").read_text())
    assert {row["annotator"] for row in rows if row["kind"] == "reversed"} == set(truth["anomalous"])
    assert {row["verdict"] for row in rows if row["annotator"] in truth["anomalous"]} == {"anomalous"}


@pytest.mark.slow
def test_the_table_of_annotators_is_not_too_wide(votes_file):
    lines = run("annotators", votes_file, "--fdr", 0.05).stdout.splitlines()
    assert "flagged" in lines[3]
    assert max(map(len, lines)) <= 120
    narrow = run("annotators", votes_file, "--model", "am-elo").stdout.splitlines()[3]
    assert "theta" in narrow and "ties nu" not in narrow and "flagged" not in narrow


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".txt"])
def test_output_files(votes_file, tmp_path, suffix):
    path = tmp_path / f"board{suffix}"
    done = run("rank", votes_file, "-o", path)
    assert (done.returncode, done.stdout) == (0, "")
    expected = ba.leaderboard(ba.fit(ba.read_votes(votes_file)))["competitor"].tolist()
    if suffix == ".csv":
        assert pl.read_csv(path)["competitor"].to_list() == expected
    elif suffix == ".parquet":
        table = pl.read_parquet(path)
        assert table.columns == COLUMNS
        assert table["competitor"].to_list() == expected
    elif suffix == ".json":
        assert [row["competitor"] for row in json.loads(path.read_text())["leaderboard"]] == expected
    else:
        assert all(name in path.read_text() for name in expected)


@pytest.mark.slow
def test_options_reach_the_result(votes_file):
    done = run(
        "rank", votes_file, "--delta", 60, "--init", 1500, "--scale", 100, "--base", 2, "--level", 0.5,
        "--sigma-strength", 0.5, "--sigma-discrimination", 0.2, "--format", "json",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    cells = ba.keep_annotators(ba.read_votes(votes_file), more_than=60)
    fit = ba.fit(cells, prior=ba.Prior(strength=0.5, discrimination=0.2, hyper=None))
    board = ba.leaderboard(fit, level=0.5, elo=ba.EloScale(init=1500, scale=100, base=2))
    assert answer["leaderboard"] == rounded(board.to_dict("records"))
    assert answer["prior"] == str(fit.prior)
    assert answer["n_annotators"] == cells.n_annotators < 42


@pytest.mark.slow
def test_anchor_and_profile(votes_file):
    done = run(
        "rank", votes_file, "--model", "bradley-terry", "--anchor", "model-07=1114", "--interval", "profile",
        "--format", "csv",
    )  # fmt: skip
    board = pl.read_csv(done.stdout.encode())
    assert board.filter(pl.col("competitor") == "model-07")["elo"].item() == pytest.approx(1114)


@pytest.mark.slow
def test_several_files_make_one_arena(votes_file, tmp_path):
    table = pl.read_csv(votes_file)
    table[:1000].write_csv(tmp_path / "a.csv")
    table[1000:].write_csv(tmp_path / "b.csv")
    whole = run("rank", votes_file, "--format", "csv").stdout
    assert run("rank", tmp_path / "a.csv", tmp_path / "b.csv", "--format", "csv").stdout == whole
    assert run("rank", tmp_path / "*.csv", "--format", "csv").stdout == whole


@pytest.mark.slow
def test_check_reports_and_quotes_invalid_votes(votes_file, tmp_path):
    done = run("check", votes_file)
    assert done.returncode == 0
    assert "finite estimate (Ford)" in done.stdout
    frame([("x", "y", "model_a"), ("x", "y", "undecided")]).write_csv(tmp_path / "bad.csv")
    done = run("check", tmp_path / "bad.csv", "--format", "json")
    assert done.returncode == 2
    checks = {row["check"]: row for row in json.loads(done.stdout)["checks"]}
    assert checks["invalid votes"]["found"] == "1 unknown winner"
    assert "row 1: unknown winner" in done.stderr


def test_warnings_go_to_stderr_and_into_json(tmp_path):
    frame([("x", "y", "model_a"), ("x", "y", "undecided"), ("p", "q", "tie")]).write_csv(tmp_path / "votes.csv")
    done = run("rank", tmp_path / "votes.csv", "--on-invalid", "drop", "--format", "json")
    notes = json.loads(done.stdout)["warnings"]
    assert len(notes) == 2
    assert "1 × unknown winner" in notes[0]
    assert "never compared" in notes[1]
    assert all(note in done.stderr for note in notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rank", "absent.csv"], "No file at 'absent.csv'"),
        (["rank", "bad.csv"], "row 1: unknown winner"),
        (["rank", "votes.csv", "--annotator", "who"], "No column 'who'"),
        (["rank", "votes.csv", "--model", "am-elo"], "needs to know who cast each vote"),
        (["rank", "votes.csv", "--delta", "5"], "no annotators"),
        (["rank", "votes.csv", "--anchor", "x"], "NAME=SCORE"),
        (["rank", "votes.csv", "--anchor", "x=high"], "NAME=SCORE"),
        (["rank", "votes.csv", "--anchor", "w=1"], "not a competitor"),
        (["rank", "votes.csv", "--scale", "0"], "scale > 0"),
        (["rank", "votes.csv", "--level", "95"], "between 0 and 1"),
        (["rank", "votes.csv", "--init", "nan", "--format", "json"], "finite numbers"),
        (["rank", "votes.csv", "--anchor", "x=nan"], "NAME=SCORE"),
        (["rank", "votes.csv", "--sigma-strength", "1e-300"], "must be positive"),
        (["rank", "votes.csv", "-o", "/dev/full"], "No format known"),
        (["simulate", "--seed", "-1"], "at least 0"),
        (["simulate", "--tie-propensity", "nan"], "between 0 and"),
        (["rank", "votes.csv", "--format", "parquet"], "name a file with -o"),
        (["rank", "votes.csv", "-o", "board.xlsx"], "No format known"),
        (["rank", "votes.csv", "-o", "no/such/folder/board.csv"], "No such file or directory"),
        (["rank", "votes.csv", "--sigma-strength", "0"], "must be positive"),
        (["rank", "votes.csv", "--outcome", "undecided"], "LABEL=OUTCOME"),
        (["rank", "votes.csv", "--model", "elo"], "--model"),
        (["annotators", "votes.csv"], "has no parameters of annotators"),
        (["simulate", "--competitors", "1"], "two competitors"),
        (["simulate", "-o", "votes.json"], ".csv or .parquet"),
    ],
)
def test_bad_input_is_a_short_message_and_exit_code_2(arguments, message, tmp_path):
    frame([("x", "y", "model_a"), ("x", "y", "model_b")]).write_csv(tmp_path / "votes.csv")
    frame([("x", "y", "model_a"), ("x", "y", "undecided")]).write_csv(tmp_path / "bad.csv")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_mapped_label_and_ignored_annotators(tmp_path):
    frame([("x", "y", "model_a", "k"), ("x", "y", "undecided", "k")]).write_csv(tmp_path / "votes.csv")
    done = run("rank", tmp_path / "votes.csv", "--outcome", "undecided=tie", "--no-annotator", "--format", "json")
    answer = json.loads(done.stdout)
    assert (answer["model"], answer["leaderboard"][0]["ties"]) == ("davidson (no sides)", 1)


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(votes_file):
    done = subprocess.run(f"{COMMAND} rank {votes_file} | true", shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("command", [[], ["rank"], ["annotators"], ["check"], ["simulate"], ["arena", "rate"]])
def test_help_starts_without_the_heavy_libraries(command):
    code = (
        "import sys\nfrom bayes_arena.__main__ import main\n"
        f"sys.argv = ['bayes-arena', *{command!r}, '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'pymc', 'arviz', 'matplotlib', 'scipy', 'pandas', 'polars', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout


def test_ctrl_c_while_the_command_starts_is_one_line():
    code = (
        "import runpy, signal, sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'bayes_arena.cli.fit_options':\n            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "runpy.run_module('bayes_arena', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "bayes-arena: Interrupted.\n")


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"bayes-arena {ba.__version__}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "unneeded"),
    [
        ([], {"scipy.stats", "scipy.interpolate"}),
        (["--robust", "off", "--dimensions", "0"], {"scipy.stats"}),
        (["--model", "m-elo"], {"scipy.stats", "scipy.optimize", "scipy.sparse"}),
    ],
)
def test_rank_imports_only_what_it_uses(votes_file, options, unneeded):
    code = (
        "import sys\nfrom bayes_arena.__main__ import main\n"
        f"sys.argv = ['bayes-arena', 'rank', *{options!r}, {str(votes_file)!r}]\n"
        "main_code = None\ntry:\n    main()\nexcept SystemExit as end:\n    main_code = end.code\n"
        "assert not main_code\n"
        f"heavy = {{'pymc', 'arviz', 'matplotlib', 'pandas', *{sorted(unneeded)!r}}} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_narrow_terminal_loses_no_digit(votes_file):
    done = run_on_terminal(COMMAND, "rank", votes_file, COLUMNS="40")
    assert done.returncode == 0
    board = ba.leaderboard(ba.fit(ba.read_votes(votes_file)))
    assert all(f"{score:.1f}" in done.stderr for score in board["elo"])
    assert all(str(votes) in done.stderr for votes in board["votes"])


@pytest.mark.slow
def test_names_of_any_script_reach_any_stdout(tmp_path):
    frame([("é[bold]", "模型", "model_a"), ("é[bold]", "模型", "model_b")]).write_csv(tmp_path / "votes.csv")
    code = (
        "import sys\nfrom bayes_arena.__main__ import main\n"
        "for form in ('table', 'csv', 'json'):\n"
        f"    sys.argv = ['bayes-arena', 'rank', {str(tmp_path / 'votes.csv')!r}, '--format', form]\n"
        "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("utf-8").count("é[bold]") == 6  # two in the table, one in CSV, three in JSON


@pytest.mark.slow
def test_one_annotator_has_theta_one_without_error(tmp_path):
    run("simulate", "--annotators", 1, "--competitors", 6, "--votes", 200, "--seed", 2, "-o", tmp_path / "one.csv")
    answer = json.loads(run("annotators", tmp_path / "one.csv", "--format", "json").stdout)
    (row,) = answer["annotators"]
    assert row["theta"] == pytest.approx(1, abs=1e-12)
    assert row["p_negative"] == 0


def test_a_dropped_vote_is_reported_even_when_the_fit_fails(tmp_path):
    frame([("x", "y", "x"), ("x", "y", "undecided")]).write_csv(tmp_path / "votes.csv")
    done = run("rank", tmp_path / "votes.csv", "--on-invalid", "drop", "--anchor", "nobody=1")
    assert done.returncode == 2
    assert "1 × unknown winner" in done.stderr


@pytest.mark.slow
def test_interval_levels_are_named_as_asked(votes_file):
    assert "99.9 % interval" in run("rank", votes_file, "--level", 0.999).stdout


@pytest.mark.parametrize("options", [["--interval"], ["--interval", "wald"]])
def test_an_interval_without_a_known_name_is_refused(votes_file, options):
    done = run("rank", votes_file, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert options[0] in done.stderr


@pytest.mark.slow
def test_annotators_with_intervals_of_refits(votes_file):
    options = ("--method", "map", "--model", "am-elo", "--interval", "bootstrap", "--resamples", 8, "--seed", 3)
    answer = json.loads(run("annotators", votes_file, *options, "--format", "json").stdout)
    said = {name: answer[name] for name in ("level", "interval", "resamples", "seed")}
    fit = ba.fit(ba.read_votes(votes_file), model="am-elo", method="map")
    table = ba.annotators(fit, interval=ba.Bootstrap(resamples=8, seed=3))
    assert said == {"level": 0.95, "interval": "bootstrap", "resamples": 8, "seed": 3}
    assert said.items() <= table.attrs.items()
    assert answer["annotators"] == rounded(table.to_dict("records"))
    assert "bootstrap intervals" in run("annotators", votes_file, *options).stdout


@pytest.mark.slow
def test_compare(votes_file):
    done = run("compare", votes_file, "--models", "bradley-terry,am-davidson", "--format", "json")
    assert done.returncode == 2
    assert "are not comparable" in done.stderr
    done = run(
        "compare", votes_file, "--models", "bradley-terry, am-davidson", "--ties", "davidson", "--format", "json"
    )
    rows = json.loads(done.stdout)["comparison"]
    assert [row["name"] for row in rows] == ["am-davidson", "bradley-terry"]
    assert {"name", "rank", "elpd_loo", "elpd_diff", "dse", "weight"} <= set(rows[0])


@pytest.mark.slow
def test_compare_by_a_sample_says_so(votes_file):
    models = ("compare", votes_file, "--models", "bradley-terry,m-elo", "--sample", "50")
    assert json.loads(run(*models, "--format", "json").stdout)["sampled"] == 50
    assert "a sample of 50 kinds of votes" in run(*models).stdout
    assert "at least 2" in run(*models[:-1], "1").stderr


@pytest.mark.slow
def test_compare_says_how_many_votes_it_scored(tmp_path):
    rows = [("x", "y", "x"), ("y", "z", "y"), ("z", "x", "x"), ("x", "z", "z"), ("y", "x", "tie"), ("z", "y", "tie")]
    frame([(*row, judge) for row in rows for judge in "jk"]).write_csv(tmp_path / "votes.csv")
    command = ("compare", tmp_path / "votes.csv", "--models", "bradley-terry,m-elo")
    assert "scored on 8 votes, those that the models see" in run(*command, "--ties", "drop").stdout
    assert "scored on" not in run(*command).stdout
    answer = json.loads(run(*command, "--ties", "drop", "--format", "json").stdout)
    assert (answer["n_votes"], answer["n_scored"], answer["comparison"][1]["votes"]) == (12, 8, 8)


@pytest.mark.slow
def test_compare_over_annotators_says_which_question_it_answers(votes_file):
    command = ("compare", votes_file, "--models", "bradley-terry,m-elo")
    done = run(*command, "--over", "annotator", "--format", "json")
    answer = json.loads(done.stdout)
    assert (answer["over"], answer["question"]) == ("annotator", "a vote by a new annotator")
    assert "scored by predicting a vote by a new annotator" in run(*command, "--over", "annotator").stdout
    assert "scored by predicting" not in run(*command).stdout
    fits = {
        name: ba.fit(ba.read_votes(votes_file), model=name, method="marginal") for name in ("bradley-terry", "m-elo")
    }
    assert answer["comparison"] == rounded(ba.compare(fits, over="annotator").to_dict("records"))
    missing = run(*command, "--over", "language")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "by 'language'" in missing.stderr


@pytest.mark.slow
def test_clusters_are_named_on_the_command_line(votes_file):
    command = ("rank", votes_file, "--model", "m-elo", "--prior", "flat")
    by_name, by_default = (
        run(*command, "--interval", "clustered", *options, "--format", "json").stdout
        for options in (("--by", "annotator"), ())
    )
    assert by_name == by_default
    assert json.loads(by_name)["by"] == "annotator"
    answer = json.loads(
        run(*command, "--interval", "bootstrap", "--by", "annotator", "--resamples", 5, "--format", "json").stdout
    )
    fit = ba.fit(ba.read_votes(votes_file), model="m-elo", prior="flat")
    board = ba.leaderboard(fit, interval=ba.Bootstrap(resamples=5, by="annotator"))
    assert answer["leaderboard"] == rounded(board.to_dict("records"))
    refused = run(*command, "--by", "annotator")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--by annotator goes with --interval clustered or bootstrap" in refused.stderr


@pytest.mark.slow
def test_prompts_that_intervals_overlook_are_a_warning_and_clusters_the_remedy(tmp_path):
    cells = prompted(prompts=15, votes=400, answers=1.5)
    winner = np.array(["model_a", "model_b", "tie"])[cells.counts.argmax(axis=1)]
    names = np.array(list("uvwxyz"))
    columns = {"model_a": names[cells.a], "model_b": names[cells.b], "winner": winner}
    pl.DataFrame(columns | {"question_id": cells.slices["prompt"]}).write_csv(tmp_path / "votes.csv")
    command = (
        "rank",
        tmp_path / "votes.csv",
        "--prompt",
        "question_id",
        "--model",
        "m-elo",
        "--method",
        "map",
        "--format",
        "json",
    )
    notes = json.loads(run(*command).stdout)["warnings"]
    assert len([note for note in notes if "--interval clustered --by prompt" in note]) == 1
    answer = json.loads(run(*command, "--interval", "clustered", "--by", "prompt").stdout)
    assert (answer["warnings"], answer["by"]) == ([], "prompt")
    fit = ba.fit(ba.read_votes(tmp_path / "votes.csv", prompt="question_id"), model="m-elo", method="map")
    board = ba.leaderboard(fit, interval=ba.Clustered(by="prompt"))
    assert answer["leaderboard"] == rounded(board.to_dict("records"))
    named = json.loads(run(*command, "--interval", "clustered", "--by", "question_id").stdout)
    assert (named["leaderboard"], named["by"]) == (answer["leaderboard"], "question_id")


@pytest.mark.slow
def test_clusters_are_named_as_the_file_names_them(tmp_path):
    """Its column is then no prompt, whose answers would be in the model."""
    cells = prompted(prompts=30, votes=1000, answers=1.5)
    winner = np.array(["model_a", "model_b", "tie"])[cells.counts.argmax(axis=1)]
    names = np.array(list("uvwxyz"))
    columns = {"model_a": names[cells.a], "model_b": names[cells.b], "winner": winner}
    pl.DataFrame(columns | {"question_id": cells.slices["prompt"]}).write_csv(tmp_path / "votes.csv")
    command = ("rank", tmp_path / "votes.csv", "--interval", "clustered", "--format", "json", "--by")
    done = run(*command, "question_id")
    assert (done.returncode, done.stderr) == (0, "")
    fit = ba.fit(ba.read_votes(tmp_path / "votes.csv", slices=["question_id"]))
    board = ba.leaderboard(fit, interval=ba.Clustered(by="question_id"))
    assert json.loads(done.stdout)["leaderboard"] == rounded(board.to_dict("records"))
    assert "No column 'question'. The source has: model_a" in run(*command, "question").stderr


@pytest.mark.slow
def test_the_default_is_am_davidson_and_the_papers_am_elo_under_a_flat_prior(votes_file):
    answer = json.loads(run("rank", votes_file, "--format", "json").stdout)
    assert (answer["model"], answer["method"]) == ("am-davidson", "marginal")
    answer = json.loads(run("rank", votes_file, "--method", "map", "--format", "json").stdout)
    assert (answer["model"], answer["method"]) == ("am-davidson", "map")
    answer = json.loads(run("rank", votes_file, "--prior", "flat", "--format", "json").stdout)
    assert (answer["model"], answer["method"]) == ("am-elo", "map")


def test_the_names_an_option_takes_are_those_that_exist():
    from bayes_arena.likelihood.presets import PRESETS
    from bayes_arena.likelihood.priors import NAMED_PRIORS, PriorName
    from bayes_arena.likelihood.specification import ModelName

    assert set(get_args(ModelName)) == set(PRESETS)
    assert set(get_args(PriorName)) == set(NAMED_PRIORS)


@pytest.fixture(scope="module")
def sliced_file(tmp_path_factory) -> Path:
    """Votes with a topic, and prompts in a column that has to be named."""
    cells, rng = prompted(prompts=15, votes=400, answers=1.5), np.random.default_rng(1)
    names, outcomes = np.array(list("uvwxyz")), np.array(["model_a", "model_b", "tie"])
    columns = {"model_a": names[cells.a], "model_b": names[cells.b], "winner": outcomes[cells.counts.argmax(axis=1)]}
    topic = np.array(["code", "prose"])[cells.slices["prompt"] % 2]
    columns |= {name: rng.normal(size=len(topic)) for name in ("long", "short")}
    path = tmp_path_factory.mktemp("sliced") / "votes.csv"
    judge = rng.choice(np.array(["j", "k", "l"]), len(topic))
    pl.DataFrame(columns | {"item": cells.slices["prompt"], "topic": topic, "judge": judge}).write_csv(path)
    return path


@pytest.mark.slow
def test_boards_of_a_slice_and_of_these_prompts(sliced_file):
    command = ("rank", sliced_file, "--prompt", "item", "--slice", "kind=topic", "--model", "m-elo", "--answers", "on")
    in_code = ("--strength-by", "kind", "--in", "kind=code")
    answer = json.loads(run(*command, *in_code, "--over", "these", "--format", "json").stdout)
    assert (answer["model"], answer["over"], answer["slice"]) == (
        "m-elo by kind with answers",
        "these prompts",
        "kind: code",
    )
    votes = ba.read_votes(sliced_file, prompt="item", slices={"kind": "topic"}, annotator=False)
    model = ba.Model("m-elo by kind", strength_by=("kind",))
    fit = ba.fit(votes, model=model, answers=True)
    board = ba.leaderboard(fit, over="these prompts", slice=("kind", "code"))
    assert answer["leaderboard"] == rounded(board.to_dict("records"))
    on_code = pl.read_csv(sliced_file).filter(pl.col("topic") == "code").height
    assert board["votes"].sum() == 2 * on_code
    assert "ranked on new prompts\n" in run(*command).stdout
    style = ("--feature", "length=long,short", "--style", "length", "--answers", "off", "--format", "json")
    equal = json.loads(run(*command[:-2], *style).stdout)
    votes = ba.read_votes(sliced_file, prompt="item", features={"length": ["long", "short"]}, annotator=False)
    fit = ba.fit(votes, model=ba.Model(equal["model"], style=("length",)))
    with pytest.warns(ba.DependentVotesWarning):
        assert equal["leaderboard"] == rounded(ba.leaderboard(fit).to_dict("records"))
    assert "ranked on new prompts of kind: code\n" in run(*command, *in_code).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (("--style", "length"), "(features=..., --feature)"),
        (("--in", "kind"), "--in takes NAME=SLICE, not 'kind'"),
        (("--in", "kind=code"), r"(--strength-by kind)"),
        (("--strength-by", "kind", "--in", "kind=cod"), "There is no kind 'cod'. Did you mean 'code'"),
        (("--strength-by", "language"), "(slices=..., --slice)"),
        (("--strength-by", "prompt"), "(prompt=..., --prompt)"),
        (("--strength-by", "kind", "--in", "annotator=j"), "There is no ranking for one annotator"),
        (("--no-prompt", "--over", "these"), "(prompt=..., --prompt) and fit with answers=True (--answers on)"),
        (("--no-prompt", "--answers", "on"), "--prompt COLUMN"),
        (("--prompt", "nowhere"), "No column 'nowhere'. The source has: model_a"),
        (("--feature", "length=long,wide"), "No column 'wide'"),
        (("--interval", "clustered", "--by", "language"), "No column 'language'. The source has: model_a"),
        (("--interval", "clustered", "--by", "prompt"), "--prompt COLUMN"),
    ],
)
def test_what_slices_cannot_answer_is_refused_with_a_remedy(sliced_file, options, remedy):
    done = run("rank", sliced_file, "--slice", "kind=topic", "--model", "m-elo", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert remedy in done.stderr


@pytest.fixture(scope="module")
def rigged_file(tmp_path_factory) -> Path:
    """Simulated votes, and those of 60 accounts that vote once, at the same time and for one."""
    arena, rng, size = ba.simulate(votes=2000, competitors=10, annotators=30, seed=1), np.random.default_rng(1), 60
    honest = arena.votes.with_columns(tstamp=pl.Series(rng.random(2000)))
    rows = {
        "model_a": ["model-01"] * size,
        "model_b": rng.choice(arena.competitors[1:], size).tolist(),
        "winner": ["model_a"] * size,
        "judge": [f"new-{n}" for n in range(size)],
        "tstamp": rng.uniform(0.4, 0.43, size).tolist(),
    }
    path = tmp_path_factory.mktemp("rigged") / "votes.csv"
    pl.concat([honest, pl.DataFrame(rows, schema=honest.schema)]).write_csv(path)
    return path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.DiscountedVotesWarning")
def test_integrity_says_what_the_function_does(rigged_file):
    answer = json.loads(run("integrity", rigged_file, "--format", "json").stdout)
    fit = ba.fit(ba.read_votes(rigged_file))
    table, who = ba.integrity(fit), ba.promoters(fit)
    assert table["competitor"][0] == "model-01" and table["discounted"][0] > 0
    told = json.loads(table.to_json(orient="records"))  # what is not a number is null
    assert answer["integrity"] == rounded(told)
    assert answer["promoters"] == rounded(who.to_dict("records")) and not who["named"].any()
    assert "not those of one crowd" in answer["warnings"][0]
    assert [row["competitor"] for row in answer["discounted"]] == ["model-01"]
    shown = run("integrity", rigged_file).stdout
    assert "votes on model-01" in shown and "do not count\n" in shown and " promotes " not in shown


@pytest.mark.slow
def test_integrity_finds_bursts_where_votes_have_times(rigged_file):
    answer = json.loads(run("integrity", rigged_file, "--model", "bradley-terry", "--format", "json").stdout)
    assert answer["time"] == "tstamp" and [row["competitor"] for row in answer["bursts"]] == ["model-01"]
    assert 0.37 < answer["bursts"][0]["start"] < answer["bursts"][0]["end"] < 0.46
    shown = run("integrity", rigged_file, "--model", "bradley-terry").stdout
    assert re.search(r"^model-01: [\d.]+ of \d+ won from 0\.\d+ to 0\.\d+, where [\d.]+ are expected \(p ", shown, re.M)
    timeless = rigged_file.with_name("timeless.csv")
    pl.read_csv(rigged_file).drop("tstamp").write_csv(timeless)
    answer = json.loads(run("integrity", timeless, "--model", "bradley-terry", "--format", "json").stdout)
    assert (answer["time"], answer["bursts"]) == (None, None)
    assert run("integrity", rigged_file, "--time", "hour").returncode == 2
