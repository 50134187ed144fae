"""The officer's desk, tools and funding requests."""
