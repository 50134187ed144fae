"""Texts for a model of several parts: names under a part's name, seats, and times.

For any other model the same functions return the name itself, and the time that its role knows.
"""

from collections.abc import Iterable
from typing import Any

from desim.core.model import Model
from desim.core.roles import split_name
from desim.faults import RAISED
from desim.show.labels import label_text, words_text


def part_of(model: Model[Any], name: str) -> tuple[str, str]:
    """Return the part of a role or a metric, empty without one, and the name inside the part.

    A part of a part counts as well: `north.plant.retailer` is `retailer` of `north.plant`.
    """
    part, inside = split_name(name)
    if not (inside and part in model.models):
        return "", name
    further, last = part_of(model.models[part], inside)
    return f"{part}.{further}" if further else part, last


def name_text(model: Model[Any], name: str) -> str:
    """Return a role or a metric as words, its part before a colon: "Plant: shelf life"."""
    part, inside = part_of(model, name)
    if not part:
        return label_text(inside)
    return f"{label_text(part.replace('.', ', '))}: {words_text(inside)}"


def seats_text(model: Model[Any], roles: Iterable[str]) -> str:
    """Return roles in one line, those of a part together: "retailer, factory of plant; cfo"."""
    by_part: dict[str, list[str]] = {}
    for role in roles:
        part, inside = part_of(model, role)
        by_part.setdefault(part, []).append(inside)
    texts = (f"{', '.join(names)}{part and f' of {part}'}" for part, names in by_part.items())
    return "; ".join(texts)


def time_text(model: Model[Any], state: Any, role: str, tick: int) -> str:
    """Return a tick as a role may know it: the role's own time, or else the ISO date.

    Empty if the ticks of the model have neither, or the model's function fails.
    """
    try:
        time = model.time
        own = time.known_to(role, state, tick)
        if own is not None:
            return own
        return time.date(tick).isoformat() if time.date else ""
    except RAISED:  # the game continues without the time, as it does without tables
        return ""
