"""A policy that plays a plan: rules of constants, observed values and counts, in one text.

A plan is rules joined by `;`, of which the first that applies decides. A rule is a condition on one
number, such as `week>=20:`, or none, and then actions joined by `|`, which take turns. An action is
its name and its fields, such as `order(quantity=12)`, with `&` between fields. It may also be
`default` (the role's default action), `option(at=K)` (option K as listed) or `ranked(at=K)` (option
K by value, the highest first).

A value is a number, `~TEXT` (percent-encoded), `@PATH` for what is observed there, `@PATH*F` for F
times it, `@` for all observed texts, or `#N` for the number of decisions so far modulo N. The path
`decision` is the number of decisions so far.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Self
from urllib.parse import quote, unquote

import msgspec
from attrs import define, field, frozen

from desim.core.roles import Role
from desim.episodes.lineup import Seat
from desim.errors import PolicyFailed, UsageError, WrongAction
from desim.schema import codec, to_plain
from desim.schema.described import Schema, action_schemas

#: The path of the number of decisions so far, which is counted and not observed.
DECISION = "decision"

#: The names of actions that are not classes of the role.
DEFAULT, OPTION, RANKED = "default", "option", "ranked"

#: The keys that paths may have; they hold no sign of a plan.
_KEY = re.compile(r"\w+")

_CONDITION = re.compile(r"([\w.]+)(>=|<)([^:]+):(.*)", re.DOTALL)

#: Where so many observations repeat earlier ones, actions are refused or end no period.
_MOST_REPEATS = 10

#: Bounds of a number in JSON Schema. A bound that is excluded is left to the codec.
_LOW, _HIGH = "minimum", "maximum"


@frozen
class PlannedAction:
    """An action with a text for the value of each field.

    Attributes:
        name: The tag of its class, or one of `DEFAULT`, `OPTION` and `RANKED`.
        fields: The values by field; a field that is not named keeps its default.
    """

    name: str
    fields: Mapping[str, str] = field(factory=dict)

    def __str__(self) -> str:
        fields = "&".join(f"{key}={value}" for key, value in self.fields.items())
        return f"{self.name}({fields})" if fields else self.name

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the text of an action."""
        name, _, fields = text.strip().removesuffix(")").partition("(")
        return cls(name, dict(part.partition("=")[::2] for part in fields.split("&") if part))


