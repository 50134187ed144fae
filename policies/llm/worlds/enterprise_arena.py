"""EnterpriseArena: a conversation a month; only the notepad outlives it.

Source: reference SPEC of EnterpriseArena, sections 9 to 11.
"""

from collections.abc import Collection, Mapping
from typing import Any

from desim import Episode, Seat
from desim.schema import codec, to_plain
from policies.llm import parse, tools
from policies.llm.parse import BadReply
from policies.llm.talk import (
    Question,
    Rests,
    Taken,
    Talk,
    Wishes,
    results,
    said,
    shown,
    system,
    user,
)
from policies.llm.wire import Message, Reply

__all__ = ["talk"]

_NOTES = ("save_note", "recall_notes")

_ACTIONS = ("pass", "book_closing", "fund_raising_request")

_TYPES = ("tool", "action", "memory")

#: The paper's name of a tool and the public simulator's.
_NAMES = {
    "verify_cash_position": "check_cash_in_bank",
    "review_financial_records": "access_financial_docs",
    "analyze_market_conditions": "check_market_data",
    "conduct_cashflow_projection": "cash_flow_forecast_calculation",
}

#: Uses of the notepad in one month, after which it passes.
_NOTEPAD = 20

_RULES = """You are the chief financial officer of a company that lends to consumers. Every \
month you may look into things and must then do exactly one thing, which ends the month. Your \
first duty is that cash never falls below zero at the end of a month: then everything is over. If \
the company lives on, revenue of its latest year and cash in the bank count for you.

- Tools show how things stand. Each use counts against you and against the month's budget; when \
the budget is used up, the month passes without an action.
- The notepad is free. It is all that you remember of a month: this conversation is cleared when \
the month ends. Your five latest notes are shown to you; older ones can be recalled by text or tag.
- An action ends the month: pass, close the books, or ask for funding. Money that is asked for \
arrives one to six months later, if at all, and only one request can be under way.

There is no order that you must follow; you may act at any time."""


def talk(seat: Seat, wishes: Wishes) -> Talk:
    """Begin a conversation."""
    return Monthly(seat, wishes)


class Monthly:
    """A conversation of one month.

    Args:
        seat: The officer's.
        wishes: Of these `mode` and `tool_names` matter.
    """

    def __init__(self, seat: Seat, wishes: Wishes) -> None:
        self.seat = seat
        self.mode = wishes.mode or "json"
        self.codec = codec(seat.does.does)
        hidden = _NAMES.values() if wishes.tool_names == "paper" else _NAMES.keys()
        self.known = list(self.codec.classes)
        self.actions = tools.actions(self.codec, [n for n in self.known if n not in hidden])
        self.memory: list[Any] = []
        self._begin(None)

    def _begin(self, month: int | None) -> None:
        self._month = month
        self._messages: list[Message] = []
        self._last: Reply | None = None
        self._asked: Message | None = None
        self._notepad = 0

    def due(self, month: Any) -> Any:
        """Let the month pass once its tools or its notepad are used up.

        Raises:
            Rests: They are.
        """
        if month.current_month != self._month:
            self._begin(month.current_month)
            return None
        if month.tool_calls_remaining <= 0:
            raise Rests("the tools of the month are used up")
        if self._notepad >= _NOTEPAD:
            raise Rests("the notepad has been used enough this month")
        return None

    def question(self, month: Any) -> Question:
        """Return what to ask: the rules, and the month so far."""
        if self._last is not None:
            self._messages += self._result(self._last, month)
            self._last = None
        elif not self._messages:
            self._messages.append(user(_header(month)))
        rules = system(f"{_RULES}\n\n{self._form()}\n\nIt is month {_named(month)}.")
        offered = tools.tools(self.actions) if self.mode == "tools" else []
        schema = _schema(self.actions) if self.mode == "schema" else None
        return Question([rules, *self._messages], offered, schema)

    def read(self, reply: Reply, _: Any) -> Taken:
        """Understand a reply and keep it for the rest of the month.

        Raises:
            BadReply: It is no tool, note or action, or more than one.
        """
        if len(reply.calls) > 1:
            raise BadReply(f"you called {len(reply.calls)} tools; call one at a time")
        if reply.calls:
            action = parse.action_of_call(self.codec, reply.calls[0], self.known)
        else:
            action = parse.action_in_text(self.codec, reply, self.known, _spelled)
        self._messages.append(said(reply))
        self._last = reply
        self._notepad += parse.name_of(action) in _NOTES
        return Taken(action)

    def fall_back(self, _: Any) -> Any:
        """Pass."""
        return self.codec.read({"do": "pass"})

    def after(self, _: Episode) -> None:
        """Forget the month."""
        self._begin(None)

    def _result(self, reply: Reply, month: Any) -> list[Message]:
        """Return what the last tool or note of this month was answered."""
        answered = month.reply
        told = {"result": None} if answered is None else to_plain(answered)
        text = shown({**told, "tool_calls_remaining": month.tool_calls_remaining})
        return results(reply, [text]) if reply.calls else [user(text)]

    def _form(self) -> str:
        if self.mode == "tools":
            return "Call one tool at a time; an action ends the month."
        kinds = {kind: _of(self.actions, kind) for kind in _TYPES}
        return (
            "Reply with your reasons, then one JSON object in one of these forms:\n"
            '{"type": "tool", "name": NAME, "params": {...}}\n'
            f"{tools.menu(kinds['tool'], 'name')}\n"
            '{"type": "action", "name": NAME, "params": {...}}\n'
            f"{tools.menu(kinds['action'], 'name')}\n"
            '{"type": "memory", "operation": NAME, and its arguments beside}\n'
            f"{tools.menu(kinds['memory'], 'operation')}"
        )


