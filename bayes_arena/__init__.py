"""Bayesian ratings of language models from pairwise votes.

The main functions, in the order of use::

    cells = read_votes("votes.csv")     # any engine in, sufficient statistics out
    result = fit(cells)                 # am-Davidson where annotators are known
    leaderboard(result)                 # Elo scores, intervals, rank ranges
    annotators(result)                  # who votes with the others, and who against
"""

import lazy_loader

from bayes_arena.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
