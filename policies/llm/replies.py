"""From a model's reply to an action, or to a sentence that tells the model what was wrong with it.

All worlds, methods and the router read replies by these rules. Reasoning is cut first. Tool calls
in the field of the message go before JSON objects in the text, which are read strictly. Several
equal decisions are one, different ones are a bad reply, and objects that fit no action are ignored.
Actions are checked against the role's schema; nothing in a reply is executed.

Source: reference `wires.md`, section 5.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import attrs

from desim.core.policy import ReadReply
from desim.errors import WrongAction, possible
from desim.schema import Codec, tag
from desim.schema.untrusted import refuse_constant
from policies.llm.wires.wire import Call, ModelReply

#: Characters of a text that are searched, and of an unknown action's name that an error repeats.
LONGEST, _WIDTH = 200_000, 120

#: Opening braces at which decoding is tried; it bounds the time for a text full of them.
_BRACES = 500

#: Keys under which a single action may be wrapped, and the arguments of a call.
_WRAPS = ("action", "answer", "final_answer")
_ARGUMENTS = ("arguments", "parameters", "params", "args", "input")

#: Separators of the objects in a list: fences, bullets, numbers, commas.
_SEPARATORS = re.compile(r"```(?:json)?|\b(?:and|then|\d{1,3}[.)])(?!\w)|[\s\[\],;*\u2022-]")

T = TypeVar("T")


class BadReply(Exception):
    """A reply without a valid action; the one argument is a sentence for the model."""


# -- reasoning -------------------------------------------------------------------------------------

#: Words of a marker that make it one of reasoning; in square brackets only the first two do.
_REASONING = frozenset(
    """think thinking thought thoughts reason reasoning reflect reflection analysis scratchpad
    rationale cot monologue deliberation inner""".split()  # noqa: SIM905 (shorter than a list)
)
_BRACKETED = frozenset(("think", "thinking"))

#: Words of a marker that say on which side of the span it is.
_BEGIN = frozenset(("begin", "start", "open", "of", "prefix"))
_END = frozenset(("end", "stop", "close", "suffix"))

#: A marker in one of the brackets; attributes may follow its name.
_MARKER = re.compile(
    r"(?P<left><[|\uff5c]?|\[|◁)\s*(?P<slash>/?)\s*[|\uff5c]?"
    r"(?P<name>[A-Za-z][\w:|\u2581.\-]{0,60})"
    r"(?:\s[^<>\[\]◁▷]{0,200})?"
    r"(?P<right>[|\uff5c]?>|\]|▷)"
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W_]+")

#: Other spans, which do not nest: where reasoning begins, and where the answer does. The last is
#: that of harmony, also without its special tokens, and of Muse.
_HARMONY = (
    r"<\|channel\|>\s*(?:analysis|commentary)\b|\bto=self\s*<\|message\|>"
    r"|\A\s*(?:assistant)?(?:analysis|commentary)(?=[\w\"'{(\[<*`]| to=)"
)
_FINAL = r"<\|channel\|>\s*final\b[^<]*<\|message\|>|assistantfinal|\bto=user\s*<\|message\|>"
_SPANS = [
    [re.compile(each, re.IGNORECASE) for each in pair]
    for pair in (
        (r"\bhere(?:['\u2019]s| is) my thought process:", r"\bhere(?:['\u2019]s| is) my response:"),
        (r"<\|channel>\s*(?:thought|thinking|analysis)\b", r"<channel\|>"),
        (r"<\|im_start\|>\s*(?:think|reason)\w*", r"<\|im_start\|>\s*(?:answer|assistant)\b"),
        (r"<\|content_thinking\|>", r"<\|end_message\|>(?=\s*<\|)"),
        (_HARMONY, _FINAL),
    )
]

#: Tags that Kimi K3 writes with special tokens, such as `<|open|>think<|sep|>`.
_SEPARATED = re.compile(r"<\|(open|close)\|>\s*([^<>|]{1,200}?)\s*<\|sep\|>")

#: Tokens that end a message.
_ENDS = re.compile(r"(?:\s*<\|(?:end|return|call|eom|eot|im_end|end_message)\|>)+\s*\Z")


class _Marker(NamedTuple):
    """One end of a span of reasoning; both have one kind."""

    start: int
    end: int
    kind: tuple[str, ...]
    opens: bool


def answer_only(reply: ModelReply) -> ModelReply:
    """Return a reply with its reasoning moved from the text to `thinking`.

    A reply whose reasoning does not end is malformed, and its text is empty.
    """
    text = _SEPARATED.sub(lambda tag: f"<{'/' * (tag[1] == 'close')}{tag[2]}>", reply.text)
    thinking = reply.thinking or reply.text
    try:
        text = _ENDS.sub("", without_reasoning(text))
    except BadReply as bad:
        malformed = reply.malformed or str(bad)
        return attrs.evolve(reply, text="", thinking=thinking, malformed=malformed)
    if text == reply.text:
        return reply
    return attrs.evolve(reply, text=text.strip(), thinking=thinking)


def without_reasoning(text: str) -> str:
    """Return what follows the last closing marker of reasoning in a text.

    A closing marker without an opening one ends a span that began with the text.

    Raises:
        BadReply: A span does not end with a marker of its own kind.

    >>> without_reasoning("<think>9?</think>6"), without_reasoning("9?</think>6")
    ('6', '6')
    """
    answer = depth = 0
    opening: _Marker | None = None
    for marker in sorted(_markers(text)):
        if opening is None and marker.opens:
            opening, depth = marker, 1
        elif opening is None:
            answer = marker.end
        elif marker.kind == opening.kind:
            nests = len(marker.kind) > 1  # spans between brackets do, channels do not
            depth += nests if marker.opens else -1
            if depth == 0:
                opening, answer = None, marker.end
    if opening:
        marker_text = text[opening.start : opening.end].strip()
        raise BadReply(f"your reasoning was not closed: {marker_text} has no end")
    return text[answer:]


def _markers(text: str) -> Iterator[_Marker]:
    """Yield the markers of a text, those of one form after those of another."""
    yield from filter(None, map(_bracketed, _MARKER.finditer(text)))
    for number, pair in enumerate(_SPANS):
        for pattern, opens in zip(pair, (True, False), strict=True):
            for found in pattern.finditer(text):
                yield _Marker(*found.span(), (str(number),), opens)


def _bracketed(found: re.Match[str]) -> _Marker | None:
    """Return the marker that a bracketed name is; None for another name or an empty span."""
    words = [word.lower() for word in _WORDS.findall(found["name"])]
    shape = found["left"][0]
    reasoning = _REASONING if shape != "[" else _BRACKETED
    fits = found["right"][-1] == {"<": ">", "[": "]", "◁": "▷"}[shape]
    if not fits or reasoning.isdisjoint(words) or words[0] == "content" or found[0][-2:] == "/>":
        return None
    closes = bool(found["slash"]) or not _END.isdisjoint(words)
    bars = "|" if found["left"] != shape else ""
    kind = (shape + bars, *(word for word in words if word not in _BEGIN | _END))
    return _Marker(*found.span(), kind, not closes)


def read_recorded(reply: Mapping[str, Any]) -> ReadReply:
    """Return reasoning and answer of a reply as a record holds it; values may be of any type."""
    text, thinking, fault = (
        str(reply.get(name) or "") for name in ("text", "thinking", "malformed")
    )
    read = answer_only(ModelReply(text, thinking=thinking, malformed=fault))
    # Where the reasoning was cut out of the text, it is the whole text.
    reasoning = read.thinking.rstrip()
    if not thinking:
        reasoning = reasoning.removesuffix(read.text)
    return ReadReply(reasoning, read.text, read.malformed)


# -- objects and calls -----------------------------------------------------------------------------


class Span(NamedTuple):
    """A JSON object of a text, with the positions at which it begins and ends."""

    value: dict[str, Any]
    start: int
    end: int


def objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of a text in order, up to one that is broken.

    >>> objects('I think {"a": 1} or [{"b": {"c": 2}}].')
    [{'a': 1}, {'b': {'c': 2}}]
    """
    found: list[dict[str, Any]] = []
    with suppress(BadReply):
        found.extend(span.value for span in _spans(text[:LONGEST]))
    return found


