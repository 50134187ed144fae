"""Random and extreme actions, made from the JSON Schema of a role's actions.

Numbers at and beyond their bounds, texts of control characters and lone surrogates, lists of any
length, names that an observation holds; now and then a wrong type, an unknown or a missing key.
"""

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import msgspec

from desim.schema import TAG, Codec

_HUGE = 10**5_000
_INTEGERS = (
    *(0, 1, -1, 2, 3, 12, 100, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**12),
    *(10**18 + 1, 10**30, _HUGE),
)
_FLOATS = (
    *(math.nan, math.inf, -math.inf, 1e308, -1e308, -0.0, 0.0, 5e-324, 0.1, 1.0, 1.5, -2.5),
    *(1e15, 1e19, 2.0**63),
)
_TEXTS = (
    *("", " ", "\0", "a\nb\r\t\x1b[2J", "\u202e\U0001d4b3", "\ud800", "x\udfff", "'", '"', "%s"),
    *("NaN", "1e999", "-1", "9" * 5_000, "null", "../../etc/passwd", "{0}", "[", "99/99/9999"),
    *("12/31/9999", "2025-13", "list", "equity", "debt", "VIX", "a" * 3_000),
)
#: Words of the console of YC-Bench, the one action that is a language of its own.
_WORDS = (
    *("task", "sim", "market", "finance", "scratchpad", "report", "client", "accept", "browse"),
    *("ledger", "init", "resume", "assign", "write", "--help", "--limit", "--offset", "--from"),
    *("--task-id", "--employees", "--content", "--seed", "--", "--domain", "--from-month"),
)

#: Most texts of an observation that are used, and most characters of one.
_MAX_NAMES, _MAX_NAME = 200, 80


class Unprintable:
    """An object that has no repr."""

    def __repr__(self) -> str:
        raise ValueError("no repr")


def _nested(levels: int) -> Any:
    deep: Any = 1
    for _ in range(levels):
        deep = [deep]
    return deep


_LOOP: list[Any] = []
_LOOP.append(_LOOP)
#: Values of any type, also such as JSON cannot hold.
_JUNK = (
    *(None, True, {}, [], (), 1j, "x" * 9_999, b"\xff", {1: 2}, {1, 2}, object(), Unprintable()),
    *(int, _LOOP, {"a": _LOOP}, _nested(100), _nested(5_000), {TAG: "nothing"}, {TAG: ["a"]}),
    *({"C": 1, "R": math.nan}, {"C": 10**400, "P": [[1, 10**30, -1]]}),
    *(*_FLOATS, *_INTEGERS, *_TEXTS),
)


class Extremes:
    """Makes random and extreme answers to the questions of a role.

    Args:
        codec: The compiled schema of its actions.
        chance: The random numbers.
    """

    def __init__(self, codec: Codec, chance: random.Random) -> None:
        self._chance = chance
        self._classes = codec.classes
        self._definitions = codec.json_schema().get("$defs", {})
        self._actions = [s for s in self._definitions.values() if TAG in s["properties"]]
        self._names: list[str] = []

    def know(self, observation: Any) -> None:
        """Use the texts of an observation, such as the names of things, in later answers."""
        self._names = list(dict.fromkeys(_texts_inside(observation)))[:_MAX_NAMES]

    def action(self) -> Any:
        """Return an answer; mostly a tagged object that has the right fields."""
        if self._one_in(25):
            return self._chance.choice(_JUNK)
        given = self._object(self._chance.choice(self._actions))
        if self._one_in(5):
            return self._instance(given)
        if self._one_in(20):
            given[self._chance.choice(["x", "do ", "", "__class__"])] = self._chance.choice(_JUNK)
        if self._one_in(20) and given:
            del given[self._chance.choice([*given])]
        return given

    def _instance(self, given: dict[str, Any]) -> Any:
        """Return an instance whose fields no validator has seen."""
        cls = self._classes.get(given[TAG]) if isinstance(given.get(TAG), str) else None
        if cls is None:
            return given
        made = object.__new__(cls)
        for each in attrs.fields(cls):
            object.__setattr__(made, each.name, given.get(each.name, self._chance.choice(_JUNK)))
        return made

    def _object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            name: self._chance.choice(_JUNK) if self._one_in(20) else self._value_of(kind)
            for name, kind in schema.get("properties", {}).items()
            if name in required or self._chance.random() < 0.7
        }

    def _value_of(self, kind: Mapping[str, Any]) -> Any:  # noqa: PLR0911 (a kind each)
        if choices := kind.get("anyOf"):
            return self._value_of(self._chance.choice(choices))
        if "$ref" in kind:
            return self._object(self._definitions[kind["$ref"].rsplit("/", 1)[1]])
        if "enum" in kind:
            return self._chance.choice(kind["enum"])
        match kind.get("type"):
            case "integer" | "number" as name:
                return self._number(kind, whole=name == "integer")
            case "string":
                return self._text_of(kind)
            case "array":
                most = kind.get("maxItems", 1_000)
                size = self._chance.choice([most, most + 1] if self._one_in(50) else [0, 1, 3, 10])
                return [self._value_of(kind.get("items") or {}) for _ in range(size)]
            case "boolean":
                return self._one_in(2)
        return self._chance.choice(_JUNK)

    def _number(self, kind: Mapping[str, Any], *, whole: bool) -> float:
        if self._one_in(3):
            return self._chance.randrange(20) if whole else self._chance.uniform(-10, 1e6)
        names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        bounds = [kind[name] for name in names if name in kind]
        near = [int(bound) + step for bound in bounds for step in (-1, 0, 1)]
        return self._chance.choice([*near, *bounds, *_INTEGERS, *(() if whole else _FLOATS)])

    def _text_of(self, kind: Mapping[str, Any]) -> str:
        if self._names and self._one_in(2):
            return self._chance.choice(self._names)
        if self._one_in(4):
            words = [*_WORDS, *self._names, *_TEXTS]
            return " ".join(["yc-bench", *self._chance.choices(words, k=self._chance.randrange(8))])
        most = kind.get("maxLength", 0)
        if most and self._one_in(100):
            return self._chance.choice("x\U0001f0a1\0") * (most + self._chance.randrange(2))
        return self._chance.choice(_TEXTS)

    def _one_in(self, number: int) -> bool:
        return self._chance.random() < 1 / number


def _texts_inside(value: Any) -> Iterator[str]:
    """Yield the texts inside an observation that are short enough to be names."""
    waiting = [msgspec.to_builtins(value, str_keys=True)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and len(each) <= _MAX_NAME:
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each[:50])
