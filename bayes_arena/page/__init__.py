"""A page that shows a fit: one file that opens anywhere, without a network."""
