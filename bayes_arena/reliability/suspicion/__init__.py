"""Who carries a competitor, and when.

=========  =====================================================
favours    how somebody favours or hates a competitor, in words
chance     how unlikely votes of suspects are by chance
integrity  ``integrity``: whose votes carry every competitor
bursts     ``bursts``: windows of time with too many wins
=========  =====================================================
"""
