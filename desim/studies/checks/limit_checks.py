"""Checks of the limits of actions: a model stands the smallest and the largest that fit."""

from collections.abc import Iterator
from typing import Any

from desim.core.roles import Role
from desim.errors import LimitReached, Stuck, WrongAction
from desim.schema import TAG, codec, members
from desim.schema.codecs import tagged_object
from desim.schema.described import Schema, action_schemas
from desim.short_repr import short_repr
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.course import CheckedCourse
from desim.studies.checks.outcomes import CheckAdvice, CheckFailed, fault_sentence
from desim.studies.checks.wording import counted

#: The largest number where the schema has no limit, and the most characters and items.
_NUMBER, _CHARACTERS, _ITEMS = 10**18, 1_000, 100

#: By type of JSON Schema, the keywords of its limits.
_LIMITS = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "string": ("maxLength",),
    "array": ("maxItems",),
}


def limits(world: CheckedWorld) -> str:
    """The model plays on after the smallest and the largest actions; the schema states limits."""
    course = world.ended()[0]
    tried = sum(_tried(world, course, role) for role in course.seats)
    for name, role in world.model.roles.items():
        for cls in members(role.action):
            if found := unlimited(role, cls.__name__):
                text = f"{', '.join(found)} of {cls.__name__} ({name!r}) has no limit; a validator "
                raise CheckAdvice(f"{text}states one to agents and refuses what exceeds it", cls)
    return f"{counted(tried, 'extreme action')} of {counted(len(course.seats), 'role')} tried"


def _tried(world: CheckedWorld, course: CheckedCourse, role: str) -> int:
    """Take the extreme actions of a role at its first decision that takes them; return how many.

    Raises:
        CheckFailed: The model fails.
    """
    first: dict[str, int] = {}
    for at, one in enumerate(course.asked):
        if one.role == role:
            first = dict.fromkeys(one.spec.tags, at) | first
    tried = 0
    for action in extreme_actions(world.model.roles[role]) if first else ():
        if (number := first.get(tagged_object(action)[TAG])) is None:
            continue
        again = world.played_otherwise(course, number, action)
        tried += 1
        if again.fault is not None and not isinstance(again.fault, Stuck | LimitReached):
            text = f"{role!r} took {short_repr(action)} at t={course.asked[number].t}, and the "
            sentence = f"{text}model failed: {fault_sentence(again.fault)}"
            raise CheckFailed(sentence) from again.fault
    return tried


def extreme_actions(role: Role) -> Iterator[Any]:
    """Yield of each class of actions one of the smallest and one of the largest values."""
    actions = codec(role.action)
    for name, schema in action_schemas(actions).items():
        for high in (False, True):
            fields = {key: extreme(each, high=high) for key, each in schema["properties"].items()}
            try:
                yield actions.read({"do": name, **fields})
            except WrongAction:  # a validator may refuse more than the schema states
                continue


def extreme(schema: Schema, *, high: bool) -> Any:
    """Return the smallest or the largest value of a schema without references.

    >>> extreme({"type": "integer", "minimum": 0}, high=False), extreme({"enum": [1, 2]}, high=True)
    (0, 2)
    """
    if choices := schema.get("anyOf") or schema.get("enum"):
        last = choices[-1 if high else 0]
        return extreme(last, high=high) if "anyOf" in schema else last
    match schema.get("type"):
        case "integer" | "number":
            return _extreme_number(schema, high=high)
        case "string":
            least, most = schema.get("minLength", 0), schema.get("maxLength", _CHARACTERS)
            return "x" * (min(most, _CHARACTERS) if high else least)
        case "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", _ITEMS)
            number = min(most, _ITEMS) if high else least
            return [extreme(schema.get("items", {}), high=high)] * number
        case "object":
            inside = schema.get("properties", {}).items()
            return {key: extreme(each, high=high) for key, each in inside}
        case kind:
            return high if kind == "boolean" else None


def _extreme_number(schema: Schema, *, high: bool) -> Any:
    if high:
        return schema.get("maximum", schema.get("exclusiveMaximum", _NUMBER + 1) - 1)
    return schema.get("minimum", schema.get("exclusiveMinimum", -_NUMBER - 1) + 1)


def unlimited(role: Role, cls: str) -> list[str]:
    """Return the fields of a class of actions that have a number, text or list without a limit."""
    properties = codec(role.action).json_schema()["$defs"][cls]["properties"]
    return [name for name, kind in properties.items() if _has_no_limit(kind)]


def _has_no_limit(kind: Schema) -> bool:
    # A pattern of dates and an enumeration are limits too.
    known = "pattern" in kind or "enum" in kind
    missing = not known and any(
        limit not in kind and f"exclusive{limit.capitalize()}" not in kind
        for limit in _LIMITS.get(kind.get("type", ""), ())
    )
    return missing or any(map(_has_no_limit, kind.get("anyOf", ())))
