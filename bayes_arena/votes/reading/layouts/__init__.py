"""Named layouts: the records of other tools, rewritten to votes that every reader of votes understands.

=========  ==================================================================
layout     ``Layout``: what a layout is, and how nested values are read
registry   ``LAYOUTS``: all of them, by name
arenas     votes of people, a record each
judges     verdicts of language models: games, preferences, criteria
choices    the best of several outputs, as weighted pairs
rankings   rankings of several, as weighted pairs
scores     scores of several systems on the same items, as weighted pairs
tables     tables that people keep: a pair in one cell, annotators' columns, two scores
finding    which layout a source has: named, or recognised by its columns
opened     a source opened, rewritten and filtered: what readers of votes begin with
=========  ==================================================================
"""
