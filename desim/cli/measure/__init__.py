"""Commands that measure: bench."""