def _spans(text: str) -> Iterator[Span]:
    """Yield the outermost objects up to one that is broken; a brace without a key is prose."""
    at = tries = 0
    while tries < _BRACES and (at := text.find("{", at)) >= 0:
        tries += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as fault:
            at += 1
            if text[at : at + 100].lstrip()[:1] in ("'", '"'):
                raise BadReply(f"an object in your reply is no JSON: {fault!s:.100}") from None
        else:
            yield Span(value, at, end)
            at = end


def _without_conflict(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; two different values under one key are refused."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"two values for {key!r}")
        found[key] = value
    return found


_DECODER = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=_without_conflict)


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


def stated(reply: ModelReply, *, tools: bool = False) -> list[Span]:
    """Return the JSON objects of a reply's text, of which there is at least one.

    Args:
        reply: The reply, without reasoning.
        tools: Whether the prompt requests tool calls; then error texts do so, too.

    Raises:
        BadReply: The text is empty, has no object or a broken one, or the server has cut it.
    """
    found = list(_spans(text_of(reply)[:LONGEST]))
    if reply.cut:
        raise BadReply(f"your reply is not complete; {reply.cut}")
    if not found:
        raise BadReply(f"your reply {'calls no tool' if tools else 'holds no JSON object'}")
    return found


def prose_between(text: str, spans: Sequence[Span]) -> str:
    """Return the text between objects, without fences, bullets and separators."""
    return _SEPARATORS.sub("", " ".join(text[a.end : b.start] for a, b in pairwise(spans)))


