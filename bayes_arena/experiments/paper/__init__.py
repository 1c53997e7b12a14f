"""The paper end to end.

============  ==========================================================
reproduction  ``bayes-arena reproduce``: all of it from one set of votes
tables        tables 1 and 2
case_study    figures 1, 3 and 4
convergence   figure 5
figures       the drawings
summaries     the numbers beside them
============  ==========================================================
"""
