"""Exceptions that stop a command before it has changed anything."""

__all__ = ["CommandCrashed", "CommandRefused"]


class CommandRefused(Exception):
    """The console answers with `{"error": text}` and exit code 1."""


class CommandCrashed(Exception):
    """The published command breaks with an exception of this name: exit code 1, no document."""
