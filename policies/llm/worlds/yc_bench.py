"""YC-Bench: turns of several tool calls, twenty rounds of history, a scratchpad.

A turn is one call of the model and all tool calls of its reply, which are executed in order; then
the turn ends without a further call. Source: reference SPEC of YC-Bench, section 14.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from desim import Episode, Seat
from desim.schema.described import Schema, menu
from policies.llm.conversation import Conversation, ConversationKind, ParsedReply
from policies.llm.messages import (
    answer_schema,
    as_object,
    assistant_message,
    strict,
    system,
    user,
)
from policies.llm.options import LLMOptions
from policies.llm.replies import (
    BadReply,
    arguments,
    as_tagged,
    checked_action,
    objects,
    prose_between,
    stated,
    text_of,
)
from policies.llm.wires.wire import Call, Message, ModelReply, Request
from policies.llm.worlds import yc_bench_texts as texts

#: Rounds kept by default, as published.
HISTORY = 20

_CONSOLE = "run_command"

#: Actions that are not offered: the console is a mode of its own, and the company is founded.
_NOT_OFFERED = (_CONSOLE, "sim_init")

#: Commands of one reply under a schema.
_MOST_COMMANDS = 20

_ENDED, _NOT_RUN = "the turn has ended", "not run: the turn had ended"

_NO_COMMAND = "the reply held no command"


@frozen(kw_only=True)
class YCBenchOptions(LLMOptions):
    """Settings of a language model in YC-Bench.

    Attributes:
        console: Whether the one tool is the console `run_command`, as published.
    """

    console: bool = False


class TurnConversation(Conversation):
    """A conversation of turns."""

    def __init__(self, seat: Seat, options: YCBenchOptions) -> None:
        self.console = options.console
        super().__init__(seat, options, history=HISTORY)
        self._begin()

    def offered(self) -> list[str]:
        commands = [name for name in super().offered() if name not in _NOT_OFFERED]
        return [_CONSOLE] if self.console else commands

    def _begin(self) -> None:
        self._messages: list[Message] = []
        self._question: Message = user("")
        self._waiting: deque[tuple[Call, Any]] = deque()
        self._running: Call | None = None
        self._answers: list[str] = []

    # -- one decision ------------------------------------------------------------------------------

    def action_without_call(self, desk: Any) -> Any:
        """Return the turn's next command, or its end; None at the beginning of a turn."""
        self._take_answer(desk)
        if desk.status is not None:
            self._drop_waiting()
            if desk.status.kind == "reopened":
                # A new company begins an empty conversation; only the scratchpad is kept.
                self._messages.clear()
                self._answers.clear()
            return None
        if self._waiting:
            return self._next()
        return self.codec.read({"do": "end_turn"})

    def question(self, desk: Any) -> Request:
        self._trim()
        answers, self._answers = self._answers, []
        text = texts.status(desk.status)
        if answers:
            text = "\n".join(["What your last commands were answered:", *answers, "", text])
        self._question = user(text)
        return self.request([system(self.rules(desk)), *self._messages, self._question])

    def read(self, reply: ModelReply, _: Any) -> ParsedReply:
        """Parse all commands of a reply and return the first.

        Raises:
            BadReply: One of them is invalid; then none is executed.
        """
        commands = self._commands(reply)
        self._messages += [self._question, assistant_message(reply)]
        self._waiting = deque(commands)
        if not commands:
            return ParsedReply(self.codec.read({"do": "end_turn"}), default=_NO_COMMAND)
        return ParsedReply(self._next())

    def fallback(self, desk: Any) -> Any:
        """Return the default action; the turn ends after it."""
        silent = {"role": "assistant", "content": "(There was no answer.)"}
        self._messages += [self._question, silent]
        return self.seat.spec.default_for(desk)

    def after(self, _: Episode) -> None:
        self._begin()

    # -- replies -----------------------------------------------------------------------------------

    def _commands(self, reply: ModelReply) -> list[tuple[Call, Any]]:
        """Return the commands of a reply with the calls they came from.

        A text without commands is a turn that does nothing, as published.
        """
        if reply.calls:
            return [(call, self._checked(self._tagged(call))) for call in reply.calls]
        text = text_of(reply)
        if self.by_tools and (self.console or not objects(text)):
            return []
        listed = self._stated(reply)
        return [(Call("", str(each["do"]), ""), self._checked(each)) for each in listed]

    def _stated(self, reply: ModelReply) -> list[dict[str, Any]]:
        """Return the commands that a text lists; with prose between them they may be drafts."""
        spans = [(one, self._among(_several(one.value))) for one in stated(reply)]
        spans = [(one, commands) for one, commands in spans if commands]
        listed = [each for _, commands in spans for each in commands]
        if not listed:
            how = "call a tool" if self.by_tools else "write one JSON object"
            raise BadReply(f"your reply holds no command; {how} for every command")
        if not prose_between(reply.text, [one for one, _ in spans]):
            return listed
        if any(each != listed[0] for each in listed):
            raise BadReply(
                "there is text between the commands of your reply, so that some may be drafts; "
                "give them one behind the other"
            )
        return listed[:1]

    def _among(self, stated: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the objects that name a command, or hold a line of the console, tagged."""
        tagged = [as_tagged(each, self.known if "command" in each else ()) for each in stated]
        return [each for each in tagged if "do" in each]

    def _tagged(self, call: Call) -> dict[str, Any]:
        """Return a call as a tagged object."""
        if not (self.console and call.name == _CONSOLE):
            return {**arguments(call), "do": call.name}
        # As published, arguments that cannot be read are an empty command, which is refused.
        try:
            line = arguments(call).get("command")
        except BadReply:
            line = None
        return {"do": _CONSOLE, "command": line if isinstance(line, str) else ""}

    def _checked(self, tagged: Mapping[str, Any]) -> Any:
        return checked_action(self.codec, tagged, self.known, tools=self.by_tools)

    def _next(self) -> Any:
        self._running, action = self._waiting.popleft()
        return action

    def _take_answer(self, desk: Any) -> None:
        call, self._running = self._running, None
        if call is not None:
            self._answer(call, _ENDED if desk.reply is None else texts.result(desk.reply))

    def _drop_waiting(self) -> None:
        """Answer the calls that an ended turn has left: servers refuse a call without an answer."""
        for call, _ in self._waiting:
            self._answer(call, _NOT_RUN)
        self._waiting.clear()

    def _answer(self, call: Call, text: str) -> None:
        if call.id:
            self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        else:
            self._answers.append(f"- {call.name}: {text}")

    # -- messages ----------------------------------------------------------------------------------

    def rules(self, desk: Any) -> str:
        pad = desk.status.scratchpad
        notes = f"\n\n## Your scratchpad\n{pad}" if pad else ""
        rules = texts.rules(self.world_rules, console=self.console)
        return f"{rules}\n\n{self.answer_format()}{notes}"

    def answer_format(self) -> str:
        if self.by_tools:
            return "Act by calling tools, several in one reply if you like."
        wrap = ' in a list: {"commands": [...]}' if self.mode == "schema" else ", in order"
        return f"Act by JSON objects{wrap}; each is one command:\n{menu(self.actions)}"

    def schema(self) -> Schema:
        one = answer_schema(self.actions)
        # The schema of a choice is wrapped in an object; here the list takes the object's place.
        each = one["properties"]["action"] if len(self.actions) > 1 else one
        listed = {"type": "array", "items": each, "minItems": 1, "maxItems": _MOST_COMMANDS}
        return strict(as_object({"commands": listed}))

    def _trim(self) -> None:
        """Replace the rounds before the last `keep` user messages by a marker, as published."""
        users = [n for n, message in enumerate(self._messages) if message["role"] == "user"]
        if len(users) > self.keep:
            first = users[-self.keep] if self.keep else len(self._messages)
            self._messages = [user(texts.DROPPED), *self._messages[first:]]


def _several(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = value.get("commands")
    if not isinstance(listed, list):
        return [dict(value)]
    return [each for each in listed if isinstance(each, dict)]


CONVERSATION = ConversationKind(YCBenchOptions, TurnConversation)
