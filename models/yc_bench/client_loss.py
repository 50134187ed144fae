"""A client goes away for good: an event from outside, which neither draws nor posts anything."""

from desim.errors import UsageError, possible
from models.yc_bench.commands.tasks import give_up
from models.yc_bench.entities import Client, identifier
from models.yc_bench.lookup import by_row
from models.yc_bench.open_market import remove_client
from models.yc_bench.processes import stop
from models.yc_bench.state import CompanyState
from models.yc_bench.work import settle

__all__ = ["lose_client"]


def lose_client(company: CompanyState, name: str) -> None:
    """Let a client go at this instant, which is reported in the present or else the next resume.

    Its tasks leave the market and its planned and active tasks are cancelled. As the company has
    given nothing up, that costs neither prestige nor trust; a cancellation costs no money anyway
    (SPEC 11.5). A company that is over does not change.

    Raises:
        UsageError: The company has no such client, or has lost it.
    """
    client = _present(company, name)
    if company.ended is not None:
        return
    # Progress up to now is at the old rates: a cancelled task leaves its people to their others.
    settle(company)
    client.lost = company.world.now
    withdrawn = remove_client(company, client)
    cancelled = [task for task in company.planned + company.active if task.client is client]
    cancelled.sort(key=by_row)
    for task in cancelled:
        give_up(company, task)
    company.report.append(
        {
            "type": "client_lost",
            "client_name": client.name,
            "tasks_cancelled": [identifier(task) for task in cancelled],
            "task_titles": [task.title for task in cancelled],
            "market_tasks_withdrawn": withdrawn,
        }
    )
    # A resume that ends at this instant anyway keeps its place among the events of the instant.
    if company.wait is not None and not company.wait.triggered:
        stop(company, at_once=False)


def _present(company: CompanyState, name: str) -> Client:
    clients = {client.name: client for client in company.clients if client.lost is None}
    if name not in clients:
        raise UsageError(f"there is no client {name!r}; {possible(name, clients)}")
    return clients[name]
