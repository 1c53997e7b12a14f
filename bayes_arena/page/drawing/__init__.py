"""Figures as SVG, made of numbers alone: names are written by the page, which escapes them.

Places along a figure are percentages of its width and heights are in ``em``, so that it stretches with the screen and
grows with the letters, and no text is distorted.

=====  ==================================================
svg    elements, and an axis with round numbers
rows   a line for every competitor: intervals, places
cells  shades for every pair, or for every place
fit    observed against predicted
=====  ==================================================
"""
