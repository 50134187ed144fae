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

#: Degrees of reasoning, in rising order.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_TIERS = ("auto", "default", "flex", "scale", "priority", "fast")

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


@frozen(kw_only=True)
class RequestOptions(CallLimits):
    """The options of requests.

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
        top_p: Sent with every request where given: the share of the probability from which tokens
            are drawn, above 0 and at most 1.
        seed: Sent with every request where given.
        reply_tokens: Limit of tokens in one reply, reasoning included, sent with every request
            where given.
        effort: How much the model reasons: none, minimal, low, medium, high, xhigh or max; not
            every model takes every one. Empty for the server's default.
        cache: Whether requests have a key by which the server finds those that begin alike.
        service_tier: The tier of the service: auto, default, flex, scale, priority or fast. Empty
            for the server's default.
        extra_body: Further fields of every request, a JSON object, for what one server alone takes.
    """

    model: str
    base_url: str = ""
    key_env: str = ""
    resends: int = field(default=3, validator=not_negative)
    timeout: float = 300.0
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reply_tokens: int | None = None
    effort: str = ""
    cache: bool = False
    service_tier: str = ""
    extra_body: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for fault in self._faults():
            raise UsageError(fault)

    @property
    def request_fields(self) -> dict[str, Any]:
        """The fields of every request that the user gives, as chat completions name them."""
        given = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_completion_tokens": self.reply_tokens,
            "reasoning_effort": self.effort or None,
            "service_tier": self.service_tier or None,
            "extra_body": self.extra_body or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _faults(self) -> Iterator[str]:
        """Yield what is wrong with the options, one sentence each."""
        if self.top_p is not None and not 0 < self.top_p <= 1:
            yield f"top_p={self.top_p:g} was given; it is above 0 and at most 1"
        for name, known in (("effort", EFFORTS), ("service_tier", _TIERS)):
            if (value := getattr(self, name)) and value not in known:
                yield f"{name}={value} was given; {possible(value, known)}"
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
