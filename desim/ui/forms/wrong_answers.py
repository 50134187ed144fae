"""Answers that no action of the role fits, refused in a sentence for a person."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from desim.errors import WrongAction, possible
from desim.schema.wire_types import TAG
from desim.short_repr import short_repr
from desim.show.labels import value_text
from desim.ui.forms.form import Field, Form

#: Names in a refusal of the codec or of a validator: a path, or the first word.
_NAMES = re.compile(r"`\$\.(\w+)|field `(\w+)`|: '?(\w+)'?(?:=| must)")
#: Characters of a given value that a sentence shows.
_GIVEN = 60


def refusal_text(known: Sequence[Form], given: Any, refused: WrongAction) -> str:
    """Return why an answer is not taken, in the words of the forms.

    Args:
        known: The forms of the role.
        given: The answer, an instance or its tagged object.
        refused: The refusal of the role's codec.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get(TAG), str):
        return f"an answer names its action; {possible('', [form.tag for form in known])}"
    form = next((each for each in known if each.tag == given[TAG]), None)
    if form is None:
        tags = [each.tag for each in known]
        return f"there is no action {short_repr(given[TAG])}; {possible(given[TAG], tags)}"
    names = [each.name for each in form.fields]
    if unknown := [str(name) for name in given if name != TAG and name not in names]:
        return f"{form.label} has no {short_repr(unknown[0])}; {possible(unknown[0], names)}"
    fields = [each for each in form.fields if each.required and each.name not in given]
    fields += [each for each in form.fields if each.name in _named(refused)]
    if fields:
        return wrong_value_text(fields[0], given.get(fields[0].name))
    values = "; ".join(f"{each.label}: {each.wanted}" for each in form.fields)
    return f"{form.label} does not take these values. It takes {values or 'none'}"


def wrong_value_text(field: Field, given: Any) -> str:
    """Return the sentence on a value that a field does not take; None or "" for no value."""
    if given in (None, ""):
        return f"{field.label}: type {field.wanted}; nothing was typed"
    text = short_repr(given) if isinstance(given, str) else value_text(given)
    shown = text if len(text) <= _GIVEN else f"{text[:_GIVEN]}…"
    return f"{field.label}: type {field.wanted}; {shown} was typed"


def _named(refused: WrongAction) -> set[str]:
    return {name for found in _NAMES.finditer(str(refused)) for name in found.groups() if name}
