"""The end of a person's game: its course, its costs, its dearest decisions, and another game."""
