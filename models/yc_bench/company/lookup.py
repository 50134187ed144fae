"""Tasks and employees named in commands.

Exceptions that stop a command before it has changed anything.
"""

from models.yc_bench.company.entities import StaffMember, Task
from models.yc_bench.state import CompanyState


class CommandRefused(Exception):
    """The console answers with `{"error": text}` and exit code 1."""


class CommandCrashed(Exception):
    """The published command breaks with an exception of this name: exit code 1, no document."""


def named_task(company: CompanyState, name: str) -> Task:
    """Return a task by title or identifier.

    Raises:
        CommandRefused: No task has that title or identifier.
    """
    task = company.task(name)
    if task is None:
        raise CommandRefused(f"Task '{name}' not found.")
    return task


def named_staff(company: CompanyState, names: tuple[str, ...]) -> list[StaffMember]:
    """Return employees by name or identifier; blank names are skipped.

    Raises:
        CommandRefused: One of them does not exist.
    """
    named = []
    for name in filter(None, (name.strip() for name in names)):
        who = company.employee(name)
        if who is None:
            raise CommandRefused(f"Employee '{name}' not found.")
        named.append(who)
    return named


def by_row(task: Task) -> int:
    """Return the place of a task in the order of creation, a key for sorting."""
    return task.row
