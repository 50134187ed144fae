"""The methods by name, and a method at a seat, from the arguments that a user gives."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, fields

from desim import Seat
from desim.catalog.imports import load
from desim.errors import UsageError, possible
from desim.schema.arguments import build, parameters
from policies.llm.conversation import Conversation
from policies.llm.methods.ace import Ace
from policies.llm.methods.amem import AgenticMemory
from policies.llm.methods.dynamic_cheatsheet import DynamicCheatsheet
from policies.llm.methods.gepa import Gepa
from policies.llm.methods.learning import Learning
from policies.llm.methods.memoryless import ChainOfThought, Debate, Discussion, SelfRefine
from policies.llm.methods.method import Method, NoMemory
from policies.llm.methods.reflexion import Reflexion
from policies.llm.options import LLMOptions
from policies.llm.wires.wire import Complete

#: The methods by name.
METHODS: Mapping[str, type[Method]] = {
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

#: Options that a router leaves no room for.
_NOT_ROUTED = ("method", "memory", "learning", "train")


def method_class(name: str) -> type[Method]:
    """Return the class of a method, by its name here or by `module:Class` for a user's own.

    Its fields are arguments of `llm`; without a name, `Method`, which has none.

    Raises:
        UsageError: The method is unknown, its class does not derive from `Method`, or it has a
            field with the name of an argument of `llm`.
    """
    if not name:
        return Method
    if ":" not in name:
        if name not in METHODS:
            hint = possible(name, list(METHODS))
            raise UsageError(f"method={name} was given; {hint}, or module:Class")
        return METHODS[name]
    cls = load(name, "method")
    if not (isinstance(cls, type) and issubclass(cls, Method)):
        base = f"{Method.__module__}.{Method.__name__}"
        raise UsageError(f"method={name} was given, which is no class derived from {base}")
    own: Any = cls
    for taken in parameters(LLMOptions).keys() & parameters(own).keys():
        raise UsageError(
            f"method {name} has a field {taken!r}, which is the name of an argument of llm; "
            "rename the field"
        )
    return cls


def check_method(options: LLMOptions) -> None:
    """Refuse options that the method or the router leaves no room for."""
    if options.router:
        _check_routed(options)
        return
    cls = method_class(options.method)
    if options.run_programs and not cls.RUNS_PROGRAMS:
        runners = [name for name, each in METHODS.items() if each.RUNS_PROGRAMS]
        raise UsageError(
            f"run_programs=true was given, but only method={' or '.join(runners)} runs programs"
        )
    if options.memory and cls.MEMORY is NoMemory:
        what = f"method {options.method!r} has no memory" if options.method else "no method"
        raise UsageError(f"memory={options.memory} was given, but {what}")
    if options.train and options.learning != "offline":
        raise UsageError(f"train={options.train} was given; train needs learning=offline")


def _check_routed(options: LLMOptions) -> None:
    defaults = {each.name: each.default for each in fields(LLMOptions)}
    for name in _NOT_ROUTED:
        if (value := getattr(options, name)) != defaults[name]:
            raise UsageError(
                f"{name}={value} was given beside a router, which chooses among all methods; "
                "they learn nothing"
            )


def method_at(
    name: str,
    options: LLMOptions,
    seat: Seat,
    conversation: Conversation,
    complete: Complete,
    **own: Any,
) -> Method:
    """Return a method by its name with an empty memory, whatever method the options name.

    Args:
        name: The name.
        options: The arguments that every method has.
        seat: The role and the seed.
        conversation: The conversation at the seat, whose setting is the method's.
        complete: The call beneath.
        own: The arguments of the method alone.

    Raises:
        UsageError: An argument is invalid.
    """
    method = build(method_class(name), own)
    method.complete = complete
    method.setting = evolve(conversation.setting, role=seat.role)
    method.rounds, method.as_published = options.rounds, options.as_published
    method.run_programs, method.seed = options.run_programs, seat.seed
    return method


def learning_at(
    options: LLMOptions, seat: Seat, conversation: Conversation, complete: Complete, **own: Any
) -> Learning | None:
    """Return the method that the options name, with its memory; None where they name none.

    Raises:
        UsageError: An argument or the file of the memory is invalid, or there is nothing to learn
            from.
    """
    if not options.method:
        return None
    method = method_at(options.method, options, seat, conversation, complete, **own)
    return Learning(method=method, options=options, conversation=conversation, role=seat.role)
