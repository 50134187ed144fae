"""Plans that use no knowledge of a world, and should not beat its honest rules."""
