"""A gate on two competitors: yes, no, or not enough votes."""

import json

import pytest
from helpers import frame, run

import bayes_arena as ba
from bayes_arena.decisions.gate import gate


def compared(won: int, lost: int) -> ba.Fit:
    return ba.fit(frame([("new", "base", "model_a")] * won + [("new", "base", "model_b")] * lost))


@pytest.mark.parametrize(
    ("won", "lost", "required", "margin", "answer"),
    [
        (300, 200, "better", 0, "yes"),
        (200, 300, "better", 0, "no"),
        (255, 245, "better", 0, "not enough votes"),
        (300, 200, "better", 60, "not enough votes"),
        (255, 245, "not-worse", 50, "yes"),
        (255, 245, "not-worse", 5, "not enough votes"),
        (200, 300, "not-worse", 20, "no"),
        (200, 300, "settled", 0, "yes"),
        (255, 245, "settled", 0, "not enough votes"),
    ],
)
def test_it_answers_by_the_probability_of_what_is_required(won, lost, required, margin, answer):
    fit = compared(won, lost)
    found = gate(fit, "new", "base", required=required, margin=margin)
    assert found.answer == answer and str(found).startswith(f"{answer}: ")
    assert (found.probability >= 0.95) == (answer == "yes")
    if required == "better" and not margin:
        assert found.probability == pytest.approx(ba.versus(fit, "new", "base").p_better)


def test_a_gate_of_groups_that_no_vote_connects_is_not_passed():
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = ba.fit(frame([("new", "x", "model_a")] * 90 + [("base", "y", "model_b")] * 90))
    found = gate(fit, "new", "base", required="better", level=0.6)
    assert found.answer == "not enough votes" and "no votes compare new and base" in found.why


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"required": "not-worse"}, "needs a margin"),
        ({"required": "settled", "margin": 3}, "'settled' none"),
        ({"required": "better", "margin": -1}, "does not go"),
        ({"required": "best"}, "required must be one of"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(ba.ModelError, match=said):
        gate(compared(3, 2), "new", "base", **given)


@pytest.mark.slow
@pytest.mark.parametrize(("won", "code", "answer"), [(300, 0, "yes"), (200, 1, "no"), (255, 4, "not enough votes")])
def test_the_command_answers_in_one_line_and_by_its_exit_code(tmp_path, won, code, answer):
    path = tmp_path / "votes.csv"
    frame([("new", "base", "model_a")] * won + [("new", "base", "model_b")] * (500 - won)).write_csv(path)
    done = run("pairs", path, "--between", "new", "base", "--require", "better")
    assert (done.returncode, done.stdout.count("\n")) == (code, 1)
    assert done.stdout.startswith(f"{answer}: ")
    done = run("pairs", path, "--between", "new", "base", "--require", "better", "--format", "json")
    found = json.loads(done.stdout)["gate"]
    assert (done.returncode, found["answer"], found["required"]) == (code, answer, "better")


def test_a_margin_needs_a_requirement(tmp_path):
    done = run("pairs", "--between", "new", "base", "--margin", 3)
    assert done.returncode == 2 and "--margin goes with --require" in done.stderr
    done = run("pairs", "--require", "better")
    assert done.returncode == 2 and "--require goes with --between A B" in done.stderr
