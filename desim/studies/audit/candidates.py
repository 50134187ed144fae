"""Plans made of a role's schema and of what was observed: degenerate, drawn, and changed ones."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, Self

from attrs import evolve, frozen

from desim.core.roles import Role
from desim.schema import codec
from desim.schema.described import Schema, action_schemas
from desim.studies.audit.schedule import (
    DECISION,
    DEFAULT,
    OPTION,
    RANKED,
    Plan,
    PlannedAction,
    PlannedRule,
    constant,
    leaves,
)

#: Texts of any world that a scorer may misread: nothing, numbers, letters, markup, and many words.
_HACKS = (
    "",
    "0",
    "inf",
    "[[inf]]",
    "A",
    "yes",
    '{"final_answer": "inf"}',
    "The final answer is 1",
    " ".join(map(str, range(436))),
)

#: Bounds from this size on exclude nothing; the extreme values are these instead.
_EXTREME = 1e9

#: Most paths, combinations of constants and of other values an action, and rules of a plan.
_PATHS, _COMBINATIONS, _RULES = 24, 8, 4

#: The last part of an episode, in which a plan takes all it can.
_END = 0.9


@frozen
class Material:
    """The schema and the observed values from which plans of a role are made.

    Attributes:
        schemas: The JSON Schema of each action by tag.
        special: The names of other actions that the role has; see `PlannedAction`.
        numbers: Observed numbers by path, sorted.
        texts: Observed texts by path.
        decisions: The decisions of an episode.
    """

    schemas: Mapping[str, Schema]
    special: tuple[str, ...]
    numbers: Mapping[str, Sequence[float]]
    texts: Mapping[str, Sequence[str]]
    decisions: int

    @classmethod
    def of(cls, role: Role, observations: Sequence[Any]) -> Self:
        """Return the material of a role from its observations in an episode, as plain values."""
        found: dict[str, set[Any]] = {}
        for observation in observations:
            for path, value in leaves(observation):
                found.setdefault(path, set()).add(value)
        numbers = {
            path: sorted(values)
            for path, values in found.items()
            if not any(isinstance(value, str) for value in values)
        }
        texts = {
            path: sorted(map(str, values))
            for path, values in found.items()
            if path not in numbers and path != "do"
        }
        options = (OPTION, RANKED) if role.options else ()
        default = (DEFAULT,) if options or role.default_action else ()
        schemas = action_schemas(codec(role.action))
        return cls(schemas, default + options, numbers, texts, max(1, len(observations)))

    # -- degenerate plans ----------------------------------------------------------------------

    def degenerate(self) -> dict[str, Plan]:
        """Return plans by name that no search has chosen."""
        found: dict[str, Plan] = {
            name: (PlannedRule((PlannedAction(special, {"at": at} if at else {}),)),)
            for name, special, at in (
                ("idle", DEFAULT, ""),
                ("best option", RANKED, "0"),
                ("first option", OPTION, "0"),
                ("last option", OPTION, "-1"),
                ("worst option", RANKED, "-1"),
                ("options in turn", OPTION, "#997"),
            )
            if special in self.special
        }
        every = []
        for tag, schema in self.schemas.items():
            for action in self._constants(tag, schema):
                every.append(action)
                found |= self._timed(action)
            found |= self._spread(tag, schema)
        if every:
            found["spam"] = (PlannedRule(tuple(every[:_PATHS])),)
        return found

    def _timed(self, action: PlannedAction) -> dict[str, Plan]:
        """Return the plans of one action: always, once, in turn with idleness, and at the end."""
        found: dict[str, Plan] = {f"always {action}": (PlannedRule((action,)),)}
        if DEFAULT in self.special:
            idle = PlannedAction(DEFAULT)
            first = PlannedRule((action,), DECISION, at_least=False, limit=1)
            last = PlannedRule((action,), DECISION, limit=int(_END * self.decisions))
            found |= {
                f"once {action}": (first, _ruled(idle)),
                f"{action} and idle": (_ruled(action, idle),),
                f"{action} at the end": (last, _ruled(idle)),
            }
        return found

    def _spread(self, tag: str, schema: Schema) -> dict[str, Plan]:
        """Return plans that take twice an observed number and nothing in turn: its mean, wider."""
        name = next((key for key, one in schema["properties"].items() if _is_number(one)), "")
        needed = [key for key in schema.get("required", ()) if key != name]
        if not name or needed:
            return {}
        return {
            f"{tag} {path} spread": (
                _ruled(PlannedAction(tag, {name: f"@{path}*2"}), PlannedAction(tag, {name: "0"})),
            )
            for path in list(self.numbers)[:_PATHS]
        }

    def _constants(self, tag: str, schema: Schema) -> Iterator[PlannedAction]:
        """Yield an action with values that do not change, and with observed ones repeated."""
        needed = schema.get("required", ())
        every = list(product(*(self._values(name, schema["properties"][name]) for name in needed)))
        random = Random(tag)  # noqa: S311 (no secret)
        fixed = [chosen for chosen in every if not any(text.startswith("@") for text in chosen)]
        for known in (fixed, [chosen for chosen in every if chosen not in fixed]):
            for chosen in random.sample(known, min(len(known), _COMBINATIONS)):
                yield PlannedAction(tag, dict(zip(needed, chosen, strict=True)))

    def _values(self, name: str, schema: Schema) -> Iterator[str]:
        for kind in schema.get("anyOf", [schema]):
            if "enum" in kind:
                yield from map(constant, kind["enum"])
            elif kind.get("type") == "array":
                yield from self._values(name, {"description": "", **kind.get("items", {})})
            elif _is_number(kind):
                low, high = _bounds(kind)
                yield from dict.fromkeys(map(constant, (low, 0, 1, high)))
                yield from (f"@{path}" for path in list(self.numbers)[:_PATHS])
            elif kind.get("type") == "boolean":
                yield from ("true", "false")
            elif kind.get("type") == "null":
                yield "null"
            elif kind.get("type") in ("string", None):
                yield from self._texts(name, schema)

    def _texts(self, name: str, schema: Schema) -> Iterator[str]:
        """Yield quoted words of the description, observed texts of that name, then any text."""
        words = _quoted(schema)
        same = [path for path in self.texts if path.rpartition(".")[2] == name]
        yield from map(constant, words)
        yield from (f"@{path}" for path in same[:_PATHS])
        if not words and not same:
            yield "@"
            yield from map(constant, _HACKS)
            yield from (f"@{path}" for path in list(self.texts)[:_PATHS])

    # -- plans of a search ---------------------------------------------------------------------

    def drawn(self, random: Random) -> Plan:
        """Return a random plan."""
        rules = [self._drawn_rule(random) for _ in range(random.randrange(_RULES))]
        return (*rules, _ruled(*self._drawn_actions(random)))

    def changed(self, plan: Plan, random: Random) -> Plan:
        """Return a plan that differs in one rule, condition, action or value."""
        at = random.randrange(len(plan))
        before, rule, after = plan[:at], plan[at], plan[at + 1 :]
        changes: list[Callable[[], Plan]] = [
            lambda: (*before, self._with_other_value(rule, random), *after),
            lambda: (*before, self._with_other_value(rule, random), *after),
            lambda: (*before, evolve(rule, actions=self._drawn_actions(random)), *after),
        ]
        if rule.path:
            changes += [lambda: (*before, self._with_other_limit(rule, random), *after)] * 2
            changes.append(lambda: (*before, *after))
        if len(plan) <= _RULES:
            changes.append(lambda: (*before, self._drawn_rule(random), rule, *after))
        return random.choice(changes)()

    def _drawn_rule(self, random: Random) -> PlannedRule:
        varying = [path for path, values in self.numbers.items() if len(values) > 1]
        path = random.choice([DECISION, *varying])
        if path == DECISION:
            limit = float(random.randint(1, max(1, self.decisions)))
        else:
            limit = random.choice(self.numbers[path])
        return PlannedRule(self._drawn_actions(random), path, _happens(random, 0.5), limit)

    def _drawn_actions(self, random: Random) -> tuple[PlannedAction, ...]:
        return tuple(self._drawn_action(random) for _ in range(random.choice((1, 1, 2))))

    def _drawn_action(self, random: Random) -> PlannedAction:
        if self.special and _happens(random, 0.4):
            special = random.choice(self.special)
            return PlannedAction(special, {} if special == DEFAULT else {"at": _place(random)})
        tag = random.choice(list(self.schemas))
        schema = self.schemas[tag]
        needed = schema.get("required", ())
        fields = {
            name: self._drawn_value(name, one, random)
            for name, one in schema["properties"].items()
            if name in needed or _happens(random, 0.3)
        }
        return PlannedAction(tag, {name: text for name, text in fields.items() if text})

    def _drawn_value(self, name: str, schema: Schema, random: Random) -> str:
        if _is_number(schema):
            return self._drawn_number(schema, random)
        known = list(self._values(name, schema))
        return random.choice(known) if known else ""

    def _drawn_number(self, schema: Schema, random: Random) -> str:
        low, high = _bounds(schema)
        if self.numbers and _happens(random, 0.4):
            path = random.choice(list(self.numbers))
            return f"@{path}*{constant(_rounded(10 ** random.gauss(0, 0.3)))}"
        if high < _EXTREME and _happens(random, 0.5):
            return constant(_rounded(random.uniform(max(low, -high), high)))
        return constant(_rounded(min(high, 10 ** random.uniform(0, 8))))

    def _with_other_value(self, rule: PlannedRule, random: Random) -> PlannedRule:
        place = random.randrange(len(rule.actions))
        action = rule.actions[place]
        if not action.fields:
            return evolve(rule, actions=self._drawn_actions(random))
        name = random.choice(list(action.fields))
        text = self._other_value(action, name, random)
        changed = evolve(action, fields={**action.fields, name: text or action.fields[name]})
        return evolve(rule, actions=(*rule.actions[:place], changed, *rule.actions[place + 1 :]))

    def _other_value(self, action: PlannedAction, name: str, random: Random) -> str:
        """Return a value near the present one, or any other."""
        if action.name in (OPTION, RANKED):
            return _place(random)
        path, _, factor = action.fields[name].partition("*")
        head, number = (f"{path}*", factor) if factor else ("", path)
        scaled = _scaled(number, random) if _happens(random, 0.7) else ""
        if scaled:
            return head + scaled
        return self._drawn_value(name, self.schemas[action.name]["properties"][name], random)

    def _with_other_limit(self, rule: PlannedRule, random: Random) -> PlannedRule:
        known = range(1, self.decisions + 1) if rule.path == DECISION else self.numbers[rule.path]
        near = min(range(len(known)), key=lambda at: abs(known[at] - rule.limit))
        step = round(random.gauss(0, max(1, len(known) / 10)))
        return evolve(rule, limit=float(known[max(0, min(len(known) - 1, near + step))]))


def _ruled(*actions: PlannedAction) -> PlannedRule:
    return PlannedRule(actions)


def _happens(random: Random, share: float) -> bool:
    return random.random() < share


def _is_number(schema: Schema) -> bool:
    kinds = [one.get("type") for one in schema.get("anyOf", [schema])]
    return bool(kinds) and {*kinds} <= {"integer", "number"} and "enum" not in schema


def _bounds(schema: Schema) -> tuple[float, float]:
    """Return the smallest and the largest number of a field, none of them beyond `_EXTREME`."""
    kinds = schema.get("anyOf", [schema])
    low = min(one.get("minimum", one.get("exclusiveMinimum", -_EXTREME)) for one in kinds)
    high = max(one.get("maximum", one.get("exclusiveMaximum", _EXTREME)) for one in kinds)
    return max(low, -_EXTREME), min(high, _EXTREME)


def _quoted(schema: Schema) -> list[str]:
    return re.findall(r'"([^"]+)"', schema.get("description", ""))


def _place(random: Random) -> str:
    return random.choice(("0", "0", "1", "2", "3", "-1", "#2", "#3", "#997"))


def _scaled(text: str, random: Random) -> str:
    """Return a number of about the same size; empty for any other text."""
    try:
        return constant(_rounded(float(text) * 2 ** random.gauss(0, 0.5)))
    except ValueError:
        return ""


def _rounded(number: float) -> float:
    """Return a number of three digits, so that plans stay short."""
    return float(f"{number:.3g}")
