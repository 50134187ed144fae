"""Changes of a model's parameters, also of fields of frozen objects inside them.

`horizon` names a parameter of the model, `scenario.fixed_cost` a field of the frozen object that is
its parameter `scenario`, and `scenario.projects.0.deadline` a field of the first object of a tuple.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from desim.core.model import Model
from desim.errors import UsageError, possible, sentence
from desim.schema.arguments import read_arguments
from desim.short_repr import short_repr

T = TypeVar("T")

#: Returns the values of fields. Takes a class, the given values by field, the beginning of an error
#: text, and the prefix of the field's name in it.
_Read = Callable[[type, Mapping[str, Any], str, str], dict[str, Any]]


def changed(model: T, changes: Mapping[str, Any]) -> T:
    """Return the model with parameters replaced by values, which may be given as text.

    Args:
        model: An attrs instance.
        changes: Values or texts by parameter; dots lead to fields of objects inside a parameter.

    Raises:
        UsageError: A parameter does not exist, or its value is refused.
    """
    new: T = _changed(model, changes, _from_text, type(model).__name__, "")
    return new


def evolved(model: T, changes: Mapping[str, Any]) -> T:
    """Return the model with parameters replaced by values; see `changed` for names and errors."""
    new: T = _changed(model, changes, _as_given, type(model).__name__, "")
    return new


def _changed(value: Any, changes: Mapping[str, Any], read: _Read, owner: str, prefix: str) -> Any:
    """Replace fields of an attrs instance, or of instances in a tuple.

    Args:
        value: The instance or the tuple.
        changes: The given values by field; dots lead to fields inside it.
        read: Returns the values of fields.
        owner: The name of the model's class.
        prefix: The path to *value*, with a dot at the end; empty for the model.
    """
    if not changes:
        return value
    whole = {name: given for name, given in changes.items() if "." not in name}
    inside = _by_first_name(changes)
    fields = _fields(value)
    if fields is None:
        path = prefix.removesuffix(".")
        raise UsageError(
            f"{prefix}{next(iter(changes))} was given, and {path}={short_repr(value)} has no "
            "parameters inside"
        )
    what = f"{owner} has no parameter"
    for name in inside:
        if name not in fields:
            names = [f"{prefix}{known}" for known in fields]
            raise UsageError(f"{what} {prefix + name!r}; {possible(prefix + name, names)}")
    if isinstance(value, tuple):
        return _changed_items(value, whole, inside, read, owner, prefix)
    new = read(type(value), whole, what, prefix)
    # A field that is given as a whole and changed inside is converted first.
    base = _evolve(value, {name: new.pop(name) for name in inside if name in new}, prefix)
    fields = _fields(base) or {}
    for name, further in inside.items():
        new[name] = _changed(fields[name], further, read, owner, f"{prefix}{name}.")
    return _evolve(base, new, prefix)


def _changed_items(
    items: tuple[Any, ...],
    whole: Mapping[str, Any],
    inside: Mapping[str, Mapping[str, Any]],
    read: _Read,
    owner: str,
    prefix: str,
) -> tuple[Any, ...]:
    for name in whole:
        raise UsageError(f"{prefix}{name} is an item of a tuple; name a field of it after a dot")
    return tuple(
        _changed(item, inside.get(str(i), {}), read, owner, f"{prefix}{i}.")
        for i, item in enumerate(items)
    )


def _by_first_name(changes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the changes inside fields, by field: `a.b.c` becomes `b.c` under `a`."""
    inside: dict[str, dict[str, Any]] = {}
    for name, given in changes.items():
        first, dot, rest = name.partition(".")
        if dot:
            inside.setdefault(first, {})[rest] = given
    return inside


def _fields(value: Any) -> dict[str, Any] | None:
    """Return the fields or items of a value that can be changed, by name; None without any."""
    if isinstance(value, tuple):
        return {str(i): item for i, item in enumerate(value)} or None
    if not attrs.has(type(value)):
        return None
    own = {f.alias: getattr(value, f.name) for f in attrs.fields(type(value)) if f.init}
    return {**own, **value.models} if isinstance(value, Model) else own


def _evolve(value: Any, new: Mapping[str, Any], prefix: str) -> Any:
    where = f"{prefix.removesuffix('.')}: " if prefix else ""
    own = {f.alias for f in attrs.fields(type(value))}
    parts = {name: model for name, model in new.items() if name not in own}
    try:
        changed = attrs.evolve(value, **{name: new[name] for name in new if name in own})
        return changed.with_models(parts) if parts else changed
    except (TypeError, ValueError) as fault:
        raise UsageError(where + sentence(fault)) from None


def _from_text(cls: type, values: Mapping[str, Any], what: str, prefix: str) -> dict[str, Any]:
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    others = {name: value for name, value in values.items() if name not in texts}
    read = read_arguments(cls, texts, what, prefix=prefix)
    return read | _as_given(cls, others, what, prefix)


def _as_given(cls: type, values: Mapping[str, Any], what: str, prefix: str) -> dict[str, Any]:
    names = {f.alias: f"{prefix}{f.alias}" for f in attrs.fields(cls) if f.init}
    for name in values:
        if name not in names:
            known = possible(prefix + name, names.values())
            raise UsageError(f"{what} {prefix + name!r}; {known}")
    return dict(values)
