"""What the looking commands print (SPEC 13.1): plain documents, keys in the published order.

No report changes the company, and a document that is kept stays as it was printed: it is built
anew, but for rows that print what no longer changes, which are read-only and shared.
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
