"""The end of a person's game: its course, its place, and another game."""
