"""A world given as data instead of drawn from a seed, and the checks of its fields.

`world_format.py` reads and writes the file itself.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, le

from desim.errors import possible
from desim.short_repr import short_repr
from models.yc_bench.rules.specs import DOMAINS, ClientSpec, EmployeeSpec, TaskSpec

#: The least of every number of a task, a client or an employee, and the most of all of them.
_LEAST = {
    "slot": -1,
    "generation": 0,
    "required_prestige": 0,
    "required_trust": 0,
    "reward_cents": 0,
    "prestige_delta": 0,
    "skill_boost": 0,
    "required_qty": 1,
    "reward_multiplier": 0,
    "loyalty": -1,
    "salary_cents": 0,
}
_MOST = 10**15


def _an_instant(_: object, attribute: "Attribute[str]", value: str) -> None:
    try:
        fault = bool(value) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        fault = True
    if fault:
        raise ValueError(
            f"{attribute.name}={short_repr(value)} was given; it is like 2025-01-01T09:00:00"
        )


@frozen
class Replacement:
    """A task that takes an accepted one's place.

    Attributes:
        generation: Number of tasks of its slot accepted before the one it replaces.
        task: The replacement, in that slot.
    """

    generation: int
    task: TaskSpec


@frozen
class WorldFile:
    """Everything that a world file holds.

    Attributes:
        clients: In the order to which the tasks' `client` refers.
        employees: In the order of pay.
        tasks: The initial market, in the order of creation.
        replacements: The first replacements of each slot; later ones are drawn from the run's seed.
        funds_cents: Money at the start, cents.
        initial_prestige: Prestige at the start, in every domain.
        start: ISO date and time at which the clock starts, empty where the file leaves it open.
        horizon_end: ISO date and time at which the run ends, empty where the file leaves it open.
        seed: Seed from which the world was drawn; None if it was not drawn.
    """

    clients: tuple[ClientSpec, ...] = field()
    employees: tuple[EmployeeSpec, ...] = field()
    tasks: tuple[TaskSpec, ...] = field()
    replacements: tuple[Replacement, ...] = field(default=())
    funds_cents: int = field(default=20_000_000, validator=[ge(0), le(_MOST)])
    initial_prestige: float = field(default=1.0, validator=[ge(0), le(_MOST)])
    start: str = field(default="", validator=_an_instant)
    horizon_end: str = field(default="", validator=_an_instant)
    seed: int | None = None

    @property
    def foreseen(self) -> dict[tuple[int, int], TaskSpec]:
        """The replacements by slot and generation."""
        return {(each.task.slot, each.generation): each.task for each in self.replacements}

    @clients.validator
    def _clients(self, _: object, clients: tuple[ClientSpec, ...]) -> None:
        _check_names("clients", [each.name for each in clients])
        for at, each in enumerate(clients):
            path = f"clients[{at}]"
            _check_numbers(each, path)
            _check_domains(each.specialties, f"{path}.specialties")

    @employees.validator
    def _employees(self, _: object, employees: tuple[EmployeeSpec, ...]) -> None:
        _check_names("employees", [each.name for each in employees])
        for at, each in enumerate(employees):
            path = f"employees[{at}]"
            _check_numbers(each, path)
            _check_domains(each.rates, f"{path}.rates")
            for domain in DOMAINS:
                rate = each.rates.get(domain, Decimal("nan"))
                if rate.is_nan() or not 0 <= rate <= _MOST:
                    raise ValueError(f"{path}.rates.{domain}={rate} was given; it is at least 0")

    @tasks.validator
    def _tasks(self, _: object, tasks: tuple[TaskSpec, ...]) -> None:
        for at, each in enumerate(tasks):
            self._check_task(each, f"tasks[{at}]")

    @replacements.validator
    def _replacements(self, _: object, replacements: tuple[Replacement, ...]) -> None:
        for at, each in enumerate(replacements):
            _check_numbers(each, f"replacements[{at}]")
            self._check_task(each.task, f"replacements[{at}]")
        if len(self.foreseen) < len(replacements):
            raise ValueError("replacements give one slot's generation twice")

    def _check_task(self, task: TaskSpec, path: str) -> None:
        _check_numbers(task, path)
        _check_domains([task.domain], f"{path}.domain")
        if task.further:
            raise ValueError(
                f"{path}.further={task.further} was given; a file's task has one domain"
            )
        if not 0 <= task.client < len(self.clients):
            raise ValueError(f"{path}.client={task.client} was given; it is a client's place")


def _check_numbers(spec: Any, path: str) -> None:
    for name, least in _LEAST.items():
        value = getattr(spec, name, least)
        if not least <= value <= _MOST:
            raise ValueError(
                f"{path}.{name}={value} was given; it is between {least} and {_MOST:g}"
            )


def _check_domains(domains: Iterable[str], path: str) -> None:
    for domain in domains:
        if domain not in DOMAINS:
            raise ValueError(f"{path}: there is no {domain!r}; {possible(domain, DOMAINS)}")


def _check_names(path: str, names: list[str]) -> None:
    if not names:
        raise ValueError(f"{path} is empty; there is at least one")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: two are named {twice!r}")
