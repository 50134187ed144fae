"""The notepad: what the officer writes down outlives the month, and costs nothing."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from attrs import asdict

from models.enterprise_arena.actions import RecallNotes, SaveNote
from models.enterprise_arena.company import Company
from models.enterprise_arena.observation import Noted, Reply

__all__ = ["latest", "use"]


def use(company: Company, command: SaveNote | RecallNotes) -> Reply | None:
    """Write or find notes; None once the guard has had enough of it this month."""
    company.note_calls += 1
    limit = company.game.note_limit
    if limit is not None and company.note_calls > limit:
        return None
    if isinstance(command, SaveNote):
        return _save(company, command)
    return _recall(company, command)


def latest(company: Company) -> tuple[Noted, ...]:
    """Return the notes that every observation shows, the newest first."""
    notepad = company.notepad
    if not notepad:
        return ()
    return tuple(islice(reversed(notepad), company.game.notes_shown))


def _save(company: Company, command: SaveNote) -> Reply:
    number = len(company.notepad) + 1
    note = Noted(f"note_{number}", company.month, command.content, command.tags)
    company.notepad.append(note)
    return Reply("save_note", ok=True, out={"id": note.id, "month": note.month})


def _recall(company: Company, command: RecallNotes) -> Reply:
    if command.limit < 1:
        fault = f"limit={command.limit} was given; it is at least 1"
        return Reply("recall_notes", ok=False, out=fault)
    found = islice(_matches(company.notepad, command), command.limit)
    return Reply("recall_notes", ok=True, out={"notes": [_plain(note) for note in found]})


def _matches(notepad: list[Noted], wanted: RecallNotes) -> Iterator[Noted]:
    """Go through the notes that hold the query and any of the tags, the newest first."""
    query, tags = wanted.query.casefold(), set(wanted.tags)
    for note in reversed(notepad):
        if query in note.content.casefold() and (not tags or tags & set(note.tags)):
            yield note


def _plain(note: Noted) -> dict[str, Any]:
    return {**asdict(note), "tags": list(note.tags)}
