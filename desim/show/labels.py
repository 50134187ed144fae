"""Text forms of names, numbers and plain values for people; imports nothing of desim."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

#: The text of a value that is missing or empty.
NOTHING = "—"

#: From `_CENTS` on a number has two decimals, below it six digits; from `_HUGE` on an exponent.
_CENTS, _HUGE = 1e3, 1e15

#: A narrower interval justifies no more digits; an estimate of this size has no decimals.
_NARROW, _WHOLE = 1e-6, 1e6

_MILLION = 1e6

#: Seconds of a minute, and minutes of an hour.
_MINUTE = 60

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")


def words_text(name: str) -> str:
    """Return the name of a field as words; any other name, such as a customer's, stays as it is.

    >>> words_text("incoming_order"), words_text("Vanguard ML"), words_text("VIX")
    ('incoming order', 'Vanguard ML', 'VIX')
    """
    return " ".join(name.replace("_", " ").split())


def label_text(name: str) -> str:
    """Return the name of a field as words that begin with a capital letter.

    >>> label_text("incoming_order"), label_text("Vanguard ML")
    ('Incoming order', 'Vanguard ML')
    """
    return capitalised(words_text(name))


def capitalised(text: str) -> str:
    """Return a text that begins with a capital letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def inner_label(label: str) -> str:
    """Return a label as it stands inside a line: a small first letter, except of abbreviations.

    >>> inner_label("Lead time"), inner_label("VIX")
    ('lead time', 'VIX')
    """
    return label if label[:2].isupper() else label[:1].lower() + label[1:]


def class_text(name: str) -> str:
    """Return the name of a class as words; an abbreviation stays one word.

    >>> class_text("SimResume"), class_text("HTTPServer"), class_text("old_name")
    ('Sim resume', 'HTTP server', 'Old name')
    """
    words = words_text(_WORD_START.sub(" ", name)).split()
    return label_text(" ".join(each if each.isupper() else each.lower() for each in words))


def number_text(value: float) -> str:
    """Return a number with separated thousands and without trailing zeros.

    >>> number_text(-1440.5), number_text(0.28846153), number_text(2_000_000.0), number_text(-0.0)
    ('-1,440.5', '0.288462', '2,000,000', '0')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= _HUGE:
        return f"{value:.6g}"
    if value.is_integer():
        return f"{value:z,.0f}"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) >= _CENTS else f"{value:,.6g}"


def short_number_text(value: float) -> str:
    """Return a number with three significant digits, of a million or more in millions.

    >>> short_number_text(-140.12), short_number_text(9_912_000.0), short_number_text(0.0683)
    ('-140', '9.91 M', '0.0683')
    """
    if abs(value) >= _MILLION:
        return f"{number_text(float(f'{value / _MILLION:.3g}'))} M"
    return number_text(float(f"{value:.3g}"))


def dollars_text(cents: int) -> str:
    """Return a sum of money in dollars.

    >>> dollars_text(123_450)
    '$1,234.50'
    """
    return f"${cents / 100:,.2f}"


def is_number(value: Any) -> bool:
    """Return whether a plain value is a number, and not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_moment(value: Any) -> bool:
    """Return whether a value is an ISO date and time."""
    return isinstance(value, str) and _MOMENT.fullmatch(value) is not None


def value_text(value: Any) -> str:  # noqa: PLR0911 (one line a kind of value)
    """Return a plain JSON value in one line.

    >>> value_text([{"start_at": 1000, "end": None}, True])
    '(start at 1,000, end —), yes'
    """
    match value:
        case None | "" | []:
            return NOTHING
        case dict() if not value:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return number_text(value)
        case str():
            return value.replace("T", " ").split(".")[0] if is_moment(value) else value
        case list():
            return ", ".join(
                f"({value_text(each)})" if isinstance(each, dict) else value_text(each)
                for each in value
            )
        case dict():
            return ", ".join(f"{words_text(str(k))} {value_text(v)}" for k, v in value.items())
        case _:
            return str(value)


def duration_text(seconds: float) -> str:
    """Return a duration in seconds for people.

    >>> duration_text(59), duration_text(300), duration_text(3700)
    ('59 s', '5 min', '1 h 2 min')
    """
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / _MINUTE), _MINUTE)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"


def estimate_text(value: float, half: float | None = None) -> str:
    """Return an estimate with as many digits as its interval justifies.

    Args:
        value: A finite number.
        half: Half the width of its interval; two digits of it are significant. Without it, *value*
            has six digits.

    >>> estimate_text(1234567.891, 4321.0), estimate_text(0.51234, 0.069), estimate_text(12.0)
    ('1,234,568', '0.512', '12')
    """
    if half and half > _NARROW:
        return f"{value:z,.{max(0, 1 - math.floor(math.log10(half)))}f}"
    whole = value.is_integer() or abs(value) >= _WHOLE
    return f"{value:z,.0f}" if whole and abs(value) < _HUGE else f"{value:z,.6g}"


def flat(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested metrics by their path: `{"cost": {"retailer": 3}}` as `cost.retailer`, 3."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
