"""A person's roles: a game that stops at their decisions, shown on a page or in the terminal."""
