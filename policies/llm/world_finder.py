"""Finds the file of `worlds/` for a model, by the model's name.

`policies/llm/worlds/NAME.py` serves the model of the folder `models/NAME` and a user's own
`NAME:Class`; a folder of that path beside the user's files is searched too. A model without a file
gets the conversation of `worlds/generic.py`.
"""

import importlib
from importlib.util import find_spec
from typing import Any

from desim import catalog
from desim.errors import UsageError
from policies.llm.conversation import ConversationKind
from policies.llm.worlds.generic import CONVERSATION as GENERIC

__all__ = ["conversation_kind"]

_WORLDS = "policies.llm.worlds"


def conversation_kind(model: type) -> ConversationKind[Any]:
    """Return how a language model talks with a model's world.

    Args:
        model: The model's class.

    Raises:
        UsageError: The world's file exports no `CONVERSATION`.
    """
    path = f"{_WORLDS}.{catalog.model_name(model).split(':')[0].rsplit('.', 1)[-1]}"
    if find_spec(path) is None:
        return GENERIC
    kind = vars(importlib.import_module(path)).get("CONVERSATION")
    if not isinstance(kind, ConversationKind):
        raise UsageError(f"{path} exports no CONVERSATION; it is a ConversationKind")
    return kind
