"""Commands for the questions that a ranking raises.

=========  ===================================================
decisions  ``verdict``: what the votes settle
flips      ``flips``: what a ranking rests on
trust      ``integrity`` and ``bursts``: who carries whom, when
=========  ===================================================
"""
