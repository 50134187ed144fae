"""The effect of each command of the officer, and the reply to it (SPEC sections 9 to 11).

The functions behind the tools return only what the officer may see: documents on file, series up to
the present month, and a projection from the present position. Notes are free and kept for the whole
episode.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

from attrs import asdict, fields

from desim.schema import tag
from desim.show.column import money_text
from models.enterprise_arena import documents, funding, projection
from models.enterprise_arena.books import CASH, dollars
from models.enterprise_arena.desk import (
    AnalyzeMarketConditions,
    BareMonth,
    BookClosing,
    Command,
    CommandRefused,
    CommandReply,
    ConductCashflowProjection,
    FundRaisingRequest,
    Header,
    Month,
    Note,
    Pass,
    RecallNotes,
    ReviewFinancialRecords,
    SaveNote,
    Tool,
    VerifyCashPosition,
    unknown,
)
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.options import SERIES, SERIES_COLUMNS

#: Notes at most, with text of `LONGEST_TEXT` characters each; no published game writes a hundred.
MOST_NOTES = 10_000


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
        case BookClosing():
            lender.counts["closings"] += 1
            lender.closings.append(lender.month)
            closed = lender.macro.label[lender.month]
            lender.reply = CommandReply("book_closing", ok=True, out={"closed": closed})
            return True
        case SaveNote() | RecallNotes():
            lender.note_calls += 1
            limit = lender.params.note_limit
            if limit is not None and lender.note_calls > limit:
                return execute(lender, Pass())
            lender.reply = _noted(lender, command)
            return False
        case Pass():
            lender.counts["passes"] += 1
            lender.reply = CommandReply("pass", ok=True, out={})
            return True
        case _:
            lender.reply = call(lender, command)
            return False


def effect(lender: Lender, command: Command) -> str:
    """Return what a command that was carried out did, in sentences."""
    params = lender.params
    match command:
        case SaveNote() | RecallNotes():
            return ""
        case Pass():
            return _month_over(lender)
        case BookClosing():
            label = lender.macro.label[lender.month - 1]
            return f"{_month_over(lender)} The statements of {label} can be read from now on."
        case FundRaisingRequest(type=kind, amount=amount):
            soonest, latest = params.delay_range
            return (
                f"{_month_over(lender)} {money_text(amount)} of {kind} that you asked for "
                f"arrive {soonest} to {latest} months after it, if at all."
            )
    if not params.tool_charge:
        return ""
    return f"The call took {money_text(params.tool_charge)} off your score."


def _month_over(lender: Lender) -> str:
    label = lender.macro.label[lender.month - 1]
    if lender.params.header != "full":
        return f"{label} is over."
    change = dollars(_change_of_cash(lender))
    moved = "rose" if change >= 0 else "fell"
    return f"Cash {moved} by {money_text(abs(change))} in {label}."


def _change_of_cash(lender: Lender) -> int:
    """Return the change of cash in the month just closed, cents."""
    book, last = lender.books.book, lender.month - 1
    return book.balance(CASH, at=last) - book.balance(CASH, at=last - 1)


# -- the header of a month -------------------------------------------------------------------------


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
        notes=tuple(islice(reversed(lender.notepad), params.notes_shown)),
        reply=lender.reply,
        flash=_flash(lender) if params.flash and month else None,
    )


def _flash(lender: Lender) -> dict[str, float]:
    last = lender.month - 1
    return {
        "revenue": dollars(lender.revenue(last)),
        "net_cash_flow": dollars(_change_of_cash(lender)),
        "cash": dollars(lender.books.book.balance(CASH, at=last)),
    }


# -- tools -----------------------------------------------------------------------------------------


def call(lender: Lender, tool: Tool) -> CommandReply:
    """Call a tool. A call that fails counts as well; one beyond the budget does not."""
    cls: Any = type(tool)
    name, budget = tag(cls), lender.params.tool_budget
    if lender.calls[-1] >= budget:
        used_up = (
            f"the {budget} tool calls of this month are used up; decide the month with pass, "
            "book_closing or fund_raising_request"
        )
        return CommandReply(name, ok=False, out=used_up)
    lender.calls[-1] += 1
    try:
        out = next(run for cls, run in _TOOLS.items() if isinstance(tool, cls))(lender, tool)
    except CommandRefused as refused:
        return CommandReply(name, ok=False, out=str(refused))
    lender.answered.append((lender.month, tool))
    return CommandReply(name, ok=True, out=out)


def _cash(lender: Lender, _: VerifyCashPosition) -> dict[str, Any]:
    cash = {"cash_balance": dollars(lender.cash)}
    if lender.params.cash_tool == "scalar":
        return cash
    return {
        "date": lender.macro.label[lender.month],
        **cash,
        "loan_portfolio_gross": dollars(lender.gross_loans),
        "total_debt": dollars(lender.debt),
        "equity_raised": dollars(lender.raised["equity"]),
        "active_users": round(lender.users),
        "lending_rate": round(lender.lending_rate, 6),
    }


def _documents(lender: Lender, tool: ReviewFinancialRecords) -> Any:
    if tool.action not in documents.ACTIONS:
        why = unknown("action", tool.action, documents.ACTIONS)
        raise CommandRefused(f"{why} Possible: {', '.join(documents.ACTIONS)}")
    files = documents.on_file(lender)
    if tool.action == "list":
        return {"documents": documents.catalogued(files)}
    return documents.retrieved(files, tool.filename)


def _market(lender: Lender, tool: AnalyzeMarketConditions) -> dict[str, Any]:
    name, start, now = tool.data_type, tool.start_month, lender.month
    values = series_until_now(lender, name)
    last = now if tool.end_month is None else tool.end_month
    if start < 0 or last < 0:
        raise CommandRefused(
            f"start_month={start} and end_month={last} were given; months count from 0"
        )
    if start > len(values) - 1:
        raise CommandRefused(
            f"start_month={start} was given; data ends with the present month, {len(values) - 1}"
        )
    if start > last:
        raise CommandRefused(f"start_month={start} is after end_month={last}")
    labels = lender.macro.label[: now + 1]
    return {
        "data_type": name,
        "labels": list(labels[start : last + 1]),
        "values": list(values[start : last + 1]),
    }


def series_until_now(lender: Lender, name: str) -> tuple[float, ...]:
    """Return a market series from month 0 to the present month; later months are not in it.

    Raises:
        CommandRefused: The name is not that of a series.
    """
    if name not in SERIES_COLUMNS:
        names = ", ".join(SERIES)
        raise CommandRefused(f"{unknown('data_type', name, SERIES)} Possible: {names}")
    column = SERIES_COLUMNS[name]
    values: tuple[float, ...] = getattr(lender.macro, column) if column else lender.growth
    return values[: lender.month + 1]


def _projection(lender: Lender, tool: ConductCashflowProjection) -> dict[str, Any]:
    longest = lender.params.projection_longest
    if not 1 <= tool.months <= longest:
        raise CommandRefused(
            f"months={tool.months} was given; a projection covers 1 to {longest} months"
        )
    return projection.project(lender, tool.months, tool.growth_rate_override)


_TOOLS: dict[type[Tool], Callable[[Lender, Any], Any]] = {
    VerifyCashPosition: _cash,
    ReviewFinancialRecords: _documents,
    AnalyzeMarketConditions: _market,
    ConductCashflowProjection: _projection,
}


# -- the notepad -----------------------------------------------------------------------------------


def _noted(lender: Lender, command: SaveNote | RecallNotes) -> CommandReply:
    """Write a note, or find those that contain the query and have any of the tags."""
    cls: Any = type(command)
    name, notepad = tag(cls), lender.notepad
    if isinstance(command, SaveNote):
        if len(notepad) >= MOST_NOTES:
            fault = f"the notepad holds {MOST_NOTES:,} notes, its limit"
            return CommandReply(name, ok=False, out=fault)
        note = Note(f"note_{len(notepad) + 1}", lender.month, command.content, command.tags)
        notepad.append(note)
        return CommandReply(name, ok=True, out={"id": note.id, "month": note.month})
    if command.limit < 1:
        fault = f"limit={command.limit} was given; it is at least 1"
        return CommandReply(name, ok=False, out=fault)
    query, tags = command.query.casefold(), set(command.tags)
    found = (
        {**asdict(note), "tags": list(note.tags)}
        for note in reversed(notepad)
        if query in note.content.casefold() and (not tags or tags & set(note.tags))
    )
    return CommandReply(name, ok=True, out={"notes": list(islice(found, command.limit))})
