"""The scenario document: BPTK-style JSON to frozen classes and back.

`{MANAGER: {"type": "abm", "name": ..., "model": ..., "scenarios": {KEY: SCENARIO}}}`, or SCENARIO
alone, which is `{"runspecs": ..., "properties": ..., "agents": [...]}`. Every field is required and
unknown fields are refused; an error is one sentence that ends with the path of the fault.
"""

import os
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import attrs

from desim.errors import possible
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import read_text
from models.edt.scenario import AGENTS, Consultant, Project, Scenario

#: Python types by the type's name in the document.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "Double": (int, float),
    "String": (str,),
    "Boolean": (bool,),
}
_RUNSPECS = ("starttime", "stoptime", "dt")
_FIRM = ("revenue_risk_level", "fixed_cost")
_KINDS: Mapping[str, type | None] = {
    "consultant": Consultant,
    "project": Project,
    "controlling": None,
}
_NODE = ("type", "value")


@cache
def template() -> Scenario:
    """Return the built-in scenario of the published game."""
    return read(str(Path(__file__).with_name("template.json")))


def read(given: Any) -> Scenario:
    """Read a scenario from a file; a scenario is returned as it is.

    Args:
        given: A scenario, or the path of a scenario document.

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
    except UnicodeDecodeError:
        raise ValueError(f"scenario: cannot read {file!r}: it is no text") from None
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
    fields = _object(around, path, ("type", "name", "model", "scenarios"))
    if fields["type"] != "abm":
        _fail(f"type is 'abm', not {short_repr(fields['type'])}", f"{path}.type")
    key, inner = _only(fields["scenarios"], f"{path}.scenarios", "scenario")
    names = {"manager": manager, "key": key, "name": fields["name"], "model": fields["model"]}
    return _scenario(inner, f"{path}.scenarios.{key}", names)


def to_document(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as the plain JSON values of a document, which `from_document` reads."""
    agents = {"consultant": iter(scenario.consultants), "project": iter(scenario.projects)}
    listed: list[dict[str, Any]] = []
    for kind, count in scenario.order:
        if kind == "controlling":
            listed.append({"name": kind, "count": 1, "properties": {}})
            continue
        for agent, copies in groupby(next(agents[kind]) for _ in range(count)):
            names = _kinds(_KINDS[kind])
            nodes = {name: _node(getattr(agent, name)) for name in names}
            listed.append({"name": kind, "count": len([*copies]), "properties": nodes})
    inner = {
        "runspecs": {name: getattr(scenario, name) for name in _RUNSPECS},
        "properties": {name: _node(getattr(scenario, name)) for name in _FIRM},
        "agents": listed,
    }
    about = {"type": "abm", "name": scenario.name, "model": scenario.model}
    return {scenario.manager: {**about, "scenarios": {scenario.key: inner}}}


def _node(value: Any) -> dict[str, Any]:
    kind = {str: "String", bool: "Boolean"}.get(type(value), "Double")
    return {"type": kind, "value": float(value) if kind == "Double" else value}


def _scenario(given: Any, path: str, names: Mapping[str, Any]) -> Scenario:
    parts = _object(given, path, ("runspecs", "properties", "agents"))
    specs = _object(parts["runspecs"], f"{path}.runspecs", _RUNSPECS)
    for name in _RUNSPECS:
        _typed(specs[name], "Double", f"{path}.runspecs.{name}")
    firm = _properties(parts["properties"], f"{path}.properties", dict.fromkeys(_FIRM, "Double"))
    if not isinstance(parts["agents"], list):
        _fail("a list of agents is expected", f"{path}.agents")
    agents: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    order: list[tuple[str, int]] = []
    for at, each in enumerate(parts["agents"]):
        kind, count, agent = _agent(each, f"{path}.agents[{at}]", agents)
        agents[kind] += [agent] * count
        order += [(kind, count)] * bool(count)
    fields = {
        **specs,
        **firm,
        **names,
        "consultants": agents["consultant"],
        "projects": agents["project"],
        "order": order,
    }
    inner = {name: f".runspecs.{name}" for name in _RUNSPECS} | _inner(firm)
    scenario: Scenario = _built(Scenario, fields, path, inner)
    return scenario


