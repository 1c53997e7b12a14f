"""From evidence to kinds: whose favour is looked for, and how common every kind is.

==========  ==============================================================
suspicions  annotators in view of competitors on whom they stand out
shares      shares of the kinds and of the aims, and what follows from them
agreement   who hardly votes with the ranking
==========  ==============================================================
"""
