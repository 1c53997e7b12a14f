"""Optional packages, and the command that installs a missing one.

The core reads votes, rates competitors, judges annotators and compares models. Packages that only some parts need are
the extras of ``pyproject.toml``: ``pip install "bayes-arena[posterior]"`` adds those of one, ``bayes-arena[all]`` all.
A part checks for its packages where it imports them, or earlier, before long work.
"""

from __future__ import annotations

from importlib.util import find_spec

from bayes_arena.errors import MissingPackageError

EXTRA_OF = {
    "arviz": "posterior",
    "h5netcdf": "posterior",
    "nutpie": "posterior",
    "pymc": "posterior",
    "xarray": "posterior",
    "zarr": "posterior",
    "matplotlib": "plots",
    "duckdb": "arena",
    "huggingface_hub": "hub",
}
"""The extra that installs a package; others are installed by their own names."""


def require(part: str, *packages: str) -> None:
    """Raise an error if packages are not installed that a part, in the plural, needs; its name begins the message."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        wanted = dict.fromkeys(
            f'"bayes-arena[{EXTRA_OF[package]}]"' if package in EXTRA_OF else package for package in missing
        )
        verb = "is" if len(missing) == 1 else "are"
        raise MissingPackageError(
            f"{part} need {' and '.join(missing)}, which {verb} not installed. Run: pip install {' '.join(wanted)}",
            name=missing[0],
        )
