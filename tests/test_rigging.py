"""Honest arenas and the riggers among their votes."""

import numpy as np
import pytest
from crowds import VISIT, Crowd, HonestArena, honest_arena
from helpers import frame
from rigging import STRATEGIES, Rigged, rig

import bayes_arena as ba
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

ON_TARGET = {
    "t-random": 2 / 20,
    "t-tie": 2 / 20,
    "t-abstain": 1.0,
    "t-normal": 2 / 20,
    "t-normal50": 0.5 + 0.5 * 2 / 20,
    "omni-bt": 2 / 20,
    "hate": 1.0,
    "copycat": 0.3 + 0.7 * 2 / 20,
}
"""Share of the riggers' votes on the target, of 20 competitors met alike."""


@pytest.fixture(scope="module")
def arena() -> HonestArena:
    return honest_arena(Crowd(annotators=40), competitors=20, votes=6_000, seed=3)


def counts_of(rigged: Rigged) -> tuple[ba.Cells, np.ndarray]:
    """Cells of the riggers, and their counts."""
    riggers = [rigged.cells.annotators.index(name) for name in rigged.riggers]
    mine = rigged.cells.take(np.isin(rigged.cells.annotator, riggers))
    return mine, mine.counts


def for_and_against(rigged: Rigged) -> tuple[float, float, float]:
    """Riggers' votes for the targets, against them, and ties, of those in which one takes part."""
    mine, counts = counts_of(rigged)
    targets = [mine.competitors.index(name) for name in rigged.targets]
    a, b = np.isin(mine.a, targets), np.isin(mine.b, targets)
    return (
        counts[a, WIN].sum() + counts[b & ~a, LOSS].sum(),
        counts[a & ~b, LOSS].sum() + counts[b & ~a, WIN].sum(),
        counts[a | b, TIE].sum(),
    )


@pytest.mark.parametrize("strategy", ON_TARGET)
def test_riggers_meet_the_target_as_their_strategy_says_and_vote_for_it(arena, strategy):
    target = arena.ranked(10)
    rigged = rig(arena.cells, strategy, target, accounts=20, votes=100, seed=1)
    assert len(rigged.riggers) == 20 and rigged.share == pytest.approx(2000 / 8000)
    assert counts_of(rigged)[1].sum() == 2000
    votes_for, against, ties = for_and_against(rigged)
    if strategy == "hate":
        votes_for, against = against, votes_for
    assert (votes_for + against + ties) / 2000 == pytest.approx(ON_TARGET[strategy], abs=0.04)
    if strategy == "copycat":  # what was copied is honest, on the target too
        assert votes_for > 3 * against > 0
    else:
        assert against == ties == 0


def test_honest_votes_stay_as_they_are(arena):
    rigged = rig(arena.cells, "t-tie", arena.ranked(10), accounts=3, votes=20)
    honest = ba.drop_annotators(rigged.cells, rigged.riggers)
    for name in ("a", "b", "annotator", "counts"):
        assert np.array_equal(getattr(honest, name), getattr(arena.cells, name))
    assert honest.competitors == arena.cells.competitors and honest.annotators == arena.cells.annotators


def test_a_second_attack_comes_beside_the_first(arena):
    first = rig(arena.cells, "hate", arena.ranked(1), accounts=2, votes=10)
    second = rig(first.cells, "t-abstain", arena.ranked(12), accounts=3, votes=10)
    assert not set(first.riggers) & set(second.riggers)
    assert second.cells.n_annotators == arena.cells.n_annotators + 5


def test_elsewhere_they_tie_or_vote_honestly(arena):
    target = arena.ranked(10)

    def score_of_the_better(strategy):
        """Share of the votes elsewhere for the better one, and of ties."""
        mine, counts = counts_of(rig(arena.cells, strategy, target, accounts=30, votes=100))
        t = mine.competitors.index(target)
        rest = (mine.a != t) & (mine.b != t)
        first = arena.strength[mine.a] > arena.strength[mine.b]
        right = np.where(first, counts[:, WIN], counts[:, LOSS])[rest].sum()
        wrong = np.where(first, counts[:, LOSS], counts[:, WIN])[rest].sum()
        return right / (right + wrong) if right + wrong else None, counts[rest, TIE].sum() / counts[rest].sum()

    honest, ties = score_of_the_better("t-normal")
    assert honest > 0.55 and 0.2 < ties < 0.45
    assert score_of_the_better("t-random")[0] == pytest.approx(0.5, abs=0.04)
    assert score_of_the_better("t-tie") == (None, 1.0)


def test_omnipresent_votes_help_the_target_more_than_votes_at_random_elsewhere(arena):
    target = arena.ranked(10)
    lifted = {}
    for strategy in ("omni-bt", "t-random"):
        fit = ba.fit(rig(arena.cells, strategy, target, accounts=20, votes=100).cells, model="bradley-terry")
        strength = dict(zip(fit.cells.competitors, fit.strength, strict=True))
        above = [strength[arena.ranked(rank)] for rank in range(1, 10)]
        lifted[strategy] = strength[target] - np.mean(above)
    assert lifted["omni-bt"] > lifted["t-random"] + 0.1


