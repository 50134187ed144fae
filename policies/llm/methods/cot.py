"""Chain of thought: one call that asks to think step by step.

Source: reference SPEC of FirmBench, section 5; temperatures by its vectors.
"""

from attrs import define

from policies.llm.method_parts.items import Item
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.setting import per_task
from policies.llm.wires.wire import ModelReply

_ALOUD = (
    "Work in small steps: write down what is given, what is wanted and each step between them, "
    "before you commit yourself to an answer."
)

_SILENT = (
    "Think it through in small steps before you answer, and keep these steps to yourself; write "
    "only the answer, in the form asked for."
)


_ADVICE = per_task(_SILENT, questions=_ALOUD)


@define(eq=False, kw_only=True)
class ChainOfThought(Method):
    """One call with a request to reason in steps; no memory."""

    TEMPERATURES = per_task(0.7, questions=0.0)

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer."""
        return self.act(item, temperature, _ADVICE[self.task])