def _agent(given: Any, path: str, known: Mapping[str, list[Any]]) -> tuple[str, int, Any]:
    """Return kind, count and instance of an agent; *known* holds the agents before it."""
    parts = _object(given, path, ("name", "count", "properties"))
    kind, count = parts["name"], parts["count"]
    if not isinstance(kind, str) or kind not in _KINDS:
        _fail(
            f"there is no agent {short_repr(kind)}; {possible(str(kind), _KINDS)}", f"{path}.name"
        )
    if type(count) is not int or count < 0:
        _fail(f"count is a whole number of at least 0, not {short_repr(count)}", f"{path}.count")
    if count + sum(map(len, known.values())) > AGENTS:
        _fail(f"more than {AGENTS:,} agents", f"{path}.count")
    cls, inner = _KINDS[kind], f"{path}.properties"
    if cls is None:
        _object(parts["properties"], inner, ())
        if known[kind] or count != 1:
            _fail("exactly one controlling agent is expected", path)
        return kind, count, None
    values = _properties(parts["properties"], inner, _kinds(cls))
    # The document has no type for whole numbers.
    if "consultants" in values and float(values["consultants"]).is_integer():
        values["consultants"] = int(values["consultants"])
    agent = _built(cls, values, path, _inner(values))
    if any(agent.name == other.name for other in known[kind]):
        _fail(f"two {kind}s are named {agent.name!r}", f"{inner}.name.value")
    return kind, count, agent


@cache
def _kinds(cls: Any) -> dict[str, str]:
    """Return the type of each property of an agent, as the document names it."""
    names = {"name": "String", "is_follow_on": "Boolean"}
    return {f.name: names.get(f.name, "Double") for f in attrs.fields(cls)}


def _properties(given: Any, path: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    nodes = _object(given, path, tuple(kinds))
    values = {}
    for name, kind in kinds.items():
        node = _object(nodes[name], f"{path}.{name}", _NODE)
        if node["type"] != kind:
            _fail(
                f"type is {short_repr(kind)}, not {short_repr(node['type'])}", f"{path}.{name}.type"
            )
        values[name] = _typed(node["value"], kind, f"{path}.{name}.value")
    return values


def _inner(names: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths of properties inside their agent, by name."""
    return {name: f".properties.{name}.value" for name in names}


def _typed(value: Any, kind: str, path: str) -> Any:
    if type(value) not in _TYPES[kind]:
        _fail(f"a {kind} is expected, not {short_repr(value)}", path)
    return value


def _object(given: Any, path: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return an object, checked to have exactly these fields."""
    if not isinstance(given, dict):
        _fail(f"an object is expected, not {short_repr(given, 60)}", path)
    for name in names:
        if name not in given:
            _fail(f"{name} is missing", path)
    for name in given:
        if name not in names:
            _fail(f"there is no field {name!r}; {possible(name, names)}", path)
    return given


def _only(given: Any, path: str, what: str) -> tuple[str, Any]:
    """Return name and value of the only field of an object."""
    if not isinstance(given, dict) or len(given) != 1:
        seen = (
            f"{len(given)}: {', '.join(given)}"
            if isinstance(given, dict)
            else f"{short_repr(given, 60)}"
        )
        _fail(f"an object with exactly one {what} is expected, not {seen}", path)
    return next(iter(given.items()))


def _built(cls: Any, values: Mapping[str, Any], path: str, inner: Mapping[str, str]) -> Any:
    """Build an instance; an error names the path of the field that it begins with."""
    try:
        return cls(**values)
    except (TypeError, ValueError, OverflowError) as fault:
        text = str(fault.args[0])
        at = (inner[name] for name in inner if text.startswith((f"'{name}' ", f"{name}=")))
        return _fail(text, path + next(at, ""))


def _fail(what: str, path: str) -> NoReturn:
    raise ValueError(f"{what} - at `{path}`")
