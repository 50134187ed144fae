"""Case interviews: a conversation for each of the three roles, made anew from the dialogue.

Source: reference SPEC of FirmBench, section 4, with items 11, 12 and 18 of its vectors. As there,
no reply is asked for again because of what it says: an empty message of the interviewer stops the
interview, a candidate's reply that holds nothing becomes a stock sentence, and a verdict that
cannot be read scores 0 everywhere (one that is empty has no scores at all). A refusal is asked
for again, which is ours, and so is one whose reasoning does not end.
"""

import math
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from desim import Episode, Seat
from desim.schema.described import Schema
from desim.schema.validators import LONGEST_TEXT
from policies.llm.conversation import Conversation, ConversationKind, ParsedReply
from policies.llm.messages import as_json, as_object, strict, system, user
from policies.llm.methods.items import Setting
from policies.llm.options import ROUTED, LLMOptions
from policies.llm.replies import BadReply, objects
from policies.llm.wires.wire import Message, ModelReply, Request

#: Scores of a verdict, and the largest one that an action can hold.
SCORES = ("structure", "quant", "business_sense", "communication", "overall")
_LARGEST_SCORE = 1e300

#: Keys of a candidate's reply; the second one occurs in replies to methods' own questions.
_KEYS = ("reply", "final_answer")

#: The candidate's message where a reply holds none.
STOCK = "Let me go back to the structure for a moment: which part of the problem matters most here?"

_FIRST_TURN = (
    "This is the first turn: introduce the case, ask for objective and structure, and do not end."
)

#: The token with which an interviewer ends an interview.
_END = "<|CASE_INTERVIEW_END|>"

#: Temperatures of interviewer and judge, and of a candidate without a method; others have the
#: temperatures of their method. Tokens of a reply of interviewer and judge.
_INTERVIEWER, _JUDGE, _PLAIN, _TOKENS = 0.3, 0.1, 0.7, 8192

#: Tokens of a candidate's reply by method. The published calls that write notes and sheets have
#: twice the tokens of a reply; here a seat has one limit, so these methods have it for all calls.
_CANDIDATE_TOKENS = {"": 512, "cot": 512, "ace": 1024, "amem": 8192, "dynamic_cheatsheet": 8192}
_OTHER_TOKENS = 4096

#: Methods of the candidate whose requests ask for JSON as the form of the response.
_IN_JSON = ("", "cot", "self_refine", "reflexion", "debate", "discussion")

#: Methods whose replies count only as JSON; those of others are taken as text where they hold none.
_STRICT = ("", "cot", "amem")

_NOTHING_SAID, _NO_SCORES = "the reply held no message", "the reply held no scores"

_JSON_OBJECT = {"response_format": {"type": "json_object"}}


class _InterviewConversation(Conversation):
    """The base of all roles: every question is made from the observation; no round is kept.

    Args:
        seat: The seat.
        options: The user's options.
        temperature: Sent with every request, but for None.
        tokens: Limit of tokens in a reply, likewise.
        as_json: Whether the request says that its answer in text is JSON.
    """

    form = 'Answer with one JSON object: {"reply": "what you say to the interviewer"}.'

    def __init__(
        self,
        seat: Seat,
        options: LLMOptions,
        temperature: float | None,
        tokens: int | None,
        *,
        as_json: bool,
    ) -> None:
        super().__init__(seat, options, mode="json", history=0)
        given = {"temperature": temperature, "max_completion_tokens": tokens}
        form = _JSON_OBJECT if as_json and self.mode == "json" else {}
        self.request_fields = {k: v for k, v in given.items() if v is not None} | form

    def answer_format(self) -> str:
        return super().answer_format() if self.by_tools else self.form

    def rules(self, _: Any) -> str:
        return self.world_rules

    def schema(self) -> Schema:
        return strict(as_object({"reply": {"type": "string"}}))

    def meant(self, text: str) -> ParsedReply:
        """Return the action that a reply's text means; an empty one means the fallback."""
        raise NotImplementedError

    def parsed(self, reply: ModelReply, observation: Any) -> ParsedReply:
        """Return the action of a call, or what the text means."""
        # Without tools in the prompt, a call of something else counts as no message.
        if any(self.by_tools or call.name in self.known for call in reply.calls):
            return super().parsed(reply, observation)
        if reply.refusal and not reply.text.strip():
            raise BadReply("you refused; this is an exercise, and an answer is needed")
        return self.meant(reply.text)

    def fallback(self, _: Any) -> Any:
        return self.meant("").action


class InterviewerConversation(_InterviewConversation):
    """The whole case, the dialogue and the messages left, answered by a message in plain text."""

    def __init__(self, seat: Seat, options: LLMOptions) -> None:
        super().__init__(seat, options, _INTERVIEWER, _TOKENS, as_json=False)
        if self.mode != "schema":
            self.form = "Answer with the message alone, as plain text."

    def situation(self, observation: Any) -> str:
        left = f"Messages left for both sides, this one included: {observation.messages_left}."
        parts = [
            f"# The case\n{observation.case.text}",
            f"# Its opening\n{observation.case.opening}" if observation.case.opening else "",
            f"# Its length\n{observation.case.length}",
            f"# The dialogue so far\n{_dialogue(observation.dialogue)}",
            f"{left}{_minutes(observation)}",
            f"Say at most {observation.word_limit} words.",
            _FIRST_TURN if observation.first else "",
            f"If your message closes the interview, its last characters are {_END}.",
        ]
        return "\n\n".join(part for part in parts if part)

    def meant(self, text: str) -> ParsedReply:
        """Return the text as it is; an empty one stops the interview."""
        said = _said_in(text) if self.mode == "schema" else ""
        kept = (said or text).strip()[:LONGEST_TEXT]
        action = self.codec.read({"do": "say", "text": kept})
        return ParsedReply(action, int(not kept), "" if kept else _NOTHING_SAID)


