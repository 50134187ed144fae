"""How does the reference show attrs classes, and examples in docstrings? An extension of griffe.

`desim/docs/site/zensical.toml` names it. The site's environment alone has griffe.
"""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.DOTALL | re.MULTILINE)
_ATTRS = ("define", "frozen", "mutable")


class DesimDocstrings(griffe.Extension):
    """Gives attrs classes the parameters of their fields, and examples a block of their own."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002 (griffe's signature)
        """Put the examples of a docstring into fenced blocks."""
        if obj.docstring:
            text = obj.docstring.value
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```\n", text)

    def on_class_members(self, *, cls: griffe.Class, **kwargs: Any) -> None:  # noqa: ARG002 (as above)
        """Add the `__init__` that attrs makes of the fields."""
        if "__init__" not in cls.members and _is_attrs(cls):
            fields = [one for one in cls.members.values() if _is_field(one)]
            made = griffe.Function(
                "__init__", parameters=griffe.Parameters(griffe.Parameter("self"))
            )
            ordered = sorted(
                (_parameter(one) for one in fields), key=lambda one: one.kind is _NAMED
            )
            for parameter in ordered:
                made.parameters.add(parameter)
            cls.set_member("__init__", made)


_NAMED = griffe.ParameterKind.keyword_only


def _is_attrs(cls: griffe.Class) -> bool:
    return any(str(one.value).partition("(")[0] in _ATTRS for one in cls.decorators)


def _is_field(member: Any) -> bool:
    return (
        isinstance(member, griffe.Attribute)
        and member.annotation is not None
        and "property" not in member.labels
        and not str(member.annotation).startswith("ClassVar")
        and _argument(member.value, "init") != "False"
    )


def _parameter(field: Any) -> griffe.Parameter:
    named = _argument(field.value, "kw_only") == "True"
    kind = _NAMED if named else griffe.ParameterKind.positional_or_keyword
    name = field.name.lstrip("_")
    return griffe.Parameter(
        name, annotation=field.annotation, kind=kind, default=_default(field.value)
    )


def _default(value: Any) -> Any:
    """Return the default as code: that of `field(...)`, a call of its factory, or the value."""
    if not str(value).startswith("field("):
        return value
    factory = _argument(value, "factory")
    return _argument(value, "default") or (f"{factory}()" if factory else None)


def _argument(value: Any, name: str) -> str:
    """Return an argument of a call of `field` as code; empty if it is not given."""
    for argument in getattr(value, "arguments", ()):
        if isinstance(argument, griffe.ExprKeyword) and argument.name == name:
            return str(argument.value)
    return ""
