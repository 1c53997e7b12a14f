"""Commands for the questions that a ranking raises.

=========  ===================================================
boards     ``boards``: a ranking of every category, language or week
decisions  ``verdict``, ``tiers``, ``next``: what the votes settle, which are wanted
pairs      ``pairs`` and ``versus``: who is better than whom
flips      ``flips``: what a ranking rests on
trust      ``integrity`` and ``bursts``: who carries whom, when
=========  ===================================================
"""
