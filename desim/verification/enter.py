"""Entries come on a board and leave it: verified first, then copied, then in the log."""

import shutil
from pathlib import Path
from typing import Any

import msgspec

from desim.errors import BadRecord, UsageError
from desim.show.progress import Count
from desim.verification.boards.board_log import Event, SignedLine
from desim.verification.boards.entry_board import (
    ENTRIES,
    SHORT,
    VERDICT,
    EntryBoard,
    VerdictFile,
)
from desim.verification.checked_jobs import CheckProcesses
from desim.verification.entries.entry_folder import EntryFolder
from desim.verification.entries.entry_manifest import EntryManifest
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.signed.canonical import digest
from desim.verification.signed.keys import PrivateKey
from desim.verification.verify import MOST_MINUTES, Verdict, verify


def enter(
    board: EntryBoard,
    entry: Path,
    key: PrivateKey,
    workers: CheckProcesses | None = None,
    server: ListedServer | None = None,
    minutes: float = MOST_MINUTES,
    progress: Count = lambda *_: None,
) -> tuple[Verdict, SignedLine | None]:
    """Verify an entry and put it on a board.

    Args:
        board: The board.
        entry: The folder of the entry.
        key: The board's private key.
        workers: Processes that play episodes again; this one where None.
        server: The server of an entry with sealed seeds.
        minutes: As for `verify`.
        progress: As for `verify`.

    Returns:
        The verdict, and the line of the log; None if the entry was not accepted.

    Raises:
        UsageError: It is on the board, its records are those of another entry, it is not signed, or
            it was played in a sealed session and the log of the server is not given.
    """
    manifest = EntryFolder.opened(entry).manifest()
    if not manifest.key:
        raise UsageError(f"{entry} is not signed; desim submit --key signs it")
    if manifest.seeds == "sealed" and (server is None or server.log is None):
        raise UsageError(
            f"{entry} has a sealed session; give the public folder of its server (--server), whose "
            "log holds all sessions of its key"
        )
    verdict = verify(
        entry, workers=workers, board=board.log, server=server, minutes=minutes, progress=progress
    )
    if verdict.decision != "accepted":
        return verdict, None
    for other in board.entries():
        if other.digest == verdict.manifest:
            raise UsageError(f"{entry} is on the board already")
        if manifest.session and other.manifest.session == manifest.session:
            raise UsageError(f"session {manifest.session} was entered as {other.manifest.name!r}")
        if manifest.commitment and other.manifest.commitment == manifest.commitment:
            raise UsageError(f"the commitment was entered as {other.manifest.name!r}")
        _check_own(entry, manifest, other.manifest, verdict)
    scores = {w: {s: [*v] for s, v in by.items()} for w, by in verdict.scores.items()}
    shown: Any = {"scores": scores, "warnings": [*verdict.warnings], "counted": verdict.counted}
    file = msgspec.convert({"actions": verdict.actions, **shown}, VerdictFile)
    _copy(board, entry, verdict.manifest, file)
    sealed = digest(file.content)
    return verdict, board.log.add(
        "entry", verdict.manifest, key, sender=manifest.key, verdict=sealed
    )


def _check_own(
    entry: Path, manifest: EntryManifest, other: EntryManifest, verdict: Verdict
) -> None:
    """Check that the records of an entry are not those of another key or name.

    Rules play the same record for everybody, so that a single one in common proves nothing. Copies
    of one rule would widen the ranks of all.

    Raises:
        UsageError: All of them are; or, of language models, a single one is.
    """
    shared = {*manifest.records.values()} & {*other.records.values()}
    every = shared == {*manifest.records.values()} == {*other.records.values()}
    of_another = (other.key, other.name) != (manifest.key, manifest.name)
    if of_another and (every or (shared and verdict.actions == "parsed again")):
        raise UsageError(
            f"{len(shared):,} of the records of {entry} are those of {other.name!r}, entered before"
        )


def leave(
    board: EntryBoard, entry: str, key: PrivateKey, note: str, *, removal: bool
) -> SignedLine:
    """Enter in the log that an entry was withdrawn or removed; it stays in the folder.

    Args:
        board: The board.
        entry: The beginning of the entry's digest.
        key: The board's private key.
        note: Why, in a sentence.
        removal: Whether the maintainer removes it; otherwise its owner withdraws it.

    Raises:
        UsageError: No entry, or more than one, has this digest.
    """
    found = [one for one in board.entries() if one.digest.startswith(entry) and not one.ended]
    if len(found) != 1 or not entry:
        raise UsageError(f"{len(found)} entries of the board begin with {entry!r}; give one")
    event: Event = "removal" if removal else "withdrawal"
    return board.log.add(event, found[0].digest, key, note=note)


def _copy(board: EntryBoard, entry: Path, manifest: str, verdict: VerdictFile) -> None:
    """Copy an entry with its verdict to the folder of the board, whole or not at all."""
    folder = board.path / ENTRIES / manifest[:SHORT]
    partial = folder.with_name(f".{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(entry, partial)
        (partial / VERDICT).write_bytes(verdict.content)
        if folder.exists():  # of a process that was killed before the log named it
            shutil.rmtree(folder)
        partial.rename(folder)
    except OSError as fault:
        raise BadRecord(f"cannot copy {entry} to the board: {fault.strerror}") from None
