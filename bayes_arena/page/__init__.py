"""One page of HTML with everything about a board."""
