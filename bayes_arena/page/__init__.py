"""A page that shows a fit: one file that opens anywhere, without a network.

==========  ==================================================================================
report      ``report``: the page of a fit, to be saved
contents    all that the page shows, part by part, from one set of draws
board       scores, rank ranges, probabilities of ranks and wins
slices      the board of every category, language, ...
observed    observed against predicted votes
annotators  the annotators, the least reliable first; pseudonyms
settled     what the votes settle, and what they leave open
notes       which votes were left out, and warnings without what to do about them
meta        metadata of the competitors, such as prices
writing     the page as HTML, with a policy that lets a browser run and load nothing else
figures     figures as SVG: intervals, shades, observed against predicted
svg         elements of SVG, and an axis with round numbers
==========  ==================================================================================

``templates`` has the page, its style and its script.
"""
