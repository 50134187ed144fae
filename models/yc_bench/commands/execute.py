"""The command that belongs to each action."""

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
from models.yc_bench.commands import accepting, scratchpad, tasks
from models.yc_bench.refusal import CommandRefused
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

__all__ = ["execute"]

_FOUNDED = "A simulation already exists. Only one simulation per database is supported."


def execute(company: CompanyState, action: Any) -> Any:
    """Carry out a command that takes no time and return the document it prints.

    Raises:
        CommandRefused: Nothing has changed.
        CommandCrashed: The published command breaks here; nothing has changed.
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
    ScratchpadRead: scratchpad.read_scratchpad,
    ScratchpadWrite: scratchpad.write_scratchpad,
    ScratchpadAppend: scratchpad.append_to_scratchpad,
    ScratchpadClear: scratchpad.clear_scratchpad,
}
