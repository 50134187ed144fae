"""The texts of a trace: short, and without code that a model might not survive."""

from typing import Any

import simpy

from desim.short_repr import short_repr

#: Characters of a name and of a value.
_WIDTH = 80
#: Values that are shown of an action.
_MOST = 12


def attributes(value: object) -> dict[str, Any]:
    """Return the attributes that an object holds itself, also those in slots."""
    held = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found = getattr(value, name, None) if not name.startswith("__") else None
            if found is not None:
                held[name] = found
    return held


def clean(text: str, width: int = _WIDTH) -> str:
    """Return a text that can be written, cut to a width."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= width else f"{text[: width - 1]}…"


def short_action(action: Any) -> str:
    """Return an action in a few words: `order 12`."""
    values = [_value_label(each) for each in attributes(action).values()][:_MOST]
    return clean(" ".join((type(action).__name__, *values)))


def process_label(process: simpy.Process) -> str:
    """Return a text that distinguishes a process from others of its function, by its arguments.

    A text is shown itself, a whole number as `argument=number`, any other argument by its `name` if
    that is a text. The result is empty if no argument can be shown.
    """
    generator: Any = getattr(process, "_generator", None)
    frame, code = getattr(generator, "gi_frame", None), getattr(generator, "gi_code", None)
    if frame is None or code is None:
        return ""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = ((name, frame.f_locals.get(name)) for name in names)
    return clean(", ".join(filter(None, (_argument(*each) for each in values))))


def _argument(argument: str, value: Any) -> str:
    if type(value) is int:
        return f"{argument}={value}"
    if type(value) is str:
        return value
    # Only a declared property is called: `getattr` may reach any code of an object.
    is_property = isinstance(getattr(type(value), "name", None), property)
    name = value.name if is_property else attributes(value).get("name")
    return name if isinstance(name, str) else ""


def _value_label(value: Any) -> str:
    return value if isinstance(value, str) else short_repr(value, _WIDTH)
