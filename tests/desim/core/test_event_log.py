"""Log lines about processes and resources."""

from typing import Any

from support.workshop import Hire, Workshop

from desim.core.event_log import EventLog
from desim.core.run import Run


class Lines:
    """A logger that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[Any, ...]] = []

    def debug(self, text: str, **values: Any) -> None:
        """Keep a line as its text and its values."""
        self.lines.append((text, *values.values()))

    info = warning = debug


def test_processes_and_resources_are_told_by_name() -> None:
    """Two jobs on one machine, which the later one takes from the other."""
    run = Run(Workshop(days=1), observers=[EventLog()])
    run.world.log = log = Lines()  # type: ignore[assignment]
    while decisions := run.advance():
        run.answer(decisions[0], Hire(2))
    told = [line for line in log.lines if line[0].startswith(("process", "resource"))]
    assert told[:5] == [
        ("process started", 0, "boss"),
        ("process started", 0, "seller"),
        ("process waits for a resource", "seller", "StoreGet of shelf"),
        ("process started", 0, "job"),
        ("process started", 0, "job"),
    ]
    assert ("resource granted", 0, "job", "PriorityRequest of machine") in told
    assert ("resource granted", 4, "seller", "StoreGet of shelf") in told
    interrupts = [line for line in told if line[0] == "process interrupted"]
    assert interrupts == [("process interrupted", 0, "job", "Preempted")]
