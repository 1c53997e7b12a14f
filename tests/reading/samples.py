"""Small files of every layout, with the wins that they hold."""

# ruff: noqa: E501

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """A file of some layout.

    ``score`` is the wins of each competitor, ties and clear wins as their halves and wholes;
    ``renamed`` the options that read it when its columns are called c0, c1 and so on.
    """

    layout: str
    text: str
    score: dict[str, float]
    suffix: str = ".csv"
    renamed: dict[str, object] | None = None
    annotators: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        """Write the file."""
        path = folder / f"votes{self.suffix}"
        path.write_text(self.text, encoding="utf-8")
        return path


def lines(*records: object) -> str:
    """Return records as JSON lines."""
    return "\n".join(json.dumps(record) for record in records)


def game(*scores: str | None, **fields: str) -> dict[str, object]:
    """Return a record of arena-hard."""
    return fields | {"judge": "gpt", "games": [{"score": score} for score in scores]}


def pairwise(side: str, judge: object, cancelled: bool = False) -> dict[str, object]:
    """Return an annotation of Label Studio."""
    result = {"type": "pairwise", "from_name": "pw", "value": {"selected": side}}
    return {"completed_by": judge, "was_cancelled": cancelled, "result": [result]}


def feedback(model: str, rating: object, *siblings: str) -> dict[str, object]:
    """Return a record of Open WebUI."""
    data = {"model_id": model, "rating": rating, "sibling_model_ids": list(siblings)}
    return {"id": "f", "user_id": "u", "type": "rating", "data": data, "meta": {}}


def best(test: int, model: str, passed: bool | None) -> dict[str, object]:
    """Return a result of promptfoo; None if it was not compared."""
    part = {"pass": passed, "assertion": {"type": "select-best"}}
    other = {"pass": True, "assertion": {"type": "contains"}}
    parts = [other] if passed is None else [other, part]
    return {"testIdx": test, "provider": {"id": f"x:{model}", "label": model},
            "gradingResult": {"pass": True, "componentResults": parts}}  # fmt: skip


