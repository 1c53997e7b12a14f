"""The shape of the package: the order of its floors, no circles between files, and a true map in every folder."""

import ast
from pathlib import Path

import grimp
import pytest
from importlinter import api, cli

import bayes_arena as ba

ROOT = Path(ba.__file__).parent
FOLDERS = sorted(
    path.parent for path in ROOT.rglob("__init__.py") if path.parent not in (ROOT, ROOT / "models", ROOT / "plots")
)


def test_nobody_imports_from_a_floor_above(capsys):
    assert cli.lint_imports(config_filename=str(ROOT.parent / "pyproject.toml")) == cli.EXIT_STATUS_SUCCESS, (
        capsys.readouterr().out
    )


def test_the_floors_are_those_of_the_folders():
    (contract,) = api.read_configuration(str(ROOT.parent / "pyproject.toml"))["contracts_options"]
    assert contract["exhaustive"]


def test_files_do_not_import_each_other_in_circles():
    graph = grimp.build_graph("bayes_arena", cache_dir=None)
    circles = {
        frozenset({name, *(graph.find_upstream_modules(name) & graph.find_downstream_modules(name))})
        for name in graph.modules
    }
    assert not {circle for circle in circles if len(circle) > 1}


def test_folders_do_not_import_each_other():
    graph = grimp.build_graph("bayes_arena", exclude_type_checking_imports=True, cache_dir=None)
    folders = {name: name.rpartition(".")[0] for name in graph.modules if not graph.find_children(name)}
    imports = {
        (folder, folders[other])
        for name, folder in folders.items()
        for other in graph.find_modules_directly_imported_by(name) & folders.keys()
        if folder != folders[other] and "bayes_arena" not in (folder, folders[other])
    }
    assert imports
    assert not {pair for pair in imports if pair[::-1] in imports}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
class TestFolder:
    def test_its_init_is_a_map_and_nothing_else(self, folder):
        tree = ast.parse((folder / "__init__.py").read_text())
        assert len(tree.body) == 1
        text = ast.get_docstring(tree)
        files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        rooms = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
        listed = {line.split()[0] for line in text.splitlines() if "  " in line and not line.startswith(("=", " "))}
        if "NAME" in listed:  # a file for every one of a kind
            files = {name for name in files if "\nLIKELIHOOD = " not in (folder / f"{name}.py").read_text()} | {"NAME"}
        assert listed == files | rooms

    def test_it_bears_no_public_name(self, folder):
        assert folder.name not in ba.__all__
