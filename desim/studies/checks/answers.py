"""The answers of checks: options that fit the schema, or else the least action that does."""

from collections import deque
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from attrs import define, field

from desim.core.events import Decision
from desim.core.policy import Policy
from desim.core.roles import Role
from desim.core.run import Run
from desim.errors import WrongAction
from desim.faults import RAISED
from desim.schema import codec
from desim.schema.described import Schema, action_schemas
from desim.studies.checks.course import Asked
from desim.studies.checks.outcomes import NotChecked


@define
class FittingAnswers:
    """Takes at random an option that fits the schema; the same choices for every seed.

    A role without such an option takes its default action, or else the least action of its schema.
    """

    _random: Random = field(factory=lambda: Random(0))  # noqa: S311 (no secret)

    def __call__(self, run: Run[Any], decision: Decision) -> Any:
        """Return the answer to an open decision."""
        # Drawn for every decision, so that a role without options does not shift other choices.
        found = _fitting(run.role_of(decision), decision.observation)
        return found[int(self._random.random() * len(found))]


@define
class FittingPolicy(Policy):
    """A policy of one role that answers as `FittingAnswers` does."""

    takes_role = True

    _role: Role
    _random: Random = field(factory=lambda: Random(0))  # noqa: S311 (no secret)

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return one of the answers that fit."""
        return self._random.choice(_fitting(narrowed or self._role, observation))


class ScriptedAnswers(Policy):
    """A policy that gives the answers of its role in a course."""

    def __init__(self, role: str, asked: Iterable[Asked], kinds: Role) -> None:
        read = codec(kinds.action).read
        self._actions = deque(read(one.wire) for one in asked if one.role == role)

    def decide(self, _observation: Any) -> Any:
        """Return the next answer."""
        return self._actions.popleft()


def least_action(role: Role) -> Any:
    """Return an action with the smallest values that its schema allows.

    Raises:
        NotChecked: No action could be made from the schema alone.
    """
    actions = codec(role.action)
    for name, schema in action_schemas(actions).items():
        fields = schema["required"]
        made = {key: least(schema["properties"][key]) for key in fields}
        try:
            return actions.read({"do": name, **made})
        except WrongAction:
            continue
    raise NotChecked(f"no action was found: the role has no options, and {actions.expected()}")


def _fitting(role: Role, seen: Any) -> list[Any]:
    return [*_options(role, seen)] or [*_defaults(role, seen)] or [least_action(role)]


def _options(role: Role, seen: Any) -> Iterator[Any]:
    """Yield the actions of the options that fit; none if the options cannot be made."""
    try:
        found = [option.action for option in role.options(seen)] if role.options else []
    except RAISED:
        return
    for action in found:
        if fits(role, action):
            yield action


def _defaults(role: Role, seen: Any) -> Iterator[Any]:
    try:
        action = role.default_for(seen)
    except RAISED:
        return
    if fits(role, action):
        yield action


def fits(role: Role, action: Any) -> bool:
    """Return whether an action fits the schema of its role."""
    try:
        codec(role.action).take(action)
    except WrongAction:
        return False
    return True


def least(schema: Schema) -> Any:
    """Return the smallest value that fits a schema without references, where that can be known.

    >>> least({"type": "integer", "minimum": 2}), least({"type": "array"}), least({"enum": ["a"]})
    (2, [], 'a')
    """
    if "anyOf" in schema:
        return least(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind in ("integer", "number"):
        above = schema.get("exclusiveMinimum", -1)
        return max(schema.get("minimum", 0), min(0, schema.get("maximum", 0)), above + 1)
    if kind == "array":
        return [least(schema.get("items", {}))] * schema.get("minItems", 0)
    if kind == "object":
        inside = schema.get("properties", {})
        return {name: least(inside.get(name, {})) for name in schema.get("required", ())}
    return {"string": "x" * schema.get("minLength", 0), "boolean": False}.get(str(kind))
