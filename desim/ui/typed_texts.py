"""Texts that a person types into a form, as the values of a tagged object; unusual numbers.

The role's codec checks the values afterwards, as for every answer.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from attrs import define

from desim.errors import WrongAction
from desim.schema.wire_types import TAG
from desim.short_repr import short_repr
from desim.show.labels import is_number, value_text
from desim.ui.forms import NUMBERS, Field, Form

#: The words for a flag.
_YES, _NO = {"true", "yes", "y", "1"}, {"false", "no", "n", "0"}
#: The number of a known value.
_PLACE = re.compile(r"#(\d{1,4})")
#: A number with commas between its thousands; a comma anywhere else may be a decimal one.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
#: The part of a step by which a number that was typed in a unit may miss a whole one.
_STEP = 1e-6
_PERCENT = 100
#: Characters of a given value that a sentence shows.
_GIVEN = 60


def read_form(form: Form, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the tagged object for the texts of a form.

    Args:
        form: The action.
        texts: Texts by key; a field with an empty or missing text gets the action's own default.

    Raises:
        WrongAction: A text cannot be parsed.
        UsageError: The form has no field of a given key.
    """
    action: dict[str, Any] = {TAG: form.tag}
    for key, text in texts.items():
        field = form.field(key)
        bare = text if field.kind == "text" and not field.known else text.strip()
        if bare or (field.required and (field.nullable or _takes_nothing(field))):
            action[field.name] = _parsed(field, bare)
    for field in form.fields:
        if field.required and field.name not in action:
            raise _wrong(field, "")
    return action


def _takes_nothing(field: Field) -> bool:
    """Return whether an empty input is a value."""
    return field.kind in {"text", "list"} and not field.known


def _parsed(field: Field, text: str) -> Any:
    if field.nullable and not text:
        return None
    match field.kind:
        case "list":
            return _parsed_list(field, text)
        case "json":
            return _decoded(field, text)
        case "choice":
            return _parsed_choice(field, text)
        case kind if kind in NUMBERS:
            return _parsed_number(field, _chosen(field, text))
        case kind:
            return _parsed_word(kind, _chosen(field, _fitting(field, text)))


def _parsed_choice(field: Field, text: str) -> Any:
    """Return a value of a choice."""
    for choice in field.choices:
        if str(choice) == text:
            return choice
    raise _wrong(field, text)


def _fitting(field: Field, text: str) -> str:
    """Return a text that has the form and the length of its field."""
    too_long = field.most_characters is not None and len(text) > field.most_characters
    if too_long or (field.pattern and not re.search(field.pattern, text)):
        raise _wrong(field, text)
    return text


def _chosen(field: Field, text: str) -> str:
    """Return the known value of a number as in "#2"; any other text unchanged."""
    place = _PLACE.fullmatch(text)
    if place is None or not field.known:
        return text
    if not 1 <= (at := int(place[1])) <= len(field.known):
        raise _wrong(field, text)
    return str(field.known[at - 1].value)


def _parsed_number(field: Field, text: str) -> int | float:
    """Read a number of a field, which is typed in the unit of its column."""
    bare = _bare_number(field, text)
    number: Any = _in_steps(field, _parsed_word(field.kind, bare), text)
    if not _is_finite(number) or not field.takes(number):
        raise _wrong(field, text, _readings(bare))
    given: int | float = number
    return given


def _bare_number(field: Field, text: str) -> str:
    """Return the text of a number without a sign of money."""
    money = field.column.kind == "money"
    return text.replace("$", "", 1).strip() if money else text.removesuffix("%").strip()


def _readings(text: str) -> str:
    """Return the question which number a text with a comma means; "" where it cannot be one."""
    decimal = text.replace(".", "").replace(",", ".")
    numbers = (_parsed_word("number", each) for each in (decimal, text.replace(",", "")))
    shown = [value_text(each) for each in numbers if _is_finite(each)]
    if "," not in text or _THOUSANDS.fullmatch(text) or not shown:
        return ""
    return f": is it {' or '.join(dict.fromkeys(shown))}?"


def _in_steps(field: Field, number: Any, text: str) -> Any:
    """Return a number that was typed in a unit in the one that the action holds.

    A text without a number is returned unchanged, and so is a number between two steps.
    """
    if not _is_finite(number):
        return number
    percent = text.endswith("%")
    if percent and field.column.kind != "share":
        return text
    scaled = number / (_PERCENT if percent else 1) / field.column.scale
    if not _is_finite(scaled):
        return text
    if scaled == number:
        return int(number) if field.kind == "integer" and number == int(number) else number
    whole = round(scaled)
    return whole if field.kind == "integer" and abs(scaled - whole) < _STEP else scaled


def _is_finite(number: Any) -> bool:
    """Return whether a value is a number of the size of a float."""
    return is_number(number) and -sys.float_info.max <= number <= sys.float_info.max


def _parsed_word(kind: str, text: str) -> Any:
    """Read a number or a flag; return any other text unchanged, which the codec refuses."""
    if kind == "flag":
        word = text.lower()
        return True if word in _YES else False if word in _NO else text
    for number in (int, float) if kind in NUMBERS else ():
        try:
            return number(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text)
        except ValueError:
            continue
    return text


def _parsed_list(field: Field, text: str) -> Any:
    if text.startswith("["):
        return _decoded(field, text)
    parts = (part.strip() for part in text.split(",") if part.strip())
    return [_parsed_word(field.items, _chosen(field, part)) for part in parts]


def _decoded(field: Field, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as fault:
        # A field without a type accepts a text that is not JSON as it is.
        if field.items == "any":
            return text
        raise WrongAction(f"{field.label}: type a value in JSON; {fault}") from None


def _wrong(field: Field, text: str, question: str = "") -> WrongAction:
    """Return the error for a text that a field does not take."""
    shown = short_repr(text) if text else "nothing"
    shown = shown if len(shown) <= _GIVEN else f"{shown[:_GIVEN]}…"
    return WrongAction(f"{field.label}: type {field.wanted}; {shown} was typed{question}")


# -- unusual numbers -------------------------------------------------------------------------------


@define
class Confirmation:
    """The unusual answer that a person was last asked to confirm."""

    _asked: Any = None

    def question(self, known: Sequence[Form], action: Any) -> str:
        """Return a question about an answer; empty if it is usual, or the same as the last one.

        Args:
            known: The forms of the role.
            action: The tagged object of the answer; the action of an option, an instance, is usual.
        """
        text = unusual_text(known, action)
        confirmed, self._asked = text and self._asked == action, action if text else None
        return "" if confirmed else text


def unusual_text(known: Sequence[Form], action: Any) -> str:
    """Return a question about the first number that is outside its usual range; empty if none is.

    The arguments are those of `Confirmation.question`.
    """
    if not isinstance(action, Mapping):
        return ""
    fields = (each for form in known if form.tag == action.get(TAG) for each in form.fields)
    return next((text for each in fields if (text := _question(each, action.get(each.name)))), "")


def _question(field: Field, value: Any) -> str:
    column = field.column
    if column.usual is None or not is_number(value):
        return ""
    low, high = column.usual
    if low <= value * column.scale <= high:
        return ""
    least, most = (column.text(bound / column.scale, unit=False) for bound in (low, high))
    return (
        f"{column.name(field.name)}: {column.text(value)} is outside the usual {least} to {most}. "
        "Give the same answer again to take it all the same."
    )