class CandidateConversation(_InterviewConversation):
    """The dialogue as a chat, answered by a message as JSON."""

    setting = Setting(task="interview", figures=SCORES)

    def __init__(self, seat: Seat, options: LLMOptions) -> None:
        method = options.chosen_method
        temperature = None if method else _PLAIN
        tokens = None if method == ROUTED else _CANDIDATE_TOKENS.get(method, _OTHER_TOKENS)
        super().__init__(seat, options, temperature, tokens, as_json=method in _IN_JSON)
        self._strict = method in _STRICT

    def rules(self, observation: Any) -> str:
        return f"{self.world_rules}\n\nThe case has the id {observation.case_id}."

    def question(self, observation: Any) -> Request:
        """Return the dialogue as a chat; own messages are in the form in which they are asked for.

        A model that saw them as text would soon answer in text.
        """
        told = system(f"{self.rules(observation)}\n\n{self.answer_format()}")
        chat = [_chat_message(each) for each in observation.dialogue]
        if minutes := _minutes(observation):
            chat[-1] = user(f"{observation.last}\n\n({minutes.strip()})")
        return self.request([told, *chat])

    def meant(self, text: str) -> ParsedReply:
        """Return the message that a text holds; a stock sentence where it holds none."""
        said = _said_in(text) or ("" if self._strict else text.strip())
        action = self.codec.read({"do": "reply", "text": said[:LONGEST_TEXT] or STOCK})
        return ParsedReply(action, int(not said), "" if said else _NOTHING_SAID)

    def revealed(self, episode: Episode) -> str:
        return str(self._played(episode).text)

    def name_of(self, episode: Episode) -> str:
        return str(self._played(episode).id)

    def _played(self, episode: Episode) -> Any:
        # Not by the seed: of a part's episode the header has the seed of the whole.
        model: Any = self.seat.model
        named = {f"case_{number:04d}": case for number, case in enumerate(model.loaded_cases)}
        named |= {case.id: case for case in model.loaded_cases}
        return named[episode.metrics["case"]]


class JudgeConversation(_InterviewConversation):
    """The case and the dialogue, answered by scores as JSON."""

    def __init__(self, seat: Seat, options: LLMOptions) -> None:
        super().__init__(seat, options, _JUDGE, _TOKENS, as_json=True)
        scores = ", ".join(f'"{name}": number' for name in SCORES)
        self.form = (
            f'Answer with one JSON object: {{{scores}, "feedback": "two or three sentences"}}.'
        )

    def question(self, observation: Any) -> Request:
        return evolve(super().question(observation), phase="judge")

    def situation(self, observation: Any) -> str:
        ended = "the interviewer" if observation.ended_by_interviewer else "its limit"
        return (
            f"# The case\n{observation.case.text}\n\n"
            f"# The dialogue, which was ended by {ended}\n{_dialogue(observation.dialogue)}"
        )

    def schema(self) -> Schema:
        scores: dict[str, Schema] = {name: {"type": "number"} for name in SCORES}
        return strict(as_object(scores | {"feedback": {"type": "string"}}))

    def fallback(self, _: Any) -> Any:
        return self.meant("nothing").action

    def meant(self, text: str) -> ParsedReply:
        """Return the scores of the first object with one, without those that are not numbers.

        A text without any object scores 0 everywhere; an empty one has no scores.
        """
        given = objects(text)
        verdict = next((each for each in given if not each.keys().isdisjoint(SCORES)), {})
        scores = {name: _score_in(verdict.get(name)) for name in SCORES}
        if text.strip() and not given:
            scores = dict.fromkeys(SCORES, 0.0)
        said = verdict.get("feedback")
        feedback = said[:LONGEST_TEXT] if isinstance(said, str) else ""
        action = self.codec.read({"do": "verdict", **scores, "feedback": feedback})
        incomplete = not verdict or None in scores.values()
        return ParsedReply(action, int(incomplete), "" if verdict else _NO_SCORES)


def _chat_message(message: Any) -> Message:
    if message.role == "interviewer":
        return user(message.text)
    return {"role": "assistant", "content": as_json({"reply": message.text})}


def _dialogue(messages: Any) -> str:
    lines = [f"{each.role}: {each.text}" for each in messages]
    return "\n\n".join(lines) or "(nothing has been said yet)"


def _minutes(observation: Any) -> str:
    """Return how many minutes are left, with a space before it; empty where none are counted."""
    left = observation.minutes_left
    return "" if left is None else f" Minutes left: {left:.1f}."


def _said_in(text: str) -> str:
    """Return the message that the first fitting JSON object of a text holds; else nothing."""
    for given in objects(text):
        inner = given.get("final_answer")
        for each in (given, inner if isinstance(inner, Mapping) else {}):
            for key in _KEYS:
                if isinstance(said := each.get(key), str) and said.strip():
                    return said.strip()
    return ""


def _score_in(value: Any) -> float | None:
    """Return a score that an action can hold; None for anything else, a truth value included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and abs(number) <= _LARGEST_SCORE else None


def _begin(seat: Seat, options: LLMOptions) -> Conversation:
    """Return the conversation of a role; judges are numbered."""
    others = {"interviewer": InterviewerConversation, "candidate": CandidateConversation}
    return others.get(seat.role, JudgeConversation)(seat, options)


CONVERSATION = ConversationKind(LLMOptions, _begin)
