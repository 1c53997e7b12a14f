"""The commands.

=========  =====================================
ratings    ``rank`` and ``annotators``
votes      ``check`` and ``simulate``
decisions  ``verdict``
judging    ``compare`` and ``diagnose``
flips      ``flips``: what a ranking rests on
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  =====================================
"""
