"""The trace of a recorded episode, which is replayed for it."""

from collections.abc import Mapping
from pathlib import Path

from desim.episodes.branch import repeated_whole
from desim.episodes.episode import Episode
from desim.episodes.trust import trusted_model
from desim.errors import BadRecord, DesimError, UsageError

__all__ = ["write_trace"]


def write_trace(
    record: str | Path,
    out: str | Path,
    *,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
) -> Path:
    """Replay a record and write a trace of it, as `play` writes one with `trace`.

    Args:
        record: A record; one that was cut is traced up to its last decision.
        out: A new file, whose folder is made; compressed if its name ends in .gz.
        trust: Whether a module may be imported and files may be opened that the record names.
        model: A model instead of the recorded one, which may be `module:Class`.
        params: Parameters as text instead of the recorded ones, which may name files.

    Returns:
        The file.

    Raises:
        BadRecord: The record cannot be read, or a decision or its ledgers differ.
        UsageError: The record would import a module or open a file, or *out* exists or cannot be
            written.
    """
    from desim.tracing.trace_file import check_new_trace, save_trace
    from desim.tracing.tracer import Tracer

    file = check_new_trace(out)
    episode = Episode.read(record, whole=False, keep_steps=False)
    built = trusted_model(record, episode.header, trust=trust, name=model, params=params)
    tracer = Tracer()
    try:
        repeated_whole(built, episode, observers=[tracer])
    except DesimError as fault:
        raise BadRecord(f"{record}: {fault}") from None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {file}: {fault.strerror}") from None
    save_trace(tracer, file, {"policies": episode.header.policies})
    return file
