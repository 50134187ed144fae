"""Chain of thought: one call that asks to think step by step.

Source: reference SPEC of FirmBench, section 5; temperatures by its vectors.
"""

from attrs import define

from policies.llm.method_parts.items import Item
from policies.llm.method_parts.method import Method
from policies.llm.wires.wire import ModelReply

__all__ = ["ChainOfThought"]

#: Temperatures of questions, and of everything else.
_QUESTIONS, _OTHERS = 0.0, 0.7

_ALOUD = (
    "Work in small steps: write down what is given, what is wanted and each step between them, "
    "before you commit yourself to an answer."
)

_SILENT = (
    "Think it through in small steps before you answer, and keep these steps to yourself; write "
    "only the answer, in the form asked for."
)


@define(eq=False, kw_only=True)
class ChainOfThought(Method):
    """One call with a request to reason in steps; no memory."""

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer."""
        own = _QUESTIONS if self.is_questions else _OTHERS
        advice = _ALOUD if self.is_questions else _SILENT
        return self.act(item, own if temperature is None else temperature, advice)
