"""The commands.

=========  ==================================
ratings    ``rank`` and ``annotators``
votes      ``check`` and ``simulate``
judging    ``compare``, ``diagnose``, ``judge``
arena      ``arena ...``: a Stable Arena
reproduce  ``reproduce``: the paper
=========  ==================================
"""
