"""Baselines that compute for seconds, which quick tests leave out."""

__all__ = ["SEARCHES"]

#: Their specs, in any world.
SEARCHES = frozenset({"planner", "optimal", "local_search"})