def _header(month: Any) -> str:
    """Return the status with which a month begins."""
    lines = [
        f"Month {_named(month)}",
        f"Cash: {month.cash_balance:,.2f} dollars",
        f"Borrowers: {month.active_users:,}",
        f"Gross loan book: {month.loan_portfolio_gross:,.2f} dollars",
        f"Total debt: {month.total_debt:,.2f} dollars",
        f"Effective lending rate: {month.lending_rate:.4f} a year",
        f"Tool calls left: {month.tool_calls_remaining}",
        f"Funding requests under way: {month.pending_fundraisings}",
    ]
    if month.flash:
        lines.append(f"Month just closed: {shown(to_plain(month.flash))}")
    lines += [f"Funding news: {shown(to_plain(each))}" for each in month.notifications]
    if month.reply is not None:
        lines.append(f"Your last action: {shown(to_plain(month.reply))}")
    lines += ["", "Your latest notes:" if month.notes else "You have no notes."]
    lines += [_note(each) for each in month.notes]
    return "\n".join([*lines, "", "What will you do?"])


def _named(month: Any) -> str:
    return f"{month.current_month} ({month.date})"


def _note(note: Any) -> str:
    tags = f" [{', '.join(note.tags)}]" if note.tags else ""
    return f"- {note.id}, month {note.month}{tags}: {note.content}"


def _kind(name: str) -> str:
    if name in _NOTES:
        return "memory"
    return "action" if name in _ACTIONS else "tool"


def _of(actions: Mapping[str, tools.Schema], kind: str) -> dict[str, tools.Schema]:
    return {name: schema for name, schema in actions.items() if _kind(name) == kind}


def _spelled(given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Write an object in the form of the SPEC as a tagged object."""
    wrapped = given.get("action")
    plain = dict(wrapped if isinstance(wrapped, Mapping) else given)
    key = "operation" if plain.get("type") == "memory" else "name"
    if plain.get("type") not in _TYPES or key not in plain:
        return parse.spelled(given, known)
    del plain["type"]
    name, inner = plain.pop(key), plain.pop("params", None)
    return {**(inner if isinstance(inner, Mapping) else plain), "do": name}


def _schema(actions: Mapping[str, tools.Schema]) -> tools.Schema:
    """Return the schema of a reply in the form of the SPEC, wrapped as `reply`."""
    shapes = [_shape(name, schema) for name, schema in actions.items()]
    return tools.strict(
        tools.as_object({"reasoning": {"type": "string"}, "action": {"anyOf": shapes}})
    )


def _shape(name: str, schema: tools.Schema) -> tools.Schema:
    kind = _kind(name)
    typed = {"type": {"type": "string", "enum": [kind]}}
    named = {"type": "string", "enum": [name]}
    if kind != "memory":
        return tools.as_object({**typed, "name": named, "params": schema})
    shape = tools.as_object({**typed, "operation": named, **schema["properties"]})
    return shape | {"required": ["type", "operation", *schema["required"]]}
