"""Fits in files: what is loaded is what was saved, or an error says why not."""

import json

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.said import NOWHERE
from tests.people.arenas import votes_of

NUMBERS = ("strength", "discrimination", "deviance", "log_likelihood")
FACTS = ("plan", "method", "model", "prior", "spreads", "warnings", "seed")


def arena():
    votes = votes_of(annotators=5, each=60, planted=("reversed",))
    votes["category"] = np.where(np.arange(len(votes)) % 3, "chat", "code")
    return ba.read_votes(votes, slices="category")


@pytest.mark.parametrize(
    ("model", "prior", "method"),
    [
        ("davidson", "default", "gaussian"),
        ("am-davidson", "default", "gaussian"),
        ("am-elo", "flat", "map"),
        ("bradley-terry", ba.Prior(strength=0.7), "map"),
        (ba.Model(ties="drop", strength_by=("category",)), "weak", "gaussian"),
    ],
)
def test_a_loaded_fit_is_the_fit(model, prior, method, tmp_path):
    fit = ba.fit(arena(), model=model, prior=prior, method=method, seed=3)
    ba.save(fit, tmp_path / "fit.npz")
    again = ba.load(tmp_path / "fit.npz")
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(again, name), getattr(fit, name))
    for name in FACTS:
        assert getattr(again, name) == getattr(fit, name)
    pd.testing.assert_frame_equal(ba.leaderboard(again), ba.leaderboard(fit))
    clustered = {"interval": "clustered", "cluster": "annotator"}
    pd.testing.assert_frame_equal(
        ba.leaderboard(again, **clustered), ba.leaderboard(fit, **clustered)
    )


def test_saved_votes_are_no_fit_but_are_read(tmp_path):
    path = tmp_path / "votes.npz"
    arena().save(path)
    with pytest.raises(
        OutputError, match=r"votes.npz' holds votes, not a fit: read_votes"
    ):
        ba.load(path)
    assert ba.read_votes(path).n_votes == arena().n_votes


def test_who_has_no_estimate_has_none_when_loaded(tmp_path):
    rows = [("a", "b", "a"), ("b", "a", "b"), ("new", "a", "new")]
    votes = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    with pytest.warns(ba.errors.ArenaWarning, match="No finite estimate for 'new'"):
        fit = ba.fit(votes, model="bradley-terry", prior="flat")
    ba.save(fit, tmp_path / "fit.npz")
    again = ba.load(tmp_path / "fit.npz")
    assert np.isfinite(again.strength).tolist() == [True, True, False]
    assert [note.row(NOWHERE) for note in fit.warnings] == [
        {"kind": note.kind, "text": note.text} for note in again.warnings
    ]


def test_an_open_direction_is_still_open_when_loaded(tmp_path):
    votes = votes_of(annotators=2, each=150)
    swap = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    other = votes["judge"] == "honest 01"
    votes.loc[other, "winner"] = votes.loc[other, "winner"].map(swap)
    with pytest.warns(ba.errors.ArenaWarning, match="which is right"):
        fit = ba.fit(votes, model="am-davidson")
    ba.save(fit, tmp_path / "fit.npz")
    again = ba.annotators(ba.load(tmp_path / "fit.npz"))
    assert set(again["verdict"]) == {"suspect"}


@pytest.mark.parametrize("name", ["fit", "fit.csv", "fit.nc"])
def test_the_ending_has_to_be_that_of_the_format(name, tmp_path):
    with pytest.raises(OutputError, match=r"ends in \.npz"):
        ba.save(ba.fit(arena()), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_rating_is_no_fit(tmp_path):
    with pytest.raises(ModelError, match=r"of type Rating. Pass its fit: .fit."):
        ba.save(ba.rate(arena()), tmp_path / "fit.npz")


@pytest.mark.parametrize("content", [b"", b"votes", b"PK\x03\x04 not a zip"])
def test_a_damaged_file_is_named(content, tmp_path):
    path = tmp_path / "fit.npz"
    path.write_bytes(content)
    with pytest.raises(OutputError, match=r"fit\.npz"):
        ba.load(path)


def test_a_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "fit.npz"
    ba.save(ba.fit(arena()), path)
    arrays = dict(np.load(path))
    about = json.loads(arrays["fit"].tobytes())
    text = json.dumps(about | {"format": "bayes_arena fit 0"})
    arrays["fit"] = np.frombuffer(text.encode(), np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(OutputError, match="another version"):
        ba.load(path)


def test_saved_votes_are_no_fit(tmp_path):
    path = tmp_path / "votes.npz"
    arena().save(path)
    with pytest.raises(OutputError, match="holds votes, not a fit: read_votes reads"):
        ba.load(path)
