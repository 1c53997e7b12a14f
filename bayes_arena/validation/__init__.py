"""Whether a fit can be trusted, and which model predicts better.

=============  ==============================================================
prediction     what a fit says of votes it has not seen
heldout        ``held_out``: scores on votes set aside
kfold          ``kfold``: annotators or prompts nobody has seen
leave_one_out  ``leave_one_out``: every vote from all others
comparison     ``compare``
predictive     ``predictive_check``: would the model have produced such votes
prior_check    ``prior_check``: what the prior says before any vote
diagnostics    ``diagnose``: every check in one table
leaving_out/   votes left out one by one, by importance sampling
=============  ==============================================================
"""
