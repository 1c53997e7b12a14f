"""The version, which results carry."""

__version__ = "0.3.0"
