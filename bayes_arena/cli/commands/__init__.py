"""The commands.

=========  ==================================
ratings    ``rank`` and ``annotators``
votes      ``check`` and ``simulate``
judging    ``compare`` and ``diagnose``
deciding   ``flips``
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  ==================================
"""
