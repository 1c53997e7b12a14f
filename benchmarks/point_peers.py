"""Other packages that estimate strengths from votes, and what of ours estimates the same.

Each is given its fastest documented way in. Those that take votes one by one get them so; those that also take counts,
as weights or as a matrix, are in the race a second time, with counts that a group-by in Polars has made for them: that
is not theirs, and the tables say so. Every ``fit`` returns strengths in logits by competitor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import bayes_arena as ba

Strengths = dict[str, float]
KEYS = ["model_a", "model_b", "winner"]
DECIDED = ["model_a", "model_b"]
MODELS: dict[str, str | ba.Model] = {
    "half wins": "bradley-terry",
    "ties dropped": ba.Model("ties dropped", ties="drop"),
    "Davidson": ba.Model("Davidson", ties="davidson"),
}
"""What is estimated, by what becomes of ties."""


@dataclass(frozen=True)
class Peer:
    """A way to estimate strengths.

    Attributes
    ----------
    package : str
        As pip knows it.
    ties : str
        A key of ``MODELS``.
    prepare : callable
        From a file to what ``fit`` takes.
    fit : callable
        From that to strengths.
    gives : str
        What there is besides strengths.
    counted : bool
        Whether votes are counted before by what is not the package.
    exact : bool
        Whether its strengths have to be ours; not where its usual tolerance stops it before.
    """

    package: str
    ties: str
    prepare: Callable[[Path], Any]
    fit: Callable[[Any], Strengths]
    gives: str = ""
    counted: bool = False
    exact: bool = True


def scan(path: Path) -> pl.LazyFrame:
    rows = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    return rows.select(KEYS)


def rows(path: Path) -> pl.DataFrame:
    return scan(path).collect()


def counts(path: Path) -> pl.DataFrame:
    return scan(path).group_by(KEYS).agg(pl.len()).collect(engine="streaming")


def wins(table: pl.DataFrame) -> tuple[list[str], np.ndarray]:
    """Return names, and how often the one of the row won against the one of the column."""
    names = sorted({*table["model_a"], *table["model_b"]})
    place = {name: number for number, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    for a, b, winner, count in table.rows():
        if winner in DECIDED:
            won, lost = (a, b) if winner == "model_a" else (b, a)
            matrix[place[won], place[lost]] += count
    return names, matrix


def ours(ties: str) -> Peer:
    def fit(cells: ba.Cells) -> Strengths:
        found = ba.fit(cells, model=MODELS[ties], prior="flat")
        ba.leaderboard(found)
        return dict(zip(cells.competitors, found.strength.tolist(), strict=True))

    def read(path: Path) -> ba.Cells:
        return ba.read_votes(path, annotator=False, prompt=False)

    return Peer("bayes-arena", ties, read, fit, "intervals, rank ranges")


def with_arena_rank(**options: float) -> Callable[[Any], Strengths]:
    def fit(dataset: Any) -> Strengths:
        from arena_rank.models.bradley_terry import BradleyTerry

        model = BradleyTerry(n_competitors=len(dataset.competitors), **options)
        found = model.compute_ratings_and_cis(dataset)
        logits = np.asarray(found["ratings"]) * np.log(10) / 400
        return dict(zip(found["competitors"], logits.tolist(), strict=True))

    return fit


def dataset_of(path: Path) -> Any:
    from arena_rank.utils.data_utils import PairDataset

    return PairDataset.from_pandas(rows(path).to_pandas())


def lists(table: pl.DataFrame) -> tuple[list[Any], ...]:
    from evalica import Winner

    meant = {"model_a": Winner.X, "model_b": Winner.Y}
    winners = [meant.get(label, Winner.Draw) for label in table["winner"].to_list()]
    return table["model_a"].to_list(), table["model_b"].to_list(), winners


def with_evalica(**options: float) -> Callable[[Any], Strengths]:
    def fit(votes: Any) -> Strengths:
        import evalica

        columns, weights = votes
        return np.log(evalica.bradley_terry(*columns, weights=weights, **options).scores).to_dict()

    return fit


def listed_pairs(path: Path) -> tuple[list[str], list[tuple[int, int]]]:
    votes = rows(path).filter(pl.col("winner").is_in(DECIDED))
    names = pl.concat([votes["model_a"], votes["model_b"]]).unique().sort().to_list()
    places = {name: number for number, name in enumerate(names)}
    first = pl.col("winner") == "model_a"
    pairs = votes.select(
        pl.when(first).then("model_a").otherwise("model_b").replace_strict(places).alias("winner"),
        pl.when(first).then("model_b").otherwise("model_a").replace_strict(places).alias("loser"),
    )
    return names, pairs.rows()


def with_choix(votes: Any) -> Strengths:
    import choix

    names, pairs = votes
    return dict(zip(names, choix.ilsr_pairwise(len(names), pairs).tolist(), strict=True))


def with_choix_matrix(votes: Any) -> Strengths:
    import choix

    names, matrix = votes
    return dict(zip(names, choix.ilsr_pairwise_dense(matrix).tolist(), strict=True))


def labelled(path: Path) -> Any:
    decided = rows(path).filter(pl.col("winner").is_in(DECIDED)).rename({"model_a": "left", "model_b": "right"})
    label = pl.when(pl.col("winner") == "model_a").then("left").otherwise("right")
    return decided.with_columns(label=label, worker=pl.lit("")).to_pandas()


def with_crowd_kit(**options: float) -> Callable[[Any], Strengths]:
    def fit(votes: Any) -> Strengths:
        from crowdkit.aggregation import BradleyTerry

        return np.log(BradleyTerry(**options).fit_predict(votes)).to_dict()

    return fit


def pairs_and_counts(path: Path) -> dict[str, Any]:
    """Return what leaderbot keeps in its JSON files, which hold counts."""
    won, lost = (pl.col("winner") == label for label in DECIDED)
    sums = [pl.col("len").filter(kind).sum() for kind in (won, lost, ~(won | lost))]
    wide = counts(path).group_by(DECIDED).agg(win=sums[0], loss=sums[1], tie=sums[2])
    names = pl.concat([wide["model_a"], wide["model_b"]]).unique().sort().to_list()
    places = {name: number for number, name in enumerate(names)}
    x = wide.select(pl.col("model_a", "model_b").replace_strict(places)).to_numpy().tolist()
    return {"X": x, "Y": wide.select("win", "loss", "tie").to_numpy().tolist(), "models": names}


def with_leaderbot(**options: Any) -> Callable[[Any], Strengths]:
    def fit(votes: Any) -> Strengths:
        from leaderbot.models import Davidson

        model = Davidson(votes, k_cov=None, k_tie=0)
        model.train(**options)
        return dict(zip(votes["models"], np.asarray(model.scores()).tolist(), strict=True))

    return fit


def design(table: pl.DataFrame) -> Any:
    """Return a sparse matrix with 1 and -1 in a row, who won, and weights; a tie is two rows of half the weight."""
    from scipy.sparse import csr_array

    names = pl.concat([table["model_a"], table["model_b"]]).unique().sort()
    coded = table.with_columns(pl.col("model_a", "model_b").cast(pl.Enum(names)).to_physical())
    tie = ~pl.col("winner").is_in(DECIDED)
    one = coded.select("model_a", "model_b", y=pl.col("winner") != "model_b", w=pl.col("len") * (1 - tie * 0.5))
    two = coded.filter(tie).select("model_a", "model_b", y=pl.lit(False), w=pl.col("len") * 0.5)
    both = pl.concat([one, two])
    sides = both.select("model_a", "model_b").to_numpy()
    values, starts = np.tile([1.0, -1.0], len(both)), np.arange(0, 2 * len(both) + 1, 2)
    matrix = csr_array((values, sides.ravel().astype(np.int32), starts), shape=(len(both), len(names)))
    return names.to_list(), matrix, both["y"].to_numpy(), both["w"].to_numpy()


def with_scikit_learn(**options: float) -> Callable[[Any], Strengths]:
    def fit(votes: Any) -> Strengths:
        from sklearn.linear_model import LogisticRegression

        names, matrix, y, w = votes
        model = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=1000, **options)
        return dict(zip(names, model.fit(matrix, y, sample_weight=w).coef_[0].tolist(), strict=True))

    return fit


def each(path: Path) -> pl.DataFrame:
    return rows(path).with_columns(len=pl.lit(1))


def evalica_counts(path: Path) -> Any:
    table = counts(path)
    return lists(table), table["len"].cast(pl.Float64).to_list()


def evalica_rows(path: Path) -> Any:
    return lists(rows(path)), None


HALF, DROPPED, DAVIDSON = MODELS
PEERS: dict[str, Peer] = {
    "bayes_arena": ours(HALF),
    "arena-rank": Peer("arena-rank", HALF, dataset_of, with_arena_rank(), "intervals", exact=False),
    "arena-rank, ftol=1e-13": Peer("arena-rank", HALF, dataset_of, with_arena_rank(ftol=1e-13, gtol=1e-9), "intervals"),
    "evalica": Peer("evalica", HALF, evalica_rows, with_evalica(), exact=False),
    "evalica, tolerance 1e-9": Peer("evalica", HALF, evalica_rows, with_evalica(tolerance=1e-9, limit=10_000)),
    "evalica, counts": Peer("evalica", HALF, evalica_counts, with_evalica(tolerance=1e-9, limit=10_000), counted=True),
    "scikit-learn": Peer("scikit-learn", HALF, lambda path: design(each(path)), with_scikit_learn(), exact=False),
    "scikit-learn, tol=1e-8": Peer("scikit-learn", HALF, lambda path: design(each(path)), with_scikit_learn(tol=1e-8)),
    "scikit-learn, counts": Peer(
        "scikit-learn", HALF, lambda path: design(counts(path)), with_scikit_learn(tol=1e-8), counted=True
    ),
    "bayes_arena, ties dropped": ours(DROPPED),
    "choix": Peer("choix", DROPPED, listed_pairs, with_choix),
    "choix, matrix": Peer("choix", DROPPED, lambda path: wins(counts(path)), with_choix_matrix, counted=True),
    "crowd-kit": Peer("crowd-kit", DROPPED, labelled, with_crowd_kit(n_iter=10_000), exact=False),
    "crowd-kit, tol=0": Peer("crowd-kit", DROPPED, labelled, with_crowd_kit(n_iter=10_000, tol=0)),
    "bayes_arena, Davidson": ours(DAVIDSON),
    "leaderbot": Peer("leaderbot", DAVIDSON, pairs_and_counts, with_leaderbot(), counted=True, exact=False),
    "leaderbot, tol=1e-10": Peer(
        "leaderbot", DAVIDSON, pairs_and_counts, with_leaderbot(method="BFGS", tol=1e-10), counted=True
    ),
}
