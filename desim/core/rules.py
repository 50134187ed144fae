"""What a role has to know before its first decision, in words."""

import inspect
from typing import Any

from desim.core.protocols import HasRules, Model, model_of, offers
from desim.schema.described import field_lines

__all__ = ["rules_of", "world_rules"]


def world_rules(model: Model[Any], role: str) -> str:
    """Return the rules of a world for one role; they hold nothing that the role may not know.

    Of a role of a part they are the part's rules, after a sentence on the whole. A model that
    states no rules is described by the first paragraph of its class's docstring.
    """
    part, inside = model_of(model, role)
    text = part.rules_for(inside) if offers(part, HasRules) else _first_paragraph(type(part))
    if part is model:
        return text
    return f"{_first_paragraph(type(model))}\n\nYou play {role!r}.\n\n{text}"


def rules_of(model: Model[Any], role: str) -> str:
    """Return the rules of a world for one role, and what the fields of its observations are."""
    fields = field_lines(model.roles[role].observation)
    return f"{world_rules(model, role)}\n\nEvery observation has these fields:\n{fields}"


def _first_paragraph(cls: type) -> str:
    return (inspect.getdoc(cls) or cls.__name__).split("\n\n")[0]
