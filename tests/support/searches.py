"""Baselines that compute for seconds, which quick tests leave out."""

#: Their specs, in any world.
SEARCHES = frozenset({"planner", "optimal", "local_search"})
