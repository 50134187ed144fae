"""EnterpriseArena: a conversation for each month; only the notepad is kept beyond it.

Source: reference SPEC of EnterpriseArena, sections 9 to 11.
"""

from collections.abc import Collection, Mapping
from typing import Any

from desim import Episode, Seat
from desim.schema import to_plain
from desim.schema.described import Schema, menu
from policies.llm.conversation import Conversation, ConversationKind, NoCallNeeded, ParsedReply
from policies.llm.messages import (
    as_json,
    as_object,
    assistant_message,
    strict,
    system,
    tool_results,
    user,
)
from policies.llm.options import LLMOptions
from policies.llm.replies import action_of, as_tagged, name_of
from policies.llm.wires.wire import Message, ModelReply, Request

_NOTES = ("save_note", "recall_notes")

_ACTIONS = ("pass", "book_closing", "fund_raising_request")

_TYPES = _TOOL, _ACTION, _MEMORY = "tool", "action", "memory"

#: The names of tools in the public simulator; the paper's are offered.
_PUBLIC_NAMES = (
    "check_cash_in_bank",
    "access_financial_docs",
    "check_market_data",
    "cash_flow_forecast_calculation",
)

#: Uses of the notepad in one month, after which the month passes.
_NOTE_USES = 20

_RULES = """

- When the month's budget of calls is used up, the month passes without an action.
- The notepad is free. It is all that you remember of a month: this conversation is cleared when \
the month ends. Your five latest notes are shown to you; older ones can be recalled by text or \
tag."""


class MonthlyConversation(Conversation):
    """A conversation of one month, so that the option `history` has no effect."""

    def __init__(self, seat: Seat, options: LLMOptions) -> None:
        super().__init__(seat, options, mode="json")
        self._begin(None)

    def offered(self) -> list[str]:
        """Return the names of the paper's tools and of the actions."""
        return [name for name in super().offered() if name not in _PUBLIC_NAMES]

    def _begin(self, month: int | None) -> None:
        self._month = month
        self._messages: list[Message] = []
        self._last: ModelReply | None = None
        self._note_uses = 0

    def action_without_call(self, month: Any) -> Any:
        """Return None while the model may act in this month."""
        if month.current_month != self._month:
            self._begin(month.current_month)
            return None
        if month.tool_calls_remaining <= 0:
            raise NoCallNeeded("the tools of the month are used up")
        if self._note_uses >= _NOTE_USES:
            raise NoCallNeeded("the notepad has been used enough this month")
        return None

    def question(self, month: Any) -> Request:
        if self._last is not None:
            self._messages += self._result(self._last, month)
            self._last = None
        elif not self._messages:
            self._messages.append(user(_header(month)))
        rules = f"{self.world_rules}{_RULES}"
        told = f"{rules}\n\n{self.answer_format()}\n\nIt is month {_month_name(month)}."
        return self.request([system(told), *self._messages])

    def read(self, reply: ModelReply, _: Any) -> ParsedReply:
        action = action_of(self.codec, reply, self.known, _as_tagged, tools=self.by_tools)
        self._messages.append(assistant_message(reply))
        self._last = reply
        self._note_uses += name_of(action) in _NOTES
        return ParsedReply(action)

    def fallback(self, _: Any) -> Any:
        return self.codec.read({"do": "pass"})

    def after(self, _: Episode) -> None:
        self._begin(None)

    def _result(self, reply: ModelReply, month: Any) -> list[Message]:
        result = {"result": None} if month.reply is None else to_plain(month.reply)
        text = as_json({**result, "tool_calls_remaining": month.tool_calls_remaining})
        return tool_results(reply, [text] * len(reply.calls)) if reply.calls else [user(text)]

    def answer_format(self) -> str:
        if self.by_tools:
            return "Call one tool at a time; an action ends the month."
        kinds: dict[str, dict[str, Schema]] = {kind: {} for kind in _TYPES}
        for name, schema in self.actions.items():
            kinds[_kind(name)][name] = schema
        return (
            "Reply with your reasons, then one JSON object in one of these forms:\n"
            '{"type": "tool", "name": NAME, "params": {...}}\n'
            f"{menu(kinds[_TOOL], 'name')}\n"
            '{"type": "action", "name": NAME, "params": {...}}\n'
            f"{menu(kinds[_ACTION], 'name')}\n"
            '{"type": "memory", "operation": NAME, and its arguments beside}\n'
            f"{menu(kinds[_MEMORY], 'operation')}"
        )

    def schema(self) -> Schema:
        shapes = [_shape(name, schema) for name, schema in self.actions.items()]
        return strict(as_object({"reasoning": {"type": "string"}, "action": {"anyOf": shapes}}))


#: The status of a month; a header may hide the state of the company.
_HEADER = {
    "cash_balance": "Cash: {:,.2f} dollars",
    "active_users": "Borrowers: {:,}",
    "loan_portfolio_gross": "Gross loan book: {:,.2f} dollars",
    "total_debt": "Total debt: {:,.2f} dollars",
    "lending_rate": "Effective lending rate: {:.4f} a year",
    "tool_calls_remaining": "Tool calls left: {}",
    "pending_fundraisings": "Funding requests under way: {}",
}


def _header(month: Any) -> str:
    """Return the first user message of a month: its status."""
    shown = to_plain(month)
    lines = [f"Month {_month_name(month)}"]
    lines += [text.format(shown[name]) for name, text in _HEADER.items() if name in shown]
    if flash := shown.get("flash"):
        lines.append(f"Month just closed: {as_json(flash)}")
    lines += [f"Funding news: {as_json(to_plain(each))}" for each in month.notifications]
    if month.reply is not None:
        lines.append(f"Your last action: {as_json(to_plain(month.reply))}")
    lines += ["", "Your latest notes:" if month.notes else "You have no notes."]
    lines += [_note(each) for each in month.notes]
    return "\n".join([*lines, "", "What will you do?"])


def _month_name(month: Any) -> str:
    return f"{month.current_month} ({month.date})"


def _note(note: Any) -> str:
    tags = f" [{', '.join(note.tags)}]" if note.tags else ""
    return f"- {note.id}, month {note.month}{tags}: {note.content}"


def _kind(name: str) -> str:
    if name in _NOTES:
        return _MEMORY
    return _ACTION if name in _ACTIONS else _TOOL


def _as_tagged(value: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Rewrite an object in the form of the SPEC as a tagged object."""
    wrapped = value.get("action")
    plain = dict(wrapped if isinstance(wrapped, Mapping) else value)
    key = "operation" if plain.get("type") == _MEMORY else "name"
    if plain.get("type") not in _TYPES or key not in plain:
        return as_tagged(value, known)
    del plain["type"]
    name, inner = plain.pop(key), plain.pop("params", None)
    return {**(inner if isinstance(inner, Mapping) else plain), "do": name}


def _shape(name: str, schema: Schema) -> Schema:
    kind = _kind(name)
    typed = {"type": {"type": "string", "enum": [kind]}}
    named = {"type": "string", "enum": [name]}
    if kind != _MEMORY:
        return as_object({**typed, "name": named, "params": schema})
    shape = as_object({**typed, "operation": named, **schema["properties"]})
    return shape | {"required": ["type", "operation", *schema["required"]]}


CONVERSATION = ConversationKind(LLMOptions, MonthlyConversation)
