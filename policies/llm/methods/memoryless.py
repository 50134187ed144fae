"""Methods without a memory: chain of thought, self-refine, debate, discussion.

Source: reference SPEC of FirmBench, section 5, and its vectors.
"""

from attrs import define, field
from attrs.validators import ge

from policies.llm.method_parts.items import Item, decision_text, paragraphs, reply_text
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.review import VERDICT, Reviewed, feedback_of
from policies.llm.method_parts.setting import per_task
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply

# -- chain of thought ------------------------------------------------------------------------------

_ALOUD = (
    "Work in small steps: write down what is given, what is wanted and each step between them, "
    "before you commit yourself to an answer."
)

_SILENT = (
    "Think it through in small steps before you answer, and keep these steps to yourself; write "
    "only the answer, in the form asked for."
)

_STEPS = per_task(_SILENT, questions=_ALOUD)


@define(eq=False, kw_only=True)
class ChainOfThought(Method):
    """One call with a request to reason in steps; no memory."""

    TEMPERATURES = per_task(0.7, questions=0.0)

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer."""
        return self.act(item, temperature, _STEPS[self.task])


# -- self-refine -----------------------------------------------------------------------------------

#: Temperatures of audits, and of rewritten answers: a plan is decided as at first once more.
_AUDITS = 0.2
_REWRITES = per_task(0.2, plan=0.0)

#: As published: whether reviewer and rewriter see the decision alone, and whether the rewriter gets
#: the question without its context.
_DECISION_ALONE = per_task(default=False, plan=True)
_QUESTION_ALONE = per_task(default=False, questions=True)

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
class SelfRefine(Reviewed):
    """Audits and rewrites its own answers, at most `rounds` times; no memory.

    As published, the rewriting call of a question lacks the context of the question, and the
    reviewer of a plan sees the decision alone.
    """

    def review(self, item: Item, answer: ModelReply) -> str:
        """Return the audit of an answer."""
        if self._sees_decision_alone:
            decision = decision_text(answer, self.setting.keys)
            return self.consult(_REVIEW, f"# The decision\n{decision}", _AUDITS)
        text = f"{item.whole}\n\n# The answer\n{reply_text(answer) or '(nothing)'}"
        # Other servers than those that are asked for schemas may not know them.
        verdict = VERDICT if item.schema is not None else None
        return self.consult(_AUDIT, text, _AUDITS, verdict)

    def rewritten(self, item: Item, answer: ModelReply, reviews: list[str]) -> ModelReply:
        """Return the answer without the faults that the audit names."""
        alone = self._sees_decision_alone
        given = decision_text(answer, self.setting.keys) if alone else reply_text(answer)
        without_context = _QUESTION_ALONE[self.task] and not self.repeat_context
        situation = item.question if without_context else item.situation
        text = paragraphs(
            "" if alone else f"# The situation\n{situation}",
            f"# Your answer\n{given or '(nothing)'}",
            f"# The audit\n{feedback_of(reviews[-1]) if alone else reviews[-1]}",
            _REWRITE,
        )
        return self.rewrite(item, text, _REWRITES[self.task])

    @property
    def _sees_decision_alone(self) -> bool:
        return _DECISION_ALONE[self.task] and self.as_published and not self.repeat_context


# -- debate ----------------------------------------------------------------------------------------

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
    """Proponent and opponent for some rounds, then a judge; no memory.

    In further rounds the proponent answers afresh and does not see the opponent; the judge sees all
    rounds.
    """

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
            text = "\n\n".join([item.situation, *sides, _JUDGING])
            return self.rewrite(item, text, _JUDGE, "judge")
        except Spent:
            return answer


# -- discussion ------------------------------------------------------------------------------------

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

    In further rounds each expert sees the answers of the round before; the moderator sees those of
    the last round.

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
                    answer = self.act(item, temperature, self._advice(number, told))
                    said.append(f"# Expert {number}\n{reply_text(answer)}")
                told = said
            text = "\n\n".join([item.situation, *told, _MODERATING])
            return self.rewrite(item, text, _MODERATOR, "judge")
        except Spent:
            if answer is None:
                raise
            return answer

    def _advice(self, number: int, told: list[str]) -> str:
        """Return the advice for an expert: their number, and what was said in the round before."""
        others = ["In the round before, the experts said:", *told] if told else []
        own = f"You are expert {number} of {self.experts}; form your own view."
        return "\n\n".join([own, *others])
