"""Combinations of parameter values, as the texts that `--set` takes."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from desim.errors import UsageError
from desim.schema import to_plain
from desim.short_repr import short_repr


def combinations(values: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield every combination of the values as texts; the last name varies fastest.

    Args:
        values: One value or a sequence of values by parameter. An empty mapping yields one empty
            combination.

    Raises:
        UsageError: A parameter has no value, or has the same value twice.

    >>> list(combinations({"weeks": [26, 52], "lead": 2}))
    [{'weeks': '26', 'lead': '2'}, {'weeks': '52', 'lead': '2'}]
    """
    columns = []
    for name, given in values.items():
        value = from_numpy(given)
        texts = [value_text(v) for v in value] if _is_sequence(value) else [value_text(value)]
        if not texts:
            raise UsageError(f"{name} has no value; give at least one")
        refuse_duplicates(name, texts)
        columns.append(texts)
    for combination in itertools.product(*columns):
        yield dict(zip(values, combination, strict=True))


def as_list(given: Any, what: str) -> list[Any]:
    """Return a list or tuple as a list, and any other object as a list of one.

    Args:
        given: One object or several.
        what: The name of the objects in the error text.

    Raises:
        UsageError: The list is empty.
    """
    # A model or a policy may be iterable, so only lists and tuples count as several objects.
    objects = list(given) if isinstance(given, list | tuple) else [given]
    if not objects:
        raise UsageError(f"no {what} was given; give at least one")
    return objects


def from_numpy(value: Any) -> Any:
    """Return numpy scalars and arrays as Python numbers and lists; other values unchanged."""
    return value.tolist() if callable(getattr(value, "tolist", None)) else value


def refuse_duplicates(what: str, values: Iterable[Any]) -> None:
    """Check that no value occurs twice.

    Raises:
        UsageError: A value occurs twice.
    """
    seen = set()
    for value in values:
        if value in seen:
            raise UsageError(f"{what} {value} is given twice; give it once")
        seen.add(value)


def value_text(value: Any) -> str:
    """Return a value as text; its type is checked where the text is read.

    Raises:
        UsageError: The value is not plain.
    """
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(to_plain(from_numpy(value))).decode()
    except TypeError:
        raise UsageError(
            f"{short_repr(value)} is no value for a parameter; give plain values"
        ) from None


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
