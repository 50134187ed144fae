"""The chain on arrays: many episodes that are played together."""
