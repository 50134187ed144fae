"""The router in front of methods: a `complete` that chooses one of several for each decision."""

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from desim.errors import UsageError, possible
from policies.llm.chat.messages import as_json
from policies.llm.router.labels import Labeller
from policies.llm.router.policy import canonical
from policies.llm.router.routing import Chooser
from policies.llm.router.situation import Situation
from policies.llm.wires.wire import Complete, Message, ModelReply, Request

#: Returns what a router sees of a conversation.
Describe = Callable[[Sequence[Message]], Situation]

#: The beginning of a message of `messages.corrected`: the same decision is requested again.
_ASKED_AGAIN = "That was not understood: "

#: Roles of messages with the question; the system's hold the form, the assistant's are old.
_ABOUT = ("user", "tool")


@frozen
class Describer:
    """Describes a conversation: its task, its labels, and the features of its text.

    A conversation does not say which part of it is the question. All of it is taken as the context,
    with an empty question, which is what tasks have whose items are one text (SPEC, section 6).

    Attributes:
        task: The name of the task, such as that of the world.
        capability: The label of every decision; empty for none.
        bucket: The difficulty of every decision; None for none.
        labeller: Gives each decision labels of its own, by a call of the model; without it those
            above hold.
    """

    task: str
    capability: str = ""
    bucket: str | None = None
    labeller: Labeller | None = None

    def __call__(self, messages: Sequence[Message]) -> Situation:
        """Return the situation."""
        context = "\n".join(_text_of(each) for each in messages if each.get("role") in _ABOUT)
        capability, bucket = self.capability, self.bucket
        if self.labeller is not None:
            label = self.labeller.label(self.task, "", context)
            capability, bucket = label.capability, label.bucket()
        return Situation.of("", context, task=self.task, capability=capability, bucket=bucket)


@define
class Routed:
    """A `complete` that passes each decision to one of several methods.

    A decision that is asked for again, because the reply to it was invalid, stays with its method.

    Attributes:
        methods: The methods by name, each a `complete`; at least one.
        chooser: Chooses a name for a situation.
        describe: Returns the situation of a conversation, such as a `Describer`.
        default: The method taken where the chooser names none of them; the first where empty, as
            the published live agent does.
        chosen: The method of the last decision; empty before the first.

    Raises:
        UsageError: `methods` is empty, or does not contain the default.
    """

    methods: Mapping[str, Complete]
    chooser: Chooser
    describe: Describe
    default: str = ""
    chosen: str = field(default="", init=False)

    def __attrs_post_init__(self) -> None:
        if not self.methods:
            raise UsageError("no methods were given; a router needs at least one")
        self.default = canonical(self.default) or next(iter(self.methods))
        if self.default not in self.methods:
            known = possible(self.default, self.methods)
            raise UsageError(f"default={self.default} was given; {known}")

    def __call__(self, request: Request) -> ModelReply:
        """Return the reply of the method that is chosen for this decision."""
        if not (self.chosen and _asked_again(request.messages)):
            name = canonical(self.chooser.choose(self.describe(request.messages)))
            self.chosen = name if name in self.methods else self.default
        return self.methods[self.chosen](request)


def _asked_again(messages: Sequence[Message]) -> bool:
    return bool(messages) and _text_of(messages[-1]).startswith(_ASKED_AGAIN)


def _text_of(message: Message) -> str:
    """Return the text of a message; content in parts as JSON."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else as_json(content)
