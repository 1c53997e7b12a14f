"""Pictures of a fit, drawn by matplotlib."""
