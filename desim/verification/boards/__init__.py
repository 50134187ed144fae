"""Boards: their logs, and the commitments that they receive."""
