"""Structured log lines with the simulated time; silent until `configure` is called."""

import sys
from collections.abc import MutableMapping
from functools import partialmethod
from typing import Any

from desim.errors import UsageError, possible

LEVELS = ("debug", "info", "warning", "error")


class Log:
    """A structured logger: a constant event, everything else as fields.

    Adds tick, date and part; a line may give its own tick. Without a world it writes nothing and
    counts as False, so that a model can leave out what only a log line needs:
    `if world.log: world.log.info("payday", paid=book.money(total))`.
    """

    def __init__(self, world: Any = None) -> None:
        self._world = world

    def _write(self, level: str, event: str, /, **fields: Any) -> None:
        if (world := self._world) is None:
            return
        import structlog  # takes longer to import than the rest of desim together

        stamp: dict[str, Any] = {"t": fields.get("t", world.now)}
        if world.calendar is not None:
            moment = world.calendar.moment(stamp["t"])
            stamp["date"] = moment.isoformat(" ", "minutes").removesuffix(" 00:00")
        if world.prefix:
            stamp["part"] = world.prefix.rstrip(".")
        getattr(structlog.get_logger(), level)(event, **{**stamp, **fields})

    debug = partialmethod(_write, "debug")
    info = partialmethod(_write, "info")
    warning = partialmethod(_write, "warning")
    error = partialmethod(_write, "error")

    def __bool__(self) -> bool:
        return self._world is not None


_SILENT = Log()

#: Whether `configure` was called in this process.
_configured = False


def configure(level: str = "info", *, as_json: bool = False) -> None:
    """Write log lines to standard error from now on, in this process, as text or JSON objects.

    *level* is the lowest that is written: debug, info, warning or error.
    """
    if level not in LEVELS:
        raise UsageError(f"there is no log level {level!r}; {possible(level, LEVELS)}")
    import structlog

    global _configured  # noqa: PLW0603 (one switch a process, as in structlog itself)
    _configured = True
    text = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), sort_keys=False)
    json = structlog.processors.JSONRenderer(default=str)
    structlog.configure(
        processors=[structlog.processors.add_log_level, *([json] if as_json else [_dated, text])],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Standard output is for data, also of `--json`.
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _dated(_log: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Begin a line with the date, or else the tick; show the level where it is a warning."""
    tick = event.pop("t", None)
    when = event.pop("date", "" if tick is None else f"t={tick}")
    if method in ("debug", "info"):
        event.pop("level", None)
    return {"timestamp": f"{when:<16}", **event} if when else event


def logger(world: Any) -> Log:
    """Return the logger of a world, silent before `configure` and outside structlog's tests."""
    return Log(world) if _configured or _is_captured() else _SILENT


def _is_captured() -> bool:
    structlog: Any = sys.modules.get("structlog")
    processors = structlog.get_config()["processors"] if structlog else ()
    return any(isinstance(one, structlog.testing.LogCapture) for one in processors)
