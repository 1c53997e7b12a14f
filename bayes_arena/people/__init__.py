"""People, and programs, who vote: anomalies, favourites, and whether they agree."""
