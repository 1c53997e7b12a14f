"""The commands.

==========  ===============================================================
rank        ``rank`` and ``boards``: leaderboards
fit         ``fit``: a fit in a file, to ask many questions
next_pairs  ``next``: which votes are needed next
pairs       ``pairs``: who is better than whom, and what the order rests on
annotators  ``annotators``, ``integrity``
votes       ``check`` and ``simulate``
models      ``compare`` and ``diagnose``
report      ``report``: a page to show
reproduce   ``reproduce``: the paper
options     ``options``: those that commands share
schema      ``schema``: what JSON answers mean
arena       ``arena ...``: a Stable Arena
==========  ===============================================================
"""
