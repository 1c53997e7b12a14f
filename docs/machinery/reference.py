"""The pages of the public names: from the stubs, so that no name is forgotten."""

import ast
import importlib
from pathlib import Path

from bayes_arena import errors

from .pages import PACKAGE, put

GROUPS = {
    "votes": ("Votes", "Reading votes, checking them, choosing among them."),
    "likelihood": ("Models, priors, simulation", "What is fitted, and votes with a known truth."),
    "fits": ("Fits", "Fitting, results, draws and files."),
    "ratings": ("Ratings", "Leaderboards, intervals, probabilities, slices, style, and Elo one vote at a time."),
    "decisions": ("Decisions", "Who is the best, whether there are enough votes, what the ranking rests on."),
    "reliability": ("Annotators", "Who votes how, whom to leave out, judges that are programs."),
    "promotion": ("Promotions", "Competitors on which the votes are not those of one crowd."),
    "validation": ("Validation", "Which model predicts better, and whether a fit can be trusted."),
    "arena": ("Arena", "Votes that keep coming, in one file."),
    "page": ("Page", "A fit as one file of HTML."),
    "errors": (
        "Errors and warnings",
        "All errors are `ArenaError`, all warnings `ArenaWarning`; `ba.errors` has them all.",
    ),
}
"""Title and description by the folder that a name comes from, in the order of the pages."""

RETURNED = (
    "votes.sequence.VoteSequence",
    "likelihood.priors.Spreads",
    "fits.draws.Draws",
    "fits.many.Boards",
    "fits.plan.Choice",
    "fits.plan.Plan",
    "decisions.verdict.Verdict",
    "decisions.versus.Versus",
    "reliability.camps.Camps",
    "reliability.judges.JudgeReport",
    "promotion.promotions.Promoters",
    "promotion.promotions.Promotions",
    "validation.leave_one_out.LeaveOneOut",
    "arena.rounds.Round",
    "arena.votes.Addition",
    "page.report.Report",
    *(f"errors.{name}" for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)),
)
"""What public functions return and raise, which nobody imports: described, but not at the top of the package."""

APART = {
    "plots": ("Plots", "Pictures of a fit. Each function draws on matplotlib axes and returns them."),
    "models": ("Models in PyMC", "The presets as programs of PyMC: to be read, changed and sampled."),
}
"""Modules with public names of their own."""


def write(app):
    """Write a page for every group, and one that lists them."""
    folder, pages = app.srcdir / "reference", []
    groups = public_names()
    for place in RETURNED:
        group, name = place.split(".")[0], f"bayes_arena.{place.rsplit('.', 1)[-1]}"
        if name not in groups.setdefault(group, []):
            groups[group].append(f"bayes_arena.{place}")
    for group, (title, said) in (GROUPS | APART).items():
        if names := groups.pop(group, []):
            put(folder, f"{group}.rst", page(title, said, names, group if group in (*APART, "errors") else ""))
            pages.append(group)
    if groups:
        raise ValueError(f"docs/machinery/reference.py has no group for the folders {sorted(groups)}.")
    listed = "\n".join(f"   {page}" for page in (*pages, "paper", "commands"))
    put(folder, "paper.rst", PAPER)
    put(folder, "index.rst", HEAD + listed + "\n")


HEAD = """Reference
=========

Every public name of ``import bayes_arena as ba``, what its functions return and raise, and every command.

.. toctree::
   :maxdepth: 1

"""


def public_names() -> dict[str, list[str]]:
    """Return the full public names by group."""
    groups: dict[str, list[str]] = {}
    for module, name in stubbed(PACKAGE / "__init__.pyi"):
        groups.setdefault(module.split(".")[0], []).append(f"bayes_arena.{name}")
    for module in APART:
        stub = PACKAGE / module / "__init__.pyi"
        if stub.is_file():
            groups[module] = [f"bayes_arena.{module}.{name}" for _, name in stubbed(stub)]
    return groups


def stubbed(path: Path) -> list[tuple[str, str]]:
    """Return the names that a stub imports, each with its module, less those of submodules of the package's front."""
    imports = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
    found = [(each.module or "", alias.asname or alias.name) for each in imports for alias in each.names]
    front = path.parent == PACKAGE
    return [(module, name) for module, name in found if module or not front]


def page(title: str, said: str, names: list[str], module: str) -> str:
    """Return the text of a page: a table, then every name; for a module with public names of its own, the module."""
    said = said.replace("`", "``")
    if module:
        said = f".. module:: bayes_arena.{module}\n\n.. currentmodule:: None\n\n{said}"
    table = "\n".join(f"   {name}" for name in names)
    each = "\n\n".join(described(name) for name in names)
    return f"{title}\n{'=' * len(title)}\n\n{said}\n\n.. autosummary::\n\n{table}\n\n{each}\n"


def described(full: str) -> str:
    """Return the directive that documents a name."""
    module, name = full.rsplit(".", 1)
    value = getattr(importlib.import_module(module), name)
    if isinstance(value, type(ast)):  # a module, as the presets are
        return f".. automodule:: {full}\n   :members:"
    if not isinstance(value, type):
        return f".. autofunction:: {full}"
    if issubclass(value, Exception):
        return f".. autoexception:: {full}"
    return f".. autoclass:: {full}\n   :members:"


def require_complete(app, failure):
    """Refuse a build in which a public name has no page."""
    if failure is None and app.builder.format == "html":
        there = app.env.domaindata["py"]["objects"].keys() | app.env.domaindata["py"]["modules"].keys()
        if missing := [name for names in public_names().values() for name in names if name not in there]:
            raise ValueError(f"Public names without a page: {', '.join(missing)}.")


PAPER = """The paper
=========

The experiments of Liu et al. (2025), which ``bayes-arena reproduce`` runs. These modules are imported by name:
``from bayes_arena.paper import perturbation``.

.. automodule:: bayes_arena.paper
   :no-index:

"""
