"""Results on disk: written, read, and not trusted.

=========  =======================================================================================
storage    ``save`` and ``load``
contents   what a result consists of: its dataclasses, out and back
plainness  whether a file is built as ``save`` builds it, and nothing in it runs, leads elsewhere or expands
soundness  whether what a file holds makes sense
=========  =======================================================================================
"""
