"""A world given as data instead of drawn from a seed, and its file in the reference format.

The file is one JSON object, gzip-compressed or not; tasks are rows, whose fields it names.
"""

import gzip
import os
import zlib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal

from attrs import Attribute, astuple, field, fields, frozen
from attrs.validators import ge, le

from desim.errors import SchemaError, possible
from desim.schema import from_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import open_regular
from models.yc_bench.specs import DOMAINS, ClientSpec, Domain, EmployeeSpec, TaskSpec, stored

#: Bytes of a file that are read, unzipped; a published world has fewer than 100,000.
_MOST_BYTES = 64 << 20

#: The most of every number, and the range of most of them.
_MOST = 10**15
_COUNT: list[Any] = [ge(0), le(_MOST)]

#: The least of each number of a client, an employee, a task and a replacement.
_LEAST = {"slot": -1, "loyalty": -1, "required_qty": 1}
_LEAST |= dict.fromkeys(("generation", "required_prestige", "required_trust", "reward_cents"), 0)
_LEAST |= dict.fromkeys(("prestige_delta", "skill_boost", "reward_multiplier", "salary_cents"), 0)


@frozen
class Replacement:
    """A task that takes the place of one of its slot, of which `generation` were taken before."""

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
        start: ISO date and time, empty where the file leaves it open, as `horizon_end`.
        seed: Seed from which the world was drawn; None if it was not drawn.
    """

    clients: tuple[ClientSpec, ...] = field()
    employees: tuple[EmployeeSpec, ...] = field()
    tasks: tuple[TaskSpec, ...] = field()
    replacements: tuple[Replacement, ...] = field(default=())
    funds_cents: int = field(default=20_000_000, validator=_COUNT)
    initial_prestige: float = field(default=1.0, validator=_COUNT)
    start: str = ""
    horizon_end: str = ""
    seed: int | None = None

    @property
    def foreseen(self) -> dict[tuple[int, int], TaskSpec]:
        """The replacements by slot and generation."""
        return {(each.task.slot, each.generation): each.task for each in self.replacements}

    @clients.validator
    @employees.validator
    def _distinct(self, attribute: "Attribute[Any]", people: Iterable[Any]) -> None:
        names = [each.name for each in people]
        if not names:
            raise ValueError(f"{attribute.name} is empty; there is at least one")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"{attribute.name}: two are named {twice[0]!r}")

    @clients.validator
    @employees.validator
    @tasks.validator
    @replacements.validator
    def _within_ranges(self, attribute: "Attribute[Any]", specs: Iterable[Any]) -> None:
        for at, spec in enumerate(specs):
            path = f"{attribute.name}[{at}]"
            _check_numbers(path, spec)
            if isinstance(spec, EmployeeSpec):
                _check_rates(path, spec.rates)
            elif not isinstance(spec, ClientSpec):
                self._check_task(path, getattr(spec, "task", spec))
        if attribute.name == "replacements" and len(self.foreseen) < len(self.replacements):
            raise ValueError("replacements give one slot's generation twice")

    def _check_task(self, path: str, task: TaskSpec) -> None:
        _check_numbers(path, task)
        if task.domain not in DOMAINS:
            known = possible(task.domain, DOMAINS)
            raise ValueError(f"{path}.domain: there is no {task.domain!r}; {known}")
        if task.further:
            raise ValueError(
                f"{path}.further={task.further} was given; a file's task has one domain"
            )
        if not 0 <= task.client < len(self.clients):
            raise ValueError(f"{path}.client={task.client} was given; it is a client's place")


def _check_numbers(path: str, spec: Any) -> None:
    for name, least in _LEAST.items():
        value = getattr(spec, name, least)
        if not least <= value <= _MOST:
            raise ValueError(
                f"{path}.{name}={value} was given; it is between {least} and {_MOST:g}"
            )


def _check_rates(path: str, rates: Mapping[str, Decimal]) -> None:
    if rates.keys() != {*DOMAINS}:
        raise ValueError(f"{path}.rates are of {[*rates]}; they are of {[*DOMAINS]}")
    for domain, rate in rates.items():
        if rate.is_nan() or not 0 <= rate <= _MOST:
            raise ValueError(f"{path}.rates.{domain}={rate} was given; it is at least 0")


def as_world(value: Any) -> WorldFile | None:
    """Return None or a world unchanged, else the world at a path or of an object.

    An object is that of a file, or has a world's own fields.

    Raises:
        ValueError: *value* is of another type, cannot be read or has a fault, which has its path.
    """
    if value is None or isinstance(value, WorldFile):
        return value
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if path is None and not isinstance(value, Mapping):
        raise ValueError(
            f"world={short_repr(value, 60)} was given; it is a world, an object or the path of "
            "a file"
        )
    try:
        plain = value if path is None else decode_json(_content(path).decode("utf-8-sig"))
        fields_of_own = path is None and "kind" not in plain
        world: WorldFile = from_plain(plain, WorldFile) if fields_of_own else _world(plain)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is cut, or no text"
        raise ValueError(f"world: cannot read {path!r}: {why}") from None
    except (ValueError, SchemaError) as fault:
        raise ValueError(f"world: {f'{path!r}: ' if path else ''}{fault}") from None
    return world


def _content(path: str) -> bytes:
    with open_regular(path) as file:
        zipped = file.peek(2)[:2] == b"\x1f\x8b"
        data: bytes = (gzip.GzipFile(fileobj=file) if zipped else file).read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it holds more than {_MOST_BYTES >> 20} MiB, the limit")
    if not data.strip():
        raise ValueError("the file is empty")
    return data


# -- the reference format --------------------------------------------------------------------------


@frozen(kw_only=True)
class _Row:
    """A task of the market, or a replacement, as its row in the file."""

    market_slot: int = field(validator=_COUNT)
    generation: int = field(default=0, validator=_COUNT)
    title: str
    client: str
    required_prestige: int = field(validator=_COUNT)
    required_trust: int = field(validator=_COUNT)
    reward_funds_cents: int = field(validator=_COUNT)
    prestige_delta_generated: float = field(validator=_COUNT)
    prestige_delta_effective: str
    skill_boost: float = field(validator=_COUNT)
    domain: Domain
    required_qty: int = field(validator=[ge(1), le(_MOST)])


_REPLACEMENT_FIELDS = tuple([each.name for each in fields(_Row)])
_TASK_FIELDS = tuple([name for name in _REPLACEMENT_FIELDS if name != "generation"])


@frozen(kw_only=True)
class _Employee:
    name: str
    tier: str
    salary_cents: int
    work_hours_per_day: float = 9
    rates: dict[str, float]


@frozen(kw_only=True)
class _Document:
    kind: Literal["world"]
    seed: int | None = None
    note: str = ""
    funds_cents: int
    start: str = ""
    horizon_end: str = ""
    initial_prestige: float
    initial_trust: float = field(default=0.0, validator=[ge(0), le(0)])
    clients: tuple[ClientSpec, ...]
    employees: tuple[_Employee, ...]
    task_fields: tuple[str, ...]
    tasks: tuple[tuple[Any, ...], ...]
    replacement_fields: tuple[str, ...] = _REPLACEMENT_FIELDS
    replacements: tuple[tuple[Any, ...], ...] = ()


def _world(plain: Any) -> WorldFile:
    if not isinstance(plain, Mapping) or plain.get("kind") != "world":
        raise ValueError("this is no world file, an object whose kind is 'world'")
    document: _Document = from_plain(plain, _Document)
    places = {each.name: at for at, each in enumerate(document.clients)}
    tasks = _rows("task", document, _TASK_FIELDS)
    taking = _rows("replacement", document, _REPLACEMENT_FIELDS)
    return WorldFile(
        clients=document.clients,
        employees=tuple(map(_employee, document.employees)),
        tasks=tuple(_task(places, row) for row in tasks),
        replacements=tuple(Replacement(row.generation, _task(places, row)) for row in taking),
        funds_cents=document.funds_cents,
        initial_prestige=document.initial_prestige,
        start=document.start,
        horizon_end=document.horizon_end,
        seed=document.seed,
    )


def _rows(kind: str, document: _Document, names: tuple[str, ...]) -> list[_Row]:
    if (given := getattr(document, f"{kind}_fields")) != names:
        raise ValueError(f"{kind}_fields={[*given]} was given; they are {[*names]}")
    rows = getattr(document, f"{kind}s")
    for at, row in enumerate(rows):
        if len(row) > len(names):
            raise ValueError(
                f"{len(row)} values were given; they are {len(names)} - at `$.{kind}s[{at}]`"
            )
    return [
        from_plain(dict(zip(names, row, strict=False)), _Row, f"$.{kind}s[{at}]")
        for at, row in enumerate(rows)
    ]


def _employee(read: _Employee) -> EmployeeSpec:
    rates = {domain: stored(rate, 4) for domain, rate in read.rates.items()}
    return EmployeeSpec(read.name, read.tier, read.salary_cents, rates)


def _task(places: Mapping[str, int], row: _Row) -> TaskSpec:
    slot, _, title, client, prestige, trust, reward, delta, effective, *rest = astuple(row)
    if client not in places:
        raise ValueError(f"{title}: there is no client {client!r}; {possible(client, places)}")
    if effective != f"{delta:.3f}":
        raise ValueError(
            f"{title}: prestige_delta_effective={short_repr(effective)} was given; "
            f"{delta} is used as {f'{delta:.3f}'!r}"
        )
    return TaskSpec(slot, title, places[client], prestige, trust, reward, delta, *rest)
