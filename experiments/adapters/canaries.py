"""How well do policies score that play a world for its flaws? Canaries, which should earn nothing.

Each answers a decision without a thought for the business; a world in which one of them scores
well pays for something else than good decisions.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from attrs import frozen

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.adapters.seat.tools import Tool, tools_of
from desim.core.roles import Role
from desim.core.world import Decision
from desim.errors import WrongAction
from desim.schema import TAG, tag, to_plain

#: Decisions after which a canary's episode is given up. Every world ends before it; a
#: score from before the end would say nothing, as costs may be due later.
MOST_DECISIONS = 50_000

#: A number that is larger than any sensible one, and the characters of the longest text sent.
LARGE, LONG = 1_000_000, 10_000

#: Actions that fit no schema.
INVALID: tuple[Any, ...] = ({}, {TAG: "win"}, {TAG: 7}, [], "score", None, {TAG: "order"}, 1e999)


@frozen
class Asked:
    """A decision that a canary answers.

    Attributes:
        decision: The open decision.
        role: Its role.
        tools: The actions of the role.
        number: The number of the decision in the episode.
    """

    decision: Decision
    role: Role
    tools: Sequence[Tool]
    number: int


Canary = Callable[[Asked], Any]


def no_op(asked: Asked) -> Any:
    """Return the role's default action, again and again."""
    action = asked.role.default_for(asked.decision.observation)
    return {TAG: tag(type(action)), **to_plain(action)}


def minimal(asked: Asked) -> Any:
    """Return each action in turn with zeros and empty texts."""
    return _filled(asked, text="", size=0)


def maximal(asked: Asked) -> Any:
    """Return each action in turn with the largest numbers and the longest lists."""
    return _filled(asked, text="maximal")


def longest(asked: Asked) -> Any:
    """Return each action in turn with texts of many characters."""
    return _filled(asked, text="profit " * (LONG // 7))


CANARIES: Mapping[str, Canary] = {
    "minimal": minimal,
    "maximal": maximal,
    "longest texts": longest,
}


def played(setup: Setup, canary: Canary, seed: int) -> tuple[float, int]:
    """Play an episode to its end; return its score and its decisions.

    An answer of a canary that the schema refuses is replaced by the default action.

    Raises:
        RuntimeError: The episode has not ended after `MOST_DECISIONS`.
    """
    numbers = count()
    tools = {seat: list(tools_of(setup, seat).values()) for seat in setup.seats}
    with setup.begin(seed) as session:
        while not session.done:
            if session.answered > MOST_DECISIONS:
                raise RuntimeError(f"no end after {session.answered:,} decisions")
            for decision in list(session.open):
                role = setup.model.roles[decision.role]
                asked = Asked(decision, role, tools[decision.role], next(numbers))
                _answer(session, asked, canary(asked))
            session.advance()
        return session.score, session.answered


def _answer(session: SteppedSession, asked: Asked, action: Any) -> None:
    try:
        session.answer(asked.decision, action)
    except WrongAction:
        session.answer(asked.decision, no_op(asked))


def _filled(asked: Asked, text: str, size: int = LARGE) -> Any:
    tool = asked.tools[asked.number % len(asked.tools)]
    properties = tool.parameters["properties"]
    return {TAG: tool.name} | {name: _sample(each, text, size) for name, each in properties.items()}


def _sample(schema: Mapping[str, Any], text: str, size: int) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0], text, size)
    if schema.get("type") in ("integer", "number"):
        return max(schema.get("minimum", 0), min(size, schema.get("maximum", size)))
    if schema.get("type") == "array":
        return [_sample(schema.get("items") or {}, text, size)] * min(size, 100)
    return text[: schema.get("maxLength", LONG)]
