"""What the votes say about those who cast them.

==========  ==========================================================
annotators  ``annotators``: verdict, agreement, discrimination, habits
agreement   net agreement and the pull of the side, over draws
favours     how somebody favours or hates a competitor, in words
flagging    ``flag``: whom to leave out at a false discovery rate
chance      how unlikely votes of suspects are by chance
integrity   ``integrity``: whose votes carry every competitor
bursts      ``bursts``: windows of time with too many wins
==========  ==========================================================
"""
