"""A page that shows a fit: one file that opens anywhere, without a network.

==========  ==================================================================================
report      ``report``: the page of a fit, to be saved
contents    what the page says, part by part, from one set of draws
writing     the parts as HTML, with a policy that lets a browser run and load nothing else
meta        what else is known of the competitors, prices say
pseudonyms  a fit whose annotators bear numbers in place of their names
numbers/    what every part shows
drawing/    figures as SVG
==========  ==================================================================================

``templates`` has the page, its style and its script.
"""
