"""From a model's reply to an action, or to a sentence that says what is wrong with the reply.

A reply is read as JSON and checked against the role's schema; nothing in it is executed.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NoReturn

import attrs

from desim.errors import WrongAction, possible
from desim.schema import Codec, tag
from policies.llm.wire import Call, ModelReply

__all__ = [
    "BadReply",
    "action_in_text",
    "action_of_call",
    "arguments",
    "as_tagged",
    "checked_action",
    "name_of",
    "objects",
    "text_of",
]

#: Characters of a text that are searched.
_LONGEST = 200_000

#: Opening braces at which decoding is tried; it bounds the time for a text full of them.
_BRACES = 500

#: Characters of an unknown action's name that an error repeats, the words before it included.
_WIDTH = 120

#: Keys of a call's arguments where the call is written as text.
_INNER = ("arguments", "parameters", "params", "args", "input")

#: Keys under which a single action may be wrapped.
_WRAPS = ("action", "answer", "final_answer")

#: Rewrites an object that means an action as a tagged object, given the names of the actions.
Tagger = Callable[[Mapping[str, Any], Collection[str]], dict[str, Any]]


class BadReply(Exception):
    """A reply without a valid action; the one argument is a sentence for the model."""


def text_of(reply: ModelReply) -> str:
    """Return a reply's text.

    Raises:
        BadReply: The model refuses, or the text is empty.
    """
    if reply.refusal:
        raise BadReply("you refused; this is a simulation, and an answer is needed")
    if not reply.text.strip():
        cut = " because it ran into the limit of tokens" if reply.finish == "length" else ""
        raise BadReply(f"your reply was empty{cut}")
    return reply.text


def objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of a text in order, whatever surrounds them.

    >>> objects('I think {"a": 1} or [{"b": {"c": 2}}].')
    [{'a': 1}, {'b': {'c': 2}}]
    """
    return list(_objects(text[:_LONGEST]))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = tries = 0
    while tries < _BRACES and (at := text.find("{", at)) >= 0:
        tries += 1
        try:
            decoded, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield decoded


def arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of a call; empty where its text is.

    Raises:
        BadReply: They are no JSON object.
    """
    if not call.arguments.strip():
        return {}
    try:
        decoded = _DECODER.decode(call.arguments[:_LONGEST])
    except (ValueError, RecursionError) as fault:
        raise BadReply(f"the arguments of {call.name} are no JSON: {fault}") from None
    if not isinstance(decoded, dict):
        raise BadReply(f"the arguments of {call.name} are no JSON object")
    return decoded


def action_of_call(codec: Codec, call: Call, known: Collection[str]) -> Any:
    """Return the action of a tool call.

    Args:
        codec: The role's actions.
        call: A tool call.
        known: Names of the actions that are allowed.

    Raises:
        BadReply: There is no such tool, or its arguments do not fit.
    """
    return checked_action(codec, {**arguments(call), "do": call.name}, known)


def action_in_text(
    codec: Codec, reply: ModelReply, known: Collection[str], tagger: Tagger | None = None
) -> Any:
    """Return the one action that a text holds; the same action written twice counts once.

    Args:
        codec: The role's actions.
        reply: The reply whose text is searched.
        known: Names of the actions that are allowed.
        tagger: Rewrites an object as a tagged object; `as_tagged` by default.

    Raises:
        BadReply: The text holds no action, or several.
    """
    text = text_of(reply)
    candidates = objects(text)
    if not candidates:
        cut = "; it ran into the limit of tokens" if reply.finish == "length" else ""
        raise BadReply(f"your reply holds no JSON object{cut}")
    actions: list[Any] = []
    wrong = BadReply("your reply holds no action")
    for each in candidates:
        try:
            action = checked_action(codec, (tagger or as_tagged)(each, known), known)
        except BadReply as bad:
            wrong = bad
        else:
            actions += [] if action in actions else [action]
    if len(actions) > 1:
        raise BadReply(f"your reply holds {len(actions)} different actions; answer with one")
    if not actions:
        raise wrong
    return actions[0]


def as_tagged(value: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Rewrite an object that means an action as a tagged object.

    Accepted are the tagged object itself, one wrapped as `action`, a call written as text
    (`{"name": ..., "arguments": {...}}`), and bare arguments where only one action is known.
    """
    if "do" in value:
        return dict(value)
    wrapped = [inner for wrap in _WRAPS if isinstance(inner := value.get(wrap), Mapping)]
    plain = {**(wrapped[0] if wrapped else value)}
    if "do" not in plain and isinstance(plain.get("name"), str):
        plain["do"] = plain.pop("name")
        inner = [plain.pop(key) for key in _INNER if isinstance(plain.get(key), Mapping)]
        return {**(inner[0] if inner else plain), "do": plain["do"]}
    if "do" not in plain and len(known) == 1:
        plain["do"] = next(iter(known))
    return plain


def checked_action(codec: Codec, tagged: Mapping[str, Any], known: Collection[str]) -> Any:
    """Return the action of a tagged object, checked against the role's schema.

    An argument that has a default may be null, which stands for the default.

    Raises:
        BadReply: The action is not known, or its arguments do not fit.
    """
    name = tagged.get("do")
    if not isinstance(name, str) or name not in known:
        missing = "no action is named (do)"
        unknown = f"there is no action {name!r}"[:_WIDTH] if "do" in tagged else missing
        raise BadReply(f"{unknown}; {possible(str(name), sorted(known))}")
    needed = _required(codec, name)
    kept = {key: value for key, value in tagged.items() if value is not None or key in needed}
    try:
        action, _ = codec.take(kept)
    except WrongAction as wrong:
        raise BadReply(str(wrong)) from None
    return action


def name_of(action: Any) -> str:
    """Return the name of an action."""
    return tag(type(action))  # type: ignore[arg-type] # classes do hash


def _required(codec: Codec, name: str) -> Collection[str]:
    """Return the names of an action's arguments without a default."""
    fields = attrs.fields(codec.classes[name])
    return {f.alias for f in fields if f.default is attrs.NOTHING}


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's decoder accepts and JSON does not."""
    raise ValueError(f"{name} is no number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
