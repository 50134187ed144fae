"""Self-refine: answer, have the answer audited, rewrite it.

Source: reference SPEC of FirmBench, section 5, and its vectors. As published, the rewriting call of
a question lacks the context of the question, and the reviewer of a plan sees the decision alone.
"""

from typing import ClassVar

from attrs import define

from policies.llm.method_parts.items import Item, decision_text, reply_text
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.setting import per_task
from policies.llm.method_parts.verdict import VERDICT, approves, feedback_of
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply

#: Temperatures of audits, and of rewritten answers: a plan is decided as at first once more.
_AUDITS = 0.2
_REWRITES = per_task(0.2, plan=0.0)

_AUDIT = (
    "You audit somebody's answer to the task below. Work the task out for yourself, compare your "
    "result with theirs, and judge only what matters. Reply with one JSON object: "
    '{"is_correct": true or false, "feedback": "what is wrong and how to mend it"}.'
)

_REVIEW = (
    "You check somebody's decision for fields that are missing, out of range or at odds with each "
    'other. Reply with one JSON object: {"is_valid": true or false, "feedback": "what to change"}.'
)

_REWRITE = (
    "An auditor has looked at your answer. Mend what is truly wrong, leave the rest as it is, pay "
    "no heed to trifles, and give the whole answer once more in the form the task asks for."
)


@define(eq=False, kw_only=True)
class SelfRefine(Method):
    """Audits and rewrites its own answers, at most `rounds` times; no memory."""

    ROUNDS: ClassVar[int] = 2
    TEMPERATURES = per_task(0.0)

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return an answer, rewritten until an audit approves it or the rounds are used up."""
        answer = self.act(item, temperature)
        try:
            for _ in range(self.times):
                audit = self._audit(item, answer)
                if approves(audit, as_published=self.as_published):
                    break
                answer = self._rewritten(item, answer, audit)
        except Spent:
            return answer
        return answer

    @property
    def _sees_decision_alone(self) -> bool:
        """Whether reviewer and rewriter of a plan get no situation, as published."""
        return self.task == "plan" and self.as_published and not self.repeat_context

    def _audit(self, item: Item, answer: ModelReply) -> str:
        if self._sees_decision_alone:
            decision = decision_text(answer, self.setting.keys)
            return self.consult(_REVIEW, f"# The decision\n{decision}", _AUDITS)
        text = f"{item.whole}\n\n# The answer\n{reply_text(answer) or '(nothing)'}"
        # Other servers than those that are asked for schemas may not know them.
        verdict = VERDICT if item.schema is not None else None
        return self.consult(_AUDIT, text, _AUDITS, verdict)

    def _rewritten(self, item: Item, answer: ModelReply, audit: str) -> ModelReply:
        plan = self._sees_decision_alone
        given = decision_text(answer, self.setting.keys) if plan else reply_text(answer)
        parts = [
            *([] if plan else [self._situation(item)]),
            f"# Your answer\n{given or '(nothing)'}",
            f"# The audit\n{feedback_of(audit) if plan else audit}",
            _REWRITE,
        ]
        return self.rewrite(item, "\n\n".join(parts), _REWRITES[self.task])

    def _situation(self, item: Item) -> str:
        """Return what the rewriting call contains of the situation."""
        without_context = self.task == "questions" and not self.repeat_context
        return f"# The situation\n{item.question if without_context else item.situation}"
