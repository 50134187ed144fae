"""Structured log lines with the simulated time; silent until `configure` is called.

structlog is imported only then, because it takes longer to import than the rest of desim together.
"""

import sys
from collections.abc import MutableMapping
from typing import Any, Protocol

from desim.errors import UsageError, possible

LEVELS = ("debug", "info", "warning", "error")


class Clock(Protocol):
    """Anything with a present tick, such as a `World`."""

    @property
    def now(self) -> Any:
        """The present tick."""
        ...


class Log(Protocol):
    """A structured logger: a constant event, everything else as fields."""

    def debug(self, event: str, **fields: Any) -> Any:
        """Write a detail for debugging."""
        ...

    def info(self, event: str, **fields: Any) -> Any:
        """Write an event of the episode."""
        ...

    def warning(self, event: str, **fields: Any) -> Any:
        """Write a possible mistake in the model or its use."""
        ...

    def error(self, event: str, **fields: Any) -> Any:
        """Write a failure."""
        ...


class _Silent:
    def debug(self, event: str, **fields: Any) -> None:
        """Write nothing."""

    info = warning = error = debug


#: The logger of a world that writes nothing.
SILENT: Log = _Silent()
#: The lowest level that is written; empty before `configure` is called.
_level = ""


def configure(level: str = "info", *, as_json: bool = False) -> None:
    """Write log lines to standard error from now on, in this process.

    Args:
        level: The lowest level written: debug, info, warning or error.
        as_json: One JSON object a line instead of text.

    Raises:
        UsageError: The level is unknown.
    """
    if level not in LEVELS:
        raise UsageError(f"there is no log level {level!r}; {possible(level, LEVELS)}")
    import structlog

    global _level  # noqa: PLW0603 (one switch a process, as in structlog itself)
    _level = level
    tty = sys.stderr.isatty()
    renderer: Any = structlog.processors.JSONRenderer() if as_json else None
    structlog.configure(
        processors=[
            _stamp,
            structlog.processors.add_log_level,
            renderer or structlog.dev.ConsoleRenderer(colors=tty, pad_event_to=28, sort_keys=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Standard output is for data, also of `--json`.
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def logger(world: Clock) -> Log:
    """Return the logger of a world: structlog's once `configure` was called, else a silent one."""
    if not _level:
        return SILENT
    import structlog

    log: Log = structlog.get_logger(world=world)
    return log


def _stamp(_log: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace the world by its present time, which comes first; a line may give its own time."""
    world = event.pop("world", None)
    return event if world is None else {"t": event.pop("t", world.now), **event}
