"""Self-refine: answer, audit the answer, rewrite it; usable in every world.

Source: reference SPEC of FirmBench, section 5. As published, the rewriting call contains the task,
the answer and the audit, and the situation only with `repeat_context`; an audit without a flag
counts as approval if it contains the word "correct".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from policies.llm.budget import Spent
from policies.llm.messages import as_json, system, user
from policies.llm.parse import objects
from policies.llm.wire import Complete, Message, ModelReply

__all__ = ["SelfRefine"]

#: Temperatures of the first answer, and of audits and rewritten answers.
_SOLVE, _REVISE = 0.0, 0.2

#: Keys of the verdict, the first one present counts.
_FLAGS = ("is_correct", "is_valid")

_APPROVING = re.compile(r"\b(correct|no issues|looks good)\b", re.IGNORECASE)

_AUDIT = (
    "You audit somebody's answer to the task below. Work the task out for yourself, compare your "
    "result with theirs, and judge only what matters. Reply with one JSON object: "
    '{"is_correct": true or false, "feedback": "what is wrong and how to mend it"}.'
)

_REWRITE = (
    "An auditor has looked at your answer. Mend what is truly wrong, leave the rest as it is, pay "
    "no heed to trifles, and give the whole answer once more in the form the task asks for."
)

_VERDICT = {
    "type": "object",
    "properties": {"is_correct": {"type": "boolean"}, "feedback": {"type": "string"}},
    "required": ["is_correct", "feedback"],
    "additionalProperties": False,
}


@frozen
class SelfRefine:
    """A `complete` that audits and rewrites its own replies.

    Attributes:
        complete: The call beneath.
        rounds: The largest number of audits; 2 as published.
        repeat_context: Whether the rewriting call contains the situation.
    """

    complete: Complete
    rounds: int = 2
    repeat_context: bool = False

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        *,
        temperature: float | None = None,
    ) -> ModelReply:
        """Return an answer, rewritten until an audit approves it or the rounds are used up.

        If a limit is reached on the way, the answer that was paid for last is returned.
        """
        solve = _SOLVE if temperature is None else temperature
        answer = self.complete(messages, tools, schema, temperature=solve)
        try:
            for _ in range(self.rounds):
                audit = self._audit(messages, answer, wants_json=schema is not None)
                if approved(audit.text):
                    break
                rewrite = self._rewriting(messages, answer, audit)
                answer = self.complete(rewrite, tools, schema, temperature=_REVISE)
        except Spent:
            return answer
        return answer

    def _audit(
        self, messages: Sequence[Message], answer: ModelReply, *, wants_json: bool
    ) -> ModelReply:
        task = f"{_as_text(messages)}\n\n# The answer\n{_answer_text(answer)}"
        verdict = _VERDICT if wants_json else None
        return self.complete([system(_AUDIT), user(task)], (), verdict, temperature=_REVISE)

    def _rewriting(
        self, messages: Sequence[Message], answer: ModelReply, audit: ModelReply
    ) -> list[Message]:
        task = [m for m in messages if m["role"] == "system"]
        situation = _as_text([m for m in messages if m["role"] != "system"])
        situation_again = f"# The situation\n{situation}\n\n" if self.repeat_context else ""
        parts = f"# Your answer\n{_answer_text(answer)}\n\n# The audit\n{audit.text}\n\n{_REWRITE}"
        return [*task, user(situation_again + parts)]


def approved(text: str) -> bool:
    """Return whether an audit approves: its flag, or a keyword where it has none."""
    for verdict in objects(text):
        for name in _FLAGS:
            if isinstance(flag := verdict.get(name), bool):
                return flag
    return bool(_APPROVING.search(text))


def _answer_text(reply: ModelReply) -> str:
    """Return an answer as text, tool calls included."""
    calls = [as_json({"name": c.name, "arguments": c.arguments}) for c in reply.calls]
    return "\n".join([*([reply.text] if reply.text else []), *calls]) or "(nothing)"


def _as_text(messages: Sequence[Message]) -> str:
    """Return a conversation as one text.

    As messages it would lead the auditing model to play on instead of judging.
    """
    parts = []
    for message in messages:
        calls = [as_json(c["function"]) for c in message.get("tool_calls", ())]
        parts.append(f"# {message['role']}\n" + "\n".join([message.get("content") or "", *calls]))
    return "\n\n".join(parts)
