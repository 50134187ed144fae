"""Observations of the founder, options for menus and simple rules, and the text of the rules."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar

from attrs import evolve, frozen

from desim import Option
from desim.core.reported import SeatBriefing
from desim.show.column import CENTS, Column
from desim.show.labels import value_text
from models.yc_bench import actions as do
from models.yc_bench.params import YCBenchParams

_DOMAIN = itemgetter("domain")

_MONEY = {
    **dict.fromkeys(("funds_cents", "monthly_payroll_cents", "reward_funds_cents"), CENTS),
    **dict.fromkeys(("salary_cents", "salary_bump_total_cents", "funds_after"), CENTS),
    **dict.fromkeys(("funds_delta", "balance_delta", "listed_reward"), CENTS),
    "amount_cents": CENTS,
    "skill_boost_pct": Column(kind="share", label="Skill boost"),
}


@frozen
class CommandReply:
    """The console's reply to a command.

    Attributes:
        command: As a line of the console.
        exit_code: 0 done, 1 refused, 2 not understood.
        out: The JSON document printed, if any. Replies share rows: change a copy of one.
        stderr: The text on standard error.
    """

    columns: ClassVar[Mapping[str, Column]] = _MONEY

    command: str
    exit_code: int
    out: Any
    stderr: str = ""


@frozen
class TurnStatus:
    """The status message with which a turn begins (SPEC section 14).

    Attributes:
        number: From 1, as the message gives it.
        kind: "initial" at the first turn, "reopened" at that of a further episode, else "status".
        time: ISO date and time.
        horizon_end: ISO date and time.
        funds_cents: Money in the bank, cents.
        monthly_payroll_cents: Sum of the salaries, cents.
        runway_months: Funds over payroll, one decimal.
        employees: Number of employees.
        active_tasks: Number of tasks under way.
        planned_tasks: Number of tasks accepted and not dispatched.
        memory_countdown: Turns until the oldest messages drop, at least 0.
        bankrupt: Whether funds are below zero.
        events: What the last resume of the turn before reported; none without one.
        closing: What the last line calls for: "nothing running", "planned only" or "neutral".
        scratchpad: The scratchpad as the system prompt shows it.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **_MONEY,
        "number": Column(label="Turn"),
        "runway_months": Column("months", "Runway"),
    }

    number: int
    kind: str
    time: str
    horizon_end: str
    funds_cents: int
    monthly_payroll_cents: int
    runway_months: float
    employees: int
    active_tasks: int
    planned_tasks: int
    memory_countdown: int
    bankrupt: bool
    events: tuple[dict[str, Any], ...]
    closing: str
    scratchpad: str


@frozen
class FounderDesk:
    """The founder's observation before each command.

    Attributes:
        time: ISO date and time.
        turn: The number of the turn, from 1.
        funds_cents: Money in the bank, cents.
        planned: Titles of tasks accepted and not dispatched, the oldest first; of very many only
            those created last.
        active: Titles of tasks under way, the oldest first.
        reply: The reply to the last command; none before the first of the episode.
        status: The status message; only before the first command of a turn.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "time": Column(kind="tick"),
        "funds_cents": evolve(CENTS, priority=1),
    }

    time: str
    turn: int
    funds_cents: int
    planned: tuple[str, ...]
    active: tuple[str, ...]
    reply: CommandReply | None = None
    status: TurnStatus | None = None


def options(desk: FounderDesk) -> list[Option]:
    """Return commands that the world takes now, the likeliest first; values are in dollars."""
    return [*_steps(desk), Option(do.EndTurn(), -2.0, "end the turn")]


def default_action(desk: FounderDesk) -> do.Command:
    """Return a resume where a task is active, otherwise the end of the turn."""
    return do.SimResume() if desk.active else do.EndTurn()


def _steps(desk: FounderDesk) -> Iterator[Option]:
    reply = desk.reply
    if desk.planned:
        yield from _prepare(desk.planned[0], reply)
    elif desk.active:
        yield Option(do.SimResume(), 0.0, "let time pass")
        yield Option(do.MarketBrowse(), -1.0, "look for more work")
    elif rows := _rows(reply, "tasks", "requirements"):
        yield from (_accept(row) for row in rows)
    elif reply is None or reply.command != "yc-bench market browse":
        # An empty market is not looked at twice in a turn.
        yield Option(do.MarketBrowse(), 0.0, "look for work")


def _prepare(title: str, reply: CommandReply | None) -> Iterator[Option]:
    out = reply.out if reply is not None and isinstance(reply.out, Mapping) else {}
    if out.get("task_id") == title and out.get("total_assigned"):
        yield Option(do.TaskDispatch(title), 0.0, "start the work")
        return
    if staff := _rows(reply, "employees", "skill_rates"):
        names = [who["name"] for who in staff]
        half = len(names) // 2
        yield Option(do.TaskAssign(title, tuple(names)), 0.0, "everybody")
        yield Option(do.TaskAssign(title, tuple(names[: half or 1])), -0.5, "the first half")
        yield Option(do.TaskAssign(title, tuple(names[half:])), -0.5, "the second half")
        return
    yield Option(do.EmployeeList(), 0.0, "look who there is")


def _accept(row: Mapping[str, Any]) -> Option:
    needs = row["requirements"]
    domains = " + ".join(map(_DOMAIN, needs))
    units = needs[0]["required_qty"]
    note = f"{row['client_name']}, {domains}, {units:,.0f} units"
    return Option(do.TaskAccept(row["task_id"]), row["reward_funds_cents"] / 100, note)


def _rows(reply: CommandReply | None, key: str, column: str) -> Sequence[Any]:
    """Return the rows of a reply under a key, if there are any and they have a certain column."""
    out = reply.out if reply is not None else None
    rows = out.get(key) if isinstance(out, Mapping) else None
    if not isinstance(rows, Sequence) or not rows or isinstance(rows, str):
        return ()
    return rows if isinstance(rows[0], Mapping) and column in rows[0] else ()


RULES = """You are the head of a start-up. Over the run make its funds and its prestige grow, \
and never let it go bankrupt.

