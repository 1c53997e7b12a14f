"""What a command advises can be typed, and means what it says."""

import re
import shlex
from itertools import pairwise

import pandas as pd
import pytest

from bayes_arena.errors import ArenaError
from bayes_arena.said import Use
from tests.helpers import real, terminal
from tests.people.arenas import fan, votes_of
from tests.reading import test_cases, test_public_cases

OTHER_SIDE = {"model_a": "model_b", "model_b": "model_a"}


@pytest.fixture
def bought(tmp_path):
    """A file of twelve honest annotators, a reversed one, and one who favours the strong."""
    path = tmp_path / "bought votes.csv"
    votes = votes_of(annotators=12, each=80, planted=("reversed",))
    loyal = fan(None, 80, favourite=4, judge="buyer")
    loyal[::2] = (
        loyal[::2].rename(columns=OTHER_SIDE)[loyal.columns].replace(OTHER_SIDE)
    )
    pd.concat([votes, loyal]).to_csv(path, index=False)
    return path


def typed(text, beginning):
    """Return the words of the command that follows a beginning in a text."""
    return shlex.split(text.split(beginning)[1].splitlines()[0])


@pytest.mark.slow
def test_the_board_without_whom_annotators_names(command, bought):
    code, out, _ = command("annotators", bought)
    assert code == 0
    assert "1 is anomalous (P 0.8 or more), 1 has a favourite." in out
    beginning = "without the anomalous and those with a favourite: bayes-arena "
    _, board, _ = command(*typed(out, beginning))
    assert "Without the votes of reversed, buyer." in board


@pytest.mark.slow
def test_the_advice_judges_as_the_table_does(command):
    path = real("llmfao.csv")
    options = ("--model", "am-elo", "--prior", "flat", "--delta", 50)
    _, out, _ = command("annotators", path, *options)
    _, board, _ = command(*typed(out, "the anomalous: bayes-arena "))
    assert "Without the votes of worker_15, worker_70, worker_20, worker_11." in board


@pytest.mark.slow
def test_more_on_annotators_is_of_the_same_file(command, bought):
    _, out, _ = command("rank", bought)
    _, out, _ = command(*typed(out, "More: bayes-arena "))
    assert "reversed" in out and "bought votes.csv" in out


@pytest.mark.slow
def test_lines_that_tell_more_read_the_file_as_it_was_read(command, tmp_path):
    """They run as they are printed, whatever options the file needs."""
    path = tmp_path / "my votes.csv"
    votes = votes_of(annotators=12, each=80, planted=("reversed",))
    votes["winner"] = votes["winner"].replace({"model_a": "le 1er", "model_b": "2nd"})
    votes["count"] = 1
    names = {"winner": "Which is better?", "judge": "Rater ID", "model_a": "one side"}
    votes.rename(columns=names | {"model_b": "other"}).to_csv(path, index=False)
    reading = ("--a", "one side", "--b", "other", "--winner", "Which is better?")
    reading += ("--annotator", "Rater ID")
    reading += ("--outcome", "le 1er=model_a", "--outcome", "2nd=model_b")
    code, out, _ = command("rank", path, *reading)
    assert code == 0
    more = typed(out, "More: bayes-arena ")
    assert more == ["annotators", str(path), *reading]
    code, out, _ = command(*more)
    assert code == 0 and "reversed" in out
    code, board, _ = command(*typed(out, "without the anomalous: bayes-arena "))
    assert code == 0 and "Without the votes of reversed." in board
    _, out, _ = command("rank", path, *reading)
    code, out, _ = command(*typed(out, "1 remark on the file: bayes-arena "))
    assert code == 0 and "--weight count reads it" in out


@pytest.mark.slow
def test_where_prompts_are_the_limit_nobody_asks_for_votes(command):
    path = real("llmfao.csv")
    remedy = " more prompts would settle it; more votes on these 13 would not."
    code, out, _ = command(
        "pairs", path, "--between", "GPT 4", "command", "--require", "better"
    )
    assert code == 4
    assert "better: not enough prompts to say." in out and remedy in out
    assert "More" + remedy[5:] in command("rank", path)[1]
    _, out, _ = command("next", path)
    assert re.search(r"on new prompts \(some \d+ would settle it\)\.", out)
    _, out, _ = command("pairs", path, "--no-prompt")
    assert "prompts would" not in out


@pytest.mark.parametrize(
    "words", ["rank board.xlsx", "rank board.html", "pairs pairs.png"]
)
def test_a_file_that_cannot_hold_a_table_is_refused(command, bought, tmp_path, words):
    verb, name = words.split()
    code, _, message = command(verb, bought, "-o", tmp_path / name)
    assert code == 2 and ".json, .csv, .md, .txt" in message
    assert not (tmp_path / name).exists()


