"""Choosing a method: by the most specific rule that matches, or by a model.

Source: reference SPEC of FirmBench, section 6, and its recorded cases. The words of the request to
the model are our own.
"""

from collections.abc import Collection, Sequence
from typing import Any, Literal, Protocol

from attrs import asdict, define, field, frozen

from desim.schema import to_plain
from policies.llm.chat.messages import as_json, request_of
from policies.llm.replies import answer_only, objects
from policies.llm.router.experiences import Experience
from policies.llm.router.learning import Learned
from policies.llm.router.policy import Policy, canonical, holds, text_of
from policies.llm.router.situation import Situation
from policies.llm.wires.wire import Complete

#: Experiences that the model reads.
MOST_BULLETS = 120

#: The weight of a tag that an experience shares with the question.
_TASK, _CAPABILITY, _BUCKET = 3, 2, 1

#: Characters of a question and of a context that the model reads.
_QUESTION, _CONTEXT = 2_000, 3_500

_REQUEST = (
    "You choose the method that answers a question; you do not answer it. You read rules and "
    "findings about methods, lessons from earlier questions, and the question with its labels and "
    "figures. Where a rule fits and nothing speaks against it, follow it.\n"
    "Reply with one JSON object:\n"
    '{"chosen_agent": "one of the candidates", "reason": "one sentence", '
    '"used_rule": "the rule you followed, or none", "confidence": "high, medium or low"}'
)

#: Why a method was chosen: by a rule, or by default because no rule matched, the best one has low
#: confidence, or the best one names a method that is not available.
Why = Literal["rule", "no_match", "low_confidence", "agent_missing"]


class Chooser(Protocol):
    """Chooses a method for each question; the whole interface between a router and its users."""

    def choose(self, situation: Situation, /) -> str:
        """Return the name of a method; a user checks whether it has that method."""
        ...


@frozen
class Match:
    """A rule that matches.

    Attributes:
        index: Its place in the policy, from 0.
        specificity: 0 to 4; see `Rule.specificity`.
    """

    index: int
    specificity: int


@frozen
class Route:
    """A method and how it was chosen.

    Attributes:
        method: Its name.
        why: The reason for the choice.
        rule: The place of the best matching rule, also where it did not decide; None without one.
        matching: All rules that match, in their order.
    """

    method: str
    why: Why
    rule: int | None = None
    matching: tuple[Match, ...] = ()


def route(
    policy: Policy,
    situation: Situation,
    available: Collection[str],
    *,
    low_confidence_falls_back: bool = True,
) -> Route:
    """Choose a method by rules.

    The most specific of the matching rules decides, the earliest of equally specific ones. Where
    it may not decide, the default is taken and no other rule is tried, as published. The default
    itself may be unavailable. A rule of low confidence sends to the default, unless
    *low_confidence_falls_back* is false.
    """
    matching = tuple(
        Match(index, rule.specificity)
        for index, rule in enumerate(policy.rules)
        if rule.when is not None and holds(rule.when, situation)
    )
    default = canonical(policy.default)
    if not matching:
        return Route(default, "no_match")
    # max() returns the first of equal ones.
    best = max(matching, key=lambda match: match.specificity).index
    rule = policy.rules[best]
    if low_confidence_falls_back and rule.confidence.strip().lower() == "low":
        return Route(default, "low_confidence", best, matching)
    if (method := canonical(rule.choose)) not in available:
        return Route(default, "agent_missing", best, matching)
    return Route(method, "rule", best, matching)


@frozen
class RuleChooser:
    """A chooser that follows a policy; see `route` for the attributes."""

    policy: Policy
    available: Collection[str]
    low_confidence_falls_back: bool = True

    def choose(self, situation: Situation, /) -> str:
        """Return the name of the method."""
        falls_back = self.low_confidence_falls_back
        return route(
            self.policy, situation, self.available, low_confidence_falls_back=falls_back
        ).method


# -- by a model -----------------------------------------------------------------------------------


@frozen
class ModelChoice:
    """A model's choice of a method.

    Attributes:
        method: The method; the fallback if the reply names none of the candidates.
        known: Whether the reply names a candidate.
        reason: Why, in the model's words.
        used_rule: The rule that the model claims to have followed.
        confidence: high, medium or low, as the model wrote it.
    """

    method: str
    known: bool
    reason: str = ""
    used_rule: str = ""
    confidence: str = ""


@define
class ModelChooser:
    """A chooser that calls a model once for each question, at temperature 0.

    Attributes:
        complete: The call of the model.
        learned: Policy, findings and experiences.
        available: The candidates, at least one.
        live: Whether the first candidate is taken, instead of the policy's default, where the
            reply names none, as the published live agent does.
        last: The last choice; None before the first.
    """

    complete: Complete
    learned: Learned
    available: Sequence[str]
    live: bool = False
    last: ModelChoice | None = field(default=None, init=False)

    def choose(self, situation: Situation, /) -> str:
        """Return the name of a method."""
        described = as_json(self._described(situation))
        reply = self.complete(request_of(_REQUEST, described, 0.0, "label"))
        self.last = self._choice_in(answer_only(reply).text)
        return self.last.method

    def _described(self, situation: Situation) -> dict[str, Any]:
        features = situation.features
        lessons = relevant(self.learned.experiences, situation)
        return {
            "candidates": list(self.available),
            "policy": self.learned.policy.plain(),
            "findings": self.learned.findings,
            "lessons": [_without_source(each) for each in lessons],
            "task": situation.task,
            "capability": situation.capability,
            "difficulty": situation.bucket,
            "figures": None if features is None else asdict(features),
            "question": situation.question[:_QUESTION],
            "context": situation.context[:_CONTEXT],
        }

    def _choice_in(self, text: str) -> ModelChoice:
        for each in objects(text):
            if isinstance(name := each.get("chosen_agent"), str):
                method = canonical(name)
                known = method in self.available
                words = [text_of(each.get(key)) for key in ("reason", "used_rule", "confidence")]
                return ModelChoice(method if known else self._fallback, known, *words)
        return ModelChoice(self._fallback, known=False)

    @property
    def _fallback(self) -> str:
        return self.available[0] if self.live else canonical(self.learned.policy.default)


def relevant(
    found: Sequence[Experience], situation: Situation, most: int = MOST_BULLETS
) -> list[Experience]:
    """Return at most so many experiences, the most relevant first; equal ones keep their order."""
    return sorted(found, key=lambda each: -relevance(each, situation))[:most]


def relevance(experience: Experience, situation: Situation) -> int:
    """Return how much an experience shares with a question, 0 to 6; no label is shared by none."""
    pairs = (
        (_TASK, experience.task, situation.task),
        (_CAPABILITY, experience.capability, situation.capability),
        (_BUCKET, experience.bucket, situation.bucket),
    )
    return sum(weight for weight, one, other in pairs if one and one == other)


def _without_source(experience: Experience) -> dict[str, Any]:
    """Return what the model reads of an experience: neither the item nor the diagnosis."""
    plain: dict[str, Any] = to_plain(experience)
    return {key: value for key, value in plain.items() if key not in ("item", "diagnosis")}