AB = {"a": "c0", "b": "c1"}
MT = '{"question_id": 81, "model_1": "%s", "model_2": "%s", "g1_winner": "%s", "g2_winner": "%s", "judge": ["gpt", "pair-v2"], "turn": %d}'
SAMPLES = (
    Sample("votes", "model_a,model_b,winner\noak,elm,A>>B\nelm,ash,[[B>A]]\nash,oak,A=B\n",
           {"oak": 1.5, "ash": 1.5, "elm": 0}, renamed=AB | {"winner": "c2"}),
    Sample("votes", "left,right,winner\noak,elm,left\nelm,ash,tie\n",
           {"oak": 1, "elm": 0.5, "ash": 0.5}),
    Sample("votes", "task,worker,left,right,label\nt,w1,oak,elm,oak\nt,w2,oak,elm,elm\n",
           {"oak": 1, "elm": 1}, annotators=("w1", "w2")),
    Sample("votes", "INPUT:left\tINPUT:right\tOUTPUT:result\tASSIGNMENT:worker_id\n"
           "oak\telm\tleft\tw1\nash\telm\tright\tw2\n", {"oak": 1, "elm": 1, "ash": 0},
           suffix=".tsv", annotators=("w1", "w2")),
    Sample("votes", "question_id,model_a,model_b,winner,judge,turn,anony,language,tstamp\n"
           "q1,oak,elm,model_a,u1,1,True,English,1.5\nq2,elm,ash,tie (bothbad),u2,1,True,German,2\n",
           {"oak": 1, "elm": 0.5, "ash": 0.5}, annotators=("u1", "u2")),
    Sample("votes", lines({"question_id": "q", "model_a": "oak", "model_b": "elm", "winner": "model_b",
                           "judge_hash": "j", "conversation_a": [{"role": "user", "content": "x"}]}),
           {"oak": 0, "elm": 1}, suffix=".jsonl", annotators=("j",)),
    Sample("votes", lines({"id": "i", "model_a": "oak", "model_b": "elm", "winner": "both_bad",
                           "evaluation_session_id": "s", "category_tag": {"math": {"math": True}}}),
           {"oak": 0.5, "elm": 0.5}, suffix=".jsonl"),
    Sample("one-hot", "id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie\n"
           '1,oak,elm,"[""p""]",1,0,0\n2,elm,ash,"[""q""]",0,0,1\n', {"oak": 1, "elm": 0.5, "ash": 0.5}),
    Sample("wins", "player1,player2,win1,win2,ties\noak,elm,7,3,2\nelm,ash,4,0,\n",
           {"oak": 8, "elm": 8, "ash": 0}, renamed=AB | {"winner": ["c2", "c3", "c4"]}),
    Sample("winner-loser", "winner,loser\noak,elm\noak,ash\n", {"oak": 2, "elm": 0, "ash": 0},
           renamed=AB),
    Sample("win-counts", "winner,loser,count\noak,elm,7\nelm,oak,3\n", {"oak": 7, "elm": 3},
           renamed=AB | {"weight": "c2"}),
    Sample("win-matrix", "model,oak,elm,ash\noak,0,7,1\nelm,3,,4\nash,0,2,0\n",
           {"oak": 8, "elm": 7, "ash": 2}),
    Sample("pair-cell", "cmp_key,winner\noak-7b_elm-7b,oak-7b\nelm-7b_ash,model_a\n",
           {"oak-7b": 1, "elm-7b": 1, "ash": 0}, renamed={"a": "c0", "winner": "c1"}),
    Sample("choices", "row,candidates,winner\n0,oak|elm|ash,oak\n1,elm|ash,ash\n",
           {"oak": 4 / 3, "elm": 0, "ash": 1}, renamed={"a": "c1", "winner": "c2"}),
    Sample("choices", lines({"options": ["oak", "elm", "ash"], "choice": "elm", "user": "u"},
                            {"options": ["oak", "elm", "ash"], "choice": "none", "user": "u"}),
           {"oak": 0, "elm": 4 / 3, "ash": 0}, suffix=".jsonl", annotators=("u",)),
    Sample("promptfoo", json.dumps({"evalId": "e", "results": {"version": 3, "prompts": [], "results": [
        best(0, "oak", True), best(0, "elm", False), best(0, "ash", False),
        best(1, "oak", False), best(1, "elm", False), best(2, "ash", None)]}}),
           {"oak": 4 / 3, "elm": 0, "ash": 0}, suffix=".json"),
    Sample("nested-ranks", lines({"prompt": "p", "answers": [{"model": "oak", "rank": 1.0}, {"model": "elm", "rank": 2.0}]},
                                 {"prompt": "q", "answers": [{"model": "oak", "rank": 2}, {"model": "elm", "rank": 1}]}),
           {"oak": 1, "elm": 1}, suffix=".jsonl"),
    Sample("nested-ranks", lines({"models": ["oak", "elm", "ash"], "completions": [
        {"model": "oak", "overall_score": 7.5}, {"model": "elm", "overall_score": 8}, {"model": "ash", "overall_score": 0}]}),
           {"elm": 1.5, "oak": 0.75, "ash": 0}, suffix=".jsonl"),
    Sample("orders", "respondent,ranking\nr1,oak elm ash\nr2,elm oak ash\n",
           {"oak": 2.25, "elm": 2.25, "ash": 0}, renamed={"a": "c1"}),
    Sample("orders", "judge,answer\nk,oak > elm = ash\n", {"oak": 4 / 3, "elm": 1 / 3, "ash": 1 / 3},
           annotators=("k",)),
    Sample("raters", "pair,rater_a,rater_b\noak vs elm,first,tie\nelm vs ash,second,\n",
           {"oak": 1.5, "elm": 0.5, "ash": 1}, renamed={"a": "c0", "winner": ["c1", "c2"]},
           annotators=("rater_a", "rater_b")),
    Sample("two-scores", "home_team,away_team,home_score,away_score\noak,elm,2,2\nelm,ash,10,9\noak,ash,,\n",
           {"oak": 0.5, "elm": 1.5, "ash": 0}, renamed=AB | {"winner": ["c2", "c3"]}),
    Sample("rankings", "ranking,judge,competitor,rank\n1,k,oak,1\n1,k,elm,2\n1,k,ash,3\n",
           {"oak": 1.5, "elm": 0.75, "ash": 0}, renamed={"b": "c0", "a": "c2", "winner": "c3"},
           annotators=("k",)),
    Sample("rank-columns", "rank_oak,rank_elm,rank_ash\n1,2,3\n,1,1\n", {"oak": 1.5, "elm": 1.25, "ash": 0.5},
           renamed={"winner": ["c0", "c1", "c2"]}),
    Sample("arena-hard", lines(game("A>>B", "B>A", uid="1", model="oak", baseline="elm"),
                               game("A=B", None, uid="2", model="oak", baseline="elm")),
           {"oak": 0, "elm": 2}, suffix=".jsonl", annotators=("gpt",),
           renamed={"a": "c1", "b": "c2", "winner": "c4", "annotator": "c3"}),
    Sample("alpaca-eval", "generator_1,generator_2,preference,annotator\nelm,oak,1.25,g\nelm,oak,1.5,g\nelm,oak,2,g\nelm,oak,,g\n",
           {"oak": 1.75, "elm": 1.25}, annotators=("g",), renamed=AB | {"winner": "c2"}),
    Sample("mt-bench", "\n".join([MT % ("oak", "elm", "model_1", "model_1", 1),
                                  MT % ("oak", "elm", "tie", "model_2", 2),
                                  MT % ("oak", "elm", "error", "model_2", 2)]),
           {"oak": 2.5, "elm": 1.5}, suffix=".jsonl", annotators=("gpt",),
           renamed={"a": "c1", "b": "c2", "winner": ["c3", "c4"], "annotator": "c5"}),
    Sample("judge-arena", "instruction_index,model_A,model_B,judge,preference\n0,oak,elm,g,0.0\n1,oak,elm,g,0.875\n2,oak,elm,g,0.5\n3,oak,elm,g,\n",
           {"oak": 1.625, "elm": 1.375}, annotators=("g",),
           renamed={"a": "c1", "b": "c2", "winner": "c4"}),
    Sample("comparia", "id,model_a_name,model_b_name,chosen_model_name,both_equal\n1,oak,elm,oak,False\n2,elm,oak,,True\n3,elm,oak,,False\n",
           {"oak": 1.5, "elm": 0.5}, renamed={"a": "c1", "b": "c2", "winner": ["c3", "c4"]}),
    Sample("open-webui", json.dumps([feedback("oak", 1, "elm", "ash"), feedback("elm", "-1", "oak"),
                                     feedback("elm", 1), feedback("elm", None, "oak")]),
           {"oak": 4 / 3 + 1, "elm": 0, "ash": 0}, suffix=".json", annotators=("u",)),
    Sample("label-studio", json.dumps([{"id": 1, "data": {"model_a": "oak", "model_b": "elm"},
        "annotations": [pairwise("left", 1), pairwise("right", {"id": 2, "email": "b@x.org"}),
                        pairwise("left", 3, cancelled=True)]}]),
           {"oak": 1, "elm": 1}, suffix=".json", annotators=("1", "b@x.org")),
    Sample("argilla", json.dumps([{"id": "1", "fields": {}, "metadata": {"r1": "oak", "r2": "elm", "r3": "ash"},
        "responses": {"order": [{"value": ["r1", "r2", "r3"], "user_id": "u"}], "note": []}}]),
           {"oak": 1.5, "elm": 0.75, "ash": 0}, suffix=".json", annotators=("u",)),
    Sample("argilla", json.dumps([{"id": "1", "fields": {}, "metadata": {"model_a": "oak", "model_b": "elm"},
        "responses": {"best": [{"value": "tie", "user_id": "u"}]}}]),
           {"oak": 0.5, "elm": 0.5}, suffix=".json", annotators=("u",)),
)  # fmt: skip
