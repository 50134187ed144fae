"""Go on with an episode whose record was cut."""

from pathlib import Path
from typing import Any

from desim.episode import PERSON, Episode
from desim.errors import BadRecord, UsageError
from desim.play import finish_async
from desim.seating import Policies
from desim.table import Table

__all__ = ["resume", "resume_async"]


def resume(path: str | Path, policies: Policies = None) -> Episode:
    """Play a cut record on to its end, in the same file.

    The policies are built as they were and asked again; the decisions on record must come out the
    same. What a policy had put on record between decisions it is given back, so that no paid call
    is made twice.

    Args:
        path: The record of a killed run. One that is whole is left as it is.
        policies: Who sits where, if the record's names do not say how to build them.

    Returns:
        The whole episode.

    Raises:
        BadRecord: The record cannot be read, or a policy decides otherwise than on record.
        UsageError: A policy cannot be built from the name on record.
    """
    cut = Episode.read(path, whole=False)
    if cut.result is not None:
        return cut
    with _table(path, cut, policies) as table:
        return table.played()


async def resume_async(path: str | Path, policies: Policies = None) -> Episode:
    """Play a cut record on to its end with policies of which some are coroutines; as `resume`."""
    cut = Episode.read(path, whole=False)
    if cut.result is not None:
        return cut
    with _table(path, cut, policies) as table:
        return await finish_async(table)


def _table(path: str | Path, cut: Episode, policies: Any) -> Table:
    header = cut.header
    if policies is None and PERSON in header.policies.values():
        raise UsageError(f"{path}: a person plays there; desim play with --record {path} goes on")
    try:
        given = header.policies if policies is None else policies
        return Table(header.build(), given, header.seed, path, header.policies, cut)
    except BadRecord as fault:
        raise BadRecord(f"{path}: {fault}") from None
    except UsageError as fault:
        if policies is not None:
            raise
        raise UsageError(
            f"{path}: {fault}; a policy that its name does not build is given by "
            "desim.resume(path, policies)"
        ) from None
