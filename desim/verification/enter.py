"""Entries come on a board and leave it: verified first, then copied, then in the log."""

import shutil
from pathlib import Path

from desim.errors import BadRecord, UsageError
from desim.show.progress import Count
from desim.verification.boards.board_log import Event, SignedLine
from desim.verification.boards.entry_board import ENTRIES, SHORT, VERDICT, EntryBoard
from desim.verification.checked_jobs import CheckProcesses
from desim.verification.entries.entry_folder import EntryFolder
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.signed.canonical import canonical
from desim.verification.signed.keys import PrivateKey
from desim.verification.verify import Verdict, verify


def enter(
    board: EntryBoard,
    entry: Path,
    key: PrivateKey,
    workers: CheckProcesses | None = None,
    server: ListedServer | None = None,
    progress: Count = lambda *_: None,
) -> tuple[Verdict, SignedLine | None]:
    """Verify an entry and put it on a board.

    Args:
        board: The board.
        entry: The folder of the entry.
        key: The board's private key.
        workers: Processes that play episodes again; this one where None.
        server: The server of an entry with sealed seeds.
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
    verdict = verify(entry, workers=workers, board=board.log, server=server, progress=progress)
    if verdict.decision != "accepted":
        return verdict, None
    for other in board.entries():
        if other.digest == verdict.manifest:
            raise UsageError(f"{entry} is on the board already")
        if manifest.session and other.manifest.session == manifest.session:
            raise UsageError(f"session {manifest.session} was entered as {other.manifest.name!r}")
        same = other.manifest.records == manifest.records
        if same and other.manifest.key != manifest.key:
            raise UsageError(f"the records of {entry} are those of {other.manifest.name!r}")
    _copy(board, entry, verdict)
    return verdict, board.log.add("entry", verdict.manifest, key, sender=manifest.key)


def leave(
    board: EntryBoard, digest: str, key: PrivateKey, note: str, *, removal: bool
) -> SignedLine:
    """Enter in the log that an entry was withdrawn or removed; it stays in the folder.

    Args:
        board: The board.
        digest: The beginning of the entry's digest.
        key: The board's private key.
        note: Why, in a sentence.
        removal: Whether the maintainer removes it; otherwise its owner withdraws it.

    Raises:
        UsageError: No entry, or more than one, has this digest.
    """
    found = [one for one in board.entries() if one.digest.startswith(digest) and not one.ended]
    if len(found) != 1 or not digest:
        raise UsageError(f"{len(found)} entries of the board begin with {digest!r}; give one")
    event: Event = "removal" if removal else "withdrawal"
    return board.log.add(event, found[0].digest, key, note=note)


def _copy(board: EntryBoard, entry: Path, verdict: Verdict) -> None:
    """Copy an entry with its verdict to the folder of the board, whole or not at all."""
    folder = board.path / ENTRIES / verdict.manifest[:SHORT]
    partial = folder.with_name(f".{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(entry, partial)
        scores = {w: {s: list(v) for s, v in by.items()} for w, by in verdict.scores.items()}
        shown = {"actions": verdict.actions, "scores": scores, "warnings": [*verdict.warnings]}
        shown |= {"counted": verdict.counted} if verdict.counted else {}
        (partial / VERDICT).write_bytes(canonical(shown))
        if folder.exists():  # of a process that was killed before the log named it
            shutil.rmtree(folder)
        partial.rename(folder)
    except OSError as fault:
        raise BadRecord(f"cannot copy {entry} to the board: {fault.strerror}") from None
