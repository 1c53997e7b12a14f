"""What labels mean: sixty spellings of one file, and the cases of public files."""

import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.read import read_votes

# Columns of a file and the label for a win of the first.
SPELLINGS = """
model_a,model_b,winner: A
model_a,model_b,winner: model_a
Model A,Model B,Winner: Model A
modelA,modelB,winner: modelA
model_1,model_2,label: 1
model1,model2,winner: model_1
system_a,system_b,verdict: system_a
system1,system2,preference: system1
Team 1,Team 2,Winner: Team 1
team1,team2,winner: 1
player_1,player_2,result: 1-0
player_a,player_b,outcome: win
White,Black,Result: 1-0
white,black,winner: white
home_team,away_team,result: H
HomeTeam,AwayTeam,FTR: H
home,away,winner: home
Home,Away,Outcome: Home Win
red,blue,winner: Red
fighter_red,fighter_blue,winner: red
left,right,winner: left
left_model,right_model,choice: left
model_left,model_right,preference: Left is better
left,right,label: L
option_a,option_b,choice: Option A
candidate_a,candidate_b,vote: candidate_a
llm_a,llm_b,judgment: [[A]]
assistant_a,assistant_b,judgement: [[A>B]]
model_a,model_b,winner: A>>B
model_a,model_b,winner: A > B
model_a,model_b,winner: B < A
model_a,model_b,winner: A is better
model_a,model_b,winner: Model A is much better
model_a,model_b,winner: Response A is slightly better
model_a,model_b,winner: "a"
model_a,model_b,winner: first
model_a,model_b,winner: (A)
a,b,winner: a
name_a,name_b,winner: A
model_a_name,model_b_name,winner: model_a
agent_a,agent_b,decision: agent A
White,Black,result: W
player,opponent,result: W
model,baseline,winner: model
competitor_1,competitor_2,selected: competitor_1
contestant1,contestant2,best: contestant1
first,second,winner: first
item_1,item_2,chosen: item 1
bot_a,bot_b,preferred: bot A wins
engine1,engine2,res: win
generator_a,generator_b,human_preference: a
INPUT:left,INPUT:right,OUTPUT:result: left
MODEL_A,MODEL_B,WINNER: MODEL_A
model-a,model-b,winner: model-a
model.a,model.b,winner: model_a
method_x,method_y,winner: x
id_a,id_b,winner: a
model_a,model_b,overall_winner: model_a
model_a,model_b,winner: -1
model_a,model_b,winner: 0
model_a,model_b,label: 1
""".strip().splitlines()
SAY_NOTHING = ("-1", "0", "player,opponent,result: W", "model_a,model_b,label: 1")
PAIRS = (("oak", "elm"), ("elm", "ash"), ("oak", "ash"))


def votes_with(*labels, columns=("model_a", "model_b", "winner"), **options):
    """Read votes of oak against elm with some labels."""
    rows = [dict(zip(columns, ("oak", "elm", label), strict=True)) for label in labels]
    return read_votes(rows, **options)


def counts(votes):
    """Return wins of oak, wins of elm and ties."""
    assert votes.competitors == ("elm", "oak")
    assert votes.i.tolist() == [1]
    return tuple(votes.folded[0].astype(int))


def test_there_are_sixty_spellings():
    assert len(set(SPELLINGS)) == 61


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_are_read_unless_they_say_nothing(spelling: str):
    header, label = spelling.rsplit(": ", 1)
    columns = header.split(",")
    rows = [dict(zip(columns, (*pair, label), strict=True)) for pair in PAIRS]
    if label in SAY_NOTHING or spelling in SAY_NOTHING:
        with pytest.raises(VotesError, match="unknown"):
            read_votes(rows)
        return
    votes = read_votes(rows)
    met = {
        (votes.competitors[i], votes.competitors[j])
        for i, j in zip(votes.i, votes.j, strict=True)
    }
    assert met == set(PAIRS)
    assert votes.folded.sum(axis=0).tolist() == [3, 0, 0]


TIES = (
    "tie", "Tie ", "draw", "A=B", "C", "both good", "equally good", "no preference",
    "[[C]]", "about the same", "=", "Both are good", "tie (inconsistent)",
)  # fmt: skip


@pytest.mark.parametrize("label", TIES)
def test_words_for_ties(label: str):
    assert counts(votes_with("A", label)) == (1, 0, 1)