def called(reply: ModelReply) -> list[dict[str, Any]]:
    """Return the tool calls of a reply as tagged objects; see `arguments` for the error."""
    return [{**arguments(call), "do": call.name} for call in reply.calls]


def arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of a call; empty if its text is empty.

    Raises:
        BadReply: They are not a JSON object.
    """
    text = call.arguments[:LONGEST].strip() or "{}"
    try:
        decoded = _DECODER.decode(text)
    except (ValueError, RecursionError) as fault:
        raise BadReply(f"the arguments of {call.name} are no JSON: {fault!s:.100}") from None
    if not isinstance(decoded, dict):
        raise BadReply(f"the arguments of {call.name} are no JSON object")
    return decoded


# -- actions ---------------------------------------------------------------------------------------

#: Rewrites an object that means an action as a tagged object, given the names of the actions.
Tagger = Callable[[Mapping[str, Any], Collection[str]], dict[str, Any]]


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
        inner = [plain.pop(key) for key in _ARGUMENTS if isinstance(plain.get(key), Mapping)]
        return {**(inner[0] if inner else plain), "do": plain["do"]}
    if "do" not in plain and len(known) == 1:
        plain["do"] = next(iter(known))
    return plain


def action_of(
    codec: Codec,
    reply: ModelReply,
    known: Collection[str],
    tagger: Tagger = as_tagged,
    *,
    tools: bool = False,
) -> Any:
    """Return the one action that a reply means.

    Args:
        codec: The role's actions.
        reply: The reply, without reasoning.
        known: Names of the actions that are allowed.
        tagger: Rewrites an object of the text as a tagged object.
        tools: Whether the prompt requests tool calls; then error texts do so, too.

    Raises:
        BadReply: The reply holds no valid action, or different ones.
    """
    check = partial(checked_action, codec, known=known, tools=tools)
    if calls := called(reply):
        return only(map(check, calls), [each.name for each in reply.calls])
    actions: list[Any] = []
    wrong = BadReply("your reply holds no action")
    for each in stated(reply, tools=tools):
        try:
            actions.append(check(tagger(each.value, known)))
        except BadReply as bad:
            wrong = bad
    if not actions:
        raise wrong
    return only(actions)


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


def checked_action(
    codec: Codec,
    tagged: Mapping[str, Any],
    known: Collection[str],
    *,
    tools: bool = False,
) -> Any:
    """Return the action of a tagged object, checked against the role's schema; see `action_of`.

    Null stands for the default of an argument that has one.

    Raises:
        BadReply: The action is not known, or its arguments do not fit.
    """
    name = tagged.get("do")
    if not isinstance(name, str) or name not in known:
        kind, given = "tool" if tools else "action", "do" in tagged
        unknown = f"there is no {kind} {name!r}"[:_WIDTH] if given else f"no {kind} is named"
        raise BadReply(f"{unknown}; {possible(str(name), sorted(known))}")
    fields = attrs.fields(codec.classes[name])
    needed = {field.alias for field in fields if field.default is attrs.NOTHING}
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
