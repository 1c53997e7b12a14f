"""Votes: what they are, and how files and dataframes of them are read."""
