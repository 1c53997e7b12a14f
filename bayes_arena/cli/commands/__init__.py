"""The commands.

=========  ==================================
ratings    ``rank``, ``annotators``, ``flag``
votes      ``check`` and ``simulate``
judging    ``compare`` and ``diagnose``
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  ==================================
"""
