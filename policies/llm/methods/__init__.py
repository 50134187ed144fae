"""Methods that make one reply out of several calls; each wraps a `complete` and is one."""

from collections.abc import Mapping
from types import MappingProxyType

from desim.catalog.imports import load
from desim.errors import UsageError, possible
from policies.llm.method_parts.method import Method
from policies.llm.methods.ace import Ace
from policies.llm.methods.amem import AgenticMemory
from policies.llm.methods.dynamic_cheatsheet import DynamicCheatsheet
from policies.llm.methods.gepa import Gepa
from policies.llm.methods.memoryless import ChainOfThought, Debate, Discussion, SelfRefine
from policies.llm.methods.reflexion import Reflexion

__all__ = ["METHODS", "method_class"]

#: Where a user's file imports the base class from.
_BASE = f"{Method.__module__}.{Method.__name__}"

#: The methods by name.
METHODS: Mapping[str, type[Method]] = MappingProxyType(
    {
        "cot": ChainOfThought,
        "self_refine": SelfRefine,
        "reflexion": Reflexion,
        "amem": AgenticMemory,
        "debate": Debate,
        "discussion": Discussion,
        "dynamic_cheatsheet": DynamicCheatsheet,
        "gepa": Gepa,
        "ace": Ace,
    }
)


def method_class(name: str) -> type[Method]:
    """Return the class of a method, by its name here or by `module:Class` for a user's own.

    Raises:
        UsageError: The method is unknown, or its class does not derive from `Method`.
    """
    if ":" not in name:
        if name not in METHODS:
            hint = possible(name, list(METHODS))
            raise UsageError(f"method={name} was given; {hint}, or module:Class")
        return METHODS[name]
    cls = load(name, "method")
    if not (isinstance(cls, type) and issubclass(cls, Method)):
        raise UsageError(f"method={name} was given, which is no class derived from {_BASE}")
    return cls
