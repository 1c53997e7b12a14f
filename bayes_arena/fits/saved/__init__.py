"""Results on disk: written, read and checked.

=========  =======================================================================================
storage    ``save`` and ``load``
contents   what a result consists of: its dataclasses, to the file and back
plainness  whether a file is built as ``save`` builds it, without code, links elsewhere or compression
known      what every question asks of a fit, and what takes long to find
soundness  whether the contents of a file make sense
=========  =======================================================================================
"""
