"""The event trace of an episode, for Perfetto and for error texts."""