@pytest.mark.parametrize(
    "label", ["tie (bothbad)", "both_bad", "Both bad", "neither", "bothbad"]
)
def test_words_for_both_bad(label: str):
    assert counts(votes_with("A", label)) == (1, 0, 1)
    votes = votes_with("A", label, both_bad="drop")
    assert (counts(votes), votes.dropped) == ((1, 0, 0), {"both bad": 1})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("better", "much-better", "worse", "slightly worse", "same"), (2, 2, 1)),
        (("A is worse", "B is much worse", "response B is better"), (1, 2, 0)),
        (("leftvote", "rightvote", "tievote", "bothbad_vote"), (1, 1, 2)),
        (("a", "b", "b", "t"), (1, 2, 1)),
        (("2-1", "0:3", "1 - 1", "0-1", "102–98"), (2, 2, 1)),
        (("superior", "inferior"), (1, 1, 0)),
    ],
)
def test_results_of_the_first_and_scores(labels, expected):
    assert counts(votes_with(*labels)) == expected


@pytest.mark.parametrize(
    "labels",
    [
        ("18-24", "25-34", "35-44"),  # ages
        ("not better", "A"),
        ("2026-01-01", "A"),
        ("t", "A"),
        ("A", "t", "tie"),
        ("better or worse", "A"),
    ],
)
def test_what_looks_like_a_score_or_a_result_is_unknown(labels):
    with pytest.raises(VotesError, match="the winner's label is unknown"):
        votes_with(*labels)


@pytest.mark.parametrize(
    "label",
    ["inconclusive", "abstain", "No consensus", "unclear", "inconsistent", "skipped"],
)
def test_verdicts_of_nobody_are_left_out_and_counted(label: str):
    votes = votes_with("A", "B", label)
    assert (counts(votes), votes.dropped) == ((1, 1, 0), {"not played": 1})
    assert f"{label!r} (1)" in str(votes.remarks[0])


@pytest.mark.parametrize(
    "label", ["-", "", None, "N/A", "none", "not played", "postponed", "error"]
)
def test_what_is_not_played_is_left_out_and_counted(label: str | None):
    votes = votes_with("A", label, label)
    assert (counts(votes), votes.dropped) == ((1, 0, 0), {"not played": 2})
    (said,) = map(str, votes.remarks)
    assert said.startswith("Left out 2 votes: not played.")
    is_word = label and any(map(str.isalpha, label))
    assert said.endswith(f" Their labels: {label!r} (2)." if is_word else "played.")


def test_words_for_no_game_are_listed():
    votes = votes_with("A", "none", "none", "N/A", "", "-")
    (said,) = map(str, votes.remarks)
    assert said == "Left out 5 votes: not played. Their labels: 'none' (2), 'N/A' (1)."
    assert votes.dropped == {"not played": 5}


def test_letters_mean_what_they_do_beside_the_others():
    teams = ("HomeTeam", "AwayTeam", "FTR")
    assert counts(votes_with("H", "A", "D", columns=teams)) == (1, 1, 1)
    assert counts(votes_with("A", "A", columns=teams)) == (0, 2, 0)
    assert counts(votes_with("A", "B", "C", "D")) == (1, 1, 2)
    assert counts(
        votes_with("W", "L", "D", columns=("player", "opponent", "result"))
    ) == (1, 1, 1)
    assert counts(
        votes_with("1", "X", "2", "2", columns=("home", "away", "result"))
    ) == (1, 2, 1)


@pytest.mark.parametrize("letter", ["x", "w", "H", "L", "R", "T", "D", "y", "(X)"])
def test_a_letter_that_nothing_supports_is_unknown(letter):
    with pytest.raises(VotesError, match="the winner's label is unknown"):
        votes_with(letter, letter)
    with pytest.raises(VotesError, match="the winner's label is unknown"):
        votes_with(letter, "tie", "model_a")
    with pytest.raises(VotesError, match="the winner's label is unknown"):
        votes_with("A", "A", columns=("player", "opponent", "result"))


@pytest.mark.parametrize(
    ("labels", "columns", "expected"),
    [
        ("WLDT", ("model_a", "model_b"), (1, 1, 2)),
        ("WD", ("player", "opponent"), (1, 0, 1)),
        ("XY", ("model_a", "model_b"), (1, 1, 0)),
        ("XXY", ("method_x", "method_y"), (2, 1, 0)),
        ("X", ("method_x", "method_y"), (1, 0, 0)),
        ("LRT", ("model_a", "model_b"), (1, 1, 1)),
        ("T", ("left", "right"), (0, 0, 1)),
        ("R", ("left", "right"), (0, 1, 0)),
        ("RRB", ("red", "blue"), (2, 1, 0)),  # red and blue, not left and right
        ("WB", ("White", "Black"), (1, 1, 0)),
        ("D", ("home", "away"), (0, 0, 1)),
        ("1XX", ("team1", "team2"), (1, 0, 2)),
        ("2X", ("team1", "team2"), (0, 1, 1)),
        ("AB", ("home", "away"), (1, 1, 0)),
        ("BC", ("left", "right"), (0, 1, 1)),
    ],
)
def test_letters_that_columns_or_other_letters_support(labels, columns, expected):
    assert counts(votes_with(*labels, columns=(*columns, "winner"))) == expected


