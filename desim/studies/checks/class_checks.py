"""Checks of a model's classes, without an episode: parameters, schema, rules, calendar."""

import difflib
import inspect
import pickle
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import msgspec

from desim.composition.parts_model import PartsModel
from desim.core.model import ItemsModel, model_of, rules_of, world_rules
from desim.core.roles import Role
from desim.schema import codec, from_plain, json_schema, members, to_plain
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.outcomes import CheckAdvice, CheckFailed, NotChecked
from desim.studies.checks.wording import counted

#: Periods of a calendar that are compared.
_TICKS = 5

#: A field of a text that was never filled in, and an object that has no text.
_UNFILLED = re.compile(r"\{[a-z_][a-z0-9_.]*\}|<[^<>]* at 0x[0-9a-f]+>")


def parameters(world: CheckedWorld) -> str:
    """Frozen, and equal after pickling and after JSON; no name is nearly that of a member.

    Raises:
        CheckAdvice: The class has a public name that is nearly that of a member of `Model`.
    """
    model, cls = world.model, type(world.model)
    if not attrs.has(cls):
        raise CheckFailed(f"{cls.__name__} is no frozen attrs class", cls)
    names = [one.name for one in attrs.fields(cls)]
    for name in names[:1]:
        _check_frozen(model, name)
    if pickle.loads(pickle.dumps(model)) != model:  # noqa: S301 (our own bytes)
        raise CheckFailed("a pickled model differs from the original", cls)
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(model)))
    if from_plain(plain, cls) != model:
        raise CheckFailed("a model that is read from JSON differs from the original", cls)
    for name, member in misspelled(cls, PartsModel, ItemsModel):
        raise CheckAdvice(f"{name!r} is no member of desim.Model; did you mean {member!r}?", cls)
    return f"{counted(len(names), 'parameter')}: frozen, and equal after pickling and JSON"


def misspelled(cls: type, *bases: type) -> Iterator[tuple[str, str]]:
    """Yield public names of a class that are nearly those of members which it lacks, with these."""
    members = {name: one for each in bases for name, one in _statics(each)}
    lacking = [name for name, one in _statics(cls) if members.get(name) is one]
    for name in sorted({name for name, _ in _statics(cls)} - {*members}):
        if near := difflib.get_close_matches(name, lacking, n=1, cutoff=0.85):
            yield name, near[0]


def _statics(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members of a class as they are defined."""
    return ((n, inspect.getattr_static(cls, n)) for n in dir(cls) if not n.startswith("_"))


def _check_frozen(model: Any, name: str) -> None:
    value = getattr(model, name)
    try:
        setattr(model, name, value)
    except AttributeError:
        return
    text = f"an episode can change {name!r} of a model that others share; decorate with @frozen"
    raise CheckFailed(text, type(model))


def schema(world: CheckedWorld) -> str:
    """Every class and field of observations and actions has a description, for agents and forms."""
    classes: set[str] = set()
    for name, role in world.model.roles.items():
        for whole in (json_schema(role.observation), codec(role.action).json_schema()):
            for title, found in whole["$defs"].items():
                _check_described(name, role, title, found)
                classes.add(title)
    return f"{counted(len(classes), 'class', 'classes')} with a description of every field"


def _check_described(name: str, role: Role, title: str, schema: Mapping[str, Any]) -> None:
    """Check the schema of a class.

    Raises:
        CheckAdvice: The class or a field has no description.
    """
    silent = [
        field
        for field, kind in schema["properties"].items()
        if field != "do" and "description" not in kind and "$ref" not in kind
    ]
    if silent or not schema.get("description"):
        what = f"{', '.join(silent)} of {title}" if silent else f"the class {title}"
        own = (*members(role.observation), *members(role.action))
        of = next((cls for cls in own if cls.__name__ == title), None)
        text = f"{what} ({name!r}) has no description in the docstring, so that language models "
        raise CheckAdvice(f"{text}and forms show its name alone", of)


def rules(world: CheckedWorld) -> str:
    """Every role has rules in words; they hold no unfilled field and name no hidden one."""
    if not world.model.roles:
        raise NotChecked("the model has no role")
    hidden = _hidden_names(world)
    lengths = []
    for role in world.model.roles:
        text, whole = world_rules(world.model, role), rules_of(world.model, role)
        at = _rules_method(world.model, role)
        if len(text.split()) <= 1:
            advice = f"the role {role!r} has no rules; give the model `texts` or a docstring"
            raise CheckAdvice(advice, at)
        if found := _UNFILLED.search(whole):
            raise CheckFailed(f"the rules of {role!r} hold {found[0]!r}", at)
        if named := sorted(hidden & set(re.findall(r"\w+", text))):
            raise CheckFailed(f"the rules of {role!r} name the hidden {', '.join(named)}", at)
        lengths.append(len(text.split()))
    own = "" if world.model.texts(role).rules else "; give the model `texts` to say more"
    return f"{counted(len(lengths), 'role')}, {min(lengths)} words or more{own}"


def _rules_method(model: Any, role: str) -> Any:
    part, inside = model_of(model, role)
    return part.texts if part.texts(inside).rules else type(part)


def _hidden_names(world: CheckedWorld) -> set[str]:
    """Return names of fields of the state, in snake_case, that no role can know."""
    courses = [one for one in world.courses() if one.run is not None]
    state = courses[0].state if courses else None
    held = {name.strip("_") for name in _fields_of(state)}
    known = {
        field
        for role in world.model.roles.values()
        for whole in (json_schema(role.observation), codec(role.action).json_schema())
        for cls in whole.get("$defs", {}).values()
        for field in cls.get("properties", ())
    }
    known |= {*_fields_of(world.model)}
    return {name for name in held if "_" in name} - known - world.model.roles.keys()


def _fields_of(state: Any) -> Iterator[str]:
    if attrs.has(type(state)):
        yield from (one.name for one in attrs.fields(type(state)))
    yield from getattr(state, "__dict__", ())


def calendar(world: CheckedWorld) -> str:
    """Ticks have increasing dates and times, so that the world can share a clock with others."""
    model = world.model
    if (calendar := model.time.calendar) is None:
        raise NotChecked(
            "the `time` of the model has no calendar, so it shares no clock with others"
        )
    moments = [calendar.moment(tick) for tick in range(_TICKS)]
    if moments != sorted(set(moments)):
        raise CheckFailed("the moments of ticks do not increase", type(calendar))
    back = [calendar.last_tick(moment) for moment in moments]
    if back != [*range(_TICKS)]:
        text = f"the last ticks at the moments of ticks 0 to {_TICKS - 1} are {back}"
        raise CheckFailed(text, type(calendar))
    return f"tick 0 is {moments[0]}, tick 1 {moments[1]}"
