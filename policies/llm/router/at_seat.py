"""A router in front of methods: a `complete` that chooses one for each decision, also at a seat."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field

from desim import Seat, catalog
from desim.errors import BadRecord, PolicyWarning, UsageError
from desim.schema import to_plain
from desim.schema.untrusted import decode_json
from desim.short_repr import short_repr
from desim.show.files import read_text
from policies.llm.conversation import Conversation
from policies.llm.messages import ASKED_AGAIN, as_json
from policies.llm.methods.build import METHODS, method_at
from policies.llm.methods.method import Method
from policies.llm.options import LLMOptions
from policies.llm.router.labels import labelled
from policies.llm.router.learning import NoRules, learned_from_lessons, tallied
from policies.llm.router.policy import LABELS, Policy, holds, table_4, unwrapped
from policies.llm.router.predictions import Item
from policies.llm.router.routing import route
from policies.llm.router.situation import Situation, features_of
from policies.llm.wires.wire import Complete, Message, ModelReply, Request

#: The name of the paper's policy; every other text but those of `OFFLINE` is the name of a file.
TABLE_4 = "table_4"

#: The names of rules that are learned from the stored predictions that a suite gives: by counting,
#: and by the model from lessons of single answers.
OFFLINE = (_COUNTED, _LEARNED) = ("offline", "offline_lessons")

#: Bytes of a policy's file that are read.
MAX_BYTES = 1 << 20

#: Keys of which a policy's object has at least one.
_KEYS = ("rules", "default_agent")

_TASK = LABELS[0]

#: Makes rules of stored predictions.
Learn = Callable[[Sequence[Item]], Policy]

#: Roles of messages with the question; the system's hold the form, the assistant's are old.
_ABOUT = ("user", "tool")


@define(eq=False, kw_only=True)
class Routing:
    """A `complete` that passes each decision to one of several methods, chosen by rules.

    A conversation does not say which part of it is the question. All of it is taken as the context,
    with an empty question, which is what tasks have whose items are one text (SPEC, section 6). A
    decision that is asked for again, because the reply to it was invalid, stays with its method.

    Attributes:
        name: The argument that names the rules.
        policy: The rules.
        methods: The methods by name, at least one. The first is taken where another name is
            chosen, as the published live agent does.
        task: The name of the task, such as that of the world.
        labeller: The call of the model that gives each decision labels; None for no labels.
        learner: Makes the rules of stored predictions; None where they are given, or made.
        chosen: The method of the last decision; empty before the first.
    """

    name: str
    policy: Policy
    methods: Mapping[str, Method]
    task: str
    labeller: Complete | None = None
    learner: Learn | None = None
    chosen: str = field(default="", init=False)
    #: The question of the decision with its stored predictions, which answer it without a call.
    _item: Item | None = field(default=None, init=False)
    _stored: Mapping[str, Item] = field(factory=dict, init=False)
    _learned: Sequence[Item] | None = field(default=None, init=False)
    _faults: tuple[str, ...] = field(default=(), init=False)
    _recorded: bool = field(default=False, init=False)

    def __call__(self, request: Request) -> ModelReply:
        """Return the reply of the method that is chosen for this decision."""
        if not (self.chosen and _asked_again(request.messages)):
            situation = self._item.situation if self._item else self.situation(request.messages)
            name = route(self.policy, situation, self.methods).method
            self.chosen = name if name in self.methods else next(iter(self.methods))
        if self._item and (stored := self._item.predictions.get(self.chosen)):
            return ModelReply(text=stored.answer)
        return self.methods[self.chosen](request)

    def situation(self, messages: Sequence[Message]) -> Situation:
        """Return what a router sees of a conversation: task, labels, and figures of its text."""
        context = "\n".join(_text_of(each) for each in messages if each.get("role") in _ABOUT)
        features = features_of("", context)
        if self.labeller is None:
            return Situation(self.task, features=features)
        label = labelled(self.labeller, self.task, "", context)
        return Situation(self.task, label.capability, label.bucket, features)

    def record(self, transcript: Callable[[Any], None]) -> None:
        """Write the policy to the record of an episode, once, and warn of what has no effect.

        Rules that are to be learned are learned before.

        Raises:
            UsageError: No predictions were given to learn from.
            PolicyFailed: A call of the model brought no reply.
            Spent: A limit of the seat leaves no call of the model that writes rules.
            LimitReached: A limit of the command does.
        """
        if self.name in OFFLINE and self._learned is None:
            raise UsageError(
                f"router={self.name} was given, which learns from what the methods of a suite "
                f"answered: it is played as an entry of one; possible here are {TABLE_4} or a file"
            )
        if self._recorded:
            return
        if self.learner:
            self.policy, self.learner = self._rules(self.learner), None
        transcript({"router": self.policy.plain()})
        self._recorded = True
        remarks = [*self.policy.remarks(self.methods), *self._unmatched(), *self._faults]
        if remarks:
            text = f"router={self.name}: {'; '.join(remarks)}"
            warnings.warn(text, PolicyWarning, stacklevel=2)

    def restore(self, plain: Any) -> None:
        """Follow the policy with which a recorded episode was played, even if its file has changed.

        Raises:
            BadRecord: The value is not a policy.
        """
        if not isinstance(plain, Mapping):
            raise BadRecord("the policy of a router in the transcript is no object")
        self.policy, self.learner, self._recorded = Policy.read(plain), None, True

    def take(self, learned: Sequence[Item], stored: Sequence[Item]) -> None:
        """Take stored predictions: to learn rules from, and to answer questions from."""
        self._stored, self._learned = {item.id: item for item in stored}, learned
        if self.learner and self._stored.keys() & {item.id for item in learned}:
            self._faults = ("the rules were learned from questions that are asked here",)

    def _rules(self, learner: Learn) -> Policy:
        """Return what is learned; where the replies of a model hold no rules, those counted."""
        items = self._learned or ()
        try:
            return learner(items)
        except NoRules as fault:
            self._faults += (f"{fault}; the rules are those of router={_COUNTED}",)
            return tallied(items)

    def _unmatched(self) -> Iterator[str]:
        """Yield one sentence for each rule that no decision here matches."""
        tasks = sorted({item.task for item in self._stored.values()} or {self.task})
        has_labels = self.labeller is not None or self._learned is not None
        for number, rule in enumerate(self.policy.rules):
            for key, value in (rule.when or {}).items():
                shown = short_repr(value)
                if key == _TASK and not any(holds({key: value}, Situation(one)) for one in tasks):
                    known = " or ".join(map(repr, tasks))
                    why = f"every decision here has {key} {known}, not {shown}"
                elif key in LABELS[1:] and not (has_labels or holds({key: value}, Situation())):
                    why = f"it needs {key} {shown}, and only router_labels=true gives labels"
                else:
                    continue
                yield f"rule {number} never matches: {why}"
                break

    def begin_decision(self, observation: Any) -> None:
        """Discard the choice of the last decision, and find the stored predictions for this one."""
        self.chosen = ""
        self._item = self._stored.get(to_plain(observation)["id"]) if self._stored else None

    def begin_episode(self) -> None:
        """Forget what belongs to an episode that has ended."""
        for method in self.methods.values():
            method.begin_episode()
        self._recorded = False


def _asked_again(messages: Sequence[Message]) -> bool:
    return bool(messages) and _text_of(messages[-1]).startswith(ASKED_AGAIN)


def _text_of(message: Message) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else as_json(content)


def routing_at(
    options: LLMOptions, seat: Seat, conversation: Conversation, complete: Complete
) -> Routing | None:
    """Return the router at a seat, whose task is the model's name; None without one.

    Raises:
        UsageError: The policy cannot be read, or labels are wanted without a router.
    """
    if not options.router:
        if options.router_labels:
            raise UsageError("router_labels=true was given, but no router; give router=table_4")
        return None
    learners: dict[str, Learn] = {
        _COUNTED: tallied,
        _LEARNED: partial(learned_from_lessons, complete=complete, retries=options.retries),
    }
    learner = learners.get(options.router)
    methods = {name: method_at(name, options, seat, conversation, complete) for name in METHODS}
    for method in methods.values():
        method.learns = False
    return Routing(
        name=options.router,
        policy=Policy() if learner else read_policy(options.router),
        methods=methods,
        task=catalog.model_name(type(seat.model)),
        labeller=complete if options.router_labels else None,
        learner=learner,
    )


def read_policy(router: str) -> Policy:
    """Return the paper's policy, or that of a file.

    Raises:
        UsageError: The file does not exist, is larger than `MAX_BYTES`, or is not a policy.
    """
    if router == TABLE_4:
        return table_4()
    given = f"router={router} was given"
    if not Path(router).is_file():
        raise UsageError(f"{given}, and there is no such file; possible are {TABLE_4} or a file")
    try:
        data = decode_json(read_text(router, MAX_BYTES))
        data = unwrapped(data) if isinstance(data, dict) else None
    except OSError as fault:
        raise UsageError(f"{given}, which cannot be read: {fault.strerror}") from None
    except ValueError:
        data = None
    if not isinstance(data, dict) or not any(key in data for key in _KEYS):
        raise UsageError(f"{given}, which is no policy: no JSON object with {' or '.join(_KEYS)}")
    return Policy.read(data)
