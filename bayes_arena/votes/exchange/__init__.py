"""Cells that travel: counted where the votes are, fitted anywhere.

=========  ===========================================================
files      ``Cells.save`` and ``read_cells``: cells as Parquet
merging    ``merge``: cells of several months, or partitions, as one
splitting  ``split``: cells of every category, or week, by themselves
=========  ===========================================================
"""
