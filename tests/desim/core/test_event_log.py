"""What the log says about processes and resources at level debug."""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from support.workshop import Hire, Workshop

from desim.core import log
from desim.core.run import Run


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """Log at level debug into a list, and be silent again afterwards."""
    log.configure("debug")
    caught: list[dict[str, Any]] = []

    def catch(_log: Any, _method: str, event: dict[str, Any]) -> Any:
        world = event.pop("world")
        caught.append({"t": world.now, **event})
        raise structlog.DropEvent

    structlog.configure(processors=[catch])
    yield caught
    structlog.reset_defaults()
    log._level = ""


def played(model: Workshop, jobs: int) -> str | None:
    """Return the ledger digest or nothing after playing to the end."""
    run = Run(model)
    while decisions := run.advance():
        run.answer(decisions[0], Hire(jobs))
    return str(run.result())


def test_the_log_tells_of_processes_and_resources(lines: list[dict[str, Any]]) -> None:
    """Start, end and interrupt of processes; requests that wait, grants and releases."""
    played(Workshop(days=1), 2)
    told = [(line["t"], line["event"], line.get("process")) for line in lines]
    assert told[:2] == [(0, "process started", "boss"), (0, "process started", "seller")]
    assert (0, "process interrupted", "job") in told
    assert (0, "process waits for a resource", "seller") in told
    assert (0, "resource granted", "job") in told
    assert (4, "process ended", "job") in told
    assert (4, "resource released", None) in told
    causes = [line["cause"] for line in lines if line["event"] == "process interrupted"]
    assert causes == ["Preempted"]


def test_the_log_changes_nothing(lines: list[dict[str, Any]]) -> None:
    """The result is that of a silent run; at level info there is no line about processes."""
    loud = played(Workshop(), 3)
    assert lines
    log._level = "info"
    lines.clear()
    assert played(Workshop(), 3) == loud
    assert not [line for line in lines if line["event"].startswith(("process", "resource"))]
