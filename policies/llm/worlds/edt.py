"""The Enterprise Digital Twin: one decision an episode, with the results of earlier episodes.

Source: reference SPEC of the EDT, sections 8 and 10. The interactive preset, which is not
published, has the generic conversation.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

from desim import Episode, Seat
from desim.schema import to_plain
from desim.schema.described import Schema, field_lines
from policies.llm.conversation import Conversation, ConversationKind, NoCallNeeded, ParsedReply
from policies.llm.messages import as_json, as_object, strict
from policies.llm.methods.items import Setting
from policies.llm.options import LLMOptions
from policies.llm.replies import BadReply, as_tagged, called, checked_action, only, stated
from policies.llm.wires.wire import ModelReply

#: Metrics of an earlier episode that the prompt contains.
_FIGURES = (
    "accumulated_earnings",
    "accumulated_revenue",
    "accumulated_expenses",
    "overall_profit_margin",
    "overall_avg_utilization",
)

#: The published callbacks learn from these figures, and call an episode a success from this
#: utilisation on.
_SETTING = Setting(
    task="plan",
    keys=("C", "R", "P"),
    topics=("EDT", "consultant", "risk", "profit", "utili"),
    goal=("overall_avg_utilization", 0.70),
    figures=_FIGURES,
)

#: Refused decisions in a row after which the scenario's own decision is taken.
_REFUSALS = 3

#: Keys of a decision in the published form, and the key under which it may be wrapped.
_WRAP = "final_answer"
_KEYS = {"C", "R", "P", _WRAP}


@frozen(kw_only=True)
class EDTOptions(LLMOptions):
    """Settings of a language model in the Enterprise Digital Twin.

    Attributes:
        feedback: Whether the prompt contains the results of the earlier episodes of a series.
    """

    feedback: bool = True


@runtime_checkable
class _HasPublishedForm(Protocol):
    """An action that can be written as the published decision object."""

    def raw(self) -> Any: ...


class OneDecisionConversation(Conversation):
    """A prompt with the scenario and the results of earlier decisions, answered by one decision."""

    def __init__(self, seat: Seat, options: EDTOptions) -> None:
        super().__init__(seat, options, mode="json")
        self.setting = _SETTING
        self._feedback = options.feedback
        self._refused = 0

    def action_without_call(self, observation: Any) -> Any:
        """Return None: a refused decision is asked for again, up to a limit."""
        self._refused = self._refused + 1 if observation.refused else 0
        if self._refused > _REFUSALS:
            raise NoCallNeeded(
                f"{self._refused} decisions were refused, the last because {observation.refused}"
            )

    def offered(self) -> list[str]:
        return ["decide"]

    def rules(self, _: Any) -> str:
        return (
            f"{self.world_rules}\n"
            "You are told, the projects as a table:\n"
            f"{field_lines(self.seat.spec.observation)}"
        )

    def situation(self, observation: Any) -> str:
        """Return the scenario with its projects as a table, and the results of earlier episodes."""
        plain = to_plain(observation)
        rows = plain.pop("projects")
        parts = [as_json(plain), as_json([*rows[0]] if rows else [])]
        parts += [as_json([*row.values()]) for row in rows]
        if self.memory:
            parts.append("Your earlier episodes in this scenario, the first one first:")
            parts += [as_json(each) for each in self.memory]
        if observation.refused:
            parts.append(f"Your last decision was refused: {observation.refused}")
        return "\n".join(parts)

    def answer_format(self) -> str:
        if self.by_tools:
            return super().answer_format()
        return (
            'Answer with one JSON object with exactly these keys: {"C": whole number from 0 to '
            'the consultants there are, "R": number from 0 to 1, "P": a list with one entry for '
            "every project in order, 0 to leave it out or [1, start_step, deadline_step] with "
            "0 <= start_step <= deadline_step <= horizon}."
        )

    def schema(self) -> Schema:
        firm: Any = self.seat.model
        scenario = firm.loaded_scenario
        taken = {"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}
        entry = {"anyOf": [{"type": "integer", "enum": [0]}, taken]}
        count = sum(not each.is_follow_on for each in scenario.projects)
        fields: dict[str, Schema] = {
            "C": {"type": "integer", "minimum": 0, "maximum": len(scenario.consultants)},
            "R": {"type": "number", "minimum": 0, "maximum": 1},
            "P": {"type": "array", "items": entry, "minItems": count, "maxItems": count},
        }
        return strict(as_object(fields))

    def parsed(self, reply: ModelReply, observation: Any) -> ParsedReply:
        """Return the decision of a reply, unrepaired: the world repairs or refuses it."""
        calls = called(reply)
        given = [{key: call[key] for key in call if key != "do"} for call in calls]
        given = given or [_arguments(each.value) for each in stated(reply, tools=self.by_tools)]
        decisions = [_unwrapped(each) for each in given if _KEYS & each.keys()]
        if decisions:
            answer = {"do": "answer", "given": only(decisions)}
            return ParsedReply(checked_action(self.codec, answer, ["answer"]))
        if self.by_tools:
            return super().parsed(reply, observation)
        # A call of the tool counts, although this prompt offers none; its faults name its fields.
        if any(call["do"] in self.known for call in calls):
            with suppress(BadReply):
                return super().parsed(reply, observation)
        raise BadReply("your reply holds no decision; write one JSON object with C, R and P")

    def after(self, episode: Episode) -> None:
        """Keep the five metrics of an episode and its decision."""
        super().after(episode)
        if self._feedback:
            figures = {name: episode.metrics.get(name) for name in _FIGURES}
            self.memory.append(figures | {"decision": _decision(episode, self.seat.role)})


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an object that is a call; another object as it is."""
    return given if _KEYS & given.keys() else as_tagged(given, ())


def _unwrapped(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a decision without its wrap, so that one given with and without it is one."""
    inner = given.get(_WRAP)
    return inner if isinstance(inner, Mapping) and given.keys() == {_WRAP} else given


def _decision(episode: Episode, role: str) -> Any:
    """Return the last decision of an episode in the published form; None if it has no decision."""
    actions = [step.action for step in episode.steps if step.role == role]
    if not actions:
        return None
    last = actions[-1]
    plain = to_plain(last.raw() if isinstance(last, _HasPublishedForm) else last)
    return plain.get("given", plain) if isinstance(plain, Mapping) else plain


def _begin(seat: Seat, options: EDTOptions) -> Conversation:
    firm: Any = seat.model
    if firm.asks != "once":
        return Conversation(seat, options)
    return OneDecisionConversation(seat, options)


CONVERSATION = ConversationKind(EDTOptions, _begin)
