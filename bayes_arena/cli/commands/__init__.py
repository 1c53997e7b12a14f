"""The commands.

==========  =====================================
ratings     ``rank`` and ``annotators``
questions/  what a ranking settles and rests on
votes       ``check`` and ``simulate``
report      ``report``: a page to show
judging     ``compare``, ``diagnose``, ``judge``
arena       ``arena ...``: a Stable Arena
reproduce   ``reproduce``: the paper
schema      ``schema``: what JSON answers mean
==========  =====================================
"""
