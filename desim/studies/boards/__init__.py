"""Boards: ranked baselines of one world, and those of all worlds on one scale."""
