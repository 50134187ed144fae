"""The file of a trace."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.errors import UsageError
from desim.show.files import write_whole
from desim.tracing.chrome import chrome_events
from desim.tracing.tracer import Tracer
from desim.version import __version__

#: Of zlib, for the format of gzip without a time: equal traces are equal files.
_GZIP = 31


def check_new_trace(path: str | Path) -> Path:
    """Return the path of a trace whose folder may be made for it.

    Raises:
        UsageError: The file exists.
    """
    file = Path(path)
    if file.exists():
        raise UsageError(f"{file} exists; a trace is written into a new file")
    return file


def check_trace_file(path: str | Path) -> Path:
    """Return the path of a trace that is to be written after an episode.

    Raises:
        UsageError: The file exists, or its folder does not.
    """
    file = check_new_trace(path)
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {str(file.parent)!r} for the trace {file.name!r}")
    return file


def save_trace(tracer: Tracer, path: Path, notes: Mapping[str, Any] | None = None) -> None:
    """Write a trace as Chrome trace JSON, compressed if the name ends in .gz.

    Args:
        tracer: The tracer of an episode that has ended or failed; this function finishes it.
        path: The file; an existing one is replaced.
        notes: Plain values about the episode, for the metadata of the trace.

    Raises:
        UsageError: The file cannot be written; nothing is left behind.
    """
    tracer.finish()
    lines = _lines(tracer, notes or {})
    write_whole(path, _compressed(lines) if path.name.endswith(".gz") else lines)


def _lines(tracer: Tracer, notes: Mapping[str, Any]) -> Iterator[bytes]:
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
    yield b'{"displayTimeUnit":"ms","otherData":%b,"traceEvents":[\n' % encode(about)
    first = True
    for event in chrome_events(tracer):
        yield encode(event) if first else b",\n" + encode(event)
        first = False
    yield b"\n]}\n"


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=_GZIP)
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()
