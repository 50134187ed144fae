"""Finds the file of `worlds/` for a model, by the model's name.

`policies/llm/worlds/NAME.py` serves the model of the folder `models/NAME` and a user's own
`NAME:Class`; a folder of that path beside the user's files is searched too. A model without a file
gets the conversation of `worlds/generic.py`.
"""

import importlib
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import msgspec

from desim import Model, catalog
from desim.core.model_protocols import rules_of
from desim.errors import UsageError
from desim.schema import codec
from desim.schema.described import action_schemas
from policies.llm.chat.conversation import ConversationKind

__all__ = ["conversation_kind", "conversation_module", "world_texts"]

_WORLDS = "policies.llm.worlds"


def conversation_kind(model: type) -> ConversationKind[Any]:
    """Return how a language model talks with a model's world.

    Args:
        model: The model's class.

    Raises:
        UsageError: The world's file exports no `CONVERSATION`.
    """
    module = conversation_module(model)
    kind = vars(module).get("CONVERSATION")
    if not isinstance(kind, ConversationKind):
        raise UsageError(f"{module.__name__} exports no CONVERSATION; it is a ConversationKind")
    return kind


def conversation_module(model: type) -> ModuleType:
    """Return the module that says how a language model talks with a model's world."""
    path = f"{_WORLDS}.{catalog.model_name(model).split(':')[0].rsplit('.', 1)[-1]}"
    return importlib.import_module(path if find_spec(path) else f"{_WORLDS}.generic")


def world_texts(model: Model[Any]) -> bytes:
    """Return the rules of a world and the schemas of its actions, of all roles, as prompts hold.

    Docstrings of a model's classes are part of them, though they are no part of its code.
    """
    schemas = {name: action_schemas(codec(role.action)) for name, role in model.roles.items()}
    return msgspec.json.encode([[rules_of(model, name) for name in model.roles], schemas])
