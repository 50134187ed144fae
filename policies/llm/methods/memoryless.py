"""Methods without a memory: chain of thought, self-refine, debate, discussion.

Source: reference SPEC of FirmBench, section 5, and its vectors.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, field
from attrs.validators import ge

from policies.llm.methods.items import Item, Task, decision_text, paragraphs, reply_text
from policies.llm.methods.method import Method
from policies.llm.replies import objects
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


@define(eq=False, kw_only=True)
class ChainOfThought(Method):
    """One call with a request to reason in steps; no memory."""

    TEMPERATURE = 0.7
    TEMPERATURES: ClassVar[Mapping[Task, float]] = {"questions": 0.0}

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        return self.act(item, temperature, _ALOUD if self.task == "questions" else _SILENT)


# -- answers that are reviewed ---------------------------------------------------------------------

#: Keys of the verdict, the first one present counts, and a verdict written as text.
_FLAGS = ("is_correct", "is_valid")
_AS_TEXT = {"true": True, "yes": True, "false": False, "no": False}

_APPROVING = re.compile(r"\b(correct|no issues|looks good)\b", re.IGNORECASE)

#: Words of a complaint. The published test does not look for them, so that "not correct" and "the
#: correct order is 5" approve there.
_COMPLAINING = re.compile(
    r"\b(incorrect|wrong|not|isn't|but|however|should|instead|error|mistake|correct (\w+ )?is)\b",
    re.IGNORECASE,
)


@define(eq=False, kw_only=True)
class Reviewed(Method):
    """The base of methods that rewrite an answer until a review approves it."""

    ROUNDS = 2
    TEMPERATURE = 0.0

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return an answer, rewritten until a review approves it or the rounds are used up."""
        answer = self.act(item, temperature, self.advice())
        reviews: list[str] = []
        for _ in range(self.times):
            reviews.append(self.review(item, answer))
            if self.approved(reviews[-1]):
                break
            answer = self.rewritten(item, answer, reviews)
        return answer

    def advice(self) -> str:
        """Return the advice for the first answer."""
        return ""

    def review(self, item: Item, answer: ModelReply) -> str:
        """Return a review of an answer, by a call of the model."""
        raise NotImplementedError

    def approved(self, review: str) -> bool:
        """Return whether a review approves of the answer."""
        return approves(review, as_published=self.as_published)

    def rewritten(self, item: Item, answer: ModelReply, reviews: list[str]) -> ModelReply:
        """Return an answer rewritten after the last of some reviews."""
        raise NotImplementedError


def approves(review: str, *, as_published: bool = False) -> bool:
    """Return whether a review approves of the answer, by its flag or by a word.

    Args:
        review: The review, with or without a JSON verdict.
        as_published: Whether an approving word counts wherever it stands, as in the published
            code; otherwise it does not beside a complaint.
    """
    for verdict in objects(review):
        for name in _FLAGS:
            flag = verdict.get(name)
            if isinstance(flag, str):
                flag = _AS_TEXT.get(flag.strip().lower())
            if isinstance(flag, bool):
                return flag
    return praises(review, as_published=as_published)


def praises(review: str, *, as_published: bool = False) -> bool:
    """Return whether a review in free text finds no fault; for `as_published` see `approves`."""
    if not as_published and _COMPLAINING.search(review):
        return False
    return bool(_APPROVING.search(review))


# -- self-refine -----------------------------------------------------------------------------------

#: Temperature of audits, and of rewritten answers but for a plan, which is decided as at first.
_CAREFUL = 0.2

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

    As published, the rewriting call of a question lacks the context of the question, and reviewer
    and rewriter of a plan see the decision alone.
    """

    def review(self, item: Item, answer: ModelReply) -> str:
        if self._sees_decision_alone:
            decision = decision_text(answer, self.setting.keys)
            return self.consult(_REVIEW, f"# The decision\n{decision}", _CAREFUL)
        text = f"{item.whole}\n\n# The answer\n{reply_text(answer) or '(nothing)'}"
        return self.consult(_AUDIT, text, _CAREFUL)

    def rewritten(self, item: Item, answer: ModelReply, reviews: list[str]) -> ModelReply:
        situation, given, audit = item.situation, reply_text(answer), reviews[-1]
        if self.task == "questions" and self.as_published:
            situation = item.question
        if self._sees_decision_alone:
            situation, given = "", decision_text(answer, self.setting.keys)
            audit = feedback_of(audit)
        text = paragraphs(
            situation and f"# The situation\n{situation}",
            f"# Your answer\n{given or '(nothing)'}",
            f"# The audit\n{audit}",
            _REWRITE,
        )
        return self.rewrite(item, text, 0.0 if self.task == "plan" else _CAREFUL)

    @property
    def _sees_decision_alone(self) -> bool:
        return self.task == "plan" and self.as_published


def feedback_of(review: str) -> str:
    """Return the feedback of a JSON verdict; empty if the review contains no feedback."""
    found = (verdict.get("feedback") for verdict in objects(review))
    return next((feedback for feedback in found if isinstance(feedback, str)), "")


# -- debate ----------------------------------------------------------------------------------------

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

    TEMPERATURE = 0.0

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        sides: list[str] = []
        answer = self.act(item, temperature)
        for number in range(1, self.times + 1):
            if number > 1:
                answer = self.act(item, temperature)
            pro = f"# Round {number}, proponent\n{reply_text(answer)}"
            con = self.consult(_OPPONENT, f"{item.whole}\n\n{pro}", temperature=0.2)
            sides += [pro, f"# Round {number}, opponent\n{con}"]
        return self.rewrite(item, "\n\n".join([item.situation, *sides, _JUDGING]), 0.0, "judge")


# -- discussion ------------------------------------------------------------------------------------

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

    TEMPERATURE = 0.2

    experts: int = field(default=3, validator=ge(1))

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        told: list[str] = []
        for _ in range(max(1, self.times)):
            advices = [self._advice(number, told) for number in range(1, self.experts + 1)]
            replies = [self.act(item, temperature, advice) for advice in advices]
            told = [f"# Expert {n}\n{reply_text(reply)}" for n, reply in enumerate(replies, 1)]
        return self.rewrite(item, "\n\n".join([item.situation, *told, _MODERATING]), 0.0, "judge")

    def _advice(self, number: int, told: list[str]) -> str:
        others = ["In the round before, the experts said:", *told] if told else []
        own = f"You are expert {number} of {self.experts}; form your own view."
        return "\n\n".join([own, *others])
