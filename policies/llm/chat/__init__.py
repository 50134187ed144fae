"""From an observation to messages, and from a reply to an action."""
