"""Requests sent in batches, at half the price: the two forms of batches, and what is on disk."""
