"""Numbers outside the usual range of their field, which a person is asked to confirm once."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define

from desim.schema.wire_types import TAG
from desim.show.labels import is_number
from desim.ui.forms.form import Field, Form


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

    Args:
        known: The forms of the role.
        action: The tagged object of the answer; the action of an option, an instance, is usual.
    """
    if not isinstance(action, Mapping):
        return ""
    form = next((each for each in known if each.tag == action.get(TAG)), None)
    for field in form.fields if form else ():
        if text := _question(field, action.get(field.name)):
            return text
    return ""


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
