"""The reasoning tasks: one independent question a decision, answered by a JSON object.

Source: reference SPEC of FirmBench, sections 3 and 5. The context is a user message of its own, in
front of the question with the instruction of its category; a task whose items are one text is that
text alone. The whole reply, without its reasoning, is the action: the world extracts the answer,
also from a reply that is not JSON. A reply is asked for again only if its reasoning does not end.
An empty reply is wrong, as published.

A learning method gets the outcome of a question after its answer where the world has `feedback`,
as preset `online`, and without it the outcomes of training items alone. No prompt repeats the
feedback in observations: as published, a method without a memory learns nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from desim import Seat
from desim.errors import UsageError
from desim.schema.described import Schema
from policies.llm.conversation import Conversation, ConversationKind, ParsedReply
from policies.llm.messages import as_object, strict, system, user
from policies.llm.methods.items import Item, Outcome, Setting
from policies.llm.options import LLMOptions, choice
from policies.llm.wires.wire import Message, ModelReply, Request

LETTERS = "ABCDEF"

#: Characters of a reply that are given to the world; the action takes no more.
_LONGEST = 100_000

_FORM = (
    "Answer with one JSON object with exactly these keys: "
    '{"reasoning": "how you get to the answer", "final_answer": "the answer alone, in the form '
    'that the question asks for"}.'
)

_SCHEMA = strict(as_object({"reasoning": {"type": "string"}, "final_answer": {"type": "string"}}))


@frozen(kw_only=True)
class ReasoningOptions(LLMOptions):
    """Settings of a language model in the reasoning tasks.

    Attributes:
        mode: `json` for an object somewhere in the text, or `schema`; there are no tools.
        history: 0 or None: questions are independent.
    """

    mode: str = field(default="", validator=choice("", "json", "schema"))

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.history:
            raise UsageError(
                f"history={self.history} was given; questions are independent, so that only 0 is "
                "possible"
            )


class QuestionConversation(Conversation):
    """A conversation of one message pair a question."""

    setting = Setting(task="questions")

    def __init__(self, seat: Seat, options: ReasoningOptions) -> None:
        super().__init__(seat, options, mode="json", history=0)
        # Methods have temperatures of their own, which a field of every request would replace.
        self.request_fields = {} if options.chosen_method else {"temperature": 0.0}
        self._ids: dict[tuple[str, ...], str] = {}
        #: Items whose outcomes the world does not show.
        asked = () if self._model.feedback else self._model.chosen_items
        self._hidden = {item.id for item in asked}

    # -- one question ------------------------------------------------------------------------------

    def schema(self) -> Schema:
        return _SCHEMA

    def question(self, observation: Any) -> Request:
        messages = [system(f"{self.world_rules} {_FORM}"), *_messages(observation)]
        self._ids[_key(messages)] = observation.id
        return self.request(messages)

    def read(self, reply: ModelReply, _: Any) -> ParsedReply:
        """Return the whole reply as the action, cut to what an action takes."""
        text = reply.text[:_LONGEST]
        action = self.codec.read({"do": "reply", "text": text})
        default = "" if self._model.states_answer(text) else "the reply stated no answer"
        return ParsedReply(action, int(len(reply.text) > _LONGEST), default)

    def fallback(self, observation: Any) -> Any:
        return self.seat.spec.default_for(observation)

    # -- what methods learn from -------------------------------------------------------------------

    def stream(self) -> Sequence[Request]:
        """Return all questions of an episode as they are given, which may be shuffled in it."""
        return [self.question(each) for each in self._model.public_items]

    def training(self) -> Sequence[Request]:
        """Return the questions of the training split that the episode does not ask."""
        try:
            apart = evolve(self._model, split="train", limit=0).public_items
        except ValueError:  # no item of the episode's tasks is of that split
            return []
        asked = {each.id for each in self._model.public_items}
        return [self.question(each) for each in apart if each.id not in asked]

    def grade(self, item: Item, reply: ModelReply) -> Outcome:
        """Return the outcome of a reply; of an item whose outcome is hidden, the answer alone."""
        name = self._ids[_key(item.messages)]
        graded = self._model.grade(name, reply.text[:_LONGEST])
        if name in self._hidden:
            return Outcome(answer=graded.extracted)
        gold = next(each.answer for each in self._model.loaded_items if each.id == name)
        return Outcome(answer=graded.extracted, correct=bool(graded.correct), gold=gold)

    @property
    def _model(self) -> Any:
        return self.seat.model


def _messages(observation: Any) -> list[Message]:
    """Return the context, and behind it the question with its instruction and options."""
    options = zip(LETTERS, observation.options, strict=False)
    parts = [
        observation.instruction,
        observation.question,
        "\n".join(f"{letter}. {text}" for letter, text in options),
    ]
    asked = "\n\n".join(part for part in parts if part)
    return [user(text) for text in (observation.context, asked) if text]


def _key(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what tells questions apart, whatever instructions stand before them."""
    return tuple(each["content"] for each in messages if each["role"] == "user")


def _answers(model: Any) -> Mapping[str, str]:
    return {one.id: one.answer for one in model.chosen_items}


CONVERSATION = ConversationKind(ReasoningOptions, QuestionConversation, _answers)
