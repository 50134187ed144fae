"""Observers of a running episode: its trace, and its last events for an error."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desim.core.run import Observer
from desim.errors import UsageError


class Tracing:
    """The observers of one episode.

    Args:
        trace: A new file that receives a trace of the episode once it has ended or failed; None
            traces nothing.
        last_events: The number of last events that an error shows; 0 for none.

    Attributes:
        observers: For the run.

    Raises:
        UsageError: The file exists, or *last_events* is out of range.
    """

    def __init__(self, trace: str | Path | None = None, last_events: int = 0) -> None:
        # Imported where one is wanted: they would take a tenth of the import of desim.
        from desim.tracing.last_events import LastEvents
        from desim.tracing.trace_file import check_trace_file
        from desim.tracing.tracer import Tracer

        self._file = check_trace_file(trace) if trace is not None else None
        self._tracer = Tracer() if trace is not None else None
        self._last = LastEvents(last_events) if last_events else None
        self.observers: list[Observer] = [one for one in (self._tracer, self._last) if one]

    def close(self, fault: BaseException | None, notes: Mapping[str, Any]) -> None:
        """Write the trace, and add the last events to the error that has ended the episode.

        Args:
            fault: That error; None without an error.
            notes: Plain values about the episode, for the trace.

        Raises:
            UsageError: The trace cannot be written, and the episode has no error of its own.
        """
        if fault is not None and self._last is not None:
            fault.add_note(self._last.text())
        if self._file is not None and self._tracer is not None:
            from desim.tracing.trace_file import save_trace

            # The fault of the episode says more than one of its trace.
            with contextlib.suppress(UsageError) if fault else contextlib.nullcontext():
                save_trace(self._tracer, self._file, notes)
