"""From evidence to kinds: whose favour is looked for, and how common every kind is.

==========  ==============================================================
shares      shares of the kinds
crowd       annotators as if they favoured nobody
suspicions  annotators in view of competitors on whom they stand out
aims        competitors whom so many favour that they have a share of their own
mixing      the posterior of everybody's kind
agreement   who hardly votes with the ranking
==========  ==============================================================
"""
