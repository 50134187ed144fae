"""The published console."""
