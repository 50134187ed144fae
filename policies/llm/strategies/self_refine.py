"""Self-refine: answer, let an auditor look, rewrite; usable in every world.

Source: reference SPEC of FirmBench, section 5. As published, whoever rewrites sees the task, the
answer and the audit, not the situation again (`repeat_context`), and an audit without a flag counts
as approval where the word "correct" stands in it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from policies.llm.budget import Spent
from policies.llm.parse import objects
from policies.llm.talk import shown, system, user
from policies.llm.wire import Complete, Message, Reply

__all__ = ["SelfRefine"]

_SOLVE, _REVISE = 0.0, 0.2

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
        rounds: Audits at most; the published number is 2.
        repeat_context: Whether the situation is shown again when an answer is rewritten.
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
    ) -> Reply:
        """Answer, and refine the answer until the auditor has nothing to say.

        A limit that is reached on the way ends the refining, not the answer.
        """
        solve = _SOLVE if temperature is None else temperature
        answer = self.complete(messages, tools, schema, temperature=solve)
        try:
            for _ in range(self.rounds):
                audit = self._audit(messages, answer, wants_json=schema is not None)
                if approved(audit.text):
                    break
                asked = self._rewriting(messages, answer, audit)
                answer = self.complete(asked, tools, schema, temperature=_REVISE)
        except Spent:
            return answer
        return answer

    def _audit(self, messages: Sequence[Message], answer: Reply, *, wants_json: bool) -> Reply:
        task = f"{_script(messages)}\n\n# The answer\n{_written(answer)}"
        asked = [system(_AUDIT), user(task)]
        verdict = _VERDICT if wants_json else None
        return self.complete(asked, (), verdict, temperature=_REVISE)

    def _rewriting(self, messages: Sequence[Message], answer: Reply, audit: Reply) -> list[Message]:
        task = [m for m in messages if m["role"] == "system"]
        situation = _script([m for m in messages if m["role"] != "system"])
        shown_again = f"# The situation\n{situation}\n\n" if self.repeat_context else ""
        parts = f"# Your answer\n{_written(answer)}\n\n# The audit\n{audit.text}\n\n{_REWRITE}"
        return [*task, user(shown_again + parts)]


def approved(text: str) -> bool:
    """Tell whether an audit approves: its flag, or a keyword where it has none."""
    for found in objects(text):
        for name in _FLAGS:
            if isinstance(flag := found.get(name), bool):
                return flag
    return bool(_APPROVING.search(text))


def _written(reply: Reply) -> str:
    """Write an answer as text, tool calls included."""
    calls = [shown({"name": c.name, "arguments": c.arguments}) for c in reply.calls]
    return "\n".join([*([reply.text] if reply.text else []), *calls]) or "(nothing)"


def _script(messages: Sequence[Message]) -> str:
    """Write a conversation as one text, so that an auditor does not take itself for a player."""
    parts = []
    for message in messages:
        calls = [shown(c["function"]) for c in message.get("tool_calls", ())]
        parts.append(f"# {message['role']}\n" + "\n".join([message.get("content") or "", *calls]))
    return "\n\n".join(parts)
