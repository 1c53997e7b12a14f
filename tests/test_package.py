"""What the package exports, and what it must not leak."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import api
import pytest

import bayes_arena as ba

PUBLIC = [
    "Arena",
    "ArenaError",
    "ArenaWarning",
    "AverageWarning",
    "Bootstrap",
    "Cells",
    "ChangedStrengthsWarning",
    "Clustered",
    "DependentVotesWarning",
    "DiscountedVotesWarning",
    "EloScale",
    "Fit",
    "FitError",
    "Model",
    "ModelError",
    "Prior",
    "StableArena",
    "VotesError",
    "annotators",
    "answers",
    "best_by_group",
    "bootstrapped_elo",
    "bursts",
    "camps",
    "changes",
    "check",
    "choose",
    "compare",
    "contrasts",
    "diagnose",
    "disagreement",
    "draw",
    "drop_annotators",
    "effects",
    "elo_by_annotator",
    "errors",
    "example_arena",
    "fit",
    "fit_many",
    "flag",
    "flag_by_theta",
    "flip_votes",
    "flips",
    "from_posterior",
    "grades",
    "head_to_head",
    "held_out",
    "history",
    "integrity",
    "judge_report",
    "keep_annotators",
    "kfold",
    "leaderboard",
    "leaderboards",
    "leave_one_out",
    "load",
    "merge",
    "next_pairs",
    "online_elo",
    "pairs",
    "plots",
    "predict",
    "predictive_check",
    "price",
    "prior_check",
    "promoters",
    "rank_probabilities",
    "read_cells",
    "read_sequence",
    "read_votes",
    "replicate",
    "report",
    "reversed_elo",
    "save",
    "shuffled_elo",
    "siblings",
    "simulate",
    "slice_gaps",
    "slice_similarity",
    "split",
    "strengths",
    "style_effects",
    "style_features",
    "to_datatree",
    "verdict",
    "versus",
    "win_probability",
]


def test_the_public_names_are_exactly_these():
    assert ba.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(ba))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(ba, name)
    assert value.__doc__
    if not isinstance(value, ModuleType):
        assert getattr(importlib.import_module(value.__module__), name) is value


def test_the_page_of_the_api_lists_every_public_name_once():
    """Else ``python benchmarks/api.py > benchmarks/results/api.md``, and ``nox -s readme -- docs/api.md``."""
    root = Path(__file__).parents[1]
    assert (root / "benchmarks" / "results" / "api.md").read_text("utf-8") == api.page()
    listed = re.findall(r"^\| `ba\.(\w+)` \|", (root / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == ba.__all__


def test_unknown_names_fail():
    with pytest.raises(AttributeError, match="nonsense"):
        ba.nonsense  # noqa: B018


def test_star_import():
    namespace: dict[str, object] = {}
    exec("from bayes_arena import *", namespace)
    assert set(PUBLIC) <= set(namespace)


def test_models_are_no_top_level_package():
    done = subprocess.run([sys.executable, "-c", "import models"], cwd="/", capture_output=True, text=True)
    assert "No module named 'models'" in done.stderr


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"numpy", "pymc", "polars", "pandas", "scipy", "matplotlib"}
    code = f"import sys, bayes_arena; bayes_arena.plots; assert not {heavy} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_runs_elsewhere_is_pinned():
    """Tags of actions and hooks can be moved; commits cannot."""
    root = Path(__file__).parents[1]
    files = [*(root / ".github" / "workflows").glob("*.yml"), root / ".pre-commit-config.yaml", root / ".ci" / "run"]
    text = "\n".join(file.read_text() for file in files)
    steps = re.findall(r"(?:uses|rev): *(.*)", text)
    assert steps
    assert [step for step in steps if not re.fullmatch(r"([\w/-]+@)?[0-9a-f]{40} +# v[\d.]+", step)] == []
    assert len(set(re.findall(r"pip install (?:-q )?(uv.*)", text))) == 1
    assert re.search(r"pip install uv==\d+\.\d+\.\d+\n", text)


def test_the_citation_is_of_this_version():
    text = (Path(__file__).parents[1] / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [ba.__version__]
    page = (Path(__file__).parents[1] / "docs" / "paper.md").read_text("utf-8")
    assert re.findall(r"version = {(.*)}", page) == [ba.__version__]
    assert set(re.findall(r"url = {(.*)}", page)) <= set(re.findall(r"url: (.*)", text))
