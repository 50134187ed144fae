"""A model of scripted replies for methods, and the items that it is asked."""

from collections.abc import Sequence
from typing import Any

from attrs import define, field
from support.method_traces import asking

from policies.llm.messages import system, user
from policies.llm.methods.items import Item, Outcome, Setting
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply, Request

QUESTIONS = Setting(task="questions")
PLAN = Setting(task="plan", keys=("C",), goal=("load", 0.7))


@define
class Model:
    """A `complete` whose replies are a list, its last one repeated; it keeps what it was sent."""

    replies: list[str]
    sent: list[str] = field(factory=list)
    tools: list[Sequence[Any]] = field(factory=list)
    limit: int = 10_000

    def __call__(self, request: Request) -> ModelReply:
        """Return the next reply."""
        if len(self.sent) >= self.limit:
            raise Spent("the limit")
        self.sent.append("\n".join(str(message["content"]) for message in request.messages))
        self.tools.append(request.tools)
        return ModelReply(self.replies[min(len(self.sent), len(self.replies)) - 1])


def question(number: int = 1) -> Item:
    """Return a question."""
    return asking(f"QUESTION {number}", f"CONTEXT {number}", "TASK", number)


def game() -> Item:
    """Return a decision of a game, with a tool."""
    return Item.of(Request([system("TASK"), user("SITUATION")], [{"name": "order"}]))


def wrong(_: Item, reply: ModelReply) -> Outcome:
    """Score every reply as wrong."""
    return Outcome(answer=reply.text, correct=False, gold="GOLD")
