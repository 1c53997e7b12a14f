"""What to do with a ranking: what it would take to change it, what to ask next, and what may be said aloud."""
