"""From a reply to actions, or to the sentence that says what is wrong with it.

What a model writes is read as JSON and checked against the role's schema, nothing else.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NoReturn

from desim.errors import WrongAction, possible
from desim.schema import Codec, tag
from policies.llm.wire import Call, Reply

__all__ = [
    "BadReply",
    "action_in_text",
    "action_of_call",
    "arguments",
    "name_of",
    "objects",
    "spelled",
    "taken",
    "text_of",
]

#: Characters of a text that are searched; nobody's answer is longer.
_LONGEST = 200_000

#: Opening braces that are tried; a text full of them is no answer.
_BRACES = 500

#: What the arguments of a call may be named when it is written as text.
_INNER = ("arguments", "parameters", "params", "args", "input")

#: Keys under which a single action may be wrapped.
_WRAPS = ("action", "answer", "final_answer")


#: Writes an object that means an action as a tagged object.
Spell = Callable[[Mapping[str, Any], Collection[str]], dict[str, Any]]


class BadReply(Exception):
    """A reply that is no answer; the one argument is a sentence for the model."""


def text_of(reply: Reply) -> str:
    """Return a reply's text.

    Raises:
        BadReply: It refuses, or says nothing.
    """
    if reply.refusal:
        raise BadReply("you refused; this is a simulation, and an answer is needed")
    if not reply.text.strip():
        cut = " because it ran into the limit of tokens" if reply.finish == "length" else ""
        raise BadReply(f"your reply was empty{cut}")
    return reply.text


def objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of a text in order, whatever stands around them.

    >>> objects('I think {"a": 1} or [{"b": {"c": 2}}].')
    [{'a': 1}, {'b': {'c': 2}}]
    """
    return list(_objects(text[:_LONGEST]))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = tries = 0
    while tries < _BRACES and (at := text.find("{", at)) >= 0:
        tries += 1
        try:
            found, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield found


def arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        BadReply: They are no JSON object.
    """
    if not call.arguments.strip():
        return {}
    try:
        found = _DECODER.decode(call.arguments[:_LONGEST])
    except (ValueError, RecursionError) as fault:
        raise BadReply(f"the arguments of {call.name} are no JSON: {fault}") from None
    if not isinstance(found, dict):
        raise BadReply(f"the arguments of {call.name} are no JSON object")
    return found


def action_of_call(codec: Codec, call: Call, known: Collection[str]) -> Any:
    """Return the action of a tool call.

    Raises:
        BadReply: There is no such tool, or its arguments do not fit.
    """
    return taken(codec, {**arguments(call), "do": call.name}, known)


def action_in_text(
    codec: Codec, reply: Reply, known: Collection[str], spell: Spell | None = None
) -> Any:
    """Return the one action that a text holds; the same one written twice is one.

    Args:
        codec: What the role does.
        reply: Whose text.
        known: Names of the actions that may be taken.
        spell: How an object that means an action is written as a tagged object; `spelled`.

    Raises:
        BadReply: It holds none, or several.
    """
    text = text_of(reply)
    found = objects(text)
    if not found:
        cut = "; it ran into the limit of tokens" if reply.finish == "length" else ""
        raise BadReply(f"your reply holds no JSON object{cut}")
    read: list[Any] = []
    wrong = BadReply("your reply holds no action")
    for each in found:
        try:
            action = taken(codec, (spell or spelled)(each, known), known)
        except BadReply as bad:
            wrong = bad
        else:
            read += [] if action in read else [action]
    if len(read) > 1:
        raise BadReply(f"your reply holds {len(read)} different actions; answer with one")
    if not read:
        raise wrong
    return read[0]


def spelled(given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Write an object that means an action as a tagged object.

    Understood are the tagged object itself, one wrapped as `action`, a call written as text
    (`{"name": ..., "arguments": {...}}`), and bare arguments where only one action is known.
    """
    if "do" in given:
        return dict(given)
    wrapped = [inner for wrap in _WRAPS if isinstance(inner := given.get(wrap), Mapping)]
    plain = {**(wrapped[0] if wrapped else given)}
    if "do" not in plain and isinstance(plain.get("name"), str):
        plain["do"] = plain.pop("name")
        inner = [plain.pop(key) for key in _INNER if isinstance(plain.get(key), Mapping)]
        return {**(inner[0] if inner else plain), "do": plain["do"]}
    if "do" not in plain and len(known) == 1:
        plain["do"] = next(iter(known))
    return plain


def taken(codec: Codec, given: Mapping[str, Any], known: Collection[str]) -> Any:
    """Check a tagged object against the role's schema.

    Nothing (null) for an argument that has a default stands for the default.

    Raises:
        BadReply: The action is not known, or its arguments do not fit.
    """
    name = given.get("do")
    if not isinstance(name, str) or name not in known:
        told = f"there is no action {name!r}"[:120] if "do" in given else "no action is named (do)"
        raise BadReply(f"{told}; {possible(str(name), sorted(known))}")
    needed = _required(codec, name)
    kept = {key: value for key, value in given.items() if value is not None or key in needed}
    try:
        action, _ = codec.take(kept)
    except WrongAction as wrong:
        raise BadReply(str(wrong)) from None
    return action


def name_of(action: Any) -> str:
    """Return the name of an action."""
    return tag(type(action))  # type: ignore[arg-type] # classes do hash


def _required(codec: Codec, name: str) -> Collection[str]:
    import attrs

    fields = attrs.fields(codec.classes[name])
    return {f.alias for f in fields if f.default is attrs.NOTHING}


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)
