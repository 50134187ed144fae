"""Playing ahead of an episode: in child processes that need not repeat the past."""
