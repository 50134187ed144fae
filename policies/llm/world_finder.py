"""Finds how a language model talks with a world: a `ConversationKind`, as `module:NAME`.

The user names one, or it is `policies.llm.worlds.NAME:CONVERSATION` for the model of the folder
`models/NAME` and for a user's own `NAME:Class`; a folder of that path beside the user's files is
searched too. Every other model gets the one of `worlds/generic.py`.
"""

import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

import msgspec

from desim import Model, catalog
from desim.core.model_protocols import rules_of
from desim.errors import UsageError
from desim.opened_files import noting
from desim.schema import codec
from desim.schema.described import action_schemas
from policies.llm.chat.conversation import ConversationKind

_WORLDS = "policies.llm.worlds"


def conversation_kind(model: type, named: str = "") -> ConversationKind[Any]:
    """Return the conversation kind of a model's world.

    Args:
        model: The model's class.
        named: `module:NAME` of a user's own; empty for the one of the model's name.

    Raises:
        UsageError: The module is missing, or exports no `ConversationKind` of that name.
    """
    module, name = _own(named) if named else (conversation_module(model), "CONVERSATION")
    kind = vars(module).get(name)
    if not isinstance(kind, ConversationKind):
        raise UsageError(f"{module.__name__} exports no {name or 'NAME'}; it is a ConversationKind")
    return kind


def own_conversation(named: str) -> Iterator[Any]:
    """Yield the options of a user's own conversation, then its class or function.

    If it is begun by another callable, such as a partial, the second item is its whole module.

    Args:
        named: See `conversation_kind`.

    Raises:
        UsageError: The module is missing, or exports no `ConversationKind` of that name.
    """
    kind = conversation_kind(object, named)
    yield kind.options
    yield kind.begin if isinstance(kind.begin, type | FunctionType) else _own(named)[0]


def _own(named: str) -> tuple[ModuleType, str]:
    """Return the module of a user's own conversation, and its name there.

    Raises:
        UsageError: The module does not exist.
    """
    path, _, name = named.partition(":")
    try:
        with noting():  # a module may read its data when it is imported
            return importlib.import_module(path), name
    except (ModuleNotFoundError, ValueError) as fault:
        if not path.startswith(getattr(fault, "name", "") or ""):
            raise
        raise UsageError(
            f"conversation={named} was given, and there is no module {path!r}; write module:NAME"
        ) from None


def conversation_module(model: type) -> ModuleType:
    """Return the module that defines the conversation with a model's world."""
    path = f"{_WORLDS}.{catalog.model_name(model).split(':')[0].rsplit('.', 1)[-1]}"
    return importlib.import_module(path if find_spec(path) else f"{_WORLDS}.generic")


def world_texts(model: Model[Any]) -> bytes:
    """Return the rules of a world and the schemas of its actions, for all roles, as in prompts.

    They include docstrings of the model's classes, which its code digest leaves out.
    """
    schemas = {name: action_schemas(codec(role.action)) for name, role in model.roles.items()}
    return msgspec.json.encode([[rules_of(model, name) for name in model.roles], schemas])
