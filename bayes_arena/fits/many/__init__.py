"""Many boards at once: one of every category, language or week.

=======  =======================================================
fitting  ``fit_many``: a fit of every board, on any joblib engine
boards   ``Boards``: the fits by what their votes have in common
telling  what there is to be told of many boards, in a few lines
=======  =======================================================
"""
