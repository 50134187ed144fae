"""A quick look at the types inside a value: whether it surely fits its declared type.

An observation is checked at every decision, so this takes a fraction of a microsecond where
msgspec's conversion takes several. A function made here returns True only for a value that fits; a
value for which it returns False may still fit, and is left to msgspec (a numpy scalar, a subclass).
"""

from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import attrs

from desim.schema.class_types import check_not_recursive, field_types, is_union, members

Check = Callable[[Any], bool]

#: Types of a declared number; JSON writes a whole float like an int, so an int is a float as well.
_EXACT: dict[Any, frozenset[type]] = {
    kind: frozenset({kind, int} if kind is float else {kind})
    for kind in (int, float, str, bool, bytes, NoneType)
}


@cache
def type_check(kind: Any) -> Check | None:
    """Return the function that checks values of a type; None where every value fits.

    Raises:
        SchemaError: A class inside the type contains itself, or the type of a field is unknown.
    """
    check_not_recursive(kind)
    test = _Expression()
    text = test.of(kind, "value")
    return None if text is None else test.compiled(text)


class _Expression:
    """Builds one expression for a type, which is compiled, as attrs compiles its methods.

    A loop over the fields of a class takes four times as long. The text holds names of fields,
    which are identifiers, and the names that `_name` gives to types and functions.
    """

    def __init__(self) -> None:
        self._names: dict[str, Any] = {}

    def compiled(self, text: str) -> Check:
        check: Check = eval(f"lambda value: {text}", self._names)  # noqa: S307 (see the class)
        return check

    def of(self, kind: Any, value: str) -> str | None:
        """Return the text that tests the value of an expression; None where every value fits."""
        if kind is Any or kind is object:
            return None
        if (types := _scalars(kind)) is not None:
            return self._type_among(types, value)
        if is_union(kind):
            return self._any_of([self.of(each, value) for each in members(kind)])
        origin = get_origin(kind)
        if origin is not None:
            return self._generic(origin, get_args(kind), value)
        if isinstance(kind, type) and attrs.has(kind):
            return self._fields(kind, value) if value == "value" else self._call(kind, value)
        return f"type({value}) is {self._name(kind)}" if isinstance(kind, type) else "False"

    def _type_among(self, types: frozenset[type], value: str) -> str:
        if len(types) > 1:
            return f"type({value}) in {self._name(types)}"
        (kind,) = types
        return f"{value} is None" if kind is NoneType else f"type({value}) is {self._name(kind)}"

    @staticmethod
    def _any_of(tests: list[str | None]) -> str | None:
        known = [test for test in tests if test is not None]
        # None is first, as it takes the shortest test.
        known.sort(key=lambda test: not test.endswith(" is None"))
        return None if len(known) < len(tests) else f"({' or '.join(known)})"

    def _generic(self, origin: Any, inside: tuple[Any, ...], value: str) -> str:
        if origin is Literal:
            types = frozenset(map(type, inside))
            return f"({self._type_among(types, value)} and {value} in {self._name(inside)})"
        rows = origin is tuple and len(inside) == 2 and inside[1] is ...  # noqa: PLR2004 (tuple[X, ...])
        if rows or origin in (list, frozenset, set):
            return self._container(origin, [(inside[0], value)], value)
        if origin is dict:
            return self._container(
                dict, [(inside[0], value), (inside[1], f"{value}.values()")], value
            )
        return "False"

    def _container(self, origin: type, parts: list[tuple[Any, str]], value: str) -> str:
        tests = [self._all_of(kind, values) for kind, values in parts]
        inner = " and ".join(test for test in tests if test)
        empty = f"(not {value} or {inner})" if inner else "True"
        return f"(type({value}) is {self._name(origin)} and {empty})"

    def _all_of(self, kind: Any, values: str) -> str | None:
        """Return the text that tests every one of some values."""
        if (types := _scalars(kind)) is not None:
            return f"{self._name(types)}.issuperset(map(type, {values}))"
        check = type_check(kind)
        return None if check is None else f"all(map({self._name(check)}, {values}))"

    def _fields(self, cls: type, value: str) -> str:
        hints = field_types(cls)
        fields = ((hints.get(each.name, Any), each.name) for each in attrs.fields(cls))
        tests = [self.of(kind, f"{value}.{name}") for kind, name in fields]
        return " and ".join([f"type({value}) is {self._name(cls)}", *filter(None, tests)])

    def _call(self, kind: Any, value: str) -> str:
        return f"{self._name(type_check(kind))}({value})"

    def _name(self, held: Any) -> str:
        name = f"_{len(self._names)}"
        self._names[name] = held
        return name


def _scalars(kind: Any) -> frozenset[type] | None:
    """Return the types that fit a scalar type or a union of scalar types; None for any other."""
    found = [_EXACT.get(each) for each in members(kind) if isinstance(each, type)]
    if len(found) < len(members(kind)) or None in found:
        return None
    return frozenset[type]().union(*(each for each in found if each))
