"""The scenario document: BPTK-style JSON to frozen classes.

`{MANAGER: {"type": "abm", "name": ..., "model": ..., "scenarios": {KEY: SCENARIO}}}`, or SCENARIO
alone, which is `{"runspecs": ..., "properties": ..., "agents": [...]}`. Every field is required and
unknown fields are refused; an error is one sentence that ends with the path of the fault.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Union, get_args

import attrs
import msgspec

from desim.errors import possible, sentence
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import read_text
from models.edt.scenario import AGENTS, Consultant, Kind, Project, Scenario

_RUNSPECS = ("starttime", "stoptime", "dt")
_FIRM = ("revenue_risk_level", "fixed_cost")


def _record(name: str, fields: Mapping[str, Any], **options: Any) -> Any:
    return msgspec.defstruct(name, [*fields.items()], forbid_unknown_fields=True, **options)


def _node(name: str, kind: type) -> Any:
    return _record(name, {"type": Literal[name], "value": kind})


#: The property of each Python type; the document has no type for whole numbers.
_NODES: Mapping[Any, Any] = {
    str: _node("String", str),
    bool: _node("Boolean", bool),
    float: _node("Double", float),
    int: _node("Double", float),
}
_PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "consultant": {f.name: _NODES[f.type] for f in attrs.fields(Consultant)},
    "project": {f.name: _NODES[f.type] for f in attrs.fields(Project)},
    "controlling": {},
}
_AGENTS = tuple(
    _record(
        kind,
        {"count": Annotated[int, msgspec.Meta(ge=0)], "properties": _record("properties", nodes)},
        tag_field="name",
        tag=kind,
    )
    for kind, nodes in _PROPERTIES.items()
)
_SCENARIO = _record(
    "scenario",
    {
        "runspecs": _record("runspecs", dict.fromkeys(_RUNSPECS, float)),
        "properties": _record("properties", dict.fromkeys(_FIRM, _NODES[float])),
        "agents": list[Union[_AGENTS]],  # type: ignore[valid-type] # noqa: UP007 (made above)
    },
)
_MANAGER = _record(
    "manager", {"type": Literal["abm"], "name": str, "model": str, "scenarios": dict[str, Any]}
)


@cache
def template() -> Scenario:
    """Return the built-in scenario of the published game."""
    return read(str(Path(__file__).with_name("template.json")))


def read(given: Any) -> Scenario:
    """Read a scenario from the path of a document; a scenario is returned as it is.

    Raises:
        ValueError: *given* is neither, or the document has a fault; the error holds its path.
    """
    if isinstance(given, Scenario):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ValueError(  # noqa: TRY004 (one kind)
            f"scenario={short_repr(given)} was given; it is a scenario or the path of a file"
        )
    file = os.fspath(given)
    try:
        return from_document(decode_json(read_text(file)))
    except OSError as fault:
        raise ValueError(f"scenario: cannot read {file!r}: {fault.strerror}") from None
    except ValueError as fault:
        raise ValueError(f"scenario: {file!r}: {fault}") from None


def from_document(document: Any) -> Scenario:
    """Build a scenario from the plain JSON values of a document.

    Raises:
        ValueError: A field is missing, unknown or out of range; the error holds its path.
    """
    if isinstance(document, dict) and "agents" in document:
        return _scenario(document, "$", {})
    manager, around = _only(document, "$", "manager")
    path = f"$.{manager}"
    outer = _checked(around, _MANAGER, path)
    key, inner = _only(outer.scenarios, f"{path}.scenarios", "scenario")
    names = {"manager": manager, "key": key, "name": outer.name, "model": outer.model}
    return _scenario(inner, f"{path}.scenarios.{key}", names)


def _scenario(given: Any, path: str, names: Mapping[str, Any]) -> Scenario:
    parts = _checked(given, _SCENARIO, path)
    agents: dict[str, list[Any]] = {kind: [] for kind in get_args(Kind)}
    order: list[tuple[str, int]] = []
    for at, each in enumerate(parts.agents):
        kind, here = type(each).__name__, f"{path}.agents[{at}]"
        if each.count + sum(count for _, count in order) > AGENTS:
            _fail(f"more than {AGENTS:,} agents", f"{here}.count")
        if kind != "controlling":
            agent = _built({"consultant": Consultant, "project": Project}[kind], each, here)
            if any(agent.name == other.name for other in agents[kind]):
                _fail(f"two {kind}s are named {agent.name!r}", f"{here}.properties.name.value")
            agents[kind] += [agent] * each.count
        order += [(kind, each.count)] * bool(each.count)
    scenario: Scenario = _built(
        Scenario,
        parts,
        path,
        **names,
        **msgspec.structs.asdict(parts.runspecs),
        consultants=agents["consultant"],
        projects=agents["project"],
        order=order,
    )
    return scenario


def _checked(given: Any, kind: Any, path: str) -> Any:
    """Return a value as a record; an error of msgspec ends with the whole path."""
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, OverflowError) as fault:
        what, _, inside = sentence(fault).partition(" - at `$")
        _, is_unknown, name = what.removesuffix("'").partition("Invalid value '")
        near = f"; {possible(name, _PROPERTIES)}" if is_unknown and ".name`" in inside else ""
        return _fail(what + near, path + inside.rstrip("`"))


def _only(given: Any, path: str, what: str) -> tuple[str, Any]:
    """Return name and value of the only field of an object."""
    if not isinstance(given, dict) or len(given) != 1:
        is_object = isinstance(given, dict)
        seen = f"{len(given)}: {', '.join(given)}" if is_object else short_repr(given, 60)
        _fail(f"an object with exactly one {what} is expected, not {seen}", path)
    return next(iter(given.items()))


def _built(cls: Any, record: Any, path: str, **values: Any) -> Any:
    """Build an instance; an error names the path of the field that it begins with."""
    found = {name: node.value for name, node in msgspec.structs.asdict(record.properties).items()}
    if cls is Project and found["consultants"].is_integer():
        found["consultants"] = int(found["consultants"])
    places = {name: f".properties.{name}.value" for name in found}
    places |= {name: f".runspecs.{name}" for name in _RUNSPECS}
    try:
        return cls(**found, **values)
    except (TypeError, ValueError, OverflowError) as fault:
        text = str(fault.args[0])
        at = (places[name] for name in places if text.startswith((f"'{name}' ", f"{name}=")))
        return _fail(text, path + next(at, ""))


def _fail(what: str, path: str) -> NoReturn:
    raise ValueError(f"{what} - at `{path}`")
