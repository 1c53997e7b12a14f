"""Whether a fit can be trusted, and which model predicts better.

================  ==============================================================
prediction        the prediction of votes that a fit has not seen
cross_validation  ``held_out`` and ``kfold``: votes are left out and predicted
leave_one_out     ``leave_one_out``: every vote predicted from all others
psis              Pareto-smoothed importance sampling
comparison        ``compare``
predictive        ``predictive_check``, and ``prior_check``: what the prior implies
diagnostics       ``diagnose``: every check in one table
================  ==============================================================
"""
