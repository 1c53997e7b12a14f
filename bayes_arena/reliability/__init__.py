"""What the votes say about those who cast them.

===========  ==========================================================
annotators   ``annotators``: verdict, agreement, discrimination, habits
anomaly      who is anomalous, and in what way
agreement    net agreement and the pull of the side, over draws
flagging     ``flag``: whom to leave out at a false discovery rate
suspicion/   who carries a competitor, and when
programs/    programs that judge, beside people
===========  ==========================================================
"""