def test_two_targets_are_favoured_alike(arena):
    rigged = rig(arena.cells, "two-targets", arena.ranked(10), accounts=10, votes=100)
    assert len(rigged.targets) == 2
    votes_for, against, ties = for_and_against(rigged)
    assert against == 0 and votes_for + ties == 1000 and ties < 100


def test_riggers_carry_what_the_battles_carry():
    rows = [("x", "y", "model_a", "ann", "p"), ("y", "z", "tie", "bob", "q"), ("z", "x", "model_b", "ann", "q")]
    votes = frame([row[:4] for row in rows]).with_columns(prompt=np.array([row[4] for row in rows]))
    rigged = rig(ba.read_votes(votes, prompt="prompt"), "t-abstain", "x", accounts=2, votes=5)
    mine, counts = counts_of(rigged)
    prompts = np.array(mine.slice_names["prompt"])[mine.slices["prompt"]]
    assert set(zip(np.array(mine.competitors)[mine.a], prompts, strict=True)) <= {("x", "p"), ("z", "q")}
    assert counts.sum() == 10


@pytest.mark.slow
def test_same_seed_same_votes(arena):
    for strategy in STRATEGIES:
        one, other = (rig(arena.cells, strategy, "model-004", accounts=2, votes=9, seed=7).cells for _ in range(2))
        assert np.array_equal(one.counts, other.counts) and np.array_equal(one.annotator, other.annotator)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"strategy": "bribe"}, "bribe"), ({"target": "nobody"}, "nobody"), ({"accounts": 0}, "0 x 100")],
)
def test_impossible_attacks_are_refused(arena, change, said):
    with pytest.raises(ba.ModelError, match=said):
        rig(arena.cells, **({"strategy": "t-tie", "target": "model-001"} | change))


def test_an_arena_without_annotators_has_no_others(arena):
    votes = ba.read_votes(frame([("x", "y", "model_a"), ("y", "x", "model_a")]))
    with pytest.raises(ba.ModelError, match="no annotators"):
        rig(votes, "t-tie", "x")


def test_a_crowd_is_made_as_asked():
    crowd = Crowd(annotators=50, guessers=0.2, adversaries=0.1, taste_sd=0.5, visitors=10)
    arena = honest_arena(crowd, competitors=20, votes=5_000, seed=2)
    votes = dict(zip(arena.cells.annotators, arena.cells.votes_by_annotator(), strict=True))
    assert arena.cells.n_votes == 5_000 + 10 * VISIT and list(votes.values())[-10:] == [VISIT] * 10
    theta = arena.habits.discrimination
    assert len(arena.guessers) == 12 == (theta == 0).sum() and len(arena.adversaries) == 6 == (theta < 0).sum()
    assert arena.taste.std() == pytest.approx(0.5, abs=0.05) and not arena.second_camp
    net = dict(zip(arena.cells.annotators, arena.net_agreement(), strict=True))
    assert all(net[name] == 0 for name in arena.guessers) and min(net.values()) < 0 < max(net.values())


def test_camps_differ_and_agree_on_average():
    crowd = Crowd(annotators=100, camp_sd=0.8, camp_share=0.3)
    arena = honest_arena(crowd, competitors=40, votes=5_000, seed=2)
    member = np.isin(arena.cells.annotators, arena.second_camp)
    assert member.sum() == 30
    assert np.abs(arena.taste.mean(axis=0)).max() < 1e-12
    assert (arena.taste[member][0] - arena.taste[~member][0]).std() == pytest.approx(2 * 0.8, rel=0.3)
    assert (arena.taste[member] == arena.taste[member][0]).all()


@pytest.mark.parametrize("wrong", [{"annotators": 0}, {"guessers": 0.7, "adversaries": 0.7}, {"taste_sd": -1.0}])
def test_impossible_crowds_are_refused(wrong):
    with pytest.raises(ba.ModelError, match=r"crowd|Shares"):
        Crowd(**wrong)


@pytest.mark.parametrize("wrong", [{"competitors": 1}, {"votes": 100}, {"seed": -1}])
def test_impossible_arenas_are_refused(wrong):
    with pytest.raises(ba.ModelError, match=r"Not possible|fewer than 200"):
        honest_arena(**({"competitors": 5, "votes": 400} | wrong))


def test_net_agreement_is_how_often_the_better_wins_less_how_often_it_loses():
    arena = honest_arena(Crowd(annotators=3, position_spread=0.0), competitors=8, votes=60_000, seed=1)
    cells, better = arena.cells, arena.strength[arena.cells.a] > arena.strength[arena.cells.b]
    won = np.where(better, cells.counts[:, WIN] - cells.counts[:, LOSS], cells.counts[:, LOSS] - cells.counts[:, WIN])
    votes = cells.votes_by_annotator()
    net = np.bincount(cells.annotator, won) / votes
    assert arena.net_agreement() == pytest.approx(net, abs=4 / np.sqrt(votes.min()))
