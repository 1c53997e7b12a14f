"""What the votes say about the annotators.

==============  ===================================================================
annotators      ``annotators``: verdict, agreement, discrimination, habits
anomaly         probabilities of being anomalous, and in what way
agreement       net agreement and the pull of the side, over draws
flagging        ``flag``: annotators to leave out at a false discovery rate
favours         how an annotator favours or hates a competitor, in words
suspect_groups  how unlikely the votes of suspects are by chance
integrity       ``integrity``: whose votes carry every competitor
bursts          ``bursts``: windows of time with too many wins
judges          ``judge_report``: what a program does that judges, and its value
worth           what an annotator's votes are worth, in votes of others
concordance     how often annotators agree on the same answers; Cohen's kappa
==============  ===================================================================
"""
