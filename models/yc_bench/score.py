"""Score and metrics of a finished run: the paper's figures and the counts behind them."""

from collections.abc import Mapping, Sequence
from typing import Any

from desim.show.column import CENTS, DOLLARS, SHARE, Column, directed
from models.yc_bench.accounts import FINES, REWARDS, WAGES
from models.yc_bench.company.completion import CAUSES, DETAILS, bankruptcy_cause, losses
from models.yc_bench.company.entities import Task
from models.yc_bench.company.founding import summary
from models.yc_bench.state import CompanyState

#: Shares of tasks.
_SHARES = ("adversarial_share", "trust_share", "succeeded_trust_share", "adversarial_market_share")
#: Money of the metrics, and of the score.
_CENTS = ("final_funds", "funds_by_month", "revenue", "payroll", "fines", "lost_by_cause")
METRIC_COLUMNS: Mapping[str, Column] = directed(
    {
        "score": DOLLARS,
        **{f"{name}_cents": CENTS for name in _CENTS},
        **dict.fromkeys(_SHARES, SHARE),
        "bankrupt_on": Column(label="Bankrupt", kind="share"),
    },
    higher=(
        *("score", "final_funds_cents", "revenue_cents", "tasks_succeeded", "max_prestige"),
        "succeeded_trust_share",
    ),
    lower=(
        *("fines_cents", "tasks_failed", "adversarial_share"),
        *(f"failed_{cause}" for cause in (*CAUSES, *DETAILS)),
    ),
)


def final_funds(company: CompanyState) -> float:
    """Return the funds at the end, in dollars."""
    return company.accounts.book.money(company.funds_at(company.last_tick))


def paper_metrics(company: CompanyState) -> dict[str, Any]:
    """Return funds, tasks, causes of failure and use of commands, all of the last episode.

    `funds_by_month_cents` holds the funds at the end of every month up to the horizon; they are
    constant once the run has ended. Concurrency is the mean number of active tasks over time. A
    ratio whose denominator is zero is None. The README defines each of them.
    """
    clock, tasks = company.clock, company.owned
    return {
        "final_funds_cents": company.funds_at(company.last_tick),
        "funds_by_month_cents": _curve(company),
        **_money(company),
        "bankrupt_on": None if company.bankruptcy is None else clock.text(company.bankruptcy),
        "bankruptcy_cause": bankruptcy_cause(company),
        "ended_on": clock.text(company.last_tick),
        "idle_since": None if company.idle_since is None else clock.text(company.idle_since),
        "tasks_succeeded": sum(c.succeeded for c in company.clients),
        "tasks_failed": sum(c.failed for c in company.clients),
        "tasks_accepted": len(tasks),
        "adversarial_share": _ratio(sum(t.client.spec.adversarial for t in tasks), len(tasks)),
        "trust_share": _ratio(sum(t.spec.required_trust > 0 for t in tasks), len(tasks)),
        "succeeded_trust_share": _succeeded_trust_share(tasks),
        "adversarial_market_share": _ratio(company.adversarial_offered, len(tasks)),
        **{f"failed_{cause}": sum(t.cause == cause for t in tasks) for cause in CAUSES},
        **{f"failed_{each}": sum(t.cause_detail == each for t in tasks) for each in DETAILS},
        "lost_by_cause_cents": losses(company),
        "trust_by_client": {client.name: float(client.trust) for client in company.clients},
        "max_prestige": float(max(company.prestige.values())),
        "concurrency": _ratio(company.busy, company.settled - company.clock.opened),
        **_conduct(company),
        "episodes": [
            *[each.figures for each in company.past],
            summary(company, company.world.ended),
        ],
    }


def _money(company: CompanyState) -> dict[str, int]:
    """Sum the ledger's accounts, cents."""
    balance = company.accounts.book.balance
    return {
        "revenue_cents": -balance(REWARDS),
        "payroll_cents": balance(WAGES),
        "fines_cents": balance(FINES),
    }


def _succeeded_trust_share(tasks: Sequence[Task]) -> float | None:
    done = [task.spec.required_trust > 0 for task in tasks if task.status == "completed_success"]
    return _ratio(sum(done), len(done))


def _conduct(company: CompanyState) -> dict[str, Any]:
    """Count how the founder used turns and commands."""
    counts, turns = company.counts, company.turns
    commands = counts.total() - counts["EndTurn"]
    notes = counts["ScratchpadWrite"] + counts["ScratchpadAppend"]
    return {
        "turns": turns,
        "commands": commands,
        "commands_per_turn": _ratio(commands, turns),
        "inspections_per_accept": _ratio(counts["TaskInspect"], len(company.owned)),
        "notes_per_100_turns": _ratio(100 * notes, turns),
    }


def _curve(company: CompanyState) -> dict[str, int]:
    """Return the funds at the end of each month that ends before the horizon, by month."""
    clock = company.clock
    return {clock.text(end)[:7]: company.funds_at(end) for end in clock.month_ends(company.horizon)}


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
