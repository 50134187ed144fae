"""Replies of the read-only commands (SPEC 13.1): plain documents, keys in the published order.

A report does not change the company, and later changes of the company do not change a document:
each is built anew, except for read-only rows of facts that no longer change, which are shared.
"""

from models.yc_bench.reports.company_status import (
    client_history,
    client_list,
    company_status,
    employee_list,
)
from models.yc_bench.reports.money import finance_ledger, report_monthly
from models.yc_bench.reports.tasks import market_browse, task_inspect, task_list

__all__ = [
    "client_history",
    "client_list",
    "company_status",
    "employee_list",
    "finance_ledger",
    "market_browse",
    "report_monthly",
    "task_inspect",
    "task_list",
]
