"""A record made of a trajectory that desim exported; see `atif`.

The file may come from a stranger: it is read as data within limits, and nothing that it names is
imported, opened or contacted. Calls of models stay in the file: the record has the decisions and
their usage, and replays to the same result.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from desim.errors import BadRecord
from desim.exports.atif import OWN, OWN_FORMAT
from desim.records.episode import Episode
from desim.records.lines import FailureLine, Header, ResultLine, Step
from desim.records.recorder import Recorder
from desim.schema.untrusted import decode_json
from desim.short_repr import cut, shown
from desim.show.files import new_file, read_regular

#: Limit of a trajectory: 256 MiB, several times the largest that desim writes.
MAX_BYTES = 256 << 20


def import_trajectory(path: str | Path, record: str | Path) -> Episode:
    """Write the record of a trajectory that desim exported.

    Args:
        path: The trajectory.
        record: A new file, gzipped if its name ends in .gz.

    Returns:
        The episode, as it is read from the record.

    Raises:
        BadRecord: The file is too large, no JSON, or no trajectory of desim, or its lines are not
            those of a record; nothing is written.
        UsageError: The record exists or cannot be written.
    """
    plain = _trajectory_of(Path(path))
    try:
        header, steps, end = _lines_of(plain)
        with new_file(Path(record)) as partial:
            _write(partial, header, steps, end)
            return _read_again(partial, end)
    except (msgspec.ValidationError, BadRecord) as fault:
        raise BadRecord(f"{path} cannot become a record: {cut(str(fault))}") from None


def _trajectory_of(path: Path) -> dict[str, Any]:
    """Return the content of a file that is a trajectory of desim."""
    try:
        plain = decode_json(read_regular(path, MAX_BYTES))
    except OSError as fault:
        raise BadRecord(f"cannot read {path}: {fault.strerror}") from None
    except ValueError as fault:
        raise BadRecord(f"{path} is no trajectory: {cut(str(fault))}") from None
    match plain:
        case {"extra": {"desim": {"format": form}}, "steps": [*_]}:
            if form == OWN_FORMAT:
                return dict(plain)
            raise BadRecord(f"{path} has the format {shown(form)}; this desim reads {OWN_FORMAT!r}")
    raise BadRecord(
        f"{path} is no trajectory that desim wrote, so it holds no model, seed and decisions; "
        "desim export RECORD --format atif writes such a file"
    )


def _lines_of(plain: dict[str, Any]) -> tuple[Header, list[Step], ResultLine | FailureLine | None]:
    """Return the lines of the record.

    Raises:
        msgspec.ValidationError: A line does not have its fields.
    """
    own = plain["extra"][OWN]
    steps = [msgspec.convert(line, Step) for line in _decisions(plain["steps"])]
    header = msgspec.convert(own.get("header"), Header)
    if "failure" in own:
        return header, steps, msgspec.convert(own["failure"], FailureLine)
    return header, steps, msgspec.convert(own.get("result"), ResultLine | None)


def _decisions(steps: list[Any]) -> Iterator[Any]:
    for step in steps:
        match step:
            case {"extra": {"desim": {"decision": line}}}:
                yield line


def _write(
    path: Path, header: Header, steps: list[Step], end: ResultLine | FailureLine | None
) -> None:
    with Recorder(path) as recorder:
        recorder.head(header)
        for step in steps:
            recorder.step(step)
        if isinstance(end, ResultLine):
            recorder.result(end.result())
        elif end is not None:
            recorder.failure(end)


def _read_again(path: Path, end: ResultLine | FailureLine | None) -> Episode:
    """Read what was written as a record from outside is read, before it has its name."""
    try:
        episode = Episode.read(path, whole=False)
    except BadRecord as fault:
        raise BadRecord(str(fault).removeprefix(f"{path}: ")) from None
    if end is not None and end.decisions != len(episode.steps):
        raise BadRecord(f"it has {len(episode.steps)} decisions, its end counts {end.decisions}")
    return episode
