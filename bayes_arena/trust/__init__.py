"""Whose votes count: found before the fit, so that nobody can move it who does not vote in good faith.

=========  ===================================================================
judgement  ``judge``: campaigns, favourites, small accounts, camps; one after the other
suspects   the numbers of those whose votes do not count
strengths  strengths in which no annotator's own numbers have a part
blocs      who pulls together, in what those strengths leave unexplained
drips      small accounts against the rest
kinds      regular, guesser, adversary, favours or hates one: shares and posterior
mixture/   how common each kind is, and whose favour is looked for
classes    how likely somebody's votes are under each
kernels    the same in compiled loops
=========  ===================================================================
"""
