"""One file a world: what a model is told there, what it remembers, how its reply is read.

A world is found by its model's name; one without a file is talked about in the words of its own
classes (`generic.py`).
"""

import importlib
from importlib.util import find_spec

from desim import Seat, catalog
from policies.llm.talk import Talk, Wishes
from policies.llm.worlds.generic import Generic

__all__ = ["talk"]


def talk(seat: Seat, wishes: Wishes) -> Talk:
    """Begin the conversation at a seat."""
    name = catalog.model_name(type(seat.model))
    path = f"{__name__}.{name}"
    if ":" in name or find_spec(path) is None:
        return Generic(seat, wishes)
    begun: Talk = importlib.import_module(path).talk(seat, wishes)
    return begun
