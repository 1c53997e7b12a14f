"""Votes that promote or demote one competitor: found in a fit, and discounted where they would move it.

===========  ===================================================================
views        how each annotator sees each competitor, and what it may count
mixture      a competitor's centre, and views far from it: profiles over r
discounting  the gate, the weights of votes, and the fit on these
promotions   what was found, and whom the evidence names
===========  ===================================================================
"""
