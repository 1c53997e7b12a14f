"""Layouts: how tools write votes down, and how their records become votes.

================  ===============================================================
registry          ``LAYOUTS``: all of them, by name; which one a source has
layout            ``Layout``: what a layout is, and how nested values are read
columns           the usual names of columns, and which plays which role
human_annotation  votes of people: compar:IA, Label Studio, Argilla
llm_judges        verdicts of language models: games, preferences, criteria
best_of_n         the best of several outputs, as weighted pairs
rankings          rankings of several, as weighted pairs
item_scores       scores of several systems on the same items, as weighted pairs
tables            tables kept by hand: wins, pairs in a cell, annotators in columns
================  ===============================================================
"""
