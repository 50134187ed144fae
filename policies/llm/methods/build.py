"""A method at a seat, from the arguments that a user gives."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any, Literal, get_origin, get_type_hints

from attrs import evolve, field, fields, frozen, make_class

from desim import Seat
from desim.errors import UsageError
from desim.schema import members
from policies.llm.chat.conversation import Conversation
from policies.llm.chat.options import LLMOptions
from policies.llm.method_parts.learning import Learning
from policies.llm.method_parts.method import Method, NoMemory
from policies.llm.methods import METHODS, method_class
from policies.llm.wires.wire import Complete, Request

#: Types of the fields that a user may set by an argument.
_PLAIN = {bool, int, float, str, NoneType}

#: Options that a router leaves no room for.
_NOT_ROUTED = ("method", "memory", "learning", "train")


def own_arguments(method: str) -> type:
    """Return a class of the arguments that a method adds to `LLMOptions`; none without a method.

    These are the fields of plain types (numbers, texts, true or false) that the method's class adds
    to those of `Method`, with their defaults and validators.

    Raises:
        UsageError: The method is unknown, or a field has the name of an argument of `llm`.
    """
    cls: Any = method_class(method) if method else Method
    return _own_arguments(cls)


@cache
def _own_arguments(cls: Any) -> type:
    hints, base = get_type_hints(cls), {each.name for each in fields(Method)}
    own = {
        each.alias: field(default=each.default, validator=each.validator, type=hints[each.name])
        for each in fields(cls)
        if each.init and each.name not in base and _is_plain(hints[each.name])
    }
    for name in (each.name for each in fields(LLMOptions) if each.name in own):
        raise UsageError(
            f"method {cls.__module__}:{cls.__qualname__} has a field {name!r}, which is the name "
            "of an argument of llm; rename the field"
        )
    return make_class(f"{cls.__name__}Arguments", own, kw_only=True, frozen=True)


def _is_plain(kind: Any) -> bool:
    return get_origin(kind) is Literal or {*members(kind)} <= _PLAIN


def check_method(options: LLMOptions) -> None:
    """Refuse options that the method or the router leaves no room for."""
    if options.router:
        _check_routed(options)
        return
    cls = method_class(options.method) if options.method else None
    if options.run_programs and not (cls and cls.RUNS_PROGRAMS):
        runners = [name for name, each in METHODS.items() if each.RUNS_PROGRAMS]
        raise UsageError(
            f"run_programs=true was given, but only method={' or '.join(runners)} runs programs"
        )
    if options.memory and not (cls and cls.MEMORY is not NoMemory):
        what = f"method {options.method!r} has no memory" if options.method else "no method"
        raise UsageError(f"memory={options.memory} was given, but {what}")
    if options.train and options.learning != "offline":
        raise UsageError(f"train={options.train} was given; train needs learning=offline")


def _check_routed(options: LLMOptions) -> None:
    """Refuse options that a router leaves no room for."""
    defaults = {each.name: each.default for each in fields(LLMOptions)}
    for name in _NOT_ROUTED:
        if (value := getattr(options, name)) != defaults[name]:
            raise UsageError(
                f"{name}={value} was given beside a router, which chooses among all methods; "
                "they learn nothing"
            )


@frozen(kw_only=True)
class MethodMaker:
    """Builds methods at one seat.

    Attributes:
        options: The arguments that every method has.
        complete: The call beneath.
        seat: The model, the role and the seed.
        conversation: The conversation at the seat; its setting is the methods'.
        own: The arguments of the method alone; see `own_arguments`.
    """

    options: LLMOptions
    complete: Complete
    seat: Seat
    conversation: Conversation
    own: Mapping[str, Any] = field(factory=dict)

    def learning(self) -> Learning | None:
        """Return the method that the options name, with its memory; None where they name none.

        Raises:
            UsageError: The file of the memory is invalid, or there is nothing to learn from.
        """
        options, talk = self.options, self.conversation
        if not options.method:
            return None
        training = self._training()
        return Learning(
            name=options.method,
            method=self.method(options.method, **self.own),
            role=self.seat.role,
            mode=options.learning,
            train=0 if training else options.train,
            file=options.memory,
            grade=talk.grade,
            stream=talk.stream(),
            training=training,
        )

    def _training(self) -> Sequence[Request]:
        """Return the questions that are learned from before the others; none but offline."""
        if self.options.learning != "offline":
            return ()
        known, train = self.conversation.training(), self.options.train
        if not (known or train):
            raise UsageError("learning=offline needs train, the number of episodes to learn from")
        return known[: train or len(known)]

    def method(self, name: str, **own: Any) -> Method:
        """Return a method, whatever the options name, with an empty memory."""
        options, talk = self.options, self.conversation
        return method_class(name)(
            complete=self.complete,
            setting=evolve(talk.setting, role=self.seat.role),
            rounds=options.rounds,
            as_published=options.as_published,
            repeat_context=options.repeat_context,
            run_programs=options.run_programs,
            seed=self.seat.seed,
            number=int(talk.grade is not None),
            **own,
        )
