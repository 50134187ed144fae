"""OpenAI's chat completions."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from policies.llm.wires.completion import Redact, completion_in, decoded
from policies.llm.wires.fault import check_error
from policies.llm.wires.form import NOT_SENT, OPENAI, DefaultServer, with_extra
from policies.llm.wires.forms.native import native_parts, native_text, without_native
from policies.llm.wires.wire import Message, ModelReply

#: The field in which OpenRouter sends reasoning, some of it signed, and takes it back.
_DETAILS = "reasoning_details"


@frozen
class ChatCompletions:
    """OpenAI's chat completions, which most servers speak."""

    name: str = "chat"
    path: str = "chat/completions"
    reply_name: str = "chat completion"
    default: DefaultServer = OPENAI

    def headers(self, key: str) -> dict[str, str]:
        """Return the bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields as they are."""
        return dict(given)

    def body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields, and those that the user adds."""
        body = {name: value for name, value in fields.items() if name not in NOT_SENT}
        body["messages"] = _messages(fields["messages"])
        return with_extra(body, fields)

    def reply(
        self, content: bytes, fields: Mapping[str, Any], seconds: float, redact: Redact
    ) -> ModelReply | None:
        """Return the reply of the first choice; None if the body is something else."""
        body = decoded(content)
        completion = completion_in(body)
        check_error(completion.choice if completion else body.value, redact)
        if completion is None:
            return None
        details = completion.message.get(_DETAILS)
        native = native_text(self.name, details, redact) if isinstance(details, list) else ""
        return evolve(completion.reply(fields["messages"], seconds, redact), native=native)


def _messages(messages: Sequence[Message]) -> list[Message]:
    """Return the messages; calls since the last message of the user have their reasoning."""
    users = [number for number, each in enumerate(messages) if each["role"] == "user"]
    return [
        without_native(each) | (_details(each) if number > max(users, default=0) else {})
        for number, each in enumerate(messages)
    ]


def _details(message: Message) -> dict[str, Any]:
    parts = native_parts("chat", message) if message.get("tool_calls") else []
    return {_DETAILS: parts} if parts else {}
