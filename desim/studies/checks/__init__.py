"""Checks of a world: schema, episodes, records, futures, results and books."""
