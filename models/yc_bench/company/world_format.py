"""World files on disk, in the format of the reference data.

One JSON object, gzip-compressed if the name ends in .gz: clients and employees are objects,
tasks and replacements are rows, whose fields the file names. Every field is checked; a fault is
one sentence with its path.
"""

import gzip
import json
import os
import zlib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, astuple, frozen

from desim.errors import SchemaError, possible
from desim.schema import from_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import open_regular
from models.yc_bench.company.world_file import Replacement, WorldFile
from models.yc_bench.rules.checks import stored
from models.yc_bench.rules.specs import DOMAINS, ClientSpec, Domain, EmployeeSpec, TaskSpec

#: Bytes of a file that are read, unzipped; a published world has fewer than 100,000.
MOST_BYTES = 64 << 20

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


def as_world(value: Any) -> WorldFile | None:
    """Return a world unchanged, built from an object, or read from a file; None for None.

    Args:
        value: None, a world, the path of a file, or an object: a file's, or a world's own fields.

    Raises:
        ValueError: *value* is of another type, or has a fault; the text holds the fault's path.
    """
    if value is None or isinstance(value, WorldFile):
        return value
    if isinstance(value, str | os.PathLike):
        return read(os.fspath(value))
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


def read(path: str) -> WorldFile:
    """Read a world file.

    Raises:
        ValueError: It cannot be read or has a fault; the text holds the path of both.
    """
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
    """Return the bytes of a file, unzipped.

    Raises:
        ValueError: There are more than `MOST_BYTES`.
    """
    with open_regular(path) as file:
        zipped = file.peek(2)[:2] == b"\x1f\x8b"
        data: bytes = (gzip.GzipFile(fileobj=file) if zipped else file).read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it holds more than {MOST_BYTES >> 20} MiB, the limit")
    return data


def write(path: str, world: WorldFile) -> None:
    """Write a world file, compressed where the name ends in .gz; the same world, the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    data = json.dumps(_document(world), separators=(",", ":"), allow_nan=False).encode()
    packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
    Path(path).write_bytes(packed)


# -- from the file's form --------------------------------------------------------------------------


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
    if effective != _effective(delta):
        raise ValueError(
            f"{title}: prestige_delta_effective={short_repr(effective)} was given; "
            f"{delta} is used as {_effective(delta)!r}"
        )
    return TaskSpec(slot, title, places[client], prestige, trust, reward, delta, *rest)


def _check_fields(path: str, fields: tuple[str, ...], expected: tuple[str, ...]) -> None:
    if tuple(fields) != expected:
        raise ValueError(f"{path}={list(fields)} was given; they are {list(expected)}")


# -- to the file's form ----------------------------------------------------------------------------


def _document(world: WorldFile) -> dict[str, Any]:
    names = [each.name for each in world.clients]
    document: dict[str, Any] = {
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
    for each in document["employees"]:
        each["rates"] = {domain: float(each["rates"][domain]) for domain in sorted(each["rates"])}
    return document


def _row(task: TaskSpec, names: list[str]) -> list[Any]:
    slot, title, client, *body, _ = astuple(task)  # a file's task has no further domains
    body.insert(4, _effective(task.prestige_delta))
    return [slot, title, names[client], *body]


def _effective(delta: float) -> str:
    """Write a task's prestige as it is used (SPEC section 5)."""
    return f"{delta:.3f}"
