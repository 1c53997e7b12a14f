"""The same numbers by other packages and by this one.

    uv run --group benchmark --with crowd-kit --with plotly --with pytz --with fschat python benchmarks/migration.py

The votes are those of the example arena; for R's BradleyTerry2, which is no Python package, the citations between four
journals that its paper fits, beside the estimates printed there (Turner & Firth, 2012, Journal of Statistical Software
48(9)). The pages on migration show every function as it stands; it returns their numbers and ours.
"""

import math
import sys
import types
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import numpy as np
import pandas as pd

import bayes_arena as ba

Both = tuple[pd.Series, pd.Series]


def with_arena_rank(votes: pd.DataFrame) -> Both:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    dataset = PairDataset.from_pandas(votes)
    theirs = BradleyTerry(len(dataset.competitors)).compute_ratings_and_cis(dataset)

    fit = ba.fit(votes, model="bradley-terry", prior="flat")
    ours = ba.leaderboard(fit, interval="sandwich").set_index("competitor")
    return pd.Series(theirs["ratings"], theirs["competitors"]), ours["elo"]


def with_arena_rank_intervals(votes: pd.DataFrame) -> Both:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    dataset = PairDataset.from_pandas(votes)
    theirs = BradleyTerry(len(dataset.competitors)).compute_ratings_and_cis(dataset)

    fit = ba.fit(votes, model="bradley-terry", prior="flat")
    ours = ba.leaderboard(fit, interval="sandwich").set_index("competitor")
    return pd.Series(theirs["rating_lower"], theirs["competitors"]), ours["lower"]


def with_fastchat_elo(votes: pd.DataFrame) -> Both:
    from fastchat.serve.monitor.elo_analysis import compute_elo

    theirs = compute_elo(votes)

    ours = ba.online_elo(ba.read_sequence(votes)).set_index("competitor")
    return pd.Series(theirs), ours["elo"]


def with_fastchat_mle(votes: pd.DataFrame) -> Both:
    from fastchat.serve.monitor.elo_analysis import compute_elo_mle_with_tie

    theirs = compute_elo_mle_with_tie(votes)

    ridge = ba.Prior(strength=math.log(10) * math.sqrt(2), hyper=None)  # scikit-learn's default penalty, in logits
    fit = ba.fit(votes, model="bradley-terry", prior=ridge)
    ours = ba.leaderboard(fit).set_index("competitor")
    return theirs, ours["elo"]


def with_fastchat_mle_to_the_end(votes: pd.DataFrame) -> Both:
    """With a solver that does not stop before the optimum, as scikit-learn's does by default."""
    from unittest.mock import patch

    from sklearn.linear_model import LogisticRegression

    with patch("sklearn.linear_model.LogisticRegression", partial(LogisticRegression, tol=1e-12, max_iter=10_000)):
        return with_fastchat_mle(votes)


