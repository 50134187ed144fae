"""The firm during an episode."""
