"""A world told by a file instead of drawn from a seed, in the format of the reference data.

One JSON object, gzip-compressed where the name ends in .gz: clients and employees are objects,
tasks and replacements rows of the fields named beside them. Every field is read strictly; a fault
is told in one sentence with its path.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from attrs import Attribute, asdict, astuple, field, frozen
from attrs.validators import ge, le

from desim.errors import SchemaError, possible
from desim.schema import from_plain
from models.yc_bench.actions import DOMAINS, Domain
from models.yc_bench.numbers import stored
from models.yc_bench.spec import ClientSpec, EmployeeSpec, TaskSpec

__all__ = ["Replacement", "WorldFile", "given", "read", "write"]

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
        raise ValueError(f"{attribute.name}={value!r} was given; it is like 2025-01-01T09:00:00")


@frozen
class Replacement:
    """A task that takes an accepted one's place.

    Attributes:
        generation: How many tasks of its slot were accepted before the one it replaces.
        task: What comes, in that slot.
    """

    generation: int
    task: TaskSpec


@frozen
class WorldFile:
    """What a world file tells.

    Attributes:
        clients: In the order in which the tasks count them.
        employees: In the order of pay.
        tasks: The initial market, in the order of creation.
        replacements: The first that come in each slot; those not told are drawn from the run's
            seed.
        funds_cents: Money at the start, cents.
        initial_prestige: In every domain.
        start: ISO date and time at which the clock starts, empty where the file leaves it open.
        horizon_end: ISO date and time at which the run ends, empty where the file leaves it open.
        seed: From which it was drawn; none where it was not.
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
        _told_once("clients", [each.name for each in clients])
        for at, each in enumerate(clients):
            path = f"clients[{at}]"
            _numbers(each, path)
            _known(each.specialties, f"{path}.specialties")

    @employees.validator
    def _employees(self, _: object, employees: tuple[EmployeeSpec, ...]) -> None:
        _told_once("employees", [each.name for each in employees])
        for at, each in enumerate(employees):
            path = f"employees[{at}]"
            _numbers(each, path)
            _known(each.rates, f"{path}.rates")
            for domain in DOMAINS:
                rate = each.rates.get(domain, Decimal("nan"))
                if rate.is_nan() or not 0 <= rate <= _MOST:
                    raise ValueError(f"{path}.rates.{domain}={rate} was given; it is at least 0")

    @tasks.validator
    def _tasks(self, _: object, tasks: tuple[TaskSpec, ...]) -> None:
        for at, each in enumerate(tasks):
            self._task(each, f"tasks[{at}]")

    @replacements.validator
    def _replacements(self, _: object, replacements: tuple[Replacement, ...]) -> None:
        for at, each in enumerate(replacements):
            _numbers(each, f"replacements[{at}]")
            self._task(each.task, f"replacements[{at}]")
        if len(self.foreseen) < len(replacements):
            raise ValueError("replacements tell one slot's generation twice")

    def _task(self, task: TaskSpec, path: str) -> None:
        _numbers(task, path)
        _known([task.domain], f"{path}.domain")
        if not 0 <= task.client < len(self.clients):
            raise ValueError(f"{path}.client={task.client} was given; it is a client's place")


def given(value: Any) -> WorldFile | None:
    """Return a world as it is, as a record holds it, or read from a file; or none.

    Args:
        value: None, a world, the path of a file, or an object: a file's, or a world's own fields.

    Raises:
        ValueError: It is none of these, or it has a fault; the text holds the fault's path.
    """
    if value is None or isinstance(value, WorldFile):
        return value
    if isinstance(value, str | os.PathLike):
        return read(os.fspath(value))
    if not isinstance(value, Mapping):
        raise ValueError(  # noqa: TRY004 (one kind)
            f"world={value!r:.60} was given; it is a world, an object or the path of a file"
        )
    try:
        world: WorldFile = _world(value) if "kind" in value else from_plain(value, WorldFile)
    except (ValueError, SchemaError) as fault:
        raise ValueError(f"world: {fault}") from None
    return world


def read(path: str) -> WorldFile:
    """Read a world file.

    Raises:
        ValueError: It cannot be read or has a fault; the text holds the path of both.
    """
    try:
        packed = Path(path).read_bytes()
        data = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
        if not data.strip():
            raise ValueError("the file is empty")  # noqa: TRY301 (told with the others)
        return _world(json.loads(data.decode("utf-8-sig"), parse_constant=_no_number))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is cut, or no text"
        raise ValueError(f"world: cannot read {path!r}: {why}") from None
    except (ValueError, SchemaError, RecursionError) as fault:
        raise ValueError(f"world: {path!r}: {fault}") from None


