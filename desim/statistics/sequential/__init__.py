"""Deciding on the way: when to stop playing, and which alternative is the best."""
