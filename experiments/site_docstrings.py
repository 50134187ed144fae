"""How does the reference show fields as arguments, and examples? An extension of griffe.

`desim/docs/site/zensical.toml` names it. The site's environment alone has griffe.
"""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe
from attrs import NOTHING

_EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.DOTALL | re.MULTILINE)
_ATTRS = ("define", "frozen", "mutable")


class DesimDocstrings(griffe.Extension):
    """Gives attrs classes the parameters of their fields, and examples a block of their own."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002 (griffe's signature)
        """Put the examples of a docstring into fenced blocks."""
        if obj.docstring:
            text = obj.docstring.value
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```\n", text)

    def on_function(self, *, func: griffe.Function, **kwargs: Any) -> None:  # noqa: ARG002 (griffe's signature)
        """Show the fields of the options of a function that `takes` them as its arguments."""
        if func.docstring and any(str(one.value).startswith("takes(") for one in func.decorators):
            called = getattr(import_module(func.module.path), func.name)
            func.docstring.value = called.__doc__
            arguments = inspect.signature(called).parameters.values()
            func.parameters = griffe.Parameters(*map(_argument_of_call, arguments))

    def on_class_members(self, *, cls: griffe.Class, **kwargs: Any) -> None:  # noqa: ARG002 (griffe's signature)
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


def _argument_of_call(given: inspect.Parameter) -> griffe.Parameter:
    """Return an argument as griffe has it; the default of a factory is `...`."""
    # Names without their modules, as in the source.
    annotation = re.sub(r"(?:\b\w+\.)+(?=\w)", "", inspect.formatannotation(given.annotation))
    default = given.default
    shown = None if default is given.empty else "..." if default is NOTHING else repr(default)
    kind = (
        _NAMED if given.kind is given.KEYWORD_ONLY else griffe.ParameterKind.positional_or_keyword
    )
    return griffe.Parameter(given.name, annotation=annotation, kind=kind, default=shown)


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
