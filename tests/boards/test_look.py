"""How a board is looked at: a choice that makes no sense is refused at once."""

import pytest

import bayes_arena as ba
from bayes_arena.boards.look import INTERVALS, Look
from bayes_arena.errors import ModelError


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"interval": "laplace"}, "posterior, clustered, sandwich, bootstrap"),
        ({"interval": "profile"}, "Bradley-Terry"),
        (
            {"interval": "sandwich", "cluster": "prompt"},
            "goes with interval='clustered'",
        ),
        ({"level": 1.0}, "between 0 and 1"),
        ({"level": "0.9"}, "between 0 and 1"),
        ({"min_votes": -1}, "0 or more"),
        ({"min_votes": float("nan")}, "0 or more"),
        ({"min_votes": "10"}, "0 or more"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(choices, words):
    with pytest.raises(ModelError, match=words):
        Look(**choices)


def test_it_is_refused_before_votes_are_read():
    for function in (ba.leaderboard, ba.rate, ba.pairs, ba.next_pairs):
        with pytest.raises(ModelError, match="between 0 and 1"):
            function("no such file.csv", level=95)


def test_every_interval_goes_without_a_cluster():
    assert [Look(interval=name).cluster for name in INTERVALS] == [None] * 4
