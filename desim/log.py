"""Structured log lines that carry the simulated time; silent until `configure` is called.

structlog is imported only then, because it costs more time than the rest of desim together.
"""

import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, Protocol

from desim.errors import UsageError, possible

if TYPE_CHECKING:
    from desim.world import World

__all__ = ["LEVELS", "Log", "configure", "logger"]

LEVELS = ("debug", "info", "warning", "error")


class Log(Protocol):
    """What a process writes to: a constant event, the rest as fields."""

    def debug(self, event: str, **fields: Any) -> Any:
        """Write a line for whoever looks for a fault."""
        ...

    def info(self, event: str, **fields: Any) -> Any:
        """Write a line for whoever follows the story."""
        ...

    def warning(self, event: str, **fields: Any) -> Any:
        """Write a line for whoever should look twice."""
        ...

    def error(self, event: str, **fields: Any) -> Any:
        """Write a line about what went wrong."""
        ...


class _Silent:
    def debug(self, event: str, **fields: Any) -> None:
        """Write nothing."""

    info = warning = error = debug


_silent = _Silent()
_on = False


def configure(level: str = "info", *, as_json: bool = False) -> None:
    """Write log lines to standard error from now on, in this process.

    Args:
        level: The least level written: debug, info, warning or error.
        as_json: One JSON object a line instead of text.

    Raises:
        UsageError: There is no such level.
    """
    if level not in LEVELS:
        raise UsageError(f"there is no log level {level!r}; {possible(level, LEVELS)}")
    import structlog

    global _on  # noqa: PLW0603 (one switch a process, as in structlog itself)
    _on = True
    tty = sys.stderr.isatty()
    renderer: Any = structlog.processors.JSONRenderer() if as_json else None
    structlog.configure(
        processors=[
            _stamp,
            structlog.processors.add_log_level,
            renderer or structlog.dev.ConsoleRenderer(colors=tty, pad_event_to=28, sort_keys=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def logger(world: "World") -> Log:
    """Return the logger of a world: structlog's once configured, a silent one before."""
    if not _on:
        return _silent
    import structlog

    log: Log = structlog.get_logger(world=world)
    return log


def _stamp(_log: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace the world by its present time, which comes first."""
    world = event.pop("world", None)
    return event if world is None else {"t": world.now, **event}
