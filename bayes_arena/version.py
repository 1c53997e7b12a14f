"""The version of the package, and that of its JSON."""

__version__ = "0.5.0"
SCHEMA = 1  # another number where the entries of JSON mean something else
