"""The commands.

=========  =====================================
ratings    ``rank`` and ``annotators``
votes      ``check`` and ``simulate``
judging    ``compare``, ``diagnose``, ``judge``
decisions  ``verdict``
trust      ``integrity`` and ``bursts``
flips      ``flips``: what a ranking rests on
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  =====================================
"""
