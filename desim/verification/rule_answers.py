"""A rule of a submitter's own in the process that is confined for it: built there, and asked.

`facts` answers what the rule's class declares, and `decisions` what the rule decides. A question
and an answer are JSON objects; this process gets neither the world's seed nor, unless the class
declares that it knows more than observations, the parameters of the world.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from attrs import frozen

from desim import catalog
from desim.core.model_protocols import offers
from desim.core.policy_protocols import (
    DecidesAsync,
    DependsOnModel,
    Learner,
    LooksAhead,
    NamesClasses,
    NamesPolicies,
    Noted,
    ReachesOutside,
    Resumable,
    decide_arguments,
    needs_world_seed,
)
from desim.core.roles import Role
from desim.episodes.lineup import Seat, policy_at
from desim.errors import UsageError, sentence
from desim.faults import fault_text
from desim.records.lines import Header
from desim.schema import codec, from_plain
from desim.schema.class_types import union_of

#: Protocols that need more than observations and actions, each with the end of a sentence on it.
_NEEDS_MORE = (
    (Learner, "learns between episodes (after)"),
    (LooksAhead, "plays ahead (take_simulator)"),
    (Resumable, "keeps a transcript (resume)"),
    (DecidesAsync, "decides in a coroutine (decide_async)"),
    (NamesPolicies, "builds other policies (inner_policies)"),
    (NamesClasses, "calls other classes (inner_classes)"),
    (DependsOnModel, "reads the model's classes (dependencies)"),
    (ReachesOutside, "opens files or contacts a host (reaches)"),
)

#: Declarations of a class on which the contents of the rule's seat, and its roles, depend.
DECLARED = ("knows", "knows_by", "takes_options", "informed", "seats")


class CannotAnswerError(Exception):
    """The rule needs something that it cannot get in this process."""


def facts(about: Mapping[str, Any]) -> Callable[[bytes], bytes]:
    """Return the function that answers with what the class of a rule declares."""
    return lambda _: _answered(lambda: _declared(about["name"]))


def decisions(about: Mapping[str, Any]) -> Callable[[bytes], bytes]:
    """Return the function that answers an observation with the rule's action."""
    built: list[_SeatedRule] = []

    def answer(question: bytes) -> dict[str, Any]:
        built[:] = built or [_SeatedRule.of(about)]
        return built[0].decided(msgspec.json.decode(question))

    return lambda question: _answered(lambda: answer(question))


def _answered(made: Callable[[], dict[str, Any]]) -> bytes:
    """Return an answer as JSON; that of a rule that raises an exception has its text."""
    try:
        return msgspec.json.encode(made())
    except (CannotAnswerError, ModuleNotFoundError) as fault:
        return msgspec.json.encode({"cannot": sentence(fault)})
    except BaseException as fault:  # noqa: BLE001 (also SystemExit)
        return msgspec.json.encode({"error": fault_text(fault)})


def _declared(name: str) -> dict[str, Any]:
    maker: Any = catalog.policy(name, None)
    for protocol, does in _NEEDS_MORE:
        if isinstance(maker, protocol):
            raise CannotAnswerError(f"it {does}")
    if needs_world_seed(maker):
        raise CannotAnswerError("it needs the world's seed (needs_world_seed)")
    if inspect.iscoroutinefunction(getattr(maker, "decide", maker)):
        raise CannotAnswerError("it decides in a coroutine")
    return {"declares": {key: getattr(maker, key) for key in DECLARED if hasattr(maker, key)}}


@frozen
class _SeatedRule:
    """A rule in its seat.

    Attributes:
        policy: The rule.
        role: Its role.
        has_notes: Whether it has notes, which it must have from the beginning.
    """

    policy: Any
    role: Role
    has_notes: bool

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> "_SeatedRule":
        """Build the rule that an order is about, with its seat."""
        model: Any = None
        if about["model"]:
            model = msgspec.json.decode(about["model"], type=Header).build(trust=True)
        role = model.roles[about["role"]] if model is not None else _blind_role(about)
        seat = Seat(model, about["role"], role, int(about["seed"]), name=about["seat"])
        policy = policy_at(about["spec"], seat)
        return cls(policy, role, offers(policy, Noted))

    def decided(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the action for an observation, with the notes."""
        observation = from_plain(question["observation"], self.role.observation)
        tags = question["only"]
        narrowed = self.role.narrowed(_tagged(self.role, tags)) if tags else None
        action = self.policy.decide(*decide_arguments(self.policy, observation, narrowed))
        if inspect.isawaitable(action):
            raise CannotAnswerError("it decides in a coroutine")
        _, wire = codec(self.role.action).take(action)
        notes = dict(self.policy.notes) if self.has_notes else {}
        return {"action": msgspec.Raw(wire), "notes": notes}


def _blind_role(about: Mapping[str, Any]) -> Role:
    """Return a role without what is made of the world's parameters."""
    seen, does = (union_of(map(_class, about[kind])) for kind in ("observation", "action"))
    return Role(seen, does, _withheld, default_action=_withheld, options_know=about["options_know"])


def _withheld(_: Any) -> Any:
    raise CannotAnswerError(
        "it uses options, which are made of the world's parameters; declare knows = 'rules'"
    )


def _class(name: str) -> Any:
    module, _, qualified = name.partition(":")
    return getattr(sys.modules[module], qualified)


def _tagged(role: Role, tags: Iterable[str]) -> tuple[type, ...]:
    """Return the classes of a role's actions by their tags.

    Raises:
        UsageError: The role has no such action.
    """
    classes = codec(role.action).classes
    if unknown := [name for name in tags if name not in classes]:
        raise UsageError(f"the role has no action {unknown[0]!r}")
    return tuple(classes[name] for name in tags)
