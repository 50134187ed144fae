"""The effect of a person's last answer: a sentence of the world, and figures before and after."""

from typing import Any

from attrs import frozen

from desim.core.model_protocols import Model, model_of, offers
from desim.core.reported import HasEffects, HasRefusals
from desim.core.roles import Role
from desim.faults import RAISED
from desim.records.lines import Step
from desim.schema import codec, to_plain
from desim.ui.layout import action_text, lay_out

#: Figures that are compared; the rest is in the observation.
_SHOWN = 8


@frozen
class Change:
    """A figure of two observations in a row that differs.

    Attributes:
        label: Its name.
        before: Its text when the answer was given.
        after: Its text now.
    """

    label: str
    before: str
    after: str


@frozen
class AnswerEffect:
    """The effect of an answer, as seen at the next decision of its role.

    Attributes:
        answer: The answer in one line.
        sentence: What the world states about it; empty if it states nothing.
        changes: The first figures that differ now.
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
    classes = role.observation
    before = {one.label: one.text for one in lay_out(last.observation, classes).figures}
    now = lay_out(observation, classes).figures
    changes = [
        Change(one.label, before[one.label], one.text)
        for one in now
        if one.label in before and before[one.label] != one.text
    ]
    answer = action_text(last.action, role.action)
    action, _ = codec(role.action).take(last.action)
    try:
        sentence = _refused(model, last.role, observation) or (
            model.effect_of(state, last.role, action, observation)
            if offers(model, HasEffects)
            else ""
        )
    except RAISED:  # the game goes on without the sentence, as it does without tables
        sentence = ""
    return AnswerEffect(answer, sentence, tuple(changes[:_SHOWN]))


def _refused(model: Model[Any], role: str, observation: Any) -> str:
    """Return why the last answer was refused, as a sentence; empty if it was carried out."""
    part, inside = model_of(model, role)
    if not offers(part, HasRefusals):
        return ""
    why = part.refusal(inside, to_plain(observation))
    return f"Refused: {why}" if why else ""
