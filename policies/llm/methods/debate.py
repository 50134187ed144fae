"""Debate: a proponent answers, an opponent attacks the answer, a judge decides.

Source: reference SPEC of FirmBench, section 5. In further rounds the proponent answers afresh and
does not see the opponent; the judge sees all rounds.
"""

from attrs import define

from policies.llm.method_parts.items import Item, reply_text
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.setting import per_task
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply

#: Temperatures of the opponent and the judge.
_CON, _JUDGE = 0.2, 0.0

_OPPONENT = (
    "Somebody has answered the task below. Try to prove them wrong: test every figure, assumption "
    "and step, name the weakest points, and then say what your own answer would be, in the form "
    "the task asks for."
)

_JUDGING = (
    "Two sides have argued over the task above. Weigh what they say against the facts, not against "
    "how sure they sound, and give the final answer yourself, in the form the task asks for."
)


@define(eq=False, kw_only=True)
class Debate(Method):
    """Proponent and opponent for some rounds, then a judge; no memory."""

    TEMPERATURES = per_task(0.0)

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the judge's answer; after a limit, the proponent's last one."""
        sides: list[str] = []
        answer = self.act(item, temperature)
        try:
            for number in range(1, self.times + 1):
                if number > 1:
                    answer = self.act(item, temperature)
                pro = f"# Round {number}, proponent\n{reply_text(answer)}"
                con = self.consult(_OPPONENT, f"{item.whole}\n\n{pro}", _CON)
                sides += [pro, f"# Round {number}, opponent\n{con}"]
            parts = [item.situation, *sides, _JUDGING]
            return self.rewrite(item, "\n\n".join(parts), _JUDGE)
        except Spent:
            return answer
