"""The notepad: notes are free and kept for the whole episode.

The header of a month: the observation with which each of its decisions begins.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from attrs import asdict, fields

from desim.show.column import money_text
from models.enterprise_arena.accounting.accounts import CASH, dollars
from models.enterprise_arena.actions import (
    BookClosing,
    Command,
    FundRaisingRequest,
    Pass,
    RecallNotes,
    SaveNote,
)
from models.enterprise_arena.observation import BareMonth, CommandReply, Header, Month, Note
from models.enterprise_arena.state import Lender

#: Notes at most, with text of `LONGEST_TEXT` characters each; no published game writes a hundred.
MOST_NOTES = 10_000


def use(lender: Lender, command: SaveNote | RecallNotes) -> CommandReply | None:
    """Write or find notes; return None beyond `note_limit`: the month then passes."""
    lender.note_calls += 1
    limit = lender.params.note_limit
    if limit is not None and lender.note_calls > limit:
        return None
    if isinstance(command, SaveNote):
        return _save(lender, command)
    return _recall(lender, command)


def latest(lender: Lender) -> tuple[Note, ...]:
    """Return the notes that every observation shows, the newest first."""
    notepad = lender.notepad
    if not notepad:
        return ()
    return tuple(islice(reversed(notepad), lender.params.notes_shown))


def effect(lender: Lender, command: Command) -> str:
    """Return what a command that was carried out did, in sentences."""
    params, last = lender.params, lender.month - 1
    match command:
        case SaveNote() | RecallNotes():
            return ""
        case Pass():
            return _month_over(lender, last)
        case BookClosing():
            label = lender.macro.label[last]
            return f"{_month_over(lender, last)} The statements of {label} can be read from now on."
        case FundRaisingRequest(type=kind, amount=amount):
            soonest, latest = params.delay_range
            return (
                f"{_month_over(lender, last)} {money_text(amount)} of {kind} that you asked for "
                f"arrive {soonest} to {latest} months after it, if at all."
            )
    if not params.tool_charge:
        return ""
    return f"The call took {money_text(params.tool_charge)} off your score."


def _month_over(lender: Lender, month: int) -> str:
    """Return by how much cash changed in a month that is over, if the header shows it."""
    if lender.params.header != "full":
        return f"{lender.macro.label[month]} is over."
    book = lender.books.book
    change = dollars(book.balance(CASH, at=month) - book.balance(CASH, at=month - 1))
    moved = "rose" if change >= 0 else "fell"
    return f"Cash {moved} by {money_text(abs(change))} in {lender.macro.label[month]}."


def _save(lender: Lender, command: SaveNote) -> CommandReply:
    if len(lender.notepad) >= MOST_NOTES:
        fault = f"the notepad holds {MOST_NOTES:,} notes, its limit"
        return CommandReply("save_note", ok=False, out=fault)
    number = len(lender.notepad) + 1
    note = Note(f"note_{number}", lender.month, command.content, command.tags)
    lender.notepad.append(note)
    return CommandReply("save_note", ok=True, out={"id": note.id, "month": note.month})


def _recall(lender: Lender, command: RecallNotes) -> CommandReply:
    if command.limit < 1:
        fault = f"limit={command.limit} was given; it is at least 1"
        return CommandReply("recall_notes", ok=False, out=fault)
    notes = islice(_matches(lender.notepad, command), command.limit)
    return CommandReply("recall_notes", ok=True, out={"notes": [_plain(note) for note in notes]})


def _matches(notepad: list[Note], command: RecallNotes) -> Iterator[Note]:
    """Yield the notes that contain the query and have any of the tags, the newest first."""
    query, tags = command.query.casefold(), set(command.tags)
    for note in reversed(notepad):
        if query in note.content.casefold() and (not tags or tags & set(note.tags)):
            yield note


def _plain(note: Note) -> dict[str, Any]:
    return {**asdict(note), "tags": list(note.tags)}


def observe(lender: Lender) -> Header:
    """Return the officer's observation without a tool call, by the parameter `header`."""
    month = full(lender)
    if lender.params.header == "full":
        return month
    return BareMonth(**{each.name: getattr(month, each.name) for each in fields(BareMonth)})


def full(lender: Lender) -> Month:
    """Return the header with the state of the company."""
    params, month = lender.params, lender.month
    return Month(
        current_month=month,
        date=lender.macro.label[month],
        cash_balance=dollars(lender.cash),
        active_users=round(lender.users),
        loan_portfolio_gross=dollars(lender.gross_loans),
        total_debt=dollars(lender.debt),
        lending_rate=round(lender.lending_rate, 6),
        pending_fundraisings=int(lender.request is not None),
        tool_calls_remaining=params.tool_budget - lender.calls[-1],
        # Copies, because a policy may write into what it observes.
        notifications=tuple([dict(outcome) for outcome in lender.notifications]),
        notes=latest(lender),
        reply=lender.reply,
        flash=_flash(lender) if params.flash and month else None,
    )


def _flash(lender: Lender) -> dict[str, float]:
    """Return three figures of the month just closed, dollars."""
    last = lender.month - 1
    cash, before = (lender.books.book.balance(CASH, at=at) for at in (last, last - 1))
    return {
        "revenue": dollars(lender.revenue(last)),
        "net_cash_flow": dollars(cash - before),
        "cash": dollars(cash),
    }
