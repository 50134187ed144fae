"""The briefing of a person's seat: five answers, then all rules, before the first decision."""

import inspect
from typing import Any

from attrs import evolve

from desim.core.model import Model, model_of, world_doc, world_rules
from desim.core.reported import SeatBriefing
from desim.show.labels import class_text, label_text


def briefing_of(model: Model[Any], role: str) -> SeatBriefing:
    """Return the briefing of a role, or of the role of a part.

    A model without one is described by its docstrings and its length. The role of a part plays for
    the score of the whole model, if that has a briefing.
    """
    part, inside = model_of(model, role)
    own = part.texts(inside).briefing or _described(part, inside)
    if part is not model and (whole := model.texts(role).briefing):
        return evolve(own, score=whole.score)
    return own


def rules_paragraphs(model: Model[Any], role: str) -> list[str]:
    """Return the rules of a role as paragraphs."""
    return [text.strip() for text in world_rules(model, role).split("\n\n") if text.strip()]


def _described(part: Model[Any], role: str) -> SeatBriefing:
    """Return what the docstrings of a model and its roles state."""
    actions = part.roles[role].action
    length = f"After {part.time.length}." if part.time.length else "When the world ends it."
    return SeatBriefing(
        title=class_text(type(part).__name__),
        you_are=f"{label_text(role)}. {_first_sentence(world_doc(type(part)))}",
        you_want="The highest score.",
        it_costs=_first_sentence(actions.__doc__) if isinstance(actions, type) else _UNKNOWN_COSTS,
        it_ends=length,
        score=_returned(part.score.__doc__) or "A number; higher is better.",
    )


_UNKNOWN_COSTS = "The rules below and the help of each action say what costs something."


def _returned(doc: str | None) -> str:
    """Return what a method returns, from its docstring: "Return the cash." gives "The cash."."""
    text = _first_sentence(doc).removeprefix("Return ")
    return text[:1].upper() + text[1:]


def _first_sentence(doc: str | None) -> str:
    paragraph = " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())
    return f"{paragraph.partition('. ')[0].rstrip('.')}." if paragraph else ""
