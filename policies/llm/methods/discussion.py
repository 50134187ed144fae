"""Discussion: experts answer independently, a moderator reconciles them.

Source: reference SPEC of FirmBench, section 5. In further rounds each expert sees the answers of
the round before; the moderator sees those of the last round.
"""

from attrs import define, field
from attrs.validators import ge

from policies.llm.method_parts.items import Item, reply_text
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.setting import per_task
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply

#: Temperature of the moderator.
_MODERATOR = 0.0

_MODERATING = (
    "The experts above have worked on this independently. Where they agree, check that they are "
    "right; where they differ, find out who is. Then give one final answer, in the form the task "
    "asks for."
)


@define(eq=False, kw_only=True)
class Discussion(Method):
    """Some experts for some rounds, then a moderator; no memory.

    Attributes:
        experts: Number of experts, at least 1.
    """

    TEMPERATURES = per_task(0.2)

    experts: int = field(default=3, validator=ge(1))

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the moderator's answer; after a limit, the last expert's."""
        answer: ModelReply | None = None
        told: list[str] = []
        try:
            for _ in range(max(1, self.times)):
                said: list[str] = []
                for number in range(1, self.experts + 1):
                    answer = self._expert(item, number, told, temperature)
                    said.append(f"# Expert {number}\n{reply_text(answer)}")
                told = said
            parts = [item.situation, *told, _MODERATING]
            return self.rewrite(item, "\n\n".join(parts), _MODERATOR)
        except Spent:
            if answer is None:
                raise
            return answer

    def _expert(
        self, item: Item, number: int, told: list[str], temperature: float | None
    ) -> ModelReply:
        others = ["In the round before, the experts said:", *told] if told else []
        advice = [f"You are expert {number} of {self.experts}; form your own view.", *others]
        return self.act(item, temperature, "\n\n".join(advice))
