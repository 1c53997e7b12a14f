"""The core alone, without the packages of the extras: what it answers, and what it says where a part needs more."""

import subprocess
import sys
import tomllib
from pathlib import Path

import duckdb
import pytest

import bayes_arena as ba
from bayes_arena.extras import EXTRA_OF

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
ENGINES = ("duckdb", "ibis", "sqlframe", "dask", "spark")
BROUGHT_ALONG = ("arviz_base", "arviz_plots", "h5py", "httpx", "PIL", "pyarrow", "pytensor")
"""What comes with the extras, and the core must not lean on either."""
CORE_ALONE = f"""
import sys
import warnings

for package in {(*EXTRA_OF, *BROUGHT_ALONG)}:
    sys.modules[package] = None  # cannot be imported, nor found
warnings.simplefilter("ignore")

import pandas as pd
from typer.testing import CliRunner

import bayes_arena as ba
import bayes_arena.models
from bayes_arena.__main__ import app
from bayes_arena.votes.sources.hub import hub_files

for command in ("rank", "annotators", "pairs", "check", "integrity"):
    done = CliRunner().invoke(app, [command])
    assert done.exit_code == 0, (command, done.output, done.exception)

votes = ba.simulate(competitors=4, annotators=3, votes=60, seed=1).votes
votes.write_parquet(sys.argv[1])
for source in (sys.argv[1], pd.DataFrame(votes.to_dicts())):
    assert ba.read_votes(source).n_votes == 60
cells = ba.read_votes(votes)
fit = ba.fit(cells, model="bradley-terry")
assert len(ba.diagnose(fit))
assert len(ba.compare({{"marginal": fit, "map": ba.fit(cells, model="bradley-terry", method="map")}})) == 2


def refusal(ask):
    try:
        ask()
    except ba.errors.MissingPackageError as error:
        assert isinstance(error, ba.ArenaError) and isinstance(error, ImportError)
        return str(error)


pip = "which {{}} not installed. Run: pip install "
posterior = pip + '"bayes-arena[posterior]"'
for said, ask in {{
    "Draws by nutpie need nutpie, " + posterior.format("is"): lambda: ba.fit(cells, method="nuts"),
    "DataTrees need arviz, " + posterior.format("is"): lambda: ba.to_datatree(fit),
    "Files of fits need arviz and h5netcdf, " + posterior.format("are"): lambda: ba.save(fit, "fit.nc"),
    "Files of fits need arviz and zarr, " + posterior.format("are"): lambda: ba.load("fit.zarr"),
    "Posteriors from elsewhere need xarray, " + posterior.format("is"): lambda: ba.from_posterior(None, cells),
    "PyMC models need pymc, " + posterior.format("is"): lambda: ba.models.build,
    "Stable Arenas need duckdb, " + pip.format("is") + '"bayes-arena[arena]"': lambda: ba.StableArena("arena.duckdb"),
    "Plots need matplotlib, " + pip.format("is") + '"bayes-arena[plots]"': lambda: ba.plots.board(fit),
    "Votes on the hub need huggingface_hub, " + pip.format("is") + '"bayes-arena[hub]"': hub_files,
}}.items():
    assert refusal(ask) == said, (said, refusal(ask))
"""


@pytest.mark.slow
def test_the_core_alone_answers_and_names_what_other_parts_need(tmp_path):
    """In a process of its own, for this one has imported everything."""
    arguments = [sys.executable, "-c", CORE_ALONE, str(tmp_path / "votes.parquet")]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_table_of_duckdb_asks_for_pyarrow(arena, monkeypatch):
    columns = {name: arena.votes[name].to_numpy() for name in arena.votes.columns}
    relation = duckdb.sql("select * from columns")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ba.errors.MissingPackageError, match=r"duckdb need pyarrow, which is not .* pip install pyarrow$"
    ):
        ba.read_votes(relation)
    assert columns


def test_the_extras_that_messages_name_exist_and_all_has_them():
    extras = PROJECT["optional-dependencies"]
    parts = [name for name in extras if name not in ("all", *ENGINES)]
    assert extras["all"] == [f"bayes-arena[{','.join(parts)}]"]
    for package, extra in EXTRA_OF.items():
        if package != "xarray":  # comes with ArviZ
            assert any(package.replace("_", "-") in requirement for requirement in extras[extra]), package
