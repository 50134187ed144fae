"""The axes of a grid: one value or several by name, and every combination of them."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from desim.errors import UsageError
from desim.schema import to_plain

__all__ = ["combinations", "listed", "plain_number", "refuse_twins"]


def combinations(axes: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the full grid as texts that `--set` would take, the last name running fastest.

    Args:
        axes: A value, or a sequence of values, by name. No axes make one empty combination.

    Raises:
        UsageError: An axis without a value, or with one twice.

    >>> list(combinations({"weeks": [26, 52], "lead": 2}))
    [{'weeks': '26', 'lead': '2'}, {'weeks': '52', 'lead': '2'}]
    """
    columns = []
    for name, given in axes.items():
        value = plain_number(given)
        texts = [_text(v) for v in value] if _several(value) else [_text(value)]
        if not texts:
            raise UsageError(f"{name} has no value; give at least one")
        refuse_twins(name, texts)
        columns.append(texts)
    for combination in itertools.product(*columns):
        yield dict(zip(axes, combination, strict=True))


def listed(given: Any, what: str) -> list[Any]:
    """Return what was given as a list; a single one stands for a list of one.

    Raises:
        UsageError: The list is empty.
    """
    # A model or a policy may be iterable by accident; only lists and tuples are lists of them.
    several = list(given) if isinstance(given, list | tuple) else [given]
    if not several:
        raise UsageError(f"no {what} was given; give at least one")
    return several


def plain_number(value: Any) -> Any:
    """Turn numbers and arrays of numpy into Python's."""
    return value.tolist() if callable(getattr(value, "tolist", None)) else value


def refuse_twins(what: str, values: Iterable[Any]) -> None:
    """Insist that nothing is given twice.

    Raises:
        UsageError: Something is.
    """
    seen = set()
    for value in values:
        if value in seen:
            raise UsageError(f"{what} {value} is given twice; give it once")
        seen.add(value)


def _several(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _text(value: Any) -> str:
    """Write a value as text, so that its type is checked where texts are read."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(to_plain(plain_number(value))).decode()
    except TypeError:
        raise UsageError(f"{value!r} is no value for a parameter; give plain values") from None
