"""The arguments of the policy `llm`, and the checks of such values.

The class of a world's file derives from `LLMOptions` and adds the options of that world. Options
that an API refuses for every model are refused before anything is sent; for the refusals of single
servers `wires.fault` has the advice.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from attrs import Attribute, field, frozen

from desim.errors import UsageError, possible
from desim.schema.untrusted import decode_json
from desim.schema.validators import not_negative
from policies.llm.wires.budget import CallLimits

#: The forms of an answer: tool calls, JSON under a schema, JSON somewhere in a text.
MODES = ("tools", "schema", "json")

#: When a method learns: never; after windows of questions and after episodes; from other questions
#: or episodes first.
LearningMode = Literal["eval_only", "online", "offline"]
LEARNING_MODES: tuple[LearningMode, ...] = ("eval_only", "online", "offline")

#: Stands for the name of a method where a router chooses it.
ROUTED = "routed"

#: Characters of `extra_body`, as JSON.
_LONGEST_BODY = 16_384

#: Fields that desim writes, or that would make a response something else than one reply.
_OURS = frozenset(
    "model messages input instructions system tools stream n background previous_response_id".split()  # noqa: SIM905, E501 (shorter)
)

#: A name of an object's field, in JSON, under which secrets are sent.
_SECRET = re.compile(
    r'"(?:[^"]*(?:api_?key|authorization|password|secret|credential|bearer|x-api)[^"]*'
    r'|token|[^"]*(?:access|auth|api|hf|session|refresh)_?token)":',
    re.IGNORECASE,
)

#: The name of an environment variable; most keys have other characters.
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)


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
class LLMOptions(CallLimits):
    """The arguments of `llm` in every world.

    Attributes:
        model: The language model's name at the endpoint.
        base_url: The endpoint, `http://HOST:PORT/v1`; empty for `OPENAI_BASE_URL`, else OpenAI's.
        key_env: The environment variable that holds the key; empty for `OPENAI_API_KEY`. A server
            without keys needs none.
        resends: How often a request without a reply is sent again (408, 409, 429, 5xx, a dropped
            connection), at least 0.
        timeout: Seconds for a whole call: all its requests, the waits between them, and reading
            the reply; above 0 and at most 86,400.
        temperature: Sent with every request; None for the server's default.
        seed: Sent with every request where given.
        reply_tokens: Limit of tokens in one reply, reasoning included, sent with every request
            where given.
        extra_body: Further fields of every request, a JSON object, such as `reasoning_effort`,
            `top_p`, `service_tier`, or what one server alone takes.
        mode: How the model answers: tools, schema or json; empty for the world's default.
        retries: How often the model is asked again after an invalid reply, at least 0.
        conversation: `module:NAME` of the world's prompt, a `ConversationKind`; empty for the one
            of the world's name.
        history: Rounds kept in the conversation, at least 0; None for the world's number.
        method: How calls become a reply: empty for one call, a method's name, or `module:Class`.
        rounds: How often a method repeats its main step, at least 0; None for its own number.
        run_programs: Whether programs in replies are run, in the sandbox, by a method that can;
            None for never, or as published with as_published.
        as_published: Whether a method keeps the defects of the published code.
        memory: The file of a method's memory; empty for nowhere.
        learning: When a method learns: eval_only, online or offline.
        train: Of learning=offline: the number of episodes to learn from, or of a world's training
            questions, of which 0 stands for all.
        router: Chooses one of all methods for each decision, in place of method: table_4, the file
            of a policy, or in a suite, where rules are learned from methods' answers, offline (by
            counting) or offline_lessons (written by the model from lessons of single answers).
        router_labels: Whether the model labels each decision for the router by a further call.
    """

    model: str
    base_url: str = ""
    key_env: str = ""
    resends: int = field(default=3, validator=not_negative)
    timeout: float = 300.0
    temperature: float | None = None
    seed: int | None = None
    reply_tokens: int | None = None
    extra_body: dict[str, Any] = field(factory=dict)
    mode: str = field(default="", validator=choice("", *MODES))
    retries: int = field(default=2, validator=not_negative)
    conversation: str = ""
    history: int | None = field(default=None, validator=not_negative)
    method: str = ""
    rounds: int | None = field(default=None, validator=not_negative)
    run_programs: bool | None = None
    as_published: bool = False
    memory: str = ""
    learning: LearningMode = field(default="online", validator=choice(*LEARNING_MODES))
    train: int = field(default=0, validator=not_negative)
    router: str = ""
    router_labels: bool = False

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for fault in self._faults():
            raise UsageError(fault)

    @property
    def chosen_method(self) -> str:
        """The method's name; `ROUTED` where a router chooses one for each decision."""
        return ROUTED if self.router else self.method

    @property
    def request_fields(self) -> dict[str, Any]:
        """The fields of every request that the user gives, as chat completions name them."""
        given = {
            "temperature": self.temperature,
            "seed": self.seed,
            "max_completion_tokens": self.reply_tokens,
            "extra_body": self.extra_body or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _faults(self) -> Iterator[str]:
        """Yield what is wrong with the options, one sentence each."""
        if self.key_env and not _VARIABLE.fullmatch(self.key_env):
            # Without the text, which may be the key itself.
            yield (
                "key_env is no name of an environment variable; "
                "give the name of the one that holds the key"
            )
        yield from _faults_of_body(self.extra_body)


def _faults_of_body(extra: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the further fields of requests."""
    if own := sorted(_OURS & extra.keys()):
        yield f"extra_body has {own[0]!r}, which requests have from elsewhere; leave it out"
    try:
        text = json.dumps(extra)
        decode_json(text)
    except (RecursionError, TypeError, ValueError):
        yield "extra_body is no plain JSON, or too deep; write a small object"
        return
    if len(text) > _LONGEST_BODY:
        yield f"extra_body has {len(text)} characters; at most {_LONGEST_BODY} are sent"
    if _SECRET.search(text):
        yield "extra_body names a secret, which would be in the record; give it by key_env="