@frozen
class PlannedRule:
    """Actions that take turns, and a condition on one number.

    Attributes:
        actions: At least one.
        path: Where the number is observed; empty for a rule that always applies.
        at_least: Whether the number must be at least the limit, or else below it.
        limit: The limit.
    """

    actions: tuple[PlannedAction, ...]
    path: str = ""
    at_least: bool = True
    limit: float = 0.0

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<"
        condition = f"{self.path}{sign}{constant(self.limit)}:" if self.path else ""
        return condition + "|".join(map(str, self.actions))

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the text of a rule.

        Raises:
            ValueError: The limit is not a number.
        """
        found = _CONDITION.fullmatch(text.strip())
        path, sign, limit, rest = found.groups() if found else ("", ">=", "0", text)
        actions = tuple(PlannedAction.read(one) for one in rest.split("|"))
        return cls(actions, path, sign == ">=", float(limit))

    def applies(self, observation: Any, count: int) -> bool:
        """Return whether the condition holds; it does not where its number is not observed."""
        if not self.path:
            return True
        number = count if self.path == DECISION else observed(observation, self.path)
        return isinstance(number, int | float) and (number >= self.limit) == self.at_least


Plan = tuple[PlannedRule, ...]


def plan_text(plan: Plan) -> str:
    """Return the text of a plan."""
    return ";".join(map(str, plan))


def read_plan(text: str) -> Plan:
    """Read the text of a plan.

    Raises:
        UsageError: The limit of a condition is not a number.
    """
    try:
        return tuple(PlannedRule.read(one) for one in text.split(";"))
    except ValueError as fault:
        raise UsageError(f"plan {text!r}: {fault}") from None


@define
class Schedule:
    """Play a plan, which is written as one text; see `desim.studies.audit.schedule`."""

    draws: ClassVar[bool] = False
    #: An audit compares plans with rules, which may know constants of the world, as options may.
    takes_options: ClassVar[bool] = True
    takes_role: ClassVar[bool] = True

    rules: Plan
    role: Role
    _count: int = 0
    _turns: dict[int, int] = field(factory=dict)
    _same: int = 0
    _recent: deque[Any] = field(factory=lambda: deque(maxlen=3))
    _schemas: dict[str, Schema] = field(init=False)
    _asked: Role = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._schemas = action_schemas(codec(self.role.action))

    @classmethod
    def seated(cls, seat: Seat, plan: str) -> Self:
        """Read the plan.

        Raises:
            UsageError: It has an action that the role does not have, or a limit is not a number.
        """
        made = cls(read_plan(plan), seat.spec)
        names = {action.name for rule in made.rules for action in rule.actions}
        if unknown := names - {*made._schemas, DEFAULT, OPTION, RANKED}:
            raise UsageError(f"plan {plan!r} has no action of the role: {min(unknown)!r}")
        return made

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return the action of the first rule that applies and whose values are observed.

        Raises:
            PolicyFailed: No rule applies, and the role has no default action.
        """
        self._asked = narrowed or self.role
        for number, rule in enumerate(self.rules):
            if rule.applies(observation, self._count):
                turn = self._turns.get(number, 0)
                action = self._made(rule.actions[turn % len(rule.actions)], observation)
                if action is not None:
                    self._turns[number] = turn + 1
                    break
        else:
            action = self._default(observation)
        self._count += 1
        return self._unless_stuck(observation, action)

    def _unless_stuck(self, observation: Any, action: Any) -> Any:
        """Return the action, or every other time the default one while nothing observed changes."""
        self._same = self._same + 1 if observation in self._recent else 0
        self._recent.append(observation)
        with suppress(PolicyFailed):
            if self._same >= _MOST_REPEATS and self._same % 2 == 0:
                return self._default(observation)
        return action

    def _default(self, observation: Any) -> Any:
        try:
            return self._asked.default_for(observation)
        except UsageError as fault:
            raise PolicyFailed(f"no rule of the plan applies, and {fault}") from None

    def _made(self, planned: PlannedAction, observation: Any) -> Any:
        """Return the action; None if a value is not observed or does not fit its field."""
        if planned.name == DEFAULT:
            return self._default(observation)
        if planned.name in (OPTION, RANKED):
            return self._option(planned, observation)
        fields = self._schemas[planned.name]["properties"]
        made = {
            name: fitted(fields.get(name, {}), self._field_value(text, observation))
            for name, text in planned.fields.items()
        }
        try:
            return codec(self._asked.action).read({"do": planned.name, **made})
        except WrongAction:
            return None

    def _option(self, planned: PlannedAction, observation: Any) -> Any:
        options = list(self._asked.options(observation)) if self._asked.options else []
        if not options:
            return None
        if planned.name == RANKED:
            options.sort(key=lambda one: -one.value)
        at = self._field_value(planned.fields.get("at", "0"), observation)
        return options[int(at) % len(options)].action

    def _field_value(self, text: str, observation: Any) -> Any:
        if text.startswith("#"):
            return self._count % int(text[1:])
        if not text.startswith("@"):
            return read_constant(text)
        path, _, factor = text[1:].partition("*")
        if not path:
            return " ".join(
                each for _, each in leaves(to_plain(observation)) if isinstance(each, str)
            )
        value = observed(observation, path)
        return value * float(factor) if factor and isinstance(value, int | float) else value


def observed(observation: Any, path: str) -> Any:
    """Return what is observed at a path such as `departments.0.cash`; None if nothing is."""
    for key in path.split("."):
        if isinstance(observation, Mapping):
            observation = observation.get(key)
        elif isinstance(observation, list | tuple):
            at = int(key) if key.isdecimal() else len(observation)
            observation = observation[at] if at < len(observation) else None
        else:
            observation = None if key.startswith("_") else getattr(observation, key, None)
    return observation


def leaves(value: Any, path: str = "", most: int = 3) -> Iterator[tuple[str, Any]]:
    """Yield the numbers and texts inside plain values with their paths, of a list the first few."""
    if isinstance(value, Mapping | list | tuple):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value[:most])
        for key, inside in ((key, one) for key, one in pairs if _KEY.fullmatch(str(key))):
            yield from leaves(inside, f"{path}.{key}" if path else str(key), most)
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        yield path, value


def constant(value: Any) -> str:
    """Return the text of a number or a text in a plan; of a text that looks like a number, too."""
    if isinstance(value, str):
        return "~" + quote(value, safe="")
    return f"{value:.12g}".replace("e+", "e")


def read_constant(text: str) -> Any:
    """Return the number, truth value, None or text of a value in a plan."""
    if text.startswith("~"):
        return unquote(text[1:])
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return unquote(text)


def fitted(schema: Schema, value: Any) -> Any:
    """Return a value in the type and the bounds of a field; the codec refuses what does not fit."""
    if "anyOf" in schema:
        return value if value is None else fitted(_branch(schema["anyOf"], value), value)
    match schema.get("type"):
        case "array" if not isinstance(value, list | tuple):
            return [fitted(schema.get("items", {}), value)]
        case "string" if isinstance(value, int | float | str):
            return str(value)[: schema.get("maxLength")]
        case "integer" | "number" as kind if isinstance(value, int | float):
            inside = max(schema.get(_LOW, value), min(schema.get(_HIGH, value), value))
            return round(inside) if kind == "integer" else inside
    return value


def _branch(schemas: Sequence[Schema], value: Any) -> Schema:
    kinds = ("string",) if isinstance(value, str) else ("number", "integer")
    return next((one for one in schemas if one.get("type") in kinds), schemas[0])
