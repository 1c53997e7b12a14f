"""What votes are."""
