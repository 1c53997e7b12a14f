"""From the records of a layout to votes: functions of a lazy frame, by what the records are.

========  =====================================================================
arenas    votes of people, a record each, and tables of wins
judges    verdicts of language models: games, preferences, criteria
choices   the best of several outputs, as weighted pairs
rankings  rankings of several, as weighted pairs
scores    scores of several systems on the same items, as weighted pairs
tables    a pair in one cell, a column for every annotator, two scores
========  =====================================================================
"""
