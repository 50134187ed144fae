"""The arguments of the policy `llm`, and the checks of such values.

The class of a world's file derives from `LLMOptions` and adds the options of that world.
"""

from collections.abc import Callable
from typing import Any, Literal

from attrs import Attribute, field, frozen

from desim.errors import UsageError, possible
from desim.schema.validators import not_negative
from policies.llm.chat.request_options import RequestOptions

#: The forms of an answer: tool calls, JSON under a schema, JSON somewhere in a text.
MODES = ("tools", "schema", "json")

#: When a method learns: never; after windows of questions and after episodes; from other questions
#: or episodes first.
LearningMode = Literal["eval_only", "online", "offline"]
LEARNING_MODES: tuple[LearningMode, ...] = ("eval_only", "online", "offline")

#: Stands for the name of a method where a router chooses it.
ROUTED = "routed"


def choice(*values: str) -> "Callable[[Any, Attribute[str], str], None]":
    """Return a validator of an attrs field: one of these texts.

    The validator raises `UsageError` with the nearest and all possible values.
    """

    def check(_: Any, attribute: "Attribute[str]", value: str) -> None:
        if value not in values:
            known = [each for each in values if each]
            raise UsageError(f"{attribute.name}={value} was given; {possible(value, known)}")

    return check


@frozen(kw_only=True)
class LLMOptions(RequestOptions):
    """The arguments of `llm` in every world.

    Attributes:
        mode: How the model answers: tools, schema or json; empty for the world's default.
        retries: How often the model is asked again after an invalid reply, at least 0.
        conversation: `module:NAME` of the world's prompt, a `ConversationKind`; empty for the one
            of the world's name.
        history: Rounds kept in the conversation, at least 0; None for the world's number.
        method: How calls become a reply: empty for one call, a method's name, or `module:Class`.
        rounds: How often a method repeats its main step, at least 0; None for its own number.
        repeat_context: Whether a method's rewriting call contains the context again.
        run_programs: Whether programs in replies are run, in the sandbox, by a method that can;
            None for never, or as published with as_published.
        as_published: Whether a method keeps the defects of the published code.
        memory: The file of a method's memory; empty for nowhere.
        learning: When a method learns: eval_only, online or offline.
        train: Of learning=offline: the number of episodes to learn from, or of a world's training
            questions, of which 0 stands for all.
        router: Chooses one of all methods for each decision, in place of method: table_4, the file
            of a policy, or in a suite, where rules are learned from methods' answers, offline (by
            counting) or offline_model (written by the model).
        router_labels: Whether the model labels each decision for the router by a further call.
    """

    mode: str = field(default="", validator=choice("", *MODES))
    retries: int = field(default=2, validator=not_negative)
    conversation: str = ""
    history: int | None = field(default=None, validator=not_negative)
    method: str = ""
    rounds: int | None = field(default=None, validator=not_negative)
    repeat_context: bool = False
    run_programs: bool | None = None
    as_published: bool = False
    memory: str = ""
    learning: LearningMode = field(default="online", validator=choice(*LEARNING_MODES))
    train: int = field(default=0, validator=not_negative)
    router: str = ""
    router_labels: bool = False

    @property
    def chosen_method(self) -> str:
        """The method's name; `ROUTED` where a router chooses one for each decision."""
        return ROUTED if self.router else self.method
