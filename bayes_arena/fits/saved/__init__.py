"""Results on disk: written, read, and not trusted.

=========  ==========================================================
storage    ``save`` and ``load``
contents   what a result consists of: its dataclasses, out and back
soundness  whether what a file holds makes sense
=========  ==========================================================
"""
