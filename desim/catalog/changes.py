"""Changes of a model's parameters, also of fields of frozen objects inside them.

`horizon` names a parameter of the model, `scenario.fixed_cost` a field of the frozen object that is
its parameter `scenario`, and `scenario.projects.0.deadline` a field of the first object of a tuple.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs
from attrs import frozen

from desim.core.model import Model
from desim.errors import UsageError, possible, sentence
from desim.schema.arguments import read_arguments
from desim.short_repr import short_repr

T = TypeVar("T")


def changed(model: T, changes: Mapping[str, Any], *, read_texts: bool = True) -> T:
    """Return the model with parameters replaced.

    Args:
        model: An attrs instance.
        changes: Values by parameter; dots lead to fields of objects inside a parameter.
        read_texts: Whether a text is read as a value of the parameter's type.

    Raises:
        UsageError: A parameter does not exist, or its value is refused.
    """
    new: T = _Changes(type(model).__name__, read_texts).of(model, changes, "")
    return new


@frozen
class _Changes:
    """Changes of a model of the class *owner*.

    The prefix of a value is the path to it with a dot at the end, and empty for the model.
    """

    owner: str
    read_texts: bool

    def of(self, value: Any, changes: Mapping[str, Any], prefix: str) -> Any:
        """Return an attrs instance, or a tuple of instances, with changed fields."""
        if not changes:
            return value
        whole, inside = _by_first_name(changes)
        fields = _fields(value)
        if fields is None:
            path = prefix.removesuffix(".")
            raise UsageError(
                f"{prefix}{next(iter(changes))} was given, and {path}={short_repr(value)} has no "
                "parameters inside"
            )
        self._check(inside, fields, prefix)
        if isinstance(value, tuple):
            for name in whole:
                text = "is an item of a tuple; name a field of it after a dot"
                raise UsageError(f"{prefix}{name} {text}")
            items = enumerate(value)
            return tuple(self.of(v, inside.get(str(i), {}), f"{prefix}{i}.") for i, v in items)
        new = self._values(type(value), whole, prefix)
        # A field that is given as a whole and changed inside is converted first.
        base = _evolve(value, {name: new.pop(name) for name in inside if name in new}, prefix)
        fields = _fields(base) or {}
        for name, further in inside.items():
            new[name] = self.of(fields[name], further, f"{prefix}{name}.")
        return _evolve(base, new, prefix)

    def _values(self, cls: type, given: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        self._check(given, [one.alias for one in attrs.fields(cls) if one.init], prefix)
        texts = {name: value for name, value in given.items() if isinstance(value, str)}
        return {**given, **(read_arguments(cls, texts, prefix=prefix) if self.read_texts else {})}

    def _check(self, names: Iterable[str], known: Iterable[str], prefix: str) -> None:
        for name in names:
            if name not in known:
                hint = possible(prefix + name, [f"{prefix}{one}" for one in known])
                raise UsageError(f"{self.owner} has no parameter {prefix + name!r}; {hint}")


def _by_first_name(
    changes: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return changes of whole fields, and those inside fields: `a.b.c` becomes `b.c` under `a`."""
    whole: dict[str, Any] = {}
    inside: dict[str, dict[str, Any]] = {}
    for name, given in changes.items():
        first, dot, rest = name.partition(".")
        if dot:
            inside.setdefault(first, {})[rest] = given
        else:
            whole[first] = given
    return whole, inside


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
