"""From an answer to a plan."""
