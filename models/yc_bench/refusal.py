"""Why a command changed nothing."""

__all__ = ["Crashed", "Refused"]


class Refused(Exception):
    """The console answers with `{"error": text}` and exit code 1."""


class Crashed(Exception):
    """The published command breaks with an exception of this name: exit code 1, no document."""
