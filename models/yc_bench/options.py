"""Sensible commands at a desk, with their worth: what greedy, random and a person's menu need.

The desk shows the last reply, so what is sensible follows from it: after a look at the market the
tasks on it, after an acceptance people for it, after people the dispatch, and while work is under
way time.
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
from models.yc_bench.observation import Desk, Reply

__all__ = ["neutral", "options"]


def options(desk: Desk) -> list[Option]:
    """Return commands that the world takes now, the likeliest first; worth is in dollars."""
    return [*_steps(desk), Option(EndTurn(), -2.0, "end the turn")]


def neutral(desk: Desk) -> Command:
    """Let time pass where it can, and end the turn where it cannot."""
    return SimResume() if desk.active else EndTurn()


def _steps(desk: Desk) -> Iterator[Option]:
    reply = desk.reply
    if desk.planned:
        yield from _prepare(desk.planned[0], reply)
    elif desk.active:
        yield Option(SimResume(), 0.0, "let time pass")
        yield Option(MarketBrowse(), -1.0, "look for more work")
    elif rows := _listed(reply, "tasks", "requirements"):
        yield from (_take(row) for row in rows)
    else:
        yield Option(MarketBrowse(), 0.0, "look for work")


def _prepare(title: str, reply: Reply | None) -> Iterator[Option]:
    """Find people for a planned task, or dispatch it once it has some."""
    out = reply.out if reply is not None and isinstance(reply.out, Mapping) else {}
    if out.get("task_id") == title and out.get("total_assigned"):
        yield Option(TaskDispatch(title), 0.0, "start the work")
        return
    if staff := _listed(reply, "employees", "skill_rates"):
        names = [who["name"] for who in staff]
        half = len(names) // 2
        yield Option(TaskAssign(title, tuple(names)), 0.0, "everybody")
        yield Option(TaskAssign(title, tuple(names[: half or 1])), -0.5, "the first half")
        yield Option(TaskAssign(title, tuple(names[half:])), -0.5, "the second half")
        return
    yield Option(EmployeeList(), 0.0, "look who there is")


def _take(row: Mapping[str, Any]) -> Option:
    need = row["requirements"][0]
    note = f"{row['client_name']}, {need['domain']}, {need['required_qty']:,.0f} units"
    return Option(TaskAccept(row["task_id"]), row["reward_funds_cents"] / 100, note)


def _listed(reply: Reply | None, key: str, has: str) -> Sequence[Any]:
    """Return a reply's rows where they are of the kind that has a certain field."""
    out = reply.out if reply is not None else None
    rows = out.get(key, ()) if isinstance(out, Mapping) else ()
    return rows if rows and has in rows[0] else ()
