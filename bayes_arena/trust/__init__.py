"""Whose votes count: found before the fit, so that nobody can move it who does not vote in good faith.

=========  ===================================================================
judgement  ``Judgement``: whose votes count, and why
judging    ``judge``: what is looked for, one after the other
plain/     the votes, and strengths in which no annotator's own numbers have a part
search/    campaigns, camps, small accounts; readings, and which of them counts
kinds      regular, guesser, adversary, favours or hates one: shares and posterior
mixture/   how common each kind is, and whose favour is looked for
classes    how likely somebody's votes are under each
kernels    the same in compiled loops
suspects   the numbers of those whose votes do not count
=========  ===================================================================
"""
