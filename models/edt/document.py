"""The scenario document: BPTK-style JSON to frozen classes and back.

`{MANAGER: {"type": "abm", "name": ..., "model": ..., "scenarios": {KEY: SCENARIO}}}`, or SCENARIO
alone, which is `{"runspecs": ..., "properties": ..., "agents": [...]}`. Every field must be there
and none may be unknown; a fault is told in one sentence with its path.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import attrs

from desim.errors import possible
from models.edt.scenario import AGENTS, Consultant, Project, Scenario

__all__ = ["from_document", "read", "template", "to_document"]

#: How a property's type is named in the document, and in Python.
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
    """Return a scenario as it is, or read it from a file.

    Args:
        given: A scenario, or the path of a scenario document.

    Raises:
        ValueError: It is neither, or the document has a fault; the text holds the fault's path.
    """
    if isinstance(given, Scenario):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ValueError(  # noqa: TRY004 (one kind)
            f"scenario={given!r} was given; it is a scenario or the path of a file"
        )
    file = os.fspath(given)
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        return from_document(json.loads(text, object_pairs_hook=_once))
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is no text"
        raise ValueError(f"scenario: cannot read {file!r}: {why}") from None
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"scenario: {file!r}: {fault}") from None


def from_document(document: Any) -> Scenario:
    """Build a scenario from the plain JSON values of a document.

    Raises:
        ValueError: Something is missing, unknown or out of range; the text holds its path.
    """
    if isinstance(document, dict) and "agents" in document:
        return _scenario(document, "$", {})
    manager, around = _only(document, "$", "manager")
    path = f"$.{manager}"
    fields = _object(around, path, ("type", "name", "model", "scenarios"))
    if fields["type"] != "abm":
        _fail(f"type is 'abm', not {fields['type']!r}", f"{path}.type")
    key, inner = _only(fields["scenarios"], f"{path}.scenarios", "scenario")
    told = {"manager": manager, "key": key, "name": fields["name"], "model": fields["model"]}
    return _scenario(inner, f"{path}.scenarios.{key}", told)


def to_document(scenario: Scenario) -> dict[str, Any]:
    """Write a scenario as the plain JSON values of a document; `from_document` reads it back."""
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


def _scenario(given: Any, path: str, told: Mapping[str, Any]) -> Scenario:
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
        **told,
        "consultants": agents["consultant"],
        "projects": agents["project"],
        "order": order,
    }
    inner = {name: f".runspecs.{name}" for name in _RUNSPECS} | _inner(firm)
    scenario: Scenario = _built(Scenario, fields, path, inner)
    return scenario


def _agent(given: Any, path: str, known: Mapping[str, list[Any]]) -> tuple[str, int, Any]:
    parts = _object(given, path, ("name", "count", "properties"))
    kind, count = parts["name"], parts["count"]
    if not isinstance(kind, str) or kind not in _KINDS:
        _fail(f"there is no agent {kind!r}; {possible(str(kind), _KINDS)}", f"{path}.name")
    if type(count) is not int or count < 0:
        _fail(f"count is a whole number of at least 0, not {count!r}", f"{path}.count")
    if count + sum(map(len, known.values())) > AGENTS:
        _fail(f"more than {AGENTS:,} agents", f"{path}.count")
    cls, inner = _KINDS[kind], f"{path}.properties"
    if cls is None:
        _object(parts["properties"], inner, ())
        if known[kind] or count != 1:
            _fail("exactly one controlling agent is expected", path)
        return kind, count, None
    told = _properties(parts["properties"], inner, _kinds(cls))
    if "consultants" in told and float(told["consultants"]).is_integer():
        told["consultants"] = int(told["consultants"])
    agent = _built(cls, told, path, _inner(told))
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
    told = {}
    for name, kind in kinds.items():
        node = _object(nodes[name], f"{path}.{name}", _NODE)
        if node["type"] != kind:
            _fail(f"type is {kind!r}, not {node['type']!r}", f"{path}.{name}.type")
        told[name] = _typed(node["value"], kind, f"{path}.{name}.value")
    return told


def _inner(names: Mapping[str, Any]) -> dict[str, str]:
    return {name: f".properties.{name}.value" for name in names}


def _typed(value: Any, kind: str, path: str) -> Any:
    if type(value) not in _TYPES[kind]:
        _fail(f"a {kind} is expected, not {value!r}", path)
    return value


def _object(given: Any, path: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Insist on an object with exactly these fields."""
    if not isinstance(given, dict):
        _fail(f"an object is expected, not {given!r:.60}", path)
    for name in names:
        if name not in given:
            _fail(f"{name} is missing", path)
    for name in given:
        if name not in names:
            _fail(f"there is no field {name!r}; {possible(name, names)}", path)
    return given


def _only(given: Any, path: str, what: str) -> tuple[str, Any]:
    """Insist on an object with one field of any name."""
    if not isinstance(given, dict) or len(given) != 1:
        found = f"{len(given)}: {', '.join(given)}" if isinstance(given, dict) else f"{given!r:.60}"
        _fail(f"an object with exactly one {what} is expected, not {found}", path)
    return next(iter(given.items()))


def _built(cls: Any, told: Mapping[str, Any], path: str, inner: Mapping[str, str]) -> Any:
    try:
        return cls(**told)
    except (TypeError, ValueError, OverflowError) as fault:
        text = str(fault.args[0])
        field = re.match(r"'(\w+)'", text)
        return _fail(text, path + inner.get(field[1] if field else "", ""))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(n for n in names if names.count(n) > 1)
        raise ValueError(f"the field {twice!r} stands twice in one object")
    return told


def _fail(what: str, path: str) -> NoReturn:
    raise ValueError(f"{what} - at `{path}`")
