"""Programs that judge, beside people.

===========  ==========================================================
judges       ``judge_report``: what a judge does, and what it is worth
report       ``JudgeReport``: the same, and in words
worth        what an annotator's votes are worth, in votes of others
concordance  how often annotators say the same of the same answers
===========  ==========================================================
"""
