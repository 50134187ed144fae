"""Texts that a person types into a form, and their conversion to a tagged object.

Only texts that need parsing (a list, JSON) are checked here. The role's codec checks the values, as
for every answer, so a person reads the same errors that a policy gets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from desim.core.roles import Option
from desim.errors import WrongAction
from desim.schema import tagged
from desim.schema.wire_types import TAG
from desim.ui.forms import NUMBERS, Field, Form

_YES, _NO = {"true", "yes", "y", "1"}, {"false", "no", "n", "0"}


def tagged_object(action: Any) -> dict[str, Any]:
    """Return an action, an instance or already a tagged object, as plain values with its tag."""
    plain: dict[str, Any] = msgspec.json.decode(tagged(action))
    return plain


def initial_texts(form: Form, options: Sequence[Option]) -> dict[str, str]:
    """Return the initial texts of a form: the values of its first option, or else defaults."""
    for option in options:
        plain = tagged_object(option.action)
        if plain.pop(TAG) == form.tag:
            return {field.name: field_text(field, plain.get(field.name)) for field in form.fields}
    return {field.name: field_text(field, field.default) for field in form.fields}


def field_text(field: Field, value: Any) -> str:
    """Return a value as a person would type it."""
    if value is None:
        return ""
    if field.kind == "flag":
        return "true" if value else "false"
    if field.kind == "list" and isinstance(value, list):
        parts = [each if isinstance(each, str) else _json(each) for each in value]
        # A comma inside a value would split it.
        return ", ".join(parts) if not any("," in part for part in parts) else _json(value)
    return value if isinstance(value, str) else _json(value)


def read_form(form: Form, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the tagged object for the texts of a form.

    Args:
        form: The action.
        texts: Texts by field; a field with an empty or missing text gets the action's own default.

    Raises:
        WrongAction: A text cannot be parsed.
        UsageError: The form has no field of a given name.
    """
    action: dict[str, Any] = {TAG: form.tag}
    for name, text in texts.items():
        field = form.field(name)
        bare = text if field.kind == "text" else text.strip()
        if bare or (field.required and (field.nullable or field.kind == "text")):
            action[name] = _value(field, bare)
    return action


def _value(field: Field, text: str) -> Any:
    if field.nullable and not text:
        return None
    match field.kind:
        case "list":
            return _list(field, text)
        case "json":
            return _decoded(field, text)
        case "choice":
            return next((choice for choice in field.choices if str(choice) == text), text)
        case kind:
            return _simple(kind, text)


def _simple(kind: str, text: str) -> Any:
    """Read a number or a flag; return any other text unchanged, which the codec refuses."""
    if kind == "flag":
        word = text.lower()
        return True if word in _YES else False if word in _NO else text
    for number in (int, float) if kind in NUMBERS else ():
        try:
            return number(text.replace(",", ""))
        except ValueError:
            continue
    return text


def _list(field: Field, text: str) -> Any:
    if text.startswith("["):
        return _decoded(field, text)
    return [_simple(field.items, part.strip()) for part in text.split(",") if part.strip()]


def _decoded(field: Field, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as fault:
        # A field without a type accepts a text that is not JSON as it is.
        if field.items == "any":
            return text
        raise WrongAction(f"{field.name} is no JSON: {fault}") from None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
