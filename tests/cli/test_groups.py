"""Two groups of annotators, and the combined board, in a terminal."""

import json
import shlex

import pytest

from tests.boards.test_combined import half_guess
from tests.people.arenas import camp_votes
from tests.rating.test_notes import ring_votes


@pytest.fixture(scope="module")
def camps(tmp_path_factory):
    path = tmp_path_factory.mktemp("groups") / "camps.csv"
    camp_votes().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def guessers(tmp_path_factory):
    path = tmp_path_factory.mktemp("combined") / "votes.csv"
    half_guess().to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_annotators_names_the_group_and_its_boards(command, camps):
    code, out, _ = command("annotators", camps)
    assert code == 0
    assert "6 of 20 annotators rank differently: they prefer model " in out
    assert "They are judge 0" in out and "and 1 more." in out
    rows = [line for line in out.splitlines() if line.startswith(" judge ")]
    assert all(line.rstrip().endswith(("smaller", "larger")) for line in rows)
    more = shlex.split(out.split("More: bayes-arena ")[1].splitlines()[0])
    code, out, _ = command(*more)
    assert code == 0
    assert "One board for each annotator_group" in out
    assert " smaller             1  model 0 " in out
    assert "The two groups were found in these votes" in out


@pytest.mark.slow
def test_accounts_that_work_together_are_named_and_left_out(command, tmp_path):
    path = tmp_path / "ring.csv"
    ring_votes().to_csv(path, index=False)
    _, out, _ = command("annotators", path)
    assert "bot0, bot1, bot2 and bot3 favour model 06 (228 of 228 votes)." in out
    typed = shlex.split(out.split("anomalous: bayes-arena ")[1].splitlines()[0])
    assert typed[-2:] == ["--without", "flagged"]
    code, out, _ = command(*typed)
    assert code == 0 and "Without the votes of bot0, bot1, bot2, bot3." in out
    code, out, _ = command("annotators", *typed[1:])
    assert code == 0 and "by 30 annotators." in out and "bot" not in out


@pytest.mark.slow
def test_boards_of_groups_need_groups(command, guessers):
    code, _, message = command("boards", guessers, "--by", "annotator_group")
    assert code == 2
    assert message.strip().endswith("No two groups of annotators were found.")


@pytest.mark.slow
def test_the_combined_board_is_an_option(command, guessers, tmp_path):
    code, out, _ = command("rank", guessers, "--combined")
    assert code == 0
    assert " % of the way from equal votes to votes weighed by how closely" in out
    _, text, _ = command("rank", guessers, "--combined", "--format", "json")
    assert 0.3 < json.loads(text)["share"] <= 1
    page = tmp_path / "page.html"
    code, _, _ = command("report", guessers, "--combined", "-o", page)
    assert code == 0
    assert "% of the way to am-davidson" in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [
        ("--model", "am-davidson", "--model davidson"),
        ("--prior", "weak", "--prior default"),
        ("--method", "map", "--method gaussian"),
    ],
)
def test_a_refusal_names_what_to_type(command, guessers, option, value, remedy):
    code, _, message = command("rank", guessers, "--combined", option, value)
    assert code == 2
    assert message.startswith("bayes-arena: --combined goes with the default ")
    assert message.rstrip().endswith(f"Use {remedy}.")
    code, out, _ = command("rank", guessers, "--combined", *remedy.split())
    assert code == 0 and "as far as is safe" in out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--ties", "half"), "the default model, not davidson ties half."),
        (("--cluster", "annotator"), "leave out --cluster annotator."),
        (("--interval", "sandwich"), "leave out --interval sandwich."),
    ],
)
def test_other_refusals_say_what_to_leave_out(command, guessers, options, reason):
    code, _, message = command("rank", guessers, "--combined", *options)
    assert code == 2
    assert message.rstrip().endswith(reason)
