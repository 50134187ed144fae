"""Sensible commands at a desk with their values, for `greedy`, `random` and a person's menu.

They follow from the last reply: after a look at the market, accept one of its tasks; after an
acceptance, assign people to it; after the assignment, dispatch it; while work is under way, resume.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from desim import Option
from models.yc_bench.actions import (
    Command,
    EmployeeList,
    EndTurn,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
)
from models.yc_bench.commands.commandline import line_of
from models.yc_bench.observation import CommandReply, FounderDesk

#: The console's line of a look at the market.
_LOOK = line_of(MarketBrowse())


def options(desk: FounderDesk) -> list[Option]:
    """Return commands that the world takes now, the likeliest first; values are in dollars."""
    return [*_steps(desk), Option(EndTurn(), -2.0, "end the turn")]


def default_action(desk: FounderDesk) -> Command:
    """Return a resume where a task is active, otherwise the end of the turn."""
    return SimResume() if desk.active else EndTurn()


def _steps(desk: FounderDesk) -> Iterator[Option]:
    reply = desk.reply
    if desk.planned:
        yield from _prepare(desk.planned[0], reply)
    elif desk.active:
        yield Option(SimResume(), 0.0, "let time pass")
        yield Option(MarketBrowse(), -1.0, "look for more work")
    elif rows := _rows(reply, "tasks", "requirements"):
        yield from (_accept(row) for row in rows)
    elif reply is None or reply.command != _LOOK:
        # An empty market is not looked at twice in a turn.
        yield Option(MarketBrowse(), 0.0, "look for work")


def _prepare(title: str, reply: CommandReply | None) -> Iterator[Option]:
    """Yield the steps that a planned task needs next: people, then its dispatch."""
    out = reply.out if reply is not None and isinstance(reply.out, Mapping) else {}
    if out.get("task_id") == title and out.get("total_assigned"):
        yield Option(TaskDispatch(title), 0.0, "start the work")
        return
    if staff := _rows(reply, "employees", "skill_rates"):
        names = [who["name"] for who in staff]
        half = len(names) // 2
        yield Option(TaskAssign(title, tuple(names)), 0.0, "everybody")
        yield Option(TaskAssign(title, tuple(names[: half or 1])), -0.5, "the first half")
        yield Option(TaskAssign(title, tuple(names[half:])), -0.5, "the second half")
        return
    yield Option(EmployeeList(), 0.0, "look who there is")


def _accept(row: Mapping[str, Any]) -> Option:
    needs = row["requirements"]
    domains = " + ".join([need["domain"] for need in needs])
    units = needs[0]["required_qty"]
    note = f"{row['client_name']}, {domains}, {units:,.0f} units"
    return Option(TaskAccept(row["task_id"]), row["reward_funds_cents"] / 100, note)


def _rows(reply: CommandReply | None, key: str, column: str) -> Sequence[Any]:
    """Return the rows of a reply under a key, if there are any and they have a certain column.

    Replies use the same key for other things: `tasks` holds counts by status in `company status`.
    """
    out = reply.out if reply is not None else None
    rows = out.get(key) if isinstance(out, Mapping) else None
    if not isinstance(rows, Sequence) or not rows or isinstance(rows, str):
        return ()
    return rows if isinstance(rows[0], Mapping) and column in rows[0] else ()
