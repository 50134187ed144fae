"""Why tasks were late, and what that cost: the causes behind the metrics of failure.

The three causes are the classes of the paper's Figure 5(a), in which a late task has one cause: a
client who swelled it, staff too slow for it, staff spread over too many tasks. The details are the
finer ones that its text counts; ours are stated here, as the paper gives no definitions.
"""

from collections.abc import Iterable

from models.yc_bench.accounts import FINE
from models.yc_bench.entities import StaffMember, Task
from models.yc_bench.state import CompanyState
from models.yc_bench.work import rate_of

__all__ = ["CAUSES", "DETAILS", "bankruptcy_cause", "losses", "note_lateness"]

#: The causes, one for each late task.
CAUSES = ("adversarial", "understaffed", "thin")

#: What is known besides of some late tasks.
DETAILS = ("adversarial_again", "wrong_domain", "too_few")


def note_lateness(company: CompanyState, task: Task) -> None:
    """Set the cause of a task that is late now; its team must not have been released yet.

    "adversarial": its client swelled it; in detail "adversarial_again" where it was accepted after
    the company had already finished a task of that client late. Else "understaffed": its team would
    have been late even if it had worked on nothing else since the acceptance; in detail
    "wrong_domain" where as many people, the fastest of the staff in that domain, would have been in
    time, otherwise "too_few". Else "thin": its people had other tasks, or began too late.
    """
    client, now = task.client, company.world.now
    if client.spec.adversarial:
        task.cause = "adversarial"
        if client.unmasked is not None and (task.accepted or 0) >= client.unmasked:
            task.cause_detail = "adversarial_again"
        if client.unmasked is None:
            client.unmasked = now
    elif _late_alone(company, task, task.team):
        task.cause = "understaffed"
        domain = task.domain
        fastest = sorted(company.employees, key=lambda who: -who.rates[domain])[: len(task.team)]
        task.cause_detail = "too_few" if _late_alone(company, task, fastest) else "wrong_domain"
    else:
        task.cause = "thin"


def losses(company: CompanyState) -> dict[str, int]:
    """Return by cause the fines paid and the rewards missed, cents; the fines are the ledger's."""
    lost = dict.fromkeys(CAUSES, 0)
    for entry in company.accounts.book.journal:
        if entry.kind == FINE:
            task = company.tasks[int(entry.references["task"])]
            lost[task.cause] += task.spec.reward_cents - entry.amounts["cash"]
    return lost


def bankruptcy_cause(company: CompanyState) -> str | None:
    """Return the cause that lost most; "payroll" without a late task; none without a bankruptcy."""
    if not company.bankrupt:
        return None
    lost = losses(company)
    return max(CAUSES, key=lost.__getitem__) if any(lost.values()) else "payroll"


def _late_alone(company: CompanyState, task: Task, team: Iterable[StaffMember]) -> bool:
    """Return whether a team would have been late on this task alone, at the rates it has now."""
    assert task.accepted is not None
    assert task.deadline is not None
    rate = rate_of(company, task.domain, team, alone=True)
    done = company.clock.add_hours(task.accepted, task.required / rate) if rate else None
    return done is None or done > task.deadline
