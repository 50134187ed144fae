"""The page of a person's game in a browser."""
