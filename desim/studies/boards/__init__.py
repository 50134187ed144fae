"""Leaderboards of one world, and of all worlds on one scale."""
