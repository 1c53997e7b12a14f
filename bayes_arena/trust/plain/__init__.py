"""The votes, and what they say where annotators have no numbers of their own.

=========  ==============================================================
ballots    the votes by annotator and pair: pairs, and who met whom
strengths  strengths in which no annotator's own numbers have a part
residuals  what these leave unexplained
=========  ==============================================================
"""
