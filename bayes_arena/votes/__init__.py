"""Votes: from any engine to cells, the sufficient statistics that every model reads.

==========  =============================================================="""
