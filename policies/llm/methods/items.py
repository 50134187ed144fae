"""Questions to methods and the outcomes of their answers, in terms that fit every world.

A decision of a game, a message of an interview and a question of a test are all an `Item`; the
result of an answer, known later, is an `Outcome`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from policies.llm.messages import as_json, system
from policies.llm.replies import objects
from policies.llm.wires.wire import Message, ModelReply, Request

#: Kinds of items, for which the published methods have different procedures and temperatures:
#: decisions that follow each other, one decision for a whole episode, replies in a dialogue, and
#: independent questions.
Task = Literal["game", "plan", "interview", "questions"]

#: Keys under which an answer explains itself, the first one present counts.
_REASONS = ("note", "explanation", "reason", "reasoning", "why")

#: Key under which an answer may be wrapped.
_WRAP = "final_answer"


@frozen(kw_only=True)
class Setting:
    """Facts of the world that a method gets in addition to the messages.

    Attributes:
        task: The kind of items.
        role: The role that decides, as a word for notes.
        keys: Keys of a decision; if given, a reviewer sees only these and not the whole reply.
        topics: Words; a playbook is then shown by its lines that contain one of them.
        goal: A metric and the value from which on an episode counts as a success.
        figures: Metrics of an episode from which the method learns; empty for all.
    """

    task: Task = "game"
    role: str = ""
    keys: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    goal: tuple[str, float] | None = None
    figures: tuple[str, ...] = ()


@frozen(kw_only=True)
class Outcome:
    """The outcome of an answer, known after it was given.

    Attributes:
        answer: The answer as it was scored: extracted from the reply, or the reply itself.
        correct: Whether it was right; None if answers are not right or wrong.
        score: The score of the item or of the episode; None if neither is scored.
        gold: The right answer; empty if it may not be shown.
        metrics: Further figures, for instance those of an episode.
        revealed: What was hidden while the answer was given, such as the text of a case.
    """

    answer: str = ""
    correct: bool | None = None
    score: float | None = None
    gold: str = ""
    metrics: Mapping[str, Any] = field(factory=dict)
    revealed: str = ""

    def in_words(self, *, with_gold: bool = True) -> str:
        """Return the outcome as lines of text."""
        parts = []
        if self.correct is not None:
            parts.append(f"Scored as: {'correct' if self.correct else 'wrong'}")
        if self.score is not None:
            parts.append(f"Score: {self.score:g}")
        if self.metrics:
            parts.append(f"Figures: {as_json(dict(self.metrics))}")
        if self.gold and with_gold:
            parts.append(f"Right answer: {self.gold}")
        return "\n".join(parts)


@frozen(kw_only=True)
class Item:
    """One question to a language model, and its parts as text.

    Attributes:
        messages: The conversation, the question at its end.
        tools: Tools that the answer may call.
        schema: JSON Schema of the answer, if it must be JSON.
        instructions: The description of the task and of the form of an answer.
        context: The subject of the question, if it is given apart from the question.
        question: The question.
        number: The item's number in its stream, from 1; 0 outside of a stream.
    """

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    schema: Mapping[str, Any] | None = None
    instructions: str = ""
    context: str = ""
    question: str = ""
    number: int = 0

    @classmethod
    def of(cls, request: Request, task: Task = "game", number: int = 0) -> "Item":
        """Return the item that a request is about.

        For independent questions, the last of the leading user messages is the question, and those
        before it are the context. In a dialogue the last message is the question. Otherwise
        all messages except the instructions are the question.
        """
        told = [m for m in request.messages if m["role"] == "system"]
        rest = [m for m in request.messages if m["role"] != "system"]
        start = _question_start(rest, task)
        context, question = rest[:start], rest[start:]
        is_text = task in ("interview", "questions")
        return cls(
            messages=tuple(request.messages),
            tools=tuple(request.tools),
            schema=request.schema,
            instructions=_plain_text(told),
            context=_plain_text(context) if task == "questions" else _conversation_text(context),
            question=_plain_text(question) if is_text else _conversation_text(question),
            number=number,
        )

    @property
    def whole(self) -> str:
        """Instructions, context and question, under headings."""
        sections = {
            "The task": self.instructions,
            "What it is about": self.context,
            "The question": self.question,
        }
        return paragraphs(*(f"# {head}\n{text}" for head, text in sections.items() if text))

    @property
    def situation(self) -> str:
        """Context and question, without instructions."""
        return paragraphs(self.context, self.question)

    def request(self, advice: str = "", temperature: float | None = None) -> Request:
        """Return the request for an answer, with an advice at the end of the instructions."""
        messages = list(self.messages)
        if advice:
            told = system(paragraphs(self.instructions, advice))
            messages = [told, *(m for m in self.messages if m["role"] != "system")]
        return Request(messages, self.tools, self.schema, temperature)


@frozen
class Answered:
    """An item of a stream, its reply and its outcome."""

    item: Item
    reply: ModelReply
    outcome: Outcome


#: Scores a reply to an item of a stream.
Grade: TypeAlias = Callable[[Item, ModelReply], Outcome]


@frozen(kw_only=True)
class Past:
    """An ended episode, as its last question and answer; plain data.

    Attributes:
        number: The episode's number in its series, from 0.
        name: The subject of the episode, such as the name of a case or scenario.
        situation: The question with its context, without instructions.
        answer: The reply.
        decision: The fields of the answer, without reasons; the whole reply if it has no fields.
        outcome: The outcome of the episode.
    """

    number: int = 0
    name: str = ""
    situation: str = ""
    answer: str = ""
    decision: str = ""
    outcome: Outcome = field(factory=Outcome)


def paragraphs(*texts: str) -> str:
    """Return texts with an empty line between them; empty ones are left out."""
    return "\n\n".join(text for text in texts if text)


def reply_text(reply: ModelReply) -> str:
    """Return a reply as text, tool calls included."""
    calls = [as_json({"name": c.name, "arguments": c.arguments}) for c in reply.calls]
    return "\n".join([*([reply.text] if reply.text else []), *calls])


def decision_text(reply: ModelReply, keys: Sequence[str]) -> str:
    """Return the fields of a reply that are its decision; empty if it has none of them."""
    if not keys or reply.calls:
        return reply_text(reply)
    for given in objects(reply.text):
        for each in (given.get(_WRAP), given):
            if isinstance(each, Mapping) and any(key in each for key in keys):
                return as_json({key: each[key] for key in keys if key in each})
    return ""


def explanation(reply: ModelReply) -> str:
    """Return the reasons that a reply gives for its action; empty if it gives none."""
    if reply.calls:
        return reply.text.strip()
    for given in objects(reply.text):
        for key in _REASONS:
            if isinstance(reason := given.get(key), str):
                return reason.strip()
    return ""


def _question_start(messages: Sequence[Message], task: Task) -> int:
    """Return the index of the first message that belongs to the question."""
    match task:
        case "interview":
            return max(0, len(messages) - 1)
        case "questions":
            leading = [*takewhile(lambda message: message["role"] == "user", messages)]
            return max(0, len(leading) - 1)
        case _:
            return 0


def _conversation_text(messages: Sequence[Message]) -> str:
    """Return a conversation as one text, its roles as headings.

    Given as messages, it would lead a judging model to continue the conversation.
    """
    return "\n\n".join(f"# {message['role']}\n{_content(message)}" for message in messages)


def _plain_text(messages: Sequence[Message]) -> str:
    return "\n\n".join(_content(message) for message in messages)


def _content(message: Message) -> str:
    calls = [as_json(call["function"]) for call in message.get("tool_calls", ())]
    return "\n".join([message.get("content") or "", *calls])
