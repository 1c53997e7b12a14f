"""Boards: scores, intervals, ranks and what follows from them."""