@pytest.mark.slow
def test_a_figure_is_drawn_by_the_name_of_its_file(command, tmp_path):
    path = tmp_path / "fig1.png"
    code, out, message = command("reproduce", "fig1", real("llmfao.csv"), "-o", path)
    assert (code, out, message) == (0, "", f"{path} written.\n")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_round_without_an_estimate_names_what_the_arena_can_do(command, tmp_path):
    arena = tmp_path / "arena.db"
    votes = pd.DataFrame(
        {"model_a": "a", "model_b": ["b", "c"] * 3, "winner": "model_a", "judge": "k"}
    )
    votes.to_csv(tmp_path / "votes.csv", index=False)
    command("arena", "create", arena, "--delta", 0)
    command("arena", "add", arena, tmp_path / "votes.csv")
    code, _, message = command("arena", "round", arena)
    assert code == 2
    assert "--delta 50" not in message and "--prior" not in message


def test_a_published_board_says_what_it_is(command, tmp_path):
    arena = tmp_path / "arena.db"
    command("arena", "create", arena, "--delta", 0)
    command("arena", "add", arena, bought_file(tmp_path))
    command("arena", "round", arena)
    _, out, _ = command("arena", "publish", arena)
    assert out.startswith(
        "Round 1: 1,040 votes on 12 competitors by 13 annotators. Of the others 0 wait for "
        "more votes, and 0 were excluded before.\n"
    )
    assert "am-ELO by maximum likelihood" in out
    assert "Excluded after it, for the next round: reversed." in out
    assert "…  2 more: --explain" in out


def bought_file(folder):
    path = folder / "votes.csv"
    votes_of(annotators=12, each=80, planted=("reversed",)).to_csv(path, index=False)
    return path


def test_nothing_open_is_no_empty_table(command, tmp_path):
    path = tmp_path / "clear.csv"
    rows = {"model_a": ["a"] * 60, "model_b": ["b"] * 60, "winner": ["a"] * 60}
    pd.DataFrame(rows).to_csv(path, index=False)
    _, out, _ = command("pairs", path)
    assert out.splitlines()[1] == "Open at 0.95: 0 of 1 pairs."
    assert "──" not in out


# Files that are refused as they are typed: the name or the text of a file, and options.
LABELS = "model_a,model_b,winner\noak,elm,one\nelm,oak,two\n"
NUMBERS = "model_a,model_b,winner,count\noak,elm,A,2\nelm,oak,A,x\n"
REFUSED = [
    ("d07_league_table.csv", ""),
    ("d15_other_baseline.jsonl", ""),
    ("d29_no_header.csv", "--a oak --b elm"),
    ("respondent,comment\nr1,good\nr2,bad\n", ""),
    (test_cases.CASES["a team's initial"][1], "--layout two-scores"),
    (test_cases.CASES["a team's initial"][1], "--layout annotator-columns"),
    (LABELS, ""),
    (NUMBERS, "--weight count"),
    (LABELS.replace("one", "A").replace("two", "B"), "--model am-elo"),
    (LABELS.replace("one", "A").replace("two", "B"), "--cluster topic"),
    (LABELS.replace("one", "A").replace("two", "A"), "--prior flat"),
]


@pytest.mark.parametrize(("content", "options"), REFUSED)
def test_a_refusal_ends_otherwise_once_its_remedies_are_typed(
    command, tmp_path, monkeypatch, content, options
):
    path = test_public_cases.CASES / content
    if "\n" in content:
        path = tmp_path / "votes.csv"
        path.write_text(content)
    raised = []
    spelled = ArenaError.spelled
    monkeypatch.setattr(
        ArenaError, "spelled", lambda x, y: raised.append(x) or spelled(x, y)
    )
    words = ["rank", path, *options.split()]
    code, _, message = command(*words)
    assert code == 2
    (error,) = raised
    for remedy in filter(is_whole, remedies_in((error.text, *error.remedies))):
        typed = terminal("rank").use(remedy)
        assert typed in message
        code, _, other = command(*words, *shlex.split(typed))
        assert code in (0, 2) and "No such option" not in other
        assert other != message


def remedies_in(said):
    """Yield the arguments that a text names."""
    if isinstance(said, Use):
        yield said
    elif isinstance(said, tuple):
        for part in said:
            yield from remedies_in(part)


def is_whole(remedy):
    """Whether arguments can be typed as they are shown: there is no blank to fill in."""
    blanks = [value for _, value in remedy.arguments if is_blank(value)]
    return not blanks


def is_blank(value):
    """Whether a value is, or holds, a blank."""
    if isinstance(value, dict):
        return any(map(is_blank, value.values()))
    return value is ... or str(value).isupper()


def test_the_lines_that_give_a_file_a_header_run_as_printed(
    command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    names = ["oak", "elm", "ash"] * 20
    rows = [f"{a},{b}" for a, b in pairwise(names)]
    (tmp_path / "games.csv").write_text("\n".join(rows) + "\n")
    code, _, message = command("rank", "games.csv")
    assert code == 2
    exec("\n".join(message.splitlines()[-2:]), {})
    code, out, _ = command("rank", "with_header.csv")
    assert code == 0 and "59 votes on 3 competitors" in out