def test_a_draw_in_a_pool_is_one_beside_other_labels():
    labels = ("1", "X", "2", "postponed")
    votes = votes_with(*labels, columns=("team1", "team2", "winner"))
    assert counts(votes) == (1, 1, 1)


def test_numerals_are_no_sides_beside_other_numbers():
    with pytest.raises(VotesError, match=r"'2' \(2\), '0' \(1\), '1' \(1\)"):
        votes_with("0", "1", "2", "2", columns=("model_1", "model_2", "label"))
    given = {"0": "tie", "1": "model_a", "2": "model_b"}
    assert counts(votes_with("0", "1", 2.0, outcomes=given)) == (1, 1, 1)


def test_a_name_comes_before_a_side():
    rows = [
        {"model_a": "B", "model_b": "A", "winner": "A"},
        {"model_a": "A", "model_b": "B", "winner": "A"},
    ]
    votes = read_votes(rows)
    assert votes.counts.tolist() == [[1, 0, 0], [0, 1, 0]]
    rows.append({"model_a": "oak", "model_b": "elm", "winner": "A"})
    with pytest.raises(VotesError, match=r"a name or a side.*Rename"):
        read_votes(rows)


def named(*rows, **options):
    """Read votes from pairs and winners, and return who won."""
    table = [
        {"model_a": a, "model_b": b, "winner": winner}
        for a, b, winner in map(str.split, rows)
    ]
    votes = read_votes(table, **options)
    return {
        (votes.competitors[i], votes.competitors[j]): tuple(n[:3].astype(int))
        for i, j, n in zip(votes.i, votes.j, votes.counts, strict=True)
    }


@pytest.mark.parametrize(
    "rows",
    [
        ("X Z X", "X Z Y"),  # Y as the second side, or a slip
        ("X Z X", "X Z Y", "X Y Y"),
        ("oak elm oak", "oak elm B", "oak B B"),
        ("oak elm A", "B elm B"),  # B as the second side
        ("oak elm A", "C elm C", "oak elm C"),  # C as a tie
        ("oak elm B", "oak B B"),
        ("oak elm b", "oak B b"),  # whatever its case
    ],
)
def test_a_label_that_names_another_competitor_is_no_side_in_silence(rows):
    others = ("Y X X",) if "Y" not in " ".join(rows) else ()
    others += ("X Y X",) if rows[0] == "X Z X" else ()
    with pytest.raises(VotesError, match="the winner may be a name or a side"):
        named(*rows, *others)


def test_the_doubtful_label_is_named_with_a_remedy_that_works():
    rows = ("oak elm B", "oak B B", "B oak B")
    with pytest.raises(VotesError, match=r"'B' \(2\).*outcomes=\{'B': '...'\}"):
        named(*rows)
    votes = named(*rows, outcomes={"B": "model_b"})
    assert votes == {key: (0, 1, 0) for key in votes}


def test_a_label_is_a_side_where_all_labels_are():
    assert named("oak elm A", "oak elm B", "oak B B") == {
        ("oak", "elm"): (1, 1, 0),
        ("oak", "B"): (0, 1, 0),
    }


def test_a_label_is_a_name_where_all_labels_are():
    assert named("B elm B", "oak B oak", "X Y Y", "Y X Y") == {
        ("B", "elm"): (1, 0, 0),
        ("oak", "B"): (1, 0, 0),
        ("X", "Y"): (0, 1, 0),
        ("Y", "X"): (1, 0, 0),
    }


def test_a_meaning_that_is_given_comes_before_a_name():
    given = {"A": "model_a", "b": "model_b"}
    assert named("oak elm A", "B elm B", outcomes=given) == {
        ("oak", "elm"): (1, 0, 0),
        ("B", "elm"): (0, 1, 0),
    }


def test_an_unknown_label_is_listed_with_its_votes_and_no_tie_is_proposed():
    with pytest.raises(VotesError) as error:
        votes_with("A", "maybe", "maybe", "ash")
    text = str(error.value)
    assert "In 3 of 4 votes" in text
    assert "'maybe' (2), 'ash' (1)" in text
    assert "row 1: oak, elm, maybe" in text
    assert "outcomes={'maybe': '...', 'ash': '...'}" in text
    votes = votes_with("A", "maybe", outcomes={"Maybe": "both_bad"})
    assert counts(votes) == (1, 0, 1)


def test_outcomes_are_checked():
    with pytest.raises(
        VotesError, match="maps 'x' to 'draw'; the outcomes are model_a"
    ):
        votes_with("x", outcomes={"x": "draw"})


def test_verdicts_without_a_grade_beside_others_are_said():
    assert "count as weak wins" in str(votes_with("A>>B", "model_a").remarks[0])
    assert not votes_with("A>>B", "B is better", "A>B", "tie").remarks
