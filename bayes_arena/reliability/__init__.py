"""What the votes say about the annotators.

==============  ===================================================================
annotators      ``annotators``: verdict, agreement, discrimination, habits
anomaly         probabilities of being anomalous, and in what way
kinds           regular annotators, guessers and the reversed: a mixture
own_rankings    who would seem to guess, and has a ranking of their own
agreement       net agreement, consistency and the side's pull, over draws
flagging        ``flag``: annotators to leave out at a false discovery rate
bursts          ``bursts``: windows of time with too many wins
judges          ``judge_report``: how a judge votes compared with people
camps           ``camps``: groups of annotators who agree among themselves, and a board for each
humps           how many humps the annotators' loadings have
worth           what an annotator's votes are worth, in votes of others
concordance     how often annotators agree on the same answers; Cohen's kappa
==============  ===================================================================
"""
