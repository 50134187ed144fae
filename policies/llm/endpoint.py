"""Who answers the narrow call: an OpenAI-compatible server.

Timeouts, 429, 5xx and dropped connections are tried again by the `openai` package, with jitter and
as long as a server asks for (`Retry-After`); a body that is no completion is tried again here. The
key comes from the environment, stays in this object and is cut out of whatever a server sends back.
"""

import importlib.util
import os
import random
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from attrs import field, frozen

from desim.errors import PolicyFailed, UsageError
from policies.llm.wire import Call, Message, Reply

__all__ = ["Endpoint"]

#: What a server without keys is sent, because the client insists on one.
_NO_KEY = "none"

#: Characters a token, for replies that do not tell their usage; English text has about four.
_LETTERS = 4

#: Seconds before a broken body is asked for again, times the number of tries.
_PAUSE = 0.25

#: Characters of a server's complaint that are repeated.
_WIDTH = 300


@frozen(kw_only=True)
class Endpoint:
    """An OpenAI-compatible server.

    Attributes:
        model: The model's name there.
        base_url: Where it is; empty for the package's default.
        key: Sent as the bearer token; never shown.
        timeout: Seconds to wait for a reply.
        resends: Requests beyond the first, at most.
        options: Further fields of every request: temperature, seed, ...
    """

    model: str
    base_url: str = ""
    key: str = field(default=_NO_KEY, repr=False)
    timeout: float = 300.0
    resends: int = 3
    options: Mapping[str, Any] = field(factory=dict)
    _clients: list[Any] = field(factory=list, init=False, repr=False, eq=False)

    @classmethod
    def of(cls, model: str, base_url: str, key_env: str, **rest: Any) -> "Endpoint":
        """Set up an endpoint with the key from an environment variable.

        Raises:
            UsageError: `openai` is not installed, the address is none or holds a secret, or
                a key is needed and not there.
        """
        if importlib.util.find_spec("openai") is None:
            raise UsageError("policy llm needs the package openai; pip install 'desim[llm]'")
        _check_address(base_url)
        key = os.environ.get(key_env, "")
        if not key and not (base_url or os.environ.get("OPENAI_BASE_URL")):
            raise UsageError(
                f"{key_env} is not set and no base_url was given; "
                "set the variable to a key, or name a server that needs none"
            )
        return cls(model=model, base_url=base_url, key=key or _NO_KEY, **rest)

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        *,
        temperature: float | None = None,
    ) -> Reply:
        """Ask the model once.

        Raises:
            PolicyFailed: No completion came, however often it was asked for.
        """
        request = _request(self.model, messages, tools, schema)
        if temperature is not None:
            request["temperature"] = temperature
        request |= self.options
        started, retries = time.monotonic(), 0
        for again in range(self.resends + 1):
            raw = self._send(request)
            retries += raw.retries_taken
            body = _decoded(raw.content)
            if (message := _message(body)) is not None:
                seconds = round(time.monotonic() - started, 6)
                return self._reply(body, message, request, seconds, retries)
            if again < self.resends:
                retries += 1
                time.sleep(_PAUSE * (again + 1) * (1 - random.random() / 4))  # noqa: S311 (jitter)
        raise PolicyFailed(
            f"{self._name()} sent no chat completion, {self.resends + 1} times: "
            f"{self._clean(raw.content.decode('utf-8', 'replace'))[:_WIDTH]!r}"
        )

    def _send(self, request: dict[str, Any]) -> Any:
        import openai

        try:
            return self._client().chat.completions.with_raw_response.create(**request)
        except openai.APIStatusError as fault:
            why = f"answered {fault.status_code}: {fault.message}"
        except openai.APITimeoutError:
            why = f"did not answer within {self.timeout:g} s"
        except openai.OpenAIError as fault:
            why = f"cannot be asked: {fault} {fault.__cause__ or ''}"
        raise PolicyFailed(f"{self._name()} {self._clean(why)[:_WIDTH].rstrip()}")

    def _client(self) -> Any:
        """Make the client at the first call: importing it takes a second."""
        if not self._clients:
            import openai

            client = openai.OpenAI(
                api_key=self.key,
                base_url=self.base_url or None,
                timeout=self.timeout,
                max_retries=self.resends,
            )
            self._clients.append(client)
            # Policies are not told when they are no longer needed.
            weakref.finalize(self, client.close)
        return self._clients[0]

    def _name(self) -> str:
        return f"model {self.model!r}" + (f" at {self.base_url}" if self.base_url else "")

    def _reply(
        self,
        body: Mapping[str, Any],
        message: Mapping[str, Any],
        request: Mapping[str, Any],
        seconds: float,
        retries: int,
    ) -> Reply:
        text, refusal = self._clean(message.get("content")), self._clean(message.get("refusal"))
        calls = tuple(self._calls(message.get("tool_calls")))
        read, wrote = _usage(body)
        told = read is not None and wrote is not None
        if read is None:
            read = -(-len(msgspec.json.encode([request["messages"]])) // _LETTERS)
        if wrote is None:
            said = len(text) + sum(len(call.name + call.arguments) for call in calls)
            wrote = -(-said // _LETTERS)
        finish = self._clean(body["choices"][0].get("finish_reason"))
        return Reply(text, calls, refusal, finish, read, wrote, not told, seconds, retries)

    def _calls(self, given: Any) -> list[Call]:
        found: list[Call] = []
        for each in given if isinstance(given, list) else ():
            function = each.get("function") if isinstance(each, Mapping) else None
            if not isinstance(function, Mapping):
                continue
            arguments = function.get("arguments")
            if isinstance(arguments, Mapping):
                # Some servers send the object instead of its text.
                arguments = msgspec.json.encode(arguments).decode()
            name = self._clean(each.get("id"))
            if not name or any(call.id == name for call in found):
                name = f"call_{len(found) + 1}"
            found.append(Call(name, self._clean(function.get("name")), self._clean(arguments)))
        return found

    def _clean(self, text: Any) -> str:
        """Return a text without the key; of a list of parts the texts, of anything else nothing."""
        if isinstance(text, list):
            parts = [part.get("text", "") for part in text if isinstance(part, Mapping)]
            text = "".join(part for part in parts if isinstance(part, str))
        if not isinstance(text, str):
            return ""
        return text if self.key == _NO_KEY else text.replace(self.key, "[key]")


def _request(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any] | None,
) -> dict[str, Any]:
    request: dict[str, Any] = {"model": model, "messages": list(messages)}
    if tools:
        request |= {"tools": list(tools), "tool_choice": "auto"}
    if schema is not None:
        named = {"name": "answer", "strict": True, "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": named}
    return request


def _decoded(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return None


def _message(body: Any) -> Mapping[str, Any] | None:
    """Return the message of a completion; none where the body is no completion."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    return message if isinstance(message, Mapping) else None


def _usage(body: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = body.get("usage")
    told = usage if isinstance(usage, Mapping) else {}
    read, wrote = (_count(told.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
    return read, wrote


def _count(given: Any) -> int | None:
    return given if type(given) is int and given >= 0 else None


def _check_address(base_url: str) -> None:
    """Refuse an address that is none or holds what should not be on record; it is not repeated."""
    if not base_url:
        return
    try:
        parts = urlsplit(base_url)
    except ValueError:
        raise UsageError("base_url is no address; write http://HOST:PORT/v1") from None
    if "@" in base_url or parts.query or parts.fragment:
        raise UsageError(
            "base_url holds a user, a password or a query, which would be on record; "
            "give scheme, host, port and path, and the key in the environment (key_env)"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"base_url={base_url} was given; write http://HOST:PORT/v1")