def write(path: str, world: WorldFile) -> None:
    """Write a world file, compressed where the name ends in .gz; the same world, the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    data = json.dumps(_document(world), separators=(",", ":"), allow_nan=False).encode()
    packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
    Path(path).write_bytes(packed)


# -- the file's form -------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Employee:
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
    employees: tuple[_Employee, ...]
    task_fields: tuple[str, ...]
    tasks: tuple[_TaskRow, ...]
    replacement_fields: tuple[str, ...] = _REPLACEMENT_FIELDS
    replacements: tuple[_ReplacementRow, ...] = ()


def _world(document: Any) -> WorldFile:
    if not isinstance(document, Mapping) or document.get("kind") != "world":
        raise ValueError("this is no world file, an object whose kind is 'world'")
    told: _Document = from_plain(document, _Document)
    _same("task_fields", told.task_fields, _TASK_FIELDS)
    _same("replacement_fields", told.replacement_fields, _REPLACEMENT_FIELDS)
    if told.initial_trust != 0:
        raise ValueError(f"initial_trust={told.initial_trust} was given; trust starts at 0")
    places = {each.name: at for at, each in enumerate(told.clients)}
    return WorldFile(
        clients=told.clients,
        employees=tuple(_employee(each) for each in told.employees),
        tasks=tuple(_task(places, row) for row in told.tasks),
        replacements=tuple(
            Replacement(row[1], _task(places, (row[0], *row[2:]))) for row in told.replacements
        ),
        funds_cents=told.funds_cents,
        initial_prestige=told.initial_prestige,
        start=told.start,
        horizon_end=told.horizon_end,
        seed=told.seed,
    )


def _employee(told: _Employee) -> EmployeeSpec:
    rates: dict[str, Decimal] = {
        domain: stored(told.rates[domain], 4) for domain in DOMAINS if domain in told.rates
    }
    return EmployeeSpec(told.name, told.tier, told.salary_cents, rates)


def _task(places: Mapping[str, int], row: tuple[Any, ...]) -> TaskSpec:
    slot, title, client, prestige, trust, reward, delta, effective, *rest = row
    if client not in places:
        raise ValueError(f"{title}: there is no client {client!r}; {possible(client, places)}")
    if effective != _effective(delta):
        raise ValueError(
            f"{title}: prestige_delta_effective={effective!r} was given; "
            f"{delta} is used as {_effective(delta)!r}"
        )
    return TaskSpec(slot, title, places[client], prestige, trust, reward, delta, *rest)


def _document(world: WorldFile) -> dict[str, Any]:
    names = [each.name for each in world.clients]
    told: dict[str, Any] = {
        "kind": "world",
        "seed": world.seed,
        "funds_cents": world.funds_cents,
        "start": world.start,
        "horizon_end": world.horizon_end,
        "initial_prestige": world.initial_prestige,
        "clients": [asdict(each) for each in world.clients],
        "employees": [asdict(each) for each in world.employees],
        "task_fields": _TASK_FIELDS,
        "tasks": [_row(each, names) for each in world.tasks],
        "replacement_fields": _REPLACEMENT_FIELDS,
        "replacements": [
            [each.task.slot, each.generation, *_row(each.task, names)[1:]]
            for each in world.replacements
        ],
    }
    for each in told["employees"]:
        each["rates"] = {domain: float(each["rates"][domain]) for domain in sorted(each["rates"])}
    return told


def _row(task: TaskSpec, names: list[str]) -> list[Any]:
    slot, title, client, *body = astuple(task)
    body.insert(4, _effective(task.prestige_delta))
    return [slot, title, names[client], *body]


def _effective(delta: float) -> str:
    """Write a task's prestige as it is used (SPEC section 5)."""
    return f"{delta:.3f}"


# -- checks ----------------------------------------------------------------------------------------


def _numbers(told: Any, path: str) -> None:
    for name, least in _LEAST.items():
        value = getattr(told, name, least)
        if not least <= value <= _MOST:
            raise ValueError(
                f"{path}.{name}={value} was given; it lies between {least} and {_MOST:g}"
            )


def _known(domains: Iterable[str], path: str) -> None:
    for domain in domains:
        if domain not in DOMAINS:
            raise ValueError(f"{path}: there is no {domain!r}; {possible(domain, DOMAINS)}")


def _told_once(path: str, names: list[str]) -> None:
    if not names:
        raise ValueError(f"{path} is empty; there is at least one")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: two are named {twice!r}")


def _same(path: str, told: tuple[str, ...], expected: tuple[str, ...]) -> None:
    if tuple(told) != expected:
        raise ValueError(f"{path}={list(told)} was given; they are {list(expected)}")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")
