"""Observations of the founder: desk, reply to the last command, status at the start of a turn.

Rows that several observations share: a policy that writes into one gets an error.

Copying every row at each look took a fifth of an episode's time. A row is a `dict` and its list a
`list`, so that they are compared, written as JSON and passed to `isinstance` as before.

The rules of YC-Bench in words, for the founder.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

from attrs import evolve, frozen

from desim.core.reported import SeatBriefing
from desim.show.column import CENTS, Column
from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.specs import TaskSpec


def _refuse(held: Any, *_: Any, **__: Any) -> NoReturn:
    kind = dict if isinstance(held, dict) else list
    raise TypeError(
        "a row of a reply is shared by several observations and cannot be changed; "
        f"change a copy of it: {kind.__name__}(row)"
    )


class ReadOnlyRow(dict[str, Any]):
    """A row of a reply; `dict(row)`, `copy.copy` and a pickle give an ordinary dictionary."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list inside a row; `list(it)`, `copy.copy` and a pickle give an ordinary list."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, (list(self),)


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
        command: The command as a line of the console.
        exit_code: 0 done, 1 refused, 2 not understood.
        out: The JSON document on standard output; none where nothing was printed.
        stderr: The text on standard error; empty if there was none.
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
        number: The turn's number as the message gives it, from 1.
        kind: "initial" at the first turn, "reopened" at the first of a further episode, "status"
            afterwards.
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


def market_row(spec: TaskSpec, shown: str, client: str, prestige_delta: float) -> ReadOnlyRow:
    """Return a task's row of `market browse`, keys in the published order.

    Every observation that shows the task shares it.

    Args:
        spec: The task as drawn.
        shown: Its title or identifier.
        client: The client's name.
        prestige_delta: Prestige won with success, as used and shown.
    """
    quantity = float(spec.required_qty)
    requirements = [ReadOnlyRow(domain=each, required_qty=quantity) for each in spec.domains]
    return ReadOnlyRow(
        {
            "task_id": shown,
            "client_name": client,
            "required_prestige": spec.required_prestige,
            "required_trust": spec.required_trust,
            "reward_funds_cents": spec.reward_cents,
            "reward_prestige_delta": prestige_delta,
            "skill_boost_pct": spec.skill_boost,
            "requirements": ReadOnlyList(requirements),
        }
    )


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
    years = params.horizon_years
    return SeatBriefing(
        title="The start-up's year" if years == 1 else f"The start-up's {years} years",
        you_are=f"The founder of {params.company_name}: {params.num_employees} people, "
        f"{params.num_clients} clients, a market of {params.num_market_tasks} tasks.",
        you_want="As much money in the bank as you can, from tasks that are done in time.",
        it_costs="Salaries, every month. Work done late costs prestige"
        + (
            f" and {params.penalty_fail_funds_pct:.0%} of its reward."
            if params.penalty_fail_funds_pct
            else "."
        ),
        it_ends=f"After {years} year{'s' * (years > 1)}, or at once when funds fall below $0.",
        score=f"Dollars in the bank at the end; you begin with "
        f"{CENTS.text(params.initial_funds_cents)}.",
    )
