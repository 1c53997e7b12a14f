"""The commands.

=========  ==================================
ratings    ``rank`` and ``annotators``
votes      ``check`` and ``simulate``
trust      ``integrity`` and ``bursts``
judging    ``compare`` and ``diagnose``
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  ==================================
"""
