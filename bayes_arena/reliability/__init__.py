"""What the votes say about those who cast them.

===========  ==========================================================
annotators   ``annotators``: verdict, agreement, discrimination, habits
agreement    net agreement and the pull of the side, over draws
flagging     ``flag``: whom to leave out at a false discovery rate
suspicion/   who carries a competitor, and when
judges       ``judge_report``: programs that judge, beside people
worth        what an annotator's votes are worth, in votes of others
concordance  how often annotators say the same of the same answers
===========  ==========================================================
"""
