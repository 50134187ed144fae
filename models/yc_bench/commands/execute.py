"""The command that belongs to each action.

The scratchpad: a text that the founder keeps between turns (SPEC section 13).
"""

from collections.abc import Callable, Mapping
from typing import Any

from models.yc_bench.actions import (
    ClientHistory,
    ClientList,
    CompanyStatus,
    EmployeeList,
    FinanceLedger,
    MarketBrowse,
    ReportMonthly,
    ScratchpadAppend,
    ScratchpadClear,
    ScratchpadRead,
    ScratchpadWrite,
    SimInit,
    TaskAccept,
    TaskAssign,
    TaskAssignAll,
    TaskCancel,
    TaskDispatch,
    TaskInspect,
    TaskList,
)
from models.yc_bench.commands import accepting, tasks
from models.yc_bench.company.lookup import CommandRefused
from models.yc_bench.reports import (
    client_history,
    client_list,
    company_status,
    employee_list,
    finance_ledger,
    market_browse,
    report_monthly,
    task_inspect,
    task_list,
)
from models.yc_bench.state import CompanyState

#: Characters that the scratchpad holds at most; the published one has no limit.
MOST_CHARACTERS = 1_000_000


def read_scratchpad(company: CompanyState, _: ScratchpadRead) -> dict[str, Any]:
    """Show the text."""
    return {"content": company.scratchpad}


def write_scratchpad(company: CompanyState, action: ScratchpadWrite) -> dict[str, Any]:
    """Replace the text."""
    company.scratchpad = action.content
    return {"ok": True, "content": company.scratchpad}


def append_to_scratchpad(company: CompanyState, action: ScratchpadAppend) -> dict[str, Any]:
    """Add a line to the text.

    Raises:
        CommandRefused: The text would be too long.
    """
    former = company.scratchpad
    longer = f"{former}\n{action.content}" if former else action.content
    if len(longer) > MOST_CHARACTERS:
        raise CommandRefused(f"The scratchpad holds {MOST_CHARACTERS} characters at most.")
    company.scratchpad = longer
    return {"ok": True, "content": company.scratchpad}


def clear_scratchpad(company: CompanyState, _: ScratchpadClear) -> dict[str, Any]:
    """Remove the text."""
    company.scratchpad = ""
    return {"ok": True}


_FOUNDED = "A simulation already exists. Only one simulation per database is supported."


def execute(company: CompanyState, action: Any) -> Any:
    """Carry out a command that takes no time and return the document it prints.

    Raises:
        CommandRefused: The command is refused; the state is unchanged.
        CommandCrashed: The published command crashes here; the state is unchanged.
    """
    return _COMMANDS[type(action)](company, action)


def _refuse_founding(_: CompanyState, __: SimInit) -> dict[str, Any]:
    raise CommandRefused(_FOUNDED)


_COMMANDS: Mapping[type, Callable[[CompanyState, Any], Any]] = {
    SimInit: _refuse_founding,
    TaskAccept: accepting.accept,
    TaskAssign: tasks.assign,
    TaskAssignAll: tasks.assign_all,
    TaskDispatch: tasks.dispatch,
    TaskCancel: tasks.cancel,
    CompanyStatus: company_status,
    EmployeeList: employee_list,
    MarketBrowse: market_browse,
    TaskList: task_list,
    TaskInspect: task_inspect,
    ClientList: client_list,
    ClientHistory: client_history,
    FinanceLedger: finance_ledger,
    ReportMonthly: report_monthly,
    ScratchpadRead: read_scratchpad,
    ScratchpadWrite: write_scratchpad,
    ScratchpadAppend: append_to_scratchpad,
    ScratchpadClear: clear_scratchpad,
}
