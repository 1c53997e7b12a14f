"""Stable Arena: an arena that grows, on SQLite."""
