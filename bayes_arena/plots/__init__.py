"""Pictures of a fit, drawn by matplotlib: every function returns the axes, and shows nothing by itself.

::

    import bayes_arena as ba

    result = ba.fit(ba.read_votes("votes.csv"))
    ba.plots.board(result)                                  # in a notebook this shows it
    ba.plots.board(result).figure.savefig("board.pdf")      # in a script

``ax`` names existing axes to draw into; without it there is a new figure, as large as the names need. What ArviZ draws
from ``ba.to_datatree(result)`` (posteriors, chains, predictive checks, Pareto k) is left to ArviZ.

=============  ================================================================
board_forest   ``board``: scores with intervals, and rank ranges
squares        ``ranks``, ``wins``: a probability in every cell
crowd          ``annotators``: theta against ties, the anomalous by name
observed       ``calibration``: observed against predicted votes
over_time      ``rounds``: the scores of a Stable Arena, round by round; ``history``: strengths that move
frontier       ``cost``: score against cost, and the Pareto front
drawing        what they share: axes, colours, names, titles
=============  ================================================================
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
