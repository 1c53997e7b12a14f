"""Every command, as a user types it."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import FitError
from bayes_arena.said import Use
from tests.helpers import real


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    size = {"competitors": 8, "annotators": 12, "votes": 600}
    frame = ba.simulate(**size, reversed=2, discrimination_sd=0.1, seed=4).votes
    frame["language"] = ["en" if row % 2 else "de" for row in range(len(frame))]
    frame.to_csv(path, index=False)
    return path


def test_rank_rates_the_example(command):
    code, out, err = command("rank")
    assert code == 0
    assert err == ""
    assert out.startswith("example arena (simulated): 4,321 votes on 20 competitors")
    assert "model-18 is the best (P above 0.99)." in out
    assert "10 more: --all" in out
    assert "Annotators: 4 of 42 are anomalous" in out


def test_json_has_all_rows_and_what_was_fitted(command, votes_file):
    code, out, _ = command("rank", votes_file, "--format", "json")
    answer = json.loads(out)
    assert code == 0
    assert len(answer["leaderboard"]) == 8
    assert answer["plan"] == "davidson, Gaussian"
    assert {"verdict", "notes", "warnings"} <= answer.keys()
    table = ba.leaderboard(ba.fit(votes_file))
    assert answer["leaderboard"][0]["competitor"] == table["competitor"][0]
    assert answer["leaderboard"][0]["elo"] == pytest.approx(table["elo"][0])


def test_json_of_rank_is_that_of_a_rating_in_the_words_of_the_terminal(
    command, tmp_path
):
    path = tmp_path / "votes.csv"
    rows = "".join(
        f"m{k},m{k + 1},model_{'ab'[n > 8]}\n" for k in range(20) for n in range(10)
    )
    path.write_text(f"model_a,model_b,winner\n{rows}")
    content = json.loads(command("rank", path, "--format", "json")[1])
    with pytest.warns(ba.errors.ArenaWarning):
        rating = json.loads(ba.rate(path).to_json())
    (typed,), (called,) = content.pop("warnings"), rating.pop("warnings")
    assert typed["kind"] == called["kind"] == "prior"
    assert "--prior weak" in typed["text"] and "prior='weak'" in called["text"]
    assert content == rating


def test_csv_and_markdown_by_the_name_of_the_file(command, votes_file, tmp_path):
    for name, start in (("b.csv", "rank,competitor,elo"), ("b.md", "votes.csv: 600")):
        code, out, _ = command("rank", votes_file, "-o", tmp_path / name)
        assert (code, out) == (0, "")
        assert (tmp_path / name).read_text().startswith(start)


def test_a_formula_in_a_name_is_harmless(command, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\n=1+1,b,model_a\nb,=1+1,tie\n")
    _, out, _ = command("rank", path, "--format", "csv")
    assert "'=1+1" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rank", "absent.csv"), "absent.csv"),
        (("rank", "--model", "x"), "--model x must be one of bradley-terry"),
        (("rank", "--interval", "x"), "--interval x must be one of"),
        (("rank", "--anchor", "model-01"), "--anchor takes NAME=SCORE"),
        (("rank", "--format", "xml"), "--format xml must be one of table"),
        (("pairs", "--require", "better"), "--require goes with --between A B."),
        (("pairs", "--margin", 5), "--margin goes with --require."),
        (("report",), "-o board.html"),
        (("rank", "--without", "nobody"), "No votes of 'nobody'."),
    ],
)
def test_bad_input_is_a_line_and_code_2(command, words, message):
    code, out, err = command(*words)
    assert code == 2
    assert out == ""
    assert message in err
    assert len(err.splitlines()) <= 2


def test_messages_are_spelled_for_the_terminal(command, votes_file):
    _, _, err = command("rank", votes_file, "--cluster", "country")
    assert "slices=" not in err
    assert "cluster='" not in err


def test_the_gate(command, votes_file):
    board = ba.leaderboard(votes_file)
    best, worst = board["competitor"].iloc[0], board["competitor"].iloc[-1]
    between = ("pairs", votes_file, "--between")
    assert command(*between, best, worst, "--require", "better")[0] == 0
    assert command(*between, worst, best, "--require", "better")[0] == 1
    assert command(*between, best, worst, "--require", "settled")[0] == 0
    second = board["competitor"].iloc[3]
    third = board["competitor"].iloc[4]
    assert command(*between, second, third, "--require", "better")[0] == 4


def test_annotators_names_the_reversed(command, votes_file):
    code, out, _ = command("annotators", votes_file)
    assert code == 0
    assert "2 are anomalous (P 0.8 or more)" in out
    assert "reversed: agreement" in out
    assert f"bayes-arena rank {votes_file} --without flagged" in out


@pytest.mark.slow
def test_annotators_are_those_who_are_known(command, votes_file, tmp_path):
    votes = pd.read_csv(votes_file)
    votes.loc[[3, 5], "judge"] = None
    path = tmp_path / "gaps.csv"
    votes.to_csv(path, index=False)
    code, out, _ = command("annotators", path)
    assert code == 0
    n = f"{len(votes) - 2:,} votes by {votes['judge'].nunique()} annotators."
    assert f"{n} 2 votes more lack one." in out
    assert command("compare", path)[0] == 0
    assert "2 of" in command("rank", path)[1]


def test_where_nobody_can_be_judged_the_command_says_why(
    command, votes_file, monkeypatch
):
    def refuse(*_, **__):
        raise FitError("There is no answer.", Use(method="map"))

    monkeypatch.setattr("bayes_arena.people.doors.fit_model", refuse)
    code, out, _ = command("annotators", votes_file)
    assert code == 0
    assert "Annotators were not judged. There is no answer. Use --method map." in out
    assert "anomalous" not in out


def test_without_shows_the_board_before(command, votes_file):
    code, out, _ = command("rank", votes_file, "--without", "flagged")
    assert code == 0
    assert "Without the votes of" in out
    assert "before" in out


def test_boards_by_slice(command, votes_file):
    code, out, _ = command("boards", votes_file, "--by", "language")
    assert code == 0
    assert out.count(" de ") == out.count(" en ") == 8


def test_boards_of_a_saved_fit(command, votes_file, tmp_path):
    path = tmp_path / "fit.npz"
    words = ("fit", votes_file, "--strength-by", "language", "-o", path)
    assert command(*words)[0] == 0
    saved = command("boards", path, "--by", "language")[1].splitlines()[3:]
    assert (
        saved == command("boards", votes_file, "--by", "language")[1].splitlines()[3:]
    )
    code, _, err = command("boards", path, "--by", "topic")
    assert code == 2 and "'topic'" in err


def test_next_compare_check_and_diagnose(command, votes_file):
    for name in ("next", "check", "diagnose"):
        code, out, _ = command(name, votes_file)
        assert code == 0
        assert "600" in out


@pytest.mark.slow
def test_compare(command, votes_file):
    code, out, _ = command("compare", votes_file, "--over", "annotator")
    assert code == 0
    assert "am-davidson" in out


@pytest.mark.slow
def test_a_saved_fit_is_rated_like_its_votes(command, votes_file, tmp_path):
    path = tmp_path / "fit.npz"
    assert command("fit", votes_file, "-o", path)[0] == 0
    saved = json.loads(command("rank", path, "--format", "json")[1])
    fresh = json.loads(command("rank", votes_file, "--format", "json")[1])
    assert saved["leaderboard"] == fresh["leaderboard"]
    saved = json.loads(command("annotators", path, "--format", "json")[1])
    fresh = json.loads(command("annotators", votes_file, "--format", "json")[1])
    assert saved["annotators"] == fresh["annotators"]


def test_report_writes_a_page(command, votes_file, tmp_path):
    path = tmp_path / "board.html"
    code, out, _ = command("report", votes_file, "--title", "Ours", "-o", path)
    assert (code, out) == (0, "")
    assert "<title>Ours" in path.read_text()


def test_simulated_votes_can_be_rated(command, tmp_path):
    path = tmp_path / "simulated.csv"
    code, _, _ = command("simulate", "--votes", 200, "--seed", 1, "-o", path)
    assert code == 0
    assert command("rank", path)[1].startswith("simulated.csv: 200 votes")


def test_an_arena_grows(command, votes_file, tmp_path):
    path = tmp_path / "arena.db"
    assert command("arena", "create", path, "--delta", 10)[0] == 0
    assert "600 votes added" in command("arena", "add", path, votes_file)[2]
    code, out, _ = command("arena", "round", path)
    assert code == 0
    assert "2 annotators excluded" in out
    assert command("arena", "publish", path)[1].count("model-") == 8
    assert command("arena", "history", path, "rounds")[0] == 0
    code, out, _ = command("arena", "publish", path, "--board")
    assert code == 0 and "Davidson: all votes have equal weight." in out
    assert "More:" not in out
    assert command("arena", "history", path, "boards")[1].count("model-") == 8


def test_votes_of_an_arena_may_have_ids(command, tmp_path):
    path, arena = tmp_path / "votes.csv", tmp_path / "arena.db"
    rows = ["1,a,b,a,k", "2,a,b,a,k", "3,b,a,b,k"]
    head = "n,model_a,model_b,winner,judge"
    path.write_text("\n".join([head, *rows]))
    command("arena", "create", arena)
    words = ("arena", "add", arena, path, "--id", "n")
    assert "3 votes added." in command(*words)[2]
    path.write_text("\n".join([head, *rows, "4,a,b,a,k"]))
    assert "1 vote added, 3 known already." in command(*words)[2]


def test_votes_that_equal_others_are_said_to_need_ids(command, tmp_path):
    path, arena = tmp_path / "votes.csv", tmp_path / "arena.db"
    head, row = "model_a,model_b,winner,judge", "a,b,a,k"
    path.write_text(f"{head}\n{row}")
    command("arena", "create", arena)
    command("arena", "add", arena, path)
    path.write_text(f"{head}\n{row}\n{row}")
    message = command("arena", "add", arena, path)[2]
    assert "If they are new, name a column of ids with --id." in message


def test_strict_exits_after_a_warning(command, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\na,b,a\nb,a,tie\nc,d,c\nd,c,tie\n")
    code, _, err = command("rank", path, "--strict")
    assert code == 3
    assert err.count("never compared") == 1


def test_version_and_help(command):
    assert command("--version")[1] == f"bayes-arena {ba.__version__}\n"
    commands = command("--help")[1]
    for name in ("rank", "boards", "pairs", "next", "annotators", "compare", "report"):
        assert f" {name} " in commands
    options = command("rank", "--help")[1]
    for name in ("--layout", "--prior", "--seed", "--interval", "--format", "--delta"):
        assert name in options


@pytest.mark.slow
def test_a_closed_pipe_and_a_narrow_terminal(votes_file):
    program = [sys.executable, "-m", "bayes_arena", "rank", str(votes_file)]
    closed = subprocess.run(
        f"{' '.join(program)} | head -1", shell=True, capture_output=True, text=True
    )
    assert closed.stderr == ""
    assert closed.stdout.startswith("votes.csv: 600 votes")
    env = {**os.environ, "COLUMNS": "20"}
    narrow = subprocess.run(program, env=env, capture_output=True, text=True)
    assert narrow.returncode == 0


@pytest.mark.slow
def test_the_screens_of_real_votes(command):
    _, out, _ = command("rank", real("llmfao.csv"))
    assert "GPT 4 is probably the best" in out
    assert "worker_15 and worker_70 favour Weaver 12k (106 of 110 and 43 of 45" in out
    assert "(--combined, here 31 %) would move 'command' the most: 15 Elo" in out
    _, out, _ = command("rank", real("mt_bench_human.csv"))
    assert "gpt-4 is the best (P above 0.99)." in out
    assert "Annotators" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Commands:"),
        (("arena",), "create"),
        (("rnk",), "No such command 'rnk'"),
        (("rank", "--interval"), "requires an argument"),
        (("rank", "--alll"), "No such option: --alll"),
        (("rank", "--seed", "one"), "Invalid value for '--seed'"),
    ],
)
def test_a_slip_of_the_keys_ends_with_help(command, words, message):
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("name", "writer"), [("board.html", "report"), ("board.npz", "fit")]
)
def test_a_table_is_not_written_where_another_command_writes(
    command, votes_file, tmp_path, name, writer
):
    code, _, err = command("rank", votes_file, "-o", tmp_path / name)
    assert code == 2
    assert f"bayes-arena {writer}" in err
    assert not (tmp_path / name).exists()


def test_ctrl_c_is_a_line_and_code_130(command, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayes_arena.cli.boards.fit_of_sources", interrupted)
    code, out, err = command("rank")
    assert (code, out, err) == (130, "", "bayes-arena: Interrupted.\n")


def test_memory_that_runs_out_is_a_line(command, monkeypatch):
    def greedy(*args, **options):
        raise MemoryError

    monkeypatch.setattr("bayes_arena.cli.boards.fit_of_sources", greedy)
    code, _, err = command("rank")
    assert code == 2
    assert err.startswith("bayes-arena: Memory ran out.")


def test_annotators_without_or_alone(command, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\noak,elm,model_a\nelm,oak,model_a\n")
    code, _, err = command("annotators", path)
    assert code == 2 and "--annotator" in err and "--model" not in err
    code, out, _ = command("annotators", path, "--judge", "gpt")
    assert code == 0
    assert "With one annotator no comparison is possible." in out


def test_the_makers_of_judges(command, tmp_path):
    arena = ba.simulate(competitors=6, annotators=4, votes=400, seed=3)
    arena.votes.replace("annotator-1", "model-1").to_csv(
        tmp_path / "v.csv", index=False
    )
    makers = [f"{name},maker-{k % 2}" for k, name in enumerate(arena.competitors)]
    (tmp_path / "makers.csv").write_text("\n".join(makers))
    words = ("annotators", tmp_path / "v.csv", "--makers", tmp_path / "makers.csv")
    code, out, _ = command(*words)
    assert code == 0 and "own maker" in out
    rows = json.loads(command(*words, "--format", "json")[1])["annotators"]
    assert sum(row["own_maker"] is not None for row in rows) == 1


@pytest.mark.slow
def test_the_tables_of_the_paper(command):
    code, out, _ = command("reproduce", "table1")
    assert code == 0
    assert "table1, Liu et al. (2025), on example arena (simulated): 4,321 votes" in out
    assert "102.88" in out
    code, out, _ = command("reproduce", "table1", "--delta", "20")
    votes = ba.read_votes(ba.example_arena().votes).keep(more_than=20)
    assert code == 0 and f"{votes.n_votes:,.0f} votes" in out


def test_facts_about_competitors_follow_in_the_table(command, votes_file, tmp_path):
    about = tmp_path / "models.csv"
    about.write_text("model,maker\nmodel-1,Acme\n", encoding="utf-8")
    code, out, _ = command("rank", votes_file, "--about", about, "--format", "csv")
    assert code == 0
    assert out.startswith("rank,competitor,elo") and ",maker\n" in out
    code, _, err = command("rank", votes_file, "--about", tmp_path / "none.csv")
    assert code == 2 and "No file at" in err
