"""``rate``, its notes, and the page and text that show it."""
