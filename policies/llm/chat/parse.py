"""From a model's reply to an action, or to a sentence about the error in the reply.

All worlds read replies by the same rules. Reasoning has been cut (`replies.answer`). Tool calls of
the reply go before calls written in its text, and these before JSON objects in it. Several equal
decisions are one, different ones are a bad reply, and objects that fit no action are ignored.
Actions are checked against the role's schema; nothing in a reply is executed.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import attrs

from desim.errors import WrongAction, possible
from desim.schema import Codec, tag
from desim.schema.described import action_schemas
from policies.llm.replies import BadReply
from policies.llm.replies.calls import ARGUMENTS, calls_in
from policies.llm.replies.elements import WrittenCall
from policies.llm.replies.lenient import NoJSON, decode_lenient
from policies.llm.replies.objects import LONGEST, decode_value, object_spans
from policies.llm.wires.wire import Call, ModelReply

#: Characters of an unknown action's name that an error repeats, the words before it included.
_WIDTH = 120

#: Keys under which a single action may be wrapped.
_WRAPS = ("action", "answer", "final_answer")

#: Rewrites an object that means an action as a tagged object, given the names of the actions.
Tagger = Callable[[Mapping[str, Any], Collection[str]], dict[str, Any]]

#: A JSON object of a text, with the positions at which it begins and ends.
Span = tuple[dict[str, Any], int, int]

#: Separators of the objects in a list: fences, bullets, numbers, commas.
_SEPARATORS = re.compile(r"```(?:json)?|\b(?:and|then|\d{1,3}[.)])(?!\w)|[\s\[\],;*\u2022-]")

T = TypeVar("T")


# -- the parts of a reply --------------------------------------------------------------------------


def text_of(reply: ModelReply) -> str:
    """Return a reply's text.

    Raises:
        BadReply: The model refuses, or the text is empty.
    """
    if reply.refusal:
        raise BadReply("you refused; this is a simulation, and an answer is needed")
    if not reply.text.strip():
        raise BadReply("your reply was empty" + f" because {reply.cut}" * bool(reply.cut))
    return reply.text


def written_calls(reply: ModelReply, codec: Codec, known: Collection[str]) -> list[WrittenCall]:
    """Return the calls of a reply: its tool calls, or else those written in its text.

    Arguments that a form writes as text are converted to the types of the action.

    Raises:
        BadReply: A call is cut, or its arguments are not a JSON object.
    """
    if reply.calls:
        return [WrittenCall(call.name, arguments(call)) for call in reply.calls]
    found = calls_in(reply.text, known)
    return [WrittenCall(each.name, typed_arguments(codec, each)) for each in found]


def stated_objects(reply: ModelReply, *, tools: bool = False) -> list[dict[str, Any]]:
    """Return the JSON objects of a reply's text; see `stated_spans`."""
    return [each for each, _, _ in stated_spans(reply, tools=tools)]


def stated_spans(reply: ModelReply, *, tools: bool = False) -> list[Span]:
    """Return the JSON objects of a reply's text, each with its beginning and its end.

    Args:
        reply: The reply, without reasoning.
        tools: Whether the prompt requests tool calls; then error texts do so, too.

    Raises:
        BadReply: The text is empty or has no object, or the server has cut a reply with prose
            around its objects, which may then be drafts.
    """
    text = text_of(reply)[:LONGEST]
    found = list(object_spans(text))
    why = f"; {reply.cut}" * bool(reply.cut)
    if not found:
        missing = "your reply calls no tool" if tools else "your reply holds no JSON object"
        raise BadReply(missing + why)
    if reply.cut and not reply.thinking and _has_prose(text, found):
        raise BadReply("your reply is not complete" + why)
    return found


def prose_between(text: str, spans: Sequence[Span]) -> str:
    """Return what is between the objects of a text, without fences, bullets and separators."""
    return _prose(" ".join(text[a[2] : b[1]] for a, b in pairwise(spans)))


def _has_prose(text: str, spans: Sequence[Span]) -> bool:
    """Return whether anything but objects, a cut object at the end, and fences is in a text."""
    before, after = text[: spans[0][1]], text[spans[-1][2] :]
    cut_object = _prose(after).startswith("{")
    return bool(_prose(before) or prose_between(text, spans) or (_prose(after) and not cut_object))


def _prose(text: str) -> str:
    return _SEPARATORS.sub("", text)


def arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of a call; empty if its text is empty.

    Raises:
        BadReply: The arguments are not a JSON object.
    """
    text = call.arguments[:LONGEST].strip()
    if not text:
        return {}
    try:
        decoded, end = decode_value(text)
    except NoJSON as fault:
        raise BadReply(f"the arguments of {call.name} are no JSON: {fault}") from None
    if end < len(text):
        raise BadReply(f"the arguments of {call.name} are no JSON: more follows at {end}")
    if not isinstance(decoded, dict):
        raise BadReply(f"the arguments of {call.name} are no JSON object")
    return decoded


def typed_arguments(codec: Codec, call: WrittenCall) -> Mapping[str, Any]:
    """Return the arguments of a call; texts for fields of another type are read as JSON."""
    if not call.as_text:
        return call.arguments
    schema = action_schemas(codec, [call.name]).get(call.name, {}) if call.name else {}
    fields = schema.get("properties", {})
    return {
        name: value if "string" in _types(fields.get(name, {})) else _value_in(value)
        for name, value in call.arguments.items()
    }


def _types(schema: Mapping[str, Any]) -> set[str]:
    """Return the names of the JSON types that a schema allows."""
    named = schema.get("type", ())
    found = {named} if isinstance(named, str) else set(named)
    found |= {"string" for each in schema.get("enum", ()) if isinstance(each, str)}
    return found.union(*(_types(each) for each in schema.get("anyOf", ())))


def _value_in(value: Any) -> Any:
    """Return a text decoded as JSON, or the text itself if it is not JSON."""
    if not isinstance(value, str):
        return value
    try:
        found, end = decode_lenient(f"{value.strip()} ")
    except NoJSON:
        return value
    return found if end == len(value.strip()) else value


# -- actions ---------------------------------------------------------------------------------------


def action_of(
    codec: Codec,
    reply: ModelReply,
    known: Collection[str],
    tagger: Tagger | None = None,
    offered: Collection[str] = (),
    *,
    tools: bool = False,
) -> Any:
    """Return the one action that a reply means.

    Args:
        codec: The role's actions.
        reply: The reply, without reasoning.
        known: Names of the actions that are allowed.
        tagger: Rewrites an object as a tagged object; `as_tagged` by default.
        offered: Names of the actions that an error text may list; *known* by default.
        tools: Whether the prompt requests tool calls; then error texts do so, too.

    Raises:
        BadReply: The reply holds no valid action, or different ones.
    """
    check = partial(checked_action, codec, known=known, hints=offered, tools=tools)
    if calls := written_calls(reply, codec, known):
        actions = [check({**each.arguments, "do": each.name}) for each in calls]
        return only(actions, [each.name for each in calls] if reply.calls else ())
    rewrite = tagger or as_tagged
    stated = [rewrite(each, known) for each in stated_objects(reply, tools=tools)]
    return only(_valid(stated, check))


def _valid(tagged: Iterable[dict[str, Any]], check: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """Return the actions among tagged objects."""
    actions: list[Any] = []
    wrong = BadReply("your reply holds no action")
    for each in tagged:
        try:
            actions.append(check(each))
        except BadReply as bad:
            wrong = bad
    if not actions:
        raise wrong
    return actions


def only(decisions: Iterable[T], tools: Collection[str] = ()) -> T:
    """Return the decision that all are equal to, of at least one; *tools* were called for them.

    Raises:
        BadReply: The reply holds different actions.
    """
    distinct: list[T] = []
    for each in decisions:
        distinct += [] if each in distinct else [each]
    if len(distinct) == 1:
        return distinct[0]
    if tools:
        raise BadReply(f"you called {len(tools)} tools ({', '.join(tools):.100}); call one")
    raise BadReply(f"your reply holds {len(distinct)} different actions; answer with one")


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
        inner = [plain.pop(key) for key in ARGUMENTS if isinstance(plain.get(key), Mapping)]
        return {**(inner[0] if inner else plain), "do": plain["do"]}
    if "do" not in plain and len(known) == 1:
        plain["do"] = next(iter(known))
    return plain


def checked_action(
    codec: Codec,
    tagged: Mapping[str, Any],
    known: Collection[str],
    hints: Collection[str] = (),
    *,
    tools: bool = False,
) -> Any:
    """Return the action of a tagged object, checked against the role's schema; see `action_of`.

    An argument that has a default may be null, which stands for the default. *hints* are the names
    that an error text may list.

    Raises:
        BadReply: The action is not known, or its arguments do not fit.
    """
    name = tagged.get("do")
    if not isinstance(name, str) or name not in known:
        kind, given = "tool" if tools else "action", "do" in tagged
        unknown = f"there is no {kind} {name!r}"[:_WIDTH] if given else f"no {kind} is named"
        raise BadReply(f"{unknown}; {possible(str(name), sorted(hints or known))}")
    needed = _required(codec, name)
    kept = {key: value for key, value in tagged.items() if value is not None or key in needed}
    try:
        action, _ = codec.take(kept)
    except WrongAction as wrong:
        # Most prompts contain neither the tagged object nor the names of classes.
        raise BadReply(f"the arguments of {name} do not fit: {wrong.why}") from None
    return action


def name_of(action: Any) -> str:
    """Return the name of an action."""
    return tag(type(action))  # type: ignore[arg-type] # classes do hash


def _required(codec: Codec, name: str) -> Collection[str]:
    """Return the names of an action's arguments without a default."""
    fields = attrs.fields(codec.classes[name])
    return {f.alias for f in fields if f.default is attrs.NOTHING}
