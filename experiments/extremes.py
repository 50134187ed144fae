"""Which values break a program? Random and extreme ones, and actions made of them.

An action is built from its JSON Schema: numbers at and beyond their bounds, texts of control
characters and lone surrogates, lists of any length, names that an observation holds; now and then
a wrong type, an unknown key or a missing one.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import attrs
import msgspec

from desim.schema import TAG, Codec

HUGE = 10**5_000
INTEGERS = (
    0, 1, -1, 2, 3, 5, 12, 100, 1_000, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63,
    -(2**63), 2**64, 10**12, 10**18, 10**18 + 1, -(10**18), 10**30, HUGE,
)  # fmt: skip
FLOATS = (
    math.nan, math.inf, -math.inf, 1e308, -1e308, -0.0, 0.0, 5e-324, 0.1, 0.5, 1.0, 1.5, -2.5,
    1e15, 1e18, 1e19, 2.0**63, 1e300,
)  # fmt: skip
TEXTS = (
    "", " ", "\0", "a\nb\r\t\x1b[2J", "\u202e\U0001d4b3\U0001f0a1", "\ud800", "x\udfff", "é", "'",
    '"', "\\", "%s", "NaN", "1e999", "-1", "9" * 30, "9" * 5_000, "null", "../../etc/passwd", "{0}",
    "{", "[", "01/01/2025", "99/99/9999", "0/0/0000", "12/31/9999", "01/01/0001", "2025-13",
    "9999-12", "list", "retrieve", "equity", "debt", "GDP", "VIX", "a" * 3_000,
)  # fmt: skip
#: Words of the console of YC-Bench, the one action that is a language of its own.
WORDS = (
    "yc-bench", "task", "sim", "market", "finance", "scratchpad", "report", "client", "accept",
    "browse", "ledger", "init", "resume", "assign", "write", "--help", "--limit", "--offset",
    "--from", "--to", "--task-id", "--employees", "--content", "--seed", "--start-date", "--",
    "--reward-min-cents", "--company-name", "--horizon-years", "--domain", "--from-month",
)  # fmt: skip

#: Most texts of an observation that are used, and most characters of one.
_MAX_NAMES, _MAX_NAME = 200, 80


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
            return self._junk()
        given = self._object(self._chance.choice(self._actions))
        if self._one_in(5):
            return self._instance(given)
        if self._one_in(20):
            given[self._chance.choice(["x", "do ", "", "__class__", "self"])] = self._junk()
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
            object.__setattr__(made, each.name, given.get(each.name, self._junk()))
        return made

    def _object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            name: self._junk() if self._one_in(20) else self._value_of(kind)
            for name, kind in schema.get("properties", {}).items()
            if name in required or self._chance.random() < 0.7
        }

    def _value_of(self, kind: Mapping[str, Any]) -> Any:
        if choices := kind.get("anyOf"):
            return self._value_of(self._chance.choice(choices))
        if "$ref" in kind:
            return self._object(self._definitions[kind["$ref"].rsplit("/", 1)[1]])
        if "enum" in kind:
            return self._chance.choice(kind["enum"])
        makers: dict[str, Callable[[], Any]] = {
            "integer": partial(self._integer, kind),
            "number": partial(self._number, kind),
            "string": partial(self._text_of, kind),
            "array": partial(self._list, kind),
            "boolean": lambda: self._chance.random() < 0.5,
            "null": lambda: None,
        }
        return makers.get(kind.get("type", ""), self._junk)()

    def _integer(self, kind: Mapping[str, Any]) -> int:
        if self._one_in(3):
            return self._chance.randrange(20)
        near = [int(bound) + step for bound in _bounds(kind) for step in (-1, 0, 1)]
        return self._chance.choice([*INTEGERS, *near])

    def _number(self, kind: Mapping[str, Any]) -> float:
        if self._one_in(3):
            return self._chance.uniform(-10, 10 ** self._chance.randrange(10))
        near = [float(b) * (1 + step) for b in _bounds(kind) for step in (-1e-15, 0, 1e-15)]
        return self._chance.choice([*FLOATS, *near, *INTEGERS])

    def _text_of(self, kind: Mapping[str, Any]) -> str:
        if self._names and self._one_in(2):
            return self._chance.choice(self._names)
        if self._one_in(4):
            words = [*WORDS, *self._names, *TEXTS]
            return " ".join(["yc-bench", *self._chance.choices(words, k=self._chance.randrange(8))])
        most = kind.get("maxLength", 0)
        if most and self._one_in(100):
            return self._chance.choice("x\U0001f0a1\0") * (most + self._chance.randrange(2))
        return self._chance.choice(TEXTS)

    def _list(self, kind: Mapping[str, Any]) -> list[Any]:
        most = kind.get("maxItems", 1_000)
        sizes = [most, most + 1] if self._one_in(50) else [0, 1, 2, 3, 10]
        inside = kind.get("items") or {}
        return [self._value_of(inside) for _ in range(self._chance.choice(sizes))]

    def _junk(self) -> Any:
        """Return a value of any type, also such as JSON cannot hold."""
        loop: list[Any] = []
        loop.append(loop)
        deep = _deep(self._chance.choice([3, 100, 5_000]))
        foreign = (b"\xff", {1: 2}, {1, 2}, object(), Unprintable(), loop, deep, {"a": loop}, int)
        plain = (None, True, False, {}, [], (), 1j, HUGE, "x" * 9_999)
        tagged = tuple({TAG: each} for each in ("nothing", 3, None, ["a"], "x" * 5_000))
        nested = ({"C": 1, "R": math.nan}, {"C": 10**400, "R": 1e308, "P": [[1, 10**30, -1]]})
        usual = (self._chance.choice(each) for each in (FLOATS, INTEGERS, TEXTS))
        return self._chance.choice([*foreign, *plain, *tagged, *nested, *usual])

    def _one_in(self, number: int) -> bool:
        return self._chance.random() < 1 / number


@cache
def _deep(levels: int) -> Any:
    """Return a 1 in so many lists."""
    deep: Any = 1
    for _ in range(levels):
        deep = [deep]
    return deep


class Unprintable:
    """An object that has no repr."""

    def __repr__(self) -> str:
        raise ValueError("no repr")


def _bounds(kind: Mapping[str, Any]) -> list[float]:
    names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    return [kind[name] for name in names if name in kind]


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
