"""Functions whose arguments are the fields of an attrs class, as are the options of a command."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import attrs

from desim.errors import UsageError, possible
from desim.schema.wire_types import attribute_texts

P = ParamSpec("P")
Options = TypeVar("Options")
R = TypeVar("R")


def takes(cls: Callable[P, Options]) -> Callable[[Callable[[Options], R]], Callable[P, R]]:
    """Let a function that takes an instance of an attrs class be called with its fields.

    The decorated function raises `UsageError` for an unknown keyword.
    """
    signature, about = inspect.signature(cls), _arguments(cls)

    def decorate(function: Callable[[Options], R]) -> Callable[P, R]:
        name = function.__name__

        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> R:
            for unknown in named.keys() - signature.parameters:
                known = possible(unknown, signature.parameters)
                raise UsageError(f"{name} has no argument {unknown!r}; {known}")
            return function(cls(*arguments, **named))

        returned = function.__annotations__.get("return", inspect.Signature.empty)
        call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
        call.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nArgs:\n{about}"
        return call

    return decorate


def given(options: attrs.AttrsInstance) -> dict[str, Any]:
    """Return the fields of options by name, as the arguments of a function that takes them."""
    return {one.alias: getattr(options, one.name) for one in attrs.fields(type(options))}


def _arguments(cls: Any) -> str:
    texts = attribute_texts(cls)
    return "\n".join(f"    {one.alias}: {texts[one.name]}" for one in attrs.fields(cls) if one.init)
