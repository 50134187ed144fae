"""What each command of the officer does, and the reply to it."""

from models.enterprise_arena import funding, notepad, tools
from models.enterprise_arena.actions import (
    BookClosing,
    Command,
    FundRaisingRequest,
    Pass,
    RecallNotes,
    SaveNote,
)
from models.enterprise_arena.observation import CommandReply
from models.enterprise_arena.state import Lender

__all__ = ["execute"]


def execute(lender: Lender, command: Command) -> bool:
    """Carry out a command, keep its reply, and return whether it ends the month.

    A refused request ends it once `free_refusals` of the month are used up. A use of the notepad
    beyond `note_limit` counts as a pass.
    """
    match command:
        case FundRaisingRequest(type=kind, amount=amount):
            lender.counts["requests"] += 1
            lender.reply = submitted = funding.submit(lender, kind, amount)
            return submitted.ok or lender.refusals > lender.params.free_refusals
        case Pass() | BookClosing():
            lender.reply = _act(lender, command)
            return True
        case SaveNote() | RecallNotes():
            reply = notepad.use(lender, command)
            lender.reply = reply or _act(lender, Pass())
            return reply is None
        case _:
            lender.reply = tools.call(lender, command)
            return False


def _act(lender: Lender, action: Pass | BookClosing) -> CommandReply:
    """Carry out an action that is never refused."""
    match action:
        case BookClosing():
            lender.counts["closings"] += 1
            lender.closings.append(lender.month)
            closed = lender.macro.label[lender.month]
            return CommandReply("book_closing", ok=True, out={"closed": closed})
        case Pass():
            lender.counts["passes"] += 1
            return CommandReply("pass", ok=True, out={})
