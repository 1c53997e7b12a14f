"""Named layouts: the records of other tools, rewritten to votes that every reader of votes understands.

==========  ==================================================================
layout      ``Layout``: what a layout is, and how nested values are read
registry    ``LAYOUTS``: all of them, by name
rewriting/  from the records of a layout to votes
finding     which layout a source has: named, or recognised by its columns
opened      a source opened, rewritten and filtered: what readers of votes begin with
==========  ==================================================================
"""
