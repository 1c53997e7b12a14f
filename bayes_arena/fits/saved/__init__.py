"""Results on disk: written, read, and not trusted.

=========  =====================================
storage    ``save`` and ``load``
soundness  whether what a file holds makes sense
=========  =====================================
"""
