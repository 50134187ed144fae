"""YC-Bench: turns of several tool calls, twenty rounds of history, a scratchpad.

A turn is one call of the model and all tool calls of its reply, carried out one after the other;
then the turn ends by itself. Source: reference SPEC of YC-Bench, section 14.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from desim import Episode, Seat
from desim.schema import codec
from policies.llm import parse, tools
from policies.llm.parse import BadReply, objects, spelled, text_of
from policies.llm.talk import Question, Taken, Talk, Wishes, said, system, user
from policies.llm.wire import Call, Message, Reply
from policies.llm.worlds import yc_bench_texts as texts

__all__ = ["talk"]

_HISTORY = 20

_CONSOLE = "run_command"

#: What cannot be done or said twice: the company is founded, the console is another way to talk.
_NOT_OFFERED = (_CONSOLE, "sim_init")

_PAD = "yc-bench scratchpad "

_ENDED = "the turn has ended"

_NOT_RUN = "not run: the turn had ended"


def talk(seat: Seat, wishes: Wishes) -> Talk:
    """Begin a conversation."""
    return Turns(seat, wishes)


class Turns:
    """A conversation of turns.

    Args:
        seat: The founder's.
        wishes: Of these `mode`, `history`, `console` and `stale_scratchpad` matter.
    """

    def __init__(self, seat: Seat, wishes: Wishes) -> None:
        self.seat = seat
        self.mode = wishes.mode or "tools"
        self.console = wishes.console
        self.stale = wishes.stale_scratchpad
        self.keep = _HISTORY if wishes.history is None else wishes.history
        self.codec = codec(seat.does.does)
        self.known = [n for n in self.codec.classes if n not in _NOT_OFFERED]
        if self.console:
            self.known = [_CONSOLE]
        self.actions = tools.actions(self.codec, self.known)
        self.memory: list[Any] = []
        self._begin()

    def _begin(self) -> None:
        self._messages: list[Message] = []
        self._asked: Message = user("")
        self._waiting: deque[tuple[Call, Any]] = deque()
        self._running: Call | None = None
        self._heard: list[str] = []
        self._pad = ""

    # -- one decision ------------------------------------------------------------------------------

    def due(self, desk: Any) -> Any:
        """Give the turn's next command, or end it; a new turn is the model's."""
        self._hear(desk)
        if desk.status is not None:
            self._drop()
            return None
        if self._waiting:
            return self._next()
        return self.codec.read({"do": "end_turn"})

    def question(self, desk: Any) -> Question:
        """Return what to ask: rules and notes, the rounds kept, the status."""
        self._trim()
        heard, self._heard = self._heard, []
        told = texts.status(desk.status)
        if heard:
            told = "\n".join(["What your last commands were answered:", *heard, "", told])
        self._asked = user(told)
        messages = [system(self._rules(desk.status)), *self._messages, self._asked]
        offered = tools.tools(self.actions) if self.mode == "tools" else []
        schema = self._schema() if self.mode == "schema" else None
        return Question(messages, offered, schema)

    def read(self, reply: Reply, _: Any) -> Taken:
        """Understand all commands of a reply and begin with the first.

        Raises:
            BadReply: One of them is none: then none is carried out.
        """
        commands = self._commands(reply)
        self._messages += [self._asked, said(reply)]
        self._waiting = deque(commands)
        if not commands:
            return Taken(self.codec.read({"do": "end_turn"}))
        return Taken(self._next())

    def fall_back(self, desk: Any) -> Any:
        """Take the neutral action; the turn ends behind it."""
        self._messages += [self._asked, {"role": "assistant", "content": "(There was no answer.)"}]
        return self.seat.does.rest(desk)

    def after(self, _: Episode) -> None:
        """Forget the conversation."""
        self._begin()

    # -- replies -----------------------------------------------------------------------------------

    def _commands(self, reply: Reply) -> list[tuple[Call, Any]]:
        """Return the commands of a reply with the calls they came from.

        A text without any is a turn that does nothing, as published.
        """
        if reply.calls:
            return [(call, self._command(call)) for call in reply.calls]
        text = text_of(reply)
        if self.mode == "tools" and self.console:
            return []
        found = [each for one in objects(text) for each in _several(one)]
        if not found and self.mode != "tools":
            raise BadReply("your reply holds no JSON object; write one for every command")
        named = [spelled(each, self.known) for each in found]
        return [
            (Call("", str(each.get("do", "")), ""), parse.taken(self.codec, each, self.known))
            for each in named
        ]

    def _command(self, call: Call) -> Any:
        if not (self.console and call.name == _CONSOLE):
            return parse.action_of_call(self.codec, call, self.known)
        # As published: what cannot be read is an empty command, which the console refuses.
        try:
            line = parse.arguments(call).get("command")
        except BadReply:
            line = None
        line = line if isinstance(line, str) else ""
        return parse.taken(self.codec, {"do": _CONSOLE, "command": line}, self.known)

    def _next(self) -> Any:
        self._running, action = self._waiting.popleft()
        return action

    def _hear(self, desk: Any) -> None:
        """Put what the last command was answered into the conversation."""
        call, self._running = self._running, None
        reply = desk.reply
        if call is None:
            return
        if reply is None:
            self._answer(call, _ENDED)
            return
        if reply.command.startswith(_PAD) and isinstance(reply.out, Mapping):
            self._note(reply.command, reply.out)
        self._answer(call, texts.result(reply))

    def _note(self, command: str, out: Mapping[str, Any]) -> None:
        if command.startswith(f"{_PAD}clear"):
            self._pad = ""
        elif isinstance(content := out.get("content"), str):
            self._pad = content

    def _drop(self) -> None:
        """Answer the calls that an ended turn has left; every call needs an answer."""
        for call, _ in self._waiting:
            self._answer(call, _NOT_RUN)
        self._waiting.clear()

    def _answer(self, call: Call, text: str) -> None:
        if call.id:
            self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        else:
            self._heard.append(f"- {call.name}: {text}")

    # -- messages ----------------------------------------------------------------------------------

    def _rules(self, status: Any) -> str:
        pad = status.scratchpad if self.stale else self._pad
        notes = f"\n\n## Your scratchpad\n{pad}" if pad else ""
        return f"{texts.rules(console=self.console)}\n\n{self._form()}{notes}"

    def _form(self) -> str:
        if self.mode == "tools":
            return "Act by calling tools, several in one reply if you like."
        offered = texts.CONSOLE if self.console else ""
        wrap = ' in a list: {"commands": [...]}' if self.mode == "schema" else ", in order"
        return (
            f"Act by JSON objects{wrap}; each is one command:\n{tools.menu(self.actions)}"
            f"\n{offered}"
        )

    def _schema(self) -> tools.Schema:
        one = tools.wrapped(self.actions)
        # A choice comes wrapped as an object already; here the list is what wraps it.
        each = one["properties"]["action"] if len(self.actions) > 1 else one
        listed = {"type": "array", "items": each, "minItems": 1, "maxItems": 20}
        return tools.strict(tools.as_object({"commands": listed}))

    def _trim(self) -> None:
        """Drop old rounds as published: all before the last user messages kept, a marker for it."""
        users = [n for n, message in enumerate(self._messages) if message["role"] == "user"]
        if len(users) > self.keep:
            first = users[-self.keep] if self.keep else len(self._messages)
            self._messages = [user(texts.DROPPED), *self._messages[first:]]


def _several(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Take a list of commands apart."""
    listed = found.get("commands")
    if not isinstance(listed, list):
        return [dict(found)]
    return [each for each in listed if isinstance(each, dict)]
