"""A page that shows a fit: one file that opens anywhere, without a network.

==========  ==================================================================================
report      ``report``: the page of a fit, to be saved
contents    all that the page shows, part by part, from one set of draws, and notes
board       scores, rank ranges, probabilities; what the votes settle; boards by slice
observed    observed against predicted votes
annotators  the annotators, the least reliable first; pseudonyms
meta        metadata of the competitors, such as prices
writing     the page as HTML, with a policy that lets a browser run and load nothing else
figures     figures as SVG: intervals, shades, observed against predicted
==========  ==================================================================================

``templates`` has the page, its style and its script.
"""
