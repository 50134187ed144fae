"""Ways to play ahead that do not repeat the past: child processes and lanes."""
