"""The effect of a person's last answer: a sentence of the world, and figures before and after."""

from typing import Any

from attrs import frozen

from desim.core.model import Model
from desim.core.reported import Refused
from desim.core.roles import Role
from desim.faults import RAISED
from desim.records.lines import Step
from desim.schema import codec
from desim.show.labels import is_number
from desim.ui.layout import NamedValue, action_text, lay_out

#: The kinds of figures that rise and fall.
_AMOUNTS = {"number", "money", "share"}


@frozen
class Change:
    """A figure of two observations in a row that differs.

    Attributes:
        label: Its name.
        before: Its text when the answer was given.
        after: Its text now.
        difference: How much it rose or fell, such as "▲ 3 units"; empty if it is not a number.
    """

    label: str
    before: str
    after: str
    difference: str


@frozen
class AnswerEffect:
    """The effect of an answer, as seen at the next decision of its role.

    Attributes:
        answer: The answer in one line.
        sentence: What the world states about it; empty if it states nothing.
        changes: The figures that differ now.
    """

    answer: str
    sentence: str
    changes: tuple[Change, ...]


def effect_of(
    model: Model[Any], state: Any, role: Role, last: Step, observation: Any
) -> AnswerEffect | None:
    """Return the effect of a role's last answer, seen at its next decision.

    Args:
        model: The model.
        state: Its present state.
        role: The role that answered and decides again.
        last: The decision that was answered.
        observation: What the role observes now.
    """
    before = {one.label: one for one in lay_out(last.observation, role.observation).figures}
    changes = tuple(
        Change(one.label, before[one.label].text, one.text, _difference(before[one.label], one))
        for one in lay_out(observation, role.observation).figures
        if one.label in before and before[one.label].text != one.text
    )
    sentence = _stated(model, state, role, last, observation)
    return AnswerEffect(action_text(last.action, role.action), sentence, changes)


def _difference(before: NamedValue, now: NamedValue) -> str:
    if not (is_number(before.value) and is_number(now.value)) or now.column.kind not in _AMOUNTS:
        return ""
    rise = now.value - before.value
    return f"{'▲' if rise > 0 else '▼'} {now.column.text(abs(rise))}"


def _stated(model: Model[Any], state: Any, role: Role, last: Step, observation: Any) -> str:
    """Return the sentence of the world; without one, and where the model fails, an empty text."""
    action, _ = codec(role.action).take(last.action)
    try:
        text = model.after(state, last.role, action, observation) or ""
    except RAISED:  # the game goes on without the sentence, as it does without tables
        return ""
    return f"Refused: {text}" if isinstance(text, Refused) else text
