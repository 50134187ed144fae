"""A world given as data instead of drawn from a seed, and its file in the reference format.

The file is one JSON object, gzip-compressed or not: clients and employees are objects, tasks and
replacements are rows, whose fields the file names. A fault is one sentence with its path.
"""

import gzip
import os
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from attrs import Attribute, field, frozen
from attrs.validators import ge, le

from desim.errors import SchemaError, possible
from desim.schema import from_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import open_regular
from models.yc_bench.specs import DOMAINS, ClientSpec, Domain, EmployeeSpec, TaskSpec, stored

#: Bytes of a file that are read, unzipped; a published world has fewer than 100,000.
_MOST_BYTES = 64 << 20

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


@frozen
class Replacement:
    """A task that takes an accepted one's place.

    Attributes:
        generation: Number of tasks of its slot accepted before the one it replaces.
        task: The replacement, in that slot.
    """

    generation: int
    task: TaskSpec


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
            _check_numbers(each, f"clients[{at}]")
            _check_domains(each.specialties, f"clients[{at}].specialties")

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


def as_world(value: Any) -> WorldFile | None:
    """Return a world unchanged, built from an object, or read from a file; None for None.

    Args:
        value: None, a world, the path of a file, or an object: a file's, or a world's own fields.

    Raises:
        ValueError: *value* is of another type, cannot be read or has a fault; the text holds the
            paths of file and fault.
    """
    if value is None or isinstance(value, WorldFile):
        return value
    if isinstance(value, str | os.PathLike):
        return _from_path(os.fspath(value))
    if not isinstance(value, Mapping):
        raise ValueError(  # noqa: TRY004 (one kind of error for every fault)
            f"world={short_repr(value, 60)} was given; it is a world, an object or the path of "
            "a file"
        )
    try:
        world: WorldFile = _world(value) if "kind" in value else from_plain(value, WorldFile)
    except (ValueError, SchemaError) as fault:
        raise ValueError(f"world: {fault}") from None
    return world


def _from_path(path: str) -> WorldFile:
    try:
        data = _content(path)
        if not data.strip():
            raise ValueError("the file is empty")  # noqa: TRY301 (reported with the others below)
        return _world(decode_json(data.decode("utf-8-sig")))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is cut, or no text"
        raise ValueError(f"world: cannot read {path!r}: {why}") from None
    except (ValueError, SchemaError) as fault:
        raise ValueError(f"world: {path!r}: {fault}") from None


def _content(path: str) -> bytes:
    with open_regular(path) as file:
        zipped = file.peek(2)[:2] == b"\x1f\x8b"
        data: bytes = (gzip.GzipFile(fileobj=file) if zipped else file).read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it holds more than {_MOST_BYTES >> 20} MiB, the limit")
    return data


# -- the reference format --------------------------------------------------------------------------

_BODY_FIELDS = (
    "title",
    "client",
    "required_prestige",
    "required_trust",
    "reward_funds_cents",
    "prestige_delta_generated",
    "prestige_delta_effective",
    "skill_boost",
    "domain",
    "required_qty",
)
_TASK_FIELDS = ("market_slot", *_BODY_FIELDS)
_REPLACEMENT_FIELDS = ("market_slot", "generation", *_BODY_FIELDS)

_TaskRow = tuple[int, str, str, int, int, int, float, str, float, Domain, int]
_ReplacementRow = tuple[int, int, str, str, int, int, int, float, str, float, Domain, int]


@frozen(kw_only=True)
class _EmployeeObject:
    name: str
    tier: str
    salary_cents: int
    work_hours_per_day: float = 9
    rates: dict[Domain, float]


@frozen(kw_only=True)
class _Document:
    kind: Literal["world"]
    seed: int | None = None
    note: str = ""
    funds_cents: int
    start: str = ""
    horizon_end: str = ""
    initial_prestige: float
    initial_trust: float = 0.0
    clients: tuple[ClientSpec, ...]
    employees: tuple[_EmployeeObject, ...]
    task_fields: tuple[str, ...]
    tasks: tuple[_TaskRow, ...]
    replacement_fields: tuple[str, ...] = _REPLACEMENT_FIELDS
    replacements: tuple[_ReplacementRow, ...] = ()


def _world(plain: Any) -> WorldFile:
    if not isinstance(plain, Mapping) or plain.get("kind") != "world":
        raise ValueError("this is no world file, an object whose kind is 'world'")
    document: _Document = from_plain(plain, _Document)
    _check_fields("task_fields", document.task_fields, _TASK_FIELDS)
    _check_fields("replacement_fields", document.replacement_fields, _REPLACEMENT_FIELDS)
    if document.initial_trust != 0:
        raise ValueError(f"initial_trust={document.initial_trust} was given; trust starts at 0")
    places = {each.name: at for at, each in enumerate(document.clients)}
    return WorldFile(
        clients=document.clients,
        employees=tuple(_employee(each) for each in document.employees),
        tasks=tuple(_task(places, row) for row in document.tasks),
        replacements=tuple(
            Replacement(row[1], _task(places, (row[0], *row[2:]))) for row in document.replacements
        ),
        funds_cents=document.funds_cents,
        initial_prestige=document.initial_prestige,
        start=document.start,
        horizon_end=document.horizon_end,
        seed=document.seed,
    )


def _employee(read: _EmployeeObject) -> EmployeeSpec:
    rates: dict[str, Decimal] = {
        domain: stored(read.rates[domain], 4) for domain in DOMAINS if domain in read.rates
    }
    return EmployeeSpec(read.name, read.tier, read.salary_cents, rates)


def _task(places: Mapping[str, int], row: tuple[Any, ...]) -> TaskSpec:
    slot, title, client, prestige, trust, reward, delta, effective, *rest = row
    if client not in places:
        raise ValueError(f"{title}: there is no client {client!r}; {possible(client, places)}")
    if effective != f"{delta:.3f}":
        raise ValueError(
            f"{title}: prestige_delta_effective={short_repr(effective)} was given; "
            f"{delta} is used as {f'{delta:.3f}'!r}"
        )
    return TaskSpec(slot, title, places[client], prestige, trust, reward, delta, *rest)


def _check_fields(path: str, fields: tuple[str, ...], expected: tuple[str, ...]) -> None:
    if tuple(fields) != expected:
        raise ValueError(f"{path}={list(fields)} was given; they are {list(expected)}")
