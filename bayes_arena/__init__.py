"""Bayesian ratings of language models from pairwise votes.

The main functions, in the order of use::

    rating = rate("votes.csv")      # board, annotators, verdict: prints as `rank` does
    votes = read_votes("votes.csv") # any file or dataframe in, counts out
    fit = fit(votes)                # Davidson: all votes have equal weight
    leaderboard(fit)                # Elo scores, intervals, rank ranges
"""

import lazy_loader

from bayes_arena.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
