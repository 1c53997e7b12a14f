"""The commands.

=========  ==================================
ratings    ``rank`` and ``annotators``
votes      ``check`` and ``simulate``
decisions  ``verdict``
judging    ``compare`` and ``diagnose``
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  ==================================
"""
