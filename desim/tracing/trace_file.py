"""Observers of a running episode, and the file of its trace."""

import contextlib
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.core.run import Observer
from desim.errors import UsageError
from desim.show.files import check_new, write_new
from desim.tracing.chrome import chrome_events
from desim.tracing.last_events import LastEvents
from desim.tracing.tracer import Tracer
from desim.version import __version__


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
        self._file = Path(trace) if trace is not None else None
        if self._file is not None:
            check_new([self._file])
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
            # The fault of the episode says more than one of its trace.
            with contextlib.suppress(UsageError) if fault else contextlib.nullcontext():
                save_trace(self._tracer, self._file, notes)


def save_trace(tracer: Tracer, path: Path, notes: Mapping[str, Any] | None = None) -> None:
    """Write a trace as Chrome trace JSON, compressed if the name ends in .gz.

    Args:
        tracer: The tracer of an episode that has ended or failed; this function finishes it.
        path: A new file; its folder is made.
        notes: Plain values about the episode, for the metadata of the trace.

    Raises:
        UsageError: The file exists or cannot be written; nothing is left behind.
    """
    tracer.finish()
    content = _content(tracer, notes or {})
    write_new(path, [gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content])


def _content(tracer: Tracer, notes: Mapping[str, Any]) -> bytes:
    encode = msgspec.json.encode
    about = {
        "desim": __version__,
        "model": type(tracer.run.model).__name__,
        "seed": tracer.run.world.seed,
        "time": tracer.clock.unit,
        "order": "what happens at one instant is drawn in its order, 1 microsecond apart",
        "ended": tracer.run.world.ended or "still running",
        **({"cut": tracer.cut} if tracer.cut else {}),
        **notes,
    }
    events = b",\n".join(map(encode, chrome_events(tracer)))
    return b'{"displayTimeUnit":"ms","otherData":%b,"traceEvents":[\n%b\n]}\n' % (
        encode(about),
        events,
    )