def with_evalica(votes: pd.DataFrame) -> Both:
    import evalica

    winners = votes["winner"].map(
        {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    )
    theirs = evalica.bradley_terry(votes["model_a"], votes["model_b"], winners, tolerance=1e-12, limit=10_000).scores

    fit = ba.fit(votes, model="bradley-terry", prior="flat")
    strength = ba.strengths(fit).set_index("competitor")["strength"]
    odds = np.exp(strength)
    return theirs, odds / odds.sum() * theirs.sum()


def with_evalica_elo(votes: pd.DataFrame) -> Both:
    import evalica

    winners = votes["winner"].map(
        {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    )
    theirs = evalica.elo(votes["model_a"], votes["model_b"], winners).scores

    ours = ba.online_elo(ba.read_sequence(votes)).set_index("competitor")
    return theirs, ours["elo"]


def with_choix(votes: pd.DataFrame) -> Both:
    import choix

    names = sorted({*votes["model_a"], *votes["model_b"]})
    place = {name: number for number, name in enumerate(names)}
    decided = votes[votes["winner"] != "tie"]
    won = np.where(decided["winner"] == "model_a", decided["model_a"], decided["model_b"])
    lost = np.where(decided["winner"] == "model_a", decided["model_b"], decided["model_a"])
    pairs = [(place[winner], place[loser]) for winner, loser in zip(won, lost, strict=True)]
    theirs = choix.ilsr_pairwise(len(names), pairs)

    fit = ba.fit(votes, model=ba.Model("decided votes", ties="drop"), prior="flat")
    ours = ba.strengths(fit).set_index("competitor")["strength"]
    return pd.Series(theirs, names), ours


def with_leaderbot(votes: pd.DataFrame) -> Both:
    from leaderbot.models import Davidson

    names = sorted({*votes["model_a"], *votes["model_b"]})
    place = {name: number for number, name in enumerate(names)}
    pairs = pd.crosstab([votes["model_a"], votes["model_b"]], votes["winner"])
    x = [[place[a], place[b]] for a, b in pairs.index]
    y = pairs[["model_a", "model_b", "tie"]].to_numpy().tolist()
    model = Davidson({"X": x, "Y": y, "models": names}, k_cov=None, k_tie=0)
    model.train(method="BFGS", tol=1e-10)
    scores = np.asarray(model.scores())

    fit = ba.fit(votes, model=ba.Model("Davidson", ties="davidson"), prior="flat")
    ours = ba.strengths(fit).set_index("competitor")["strength"]
    return pd.Series(scores - scores.mean(), names), ours


def with_crowd_kit(votes: pd.DataFrame) -> Both:
    from crowdkit.aggregation import BradleyTerry

    decided = votes[votes["winner"] != "tie"].rename(columns={"model_a": "left", "model_b": "right", "judge": "worker"})
    decided["label"] = np.where(decided["winner"] == "model_a", decided["left"], decided["right"])
    decided = decided[["worker", "left", "right", "label"]]
    theirs = BradleyTerry(n_iter=10_000, tol=0).fit_predict(decided)

    fit = ba.fit(decided, model="bradley-terry", prior="flat")  # read as it is
    strength = ba.strengths(fit).set_index("competitor")["strength"]
    odds = np.exp(strength)
    return theirs, odds / odds.sum()


def with_bradleyterry2() -> Both:
    published = pd.Series({"Biometrika": 0.0, "Comm Statist": -2.94907, "JASA": -0.47957, "JRSS-B": 0.26895})

    citations = pd.DataFrame(
        [
            ("Biometrika", "Comm Statist", 730, 33),
            ("Biometrika", "JASA", 498, 320),
            ("Biometrika", "JRSS-B", 221, 284),
            ("Comm Statist", "JASA", 68, 813),
            ("Comm Statist", "JRSS-B", 17, 276),
            ("JASA", "JRSS-B", 142, 325),
        ],
        columns=["player1", "player2", "win1", "win2"],
    )
    fit = ba.fit(citations, model="bradley-terry", prior="flat")
    ours = ba.strengths(fit, reference="Biometrika").set_index("competitor")["strength"]
    return published, ours


def without_pytorch() -> None:
    """Spare FastChat's analysis its registry of models, which imports PyTorch and has no part in the numbers."""
    package, registry = types.ModuleType("fastchat.model"), types.ModuleType("fastchat.model.model_registry")
    registry.get_model_info = None
    sys.modules |= {"fastchat.model": package, "fastchat.model.model_registry": registry}


def compared(title: str, unit: str, theirs: pd.Series, ours: pd.Series, digits: int) -> str:
    ours = ours.loc[theirs.index]
    shown = ours.sort_values(ascending=False).index
    shown = [*shown[:3], shown[-1]] if len(shown) > 4 else shown
    lines = [f"## {title}", "", f"| {unit} | theirs | ours |", "|---|---:|---:|"]
    lines += [f"| {name} | {theirs[name]:.{digits}f} | {ours[name]:.{digits}f} |" for name in shown]
    apart = float((theirs - ours).abs().max())
    return "\n".join([*lines, "", f"Largest difference, of {len(ours)} competitors: {apart:.1g}.", ""])


SAME: list[tuple[str, str, str, int, Callable[[pd.DataFrame], Both]]] = [
    ("arena-rank", "score", "arena-rank", 3, with_arena_rank),
    ("arena-rank, lower bounds", "lower bound, 95 %", "arena-rank", 3, with_arena_rank_intervals),
    ("FastChat, Elo", "Elo", "fschat", 3, with_fastchat_elo),
    ("FastChat, maximum likelihood", "score", "fschat", 3, with_fastchat_mle),
    ("FastChat, solver run to the end", "score", "fschat", 3, with_fastchat_mle_to_the_end),
    ("evalica", "score", "evalica", 5, with_evalica),
    ("evalica, Elo", "Elo", "evalica", 3, with_evalica_elo),
    ("choix", "strength", "choix", 5, with_choix),
    ("leaderbot", "strength", "leaderbot", 5, with_leaderbot),
    ("crowd-kit", "score", "crowd-kit", 5, with_crowd_kit),
]


if __name__ == "__main__":
    without_pytorch()
    print(f"# The same numbers\n\n{(__doc__ or '').splitlines()[2]}\n")
    votes = ba.example_arena().votes.to_pandas()
    for title, unit, package, digits, method in SAME:
        print(compared(f"{title}, version {version(package)}", unit, *method(votes), digits))
    print(compared("BradleyTerry2, as published", "strength", *with_bradleyterry2(), 5))
