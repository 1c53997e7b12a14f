"""Files appear whole or not at all; /dev/full is a disk without room."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.files import written_beside
from bayes_arena.fits.marginals import Marginals

FULL = Path("/dev/full")
needs_full_disk = pytest.mark.skipif(not FULL.exists(), reason="Linux has /dev/full")


@pytest.fixture(scope="module")
def fit():
    return ba.fit(ba.simulate(competitors=4, annotators=3, votes=200, seed=1).votes)


@pytest.fixture(scope="module")
def sampled(fit):
    """A fit with a few samples, all alike."""
    samples = {}
    for block in fit.posterior.design.blocks:
        name = block.effect.name
        samples[name] = np.tile(fit.posterior.mean_of(name), (4, 5, 1))
    return replace(fit, method="nuts", marginals=Marginals(fit.posterior, samples))


@pytest.fixture
def full(tmp_path):
    """Return the path of a file on a full disk."""

    def path(name):
        (tmp_path / name).symlink_to(FULL)
        return tmp_path / name

    return path


# ZipFile of Python 3.12 complains when it is thrown away.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@needs_full_disk
def test_every_writer_names_a_full_disk(full, fit, sampled):
    full_disk = pytest.raises(ba.errors.OutputError, match="No space left on device")
    for write, name in (
        (fit.votes.save, "votes.npz"),
        (lambda path: ba.save(fit, path), "fit.npz"),
        (lambda path: ba.save(sampled, path), "fit.nc"),
        (lambda path: ba.report(fit, path), "board.html"),
    ):
        with full_disk:
            write(full(name))


def test_a_failure_leaves_the_former_file_alone(tmp_path):
    path = tmp_path / "board.html"
    path.write_text("former")
    with pytest.raises(KeyError), written_beside(path) as draft:
        draft.write_text("half")
        raise KeyError
    assert path.read_text() == "former"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_keeps_its_permissions_and_a_link_its_target(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("former")
    target.chmod(0o640)
    mode = target.stat().st_mode
    link.symlink_to(target)
    with written_beside(link) as draft:
        draft.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode == mode


@pytest.mark.parametrize("kind", [ba.errors.ModelError, ba.errors.VotesError])
def test_our_own_errors_keep_their_words_inside_a_write(tmp_path, kind):
    path = tmp_path / "table.png"
    with pytest.raises(kind, match=r"^No picture\.$"), written_beside(path):
        raise kind("No picture.")
    assert not path.exists()
