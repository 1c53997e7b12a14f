import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError
from tests.helpers import real
from tests.people.arenas import KINDS, votes_of


def test_the_flagged_are_the_anomalous():
    votes = votes_of(seed=1, planted=KINDS)
    assert set(ba.flag(votes)) == set(KINDS)
    assert ba.flag(votes_of(annotators=10, each=40)) == ()


def test_the_papers_rule_on_the_papers_annotators():
    votes = ba.read_votes(real("llmfao.csv")).keep(more_than=50)
    paper = ba.fit(votes, model="am-elo", prior="flat")
    four = {f"worker_{number}" for number in (11, 15, 20, 70)}
    assert set(ba.flag_by_theta(paper, epsilon=0)) == four
    assert set(ba.flag_by_theta(paper, epsilon=0.005)) >= four
    assert ba.flag_by_theta(paper, epsilon=-1) == ()


def test_the_lowest_theta_comes_first():
    votes = votes_of(annotators=10, each=80, planted=("reversed", "always ties"))
    assert ba.flag_by_theta(votes) == ("reversed", "always ties")


def test_a_fit_without_theta_is_refused():
    fit = ba.fit(votes_of(annotators=3))
    with pytest.raises(ModelError, match="has no discrimination"):
        ba.flag_by_theta(fit)


@pytest.mark.parametrize("epsilon", ["x", None, float("nan"), True])
def test_an_epsilon_that_is_no_number_is_refused(epsilon):
    with pytest.raises(ModelError, match=r"epsilon=.* must be a finite number"):
        ba.flag_by_theta(votes_of(annotators=3), epsilon=epsilon)
