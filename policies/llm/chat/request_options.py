"""The arguments of the policy `llm` that say how requests are sent, and which of them go together.

Options that an API refuses for every model are refused before anything is sent. Others are left to
the server; `wires.fault` has the advice for its refusals.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from desim.errors import UsageError, possible
from desim.schema.untrusted import decode_json
from desim.schema.validators import not_negative
from policies.llm.wires.budget import CallLimits
from policies.llm.wires.form import WireForm
from policies.llm.wires.forms.apis import APIS, CHAT, MESSAGES, form_of
from policies.llm.wires.forms.messages import VERSION

#: Degrees of reasoning, in rising order.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

#: The effort that Messages does not know.
_MINIMAL = "minimal"

_OPENAI_TIERS = ("auto", "default", "flex", "scale", "priority", "fast")
_ANTHROPIC_TIERS = ("auto", "standard_only")

#: The smallest budget of reasoning that Messages takes.
_LEAST_THINKING = 1_024

#: Characters of `extra_body`, as JSON.
_LONGEST_BODY = 16_384

#: Fields that desim writes, or that would make a response something else than one reply.
_OURS = frozenset(
    "model messages input instructions system tools stream n background previous_response_id".split()  # noqa: SIM905, E501 (shorter)
)

#: Parts of names under which secrets are sent.
_SECRET = re.compile(
    r"api_?key|authorization|password|secret|credential|bearer|x-api"
    r"|^token$|(?:access|auth|api|hf|session|refresh)_?token$",
    re.IGNORECASE,
)

#: The name of an environment variable; most keys have other characters.
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@frozen(kw_only=True)
class RequestOptions(CallLimits):
    """The options of requests.

    Attributes:
        model: The language model's name at the endpoint.
        base_url: The endpoint, `http://HOST:PORT/v1`; empty for `OPENAI_BASE_URL`, else OpenAI's;
            with api=messages for `ANTHROPIC_BASE_URL`, else Anthropic's.
        key_env: The environment variable that holds the key; empty for `OPENAI_API_KEY`, with
            api=messages for `ANTHROPIC_API_KEY`. A server without keys needs none.
        api: The API that the endpoint speaks: chat (OpenAI's chat completions), responses (OpenAI's
            Responses) or messages (Anthropic's Messages).
        api_version: The version of api=messages, a date; empty for 2026-10-21, from which on it
            takes neither temperature nor top_p.
        resends: How often a request without a reply is sent again (408, 409, 429, 5xx, a dropped
            connection), at least 0.
        timeout: Seconds for a whole call: all its requests, the waits between them, and reading
            the reply; above 0 and at most 86,400.
        temperature: Sent with every request; None for the server's default.
        top_p: Sent with every request where given: the share of the probability from which tokens
            are drawn, above 0 and at most 1.
        seed: Sent with every request where given.
        reply_tokens: Limit of tokens in one reply, reasoning included, sent with every request
            where given; with api=messages 16,000 where it is not.
        effort: How much the model reasons: none, minimal, low, medium, high, xhigh or max; not
            every model takes every one. Empty for the server's default.
        thinking_tokens: Budget of tokens of the reasoning in one reply, at least 1,024; with
            api=messages alone, for models that have one.
        cache: Whether the server is to keep in its cache what requests begin with: marks in
            api=messages, else a key by which the server finds requests that begin alike.
        service_tier: The tier of the service: auto, default, flex, scale, priority or fast; with
            api=messages auto or standard_only. Empty for the server's default.
        extra_body: Further fields of every request, a JSON object, for what one server alone takes.
    """

    model: str
    base_url: str = ""
    key_env: str = ""
    api: str = CHAT
    api_version: str = ""
    resends: int = field(default=3, validator=not_negative)
    timeout: float = 300.0
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reply_tokens: int | None = None
    effort: str = ""
    thinking_tokens: int | None = None
    cache: bool = False
    service_tier: str = ""
    extra_body: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for fault in self._faults():
            raise UsageError(fault)

    @property
    def form(self) -> WireForm:
        """The form of requests and replies."""
        return form_of(self.api, self.api_version)

    @property
    def request_fields(self) -> dict[str, Any]:
        """The fields of every request that the user gives, as chat completions name them."""
        given = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_completion_tokens": self.reply_tokens,
            "reasoning_effort": self.effort or None,
            "thinking_tokens": self.thinking_tokens,
            "service_tier": self.service_tier or None,
            "extra_body": self.extra_body or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _faults(self) -> Iterator[str]:
        """Yield what is wrong with the options, one sentence each."""
        if self.top_p is not None and not 0 < self.top_p <= 1:
            yield f"top_p={self.top_p:g} was given; it is above 0 and at most 1"
        with_messages = self.api == MESSAGES
        for name, known in (
            ("api", APIS),
            ("effort", tuple(e for e in EFFORTS if not (with_messages and e == _MINIMAL))),
            ("service_tier", _ANTHROPIC_TIERS if with_messages else _OPENAI_TIERS),
        ):
            if (value := getattr(self, name)) and value not in known:
                yield f"{name}={value} was given; {possible(value, known)} (api={self.api})"
        if self.key_env and not _VARIABLE.fullmatch(self.key_env):
            # Without the text, which may be the key itself.
            yield (
                "key_env is no name of an environment variable; "
                "give the name of the one that holds the key"
            )
        yield from self._faults_of_api()
        yield from self._faults_of_thinking()
        yield from _faults_of_body(self.extra_body)

    def _faults_of_api(self) -> Iterator[str]:
        if self.api_version and self.api != MESSAGES:
            yield f"api_version={self.api_version} was given; only api=messages has versions"
        if self.api_version and not _DATE.fullmatch(self.api_version):
            yield f"api_version={self.api_version} was given; it is a date such as {VERSION}"
        if self.seed is not None and self.api != CHAT:
            yield f"seed={self.seed} was given; api={self.api} takes none"
        if self.api != MESSAGES:
            return
        for name in ("temperature", "top_p"):
            if getattr(self, name) is None:
                continue
            start = f"{name}={getattr(self, name):g} was given; api=messages takes none"
            if (self.api_version or VERSION) >= VERSION:
                older = "leave it out, or give api_version=2023-06-01"
                yield f"{start} from version {VERSION} on; {older}"
            elif self.thinking_tokens is not None or self.effort not in ("", "none"):
                yield f"{start} with reasoning; leave out one of them"

    def _faults_of_thinking(self) -> Iterator[str]:
        if (budget := self.thinking_tokens) is None:
            return
        start = f"thinking_tokens={budget} was given;"
        if self.api != MESSAGES:
            yield (
                f"{start} only api=messages takes it; give effort=, or the server's own field in "
                'extra_body, such as {"thinking_token_budget":2000}'
            )
        if budget < _LEAST_THINKING:
            yield f"{start} it is at least {_LEAST_THINKING}"
        if self.reply_tokens is not None and budget >= self.reply_tokens:
            yield f"{start} it is below reply_tokens={self.reply_tokens}, of which it is a part"
        if self.effort == "none":
            yield f"{start} effort=none leaves nothing to it; leave out one of them"


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
    if any(_SECRET.search(name) for name in _names(extra)):
        yield "extra_body names a secret, which would be in the record; give it by key_env="


def _names(value: Any) -> Iterator[str]:
    """Yield the names of all objects within a plain value."""
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping):
        yield from value
    if isinstance(value, Mapping | list):
        for each in inner:
            yield from _names(each)
