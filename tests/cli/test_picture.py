"""``--plot``: a picture beside the answer, which stays as it is."""

import matplotlib as mpl
import pytest
from helpers import run
from matplotlib import pyplot as plt

import bayes_arena as ba

pytestmark = pytest.mark.slow  # matplotlib takes half a second to import
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def figures():
    backend = mpl.get_backend()
    yield
    plt.close("all")
    mpl.use(backend)


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory, arena):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    arena.votes.head(200).write_csv(path)
    return path


@pytest.fixture(scope="module")
def arena_file(tmp_path_factory, arena):
    path = tmp_path_factory.mktemp("arena") / "arena.duckdb"
    with ba.StableArena.create(path) as stable:
        stable.add(arena.votes)
        stable.rate(model="bradley-terry")
    return path


@pytest.mark.parametrize(
    ("command", "form"),
    [
        (("rank", "--model", "m-elo"), "svg"),
        (("annotators", "--robust", "off"), "png"),
        (("diagnose", "--no-annotator"), "pdf"),
        (("arena", "history"), "svg"),
    ],
)
def test_a_picture_is_drawn_beside_the_answer(command, form, votes_file, arena_file, tmp_path):
    source = arena_file if command[0] == "arena" else votes_file
    done = run(*command, source, "--plot", tmp_path / f"picture.{form}")
    assert done.returncode == 0
    assert source.name in done.stdout
    assert (tmp_path / f"picture.{form}").read_bytes().startswith(BEGINNINGS[form])


def test_it_changes_nothing_of_the_answer(votes_file, tmp_path):
    command = "rank", votes_file, "--no-annotator", "--interval", "laplace"
    plain, drawn = run(*command), run(*command, "--plot", tmp_path / "board.png")
    assert (drawn.returncode, drawn.stdout, drawn.stderr) == (0, plain.stdout, plain.stderr)


def test_the_answer_is_there_where_nothing_can_be_drawn(tmp_path):
    path = tmp_path / "votes.csv"
    rows = ["a,b,model_a,1", "b,a,tie,1", "b,c,model_a,2", "c,a,model_a,2", "a,c,model_a,3"]
    path.write_text("\n".join(["model_a,model_b,winner,prompt", *rows]))
    command = "diagnose", path, "--prompt", "prompt", "--answers", "on"
    plain, done = run(*command), run(*command, "--plot", tmp_path / "calibration.png")
    assert (plain.returncode, done.returncode, done.stdout) == (0, 2, plain.stdout)
    assert "follow the votes it was fitted to" in done.stderr
    assert not (tmp_path / "calibration.png").exists()


def test_letters_that_the_font_lacks_are_no_warning(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\n\U0001f680,b,model_a\n\U0001f680,b,model_b\n", encoding="utf-8")
    done = run("rank", path, "--plot", tmp_path / "board.png")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_picture_of_an_unknown_kind_is_refused_before_anything_is_read(tmp_path):
    done = run("rank", "no such file.csv", "--plot", tmp_path / "board.gif")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'board.gif'" in done.stderr
    assert "*.png, *.svg, *.pdf" in done.stderr


def test_the_level_of_history_is_known_where_it_is_one(tmp_path, arena):
    with ba.StableArena.create(tmp_path / "arena.duckdb") as stable:
        stable.add(arena.votes)
        stable.rate(model="bradley-terry", level=0.8)
        assert stable.history().attrs == {"level": 0.8}
        stable.rate(model="bradley-terry", level=0.9)
        assert stable.history().attrs == {}