Every turn, go through the same loop: browse the market, accept a task, assign people to it, \
dispatch it, resume the clock. Run several tasks at once where people are free for them. Time \
passes only when you resume.

How the world works:
- Everybody assigned to a task gets a raise when it is done in time.
- Somebody who works on several tasks at once divides their rate among them.
- A task that is done after its deadline costs prestige instead of earning money.
- A client's trust grows with work done for it: it lessens the work and opens better tasks; trust \
of the other clients fades meanwhile.
- Some clients are not reliable.
- Salaries are paid every month; a company whose funds fall below zero is bankrupt.
- Prestige is counted by domain, and better tasks need more of it."""


def briefing(params: YCBenchParams) -> SeatBriefing:
    """Return the rules for the founder in five answers."""
    years, share = params.horizon_years, params.penalty_fail_funds_pct
    fine = f" and {share:.0%} of its reward" if share else ""
    return SeatBriefing(
        title="The start-up's year" if years == 1 else f"The start-up's {years} years",
        you_are=f"The founder of {params.company_name}: {params.num_employees} people, "
        f"{params.num_clients} clients, a market of {params.num_market_tasks} tasks.",
        you_want="As much money in the bank as you can, from tasks that are done in time.",
        it_costs=f"Salaries, every month. Work done late costs prestige{fine}.",
        it_ends=f"After {years} year{'s' * (years > 1)}, or at once when funds fall below $0.",
        score=f"Dollars in the bank at the end; you begin with "
        f"{CENTS.text(params.initial_funds_cents)}.",
    )


def effect(reply: CommandReply | None) -> str:
    """Return what a command that was carried out did, in sentences; empty for a mere look."""
    match reply.out if reply else None:
        case {"task_id": task, "deadline": str(due)}:
            return f"{task} is due on {value_text(due)}. Put people on it, then dispatch it."
        case {"task_id": task, "total_assigned": people}:
            return f"{len(people)} people are on {task} now."
        case {"task_id": task, "assignment_count": people}:
            return f"Work on {task} begins, with {people} people, when you resume the clock."
        case {"wake_events": events, "new_sim_time": str(now)}:
            happened = " ".join(filter(None, map(_event_sentence, events)))
            return f"It is {value_text(now)} now. {happened}".rstrip()
    return ""


def _event_sentence(event: Mapping[str, Any]) -> str:
    match event:
        case {"type": "task_completed", "task_title": task, "funds_delta": cents}:
            when = "in time" if event["success"] else "too late"
            return f"{task} was done {when}: {CENTS.text(cents)}."
        case {"type": "client_lost", "client_name": client, "task_titles": titles}:
            return f"{client} is no longer a client; cancelled: {', '.join(titles) or 'no tasks'}."
    return _SENTENCES[event["type"]]


_SENTENCES = {
    "monthly_payroll": "Salaries were paid.",
    "task_half": "A task has reached a part of its work.",
    "horizon_end": "The horizon has been reached; the run is over.",
    "bankruptcy": "The company went bankrupt; the run is over.",
}
