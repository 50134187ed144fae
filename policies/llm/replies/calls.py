"""Calls of tools that a model has written into its text, in the forms of its template.

Source: reference `wires.md`, section 5, "Calls in text". A marker (`<tool_call>`, `[TOOL_CALLS]`,
`<|python_tag|>`, ...) is followed by JSON, by a name and JSON, or by elements of XML; a whole text
may also be a call in Python's syntax.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

from policies.llm.replies import BadReply
from policies.llm.replies.elements import WrittenCall, calls_in_elements
from policies.llm.replies.lenient import NoJSON, decode_lenient
from policies.llm.replies.objects import LONGEST, decode_value

#: Keys of a call's arguments and of its name where the call is an object.
ARGUMENTS = ("arguments", "parameters", "params", "args", "input")
_NAMES = ("name", "tool_name", "function")

#: Markers that begin one or several calls.
_TAG = r"(?!end_)(?:[a-z]+:)?(?:[a-z]+_)?(?:tool|function)_calls?(?:_section)?(?:_begin|_start)?"
_MARKER = re.compile(
    rf"<{_TAG}>|<\|{_TAG}\|?>|\[TOOL_CALLS\]|<\|python_(?:tag|start)\|>|<\|START_ACTION\|>"
    r"|<\|action_start\|>|<\|plugin\|>|<\|tools_prefix\|>|<\|content_invoke_tool_json\|>"
    r"|\bfunctools(?=\[)"
)

#: The beginning of a call as elements of XML.
_ELEMENT = re.compile(
    r"<(?:\w+:)?(?:function=|(?:function|invoke|call)\s+(?:name|tool)\s*=)|<arg_key>"
)

#: Spaces and an opening code fence, which may separate a marker from its call.
_FENCE = re.compile(r"\s*(?:```\w*\s*)?")

#: A name with what templates put around it, in front of its arguments.
_NAMED = re.compile(
    r"(?:function\s*<\|tool_sep\|>\s*|(?P<gemma>call:))?(?P<name>[A-Za-z_][\w.\-]*)(?::\d+)?"
    r"(?:\s+|\[ARGS\]|<\|\w+\|>|```(?:json)?)*"
)

#: The end of a call without arguments.
_NO_ARGUMENTS = re.compile(r"</[\w:]+>|<\w+\|>")

_NEXT = re.compile(r"\s*[;,]\s*(?=\{)")

#: Tokens with bars and spaces outside ASCII (DeepSeek), and the prefixes of markup.
_WIDE = re.compile(r"<[^<>]{0,60}[\uff5c\u2581][^<>]{0,200}>")
_ASCII = str.maketrans({"\uff5c": "|", "\u2581": "_"})
_DSML = re.compile(r"\|DSML\|\s*")
_PREFIX = "]<]minimax[>["

#: Quotation marks of Gemma.
_QUOTES = re.compile(r'(?:<\|"\|>|<escape>)(.*?)(?:<\|"\|>|<escape>)', re.DOTALL)

#: The beginning of calls in Python's syntax, and of what may follow them.
_PYTHON = re.compile(r"\[?\s*[A-Za-z_][\w.]*\(")
_PYTHON_ENDS = re.compile(r"<[|/]|```|\Z")

#: Characters of such a text.
_PYTHON_LONGEST = 20_000


def calls_in(text: str, known: Collection[str]) -> list[WrittenCall]:
    """Return the calls that are written in a text, in order; an empty list without a marker.

    Args:
        text: A text without reasoning.
        known: Names of the tools. Python's syntax is taken for a call only of one of these.

    Raises:
        BadReply: A marker is not followed by a whole call.
    """
    text = _ascii_markup(text[:LONGEST])
    start = _after(_FENCE, text, 0)
    if _PYTHON.match(text, start):
        found = _python_calls(text[start:].strip().removesuffix("```"))
        if any(each.name in known for each in found):
            return found
    if _ELEMENT.search(text):
        return calls_in_elements(text)
    return list(_marked_calls(text))


def _ascii_markup(text: str) -> str:
    """Return a text with the bars of its markup as ASCII, and without prefixes in it."""
    text = text.replace(_PREFIX, "")
    text = _WIDE.sub(lambda found: found[0].translate(_ASCII), text)
    return _DSML.sub("", text)


# -- JSON behind a marker --------------------------------------------------------------------------


def _marked_calls(text: str) -> Iterator[WrittenCall]:
    at = 0
    while marker := _MARKER.search(text, at):
        at = _after(_FENCE, text, marker.end())
        if _MARKER.match(text, at):
            continue
        try:
            if _PYTHON.match(text, at):
                start, at = at, _first(_PYTHON_ENDS, text, at)
                yield from _python_calls(text[start:at]) or _refused("your tool call is cut")
            elif text[at : at + 1] in ("{", "["):
                value, at = decode_value(text, at)
                yield from _in_value(value)
            else:
                call, at = _named_call(text, at)
                yield call
            while more := _NEXT.match(text, at):
                value, at = decode_value(text, more.end())
                yield from _in_value(value)
        except NoJSON as fault:
            raise BadReply(f"your tool call is no whole JSON: {fault}") from None


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _first(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.search(text, at)
    return found.start() if found else len(text)


def _refused(why: str) -> NoReturn:
    raise BadReply(why)


def _named_call(text: str, at: int) -> tuple[WrittenCall, int]:
    """Return the call that begins with a tool's name, and the position after it."""
    found = _NAMED.match(text, at)
    if found is None:
        raise BadReply("your tool call names no tool")
    at, name = found.end(), _plain_name(found["name"])
    if text[at : at + 1] != "{":
        if not _NO_ARGUMENTS.match(text, at):
            raise BadReply(f"your call of {name} is cut before its arguments")
        return WrittenCall(name, {}), at
    if found["gemma"]:
        quoted = _QUOTES.sub(lambda each: json.dumps(each[1]), text[at:])
        value, _ = decode_lenient(quoted, bare_keys=True)
        return WrittenCall(name, value, as_text=True), at + 1
    value, at = decode_value(text, at)
    return WrittenCall(name, value), at


def _in_value(value: Any) -> Iterator[WrittenCall]:
    """Yield the calls that a JSON value represents."""
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, Mapping):
            raise BadReply("your tool call is no JSON object")
        yield _call_of(each)


def _call_of(value: Mapping[str, Any]) -> WrittenCall:
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return _call_of(inner)
    name = next((name for key in _NAMES if isinstance(name := value.get(key), str)), None)
    if name is None:
        # Apertus writes the name as the only key.
        [(name, given), *more] = value.items() or [("", None)]
        if more or not isinstance(given, Mapping):
            raise BadReply("your tool call names no tool")
        return WrittenCall(_plain_name(name), given)
    given = next((value[key] for key in ARGUMENTS if key in value), {})
    if isinstance(given, str):
        given, _ = decode_value(given.strip() or "{}")
    if given is not None and not isinstance(given, Mapping):
        raise BadReply(f"the arguments of {name} are no JSON object")
    return WrittenCall(_plain_name(name), given or {})


def _plain_name(name: str) -> str:
    """Return a tool's name without the namespace that templates put in front of it."""
    return re.sub(r"^(?:functions?|tools?|default_api)\.", "", name)


# -- Python's syntax -------------------------------------------------------------------------------


def _python_calls(text: str) -> list[WrittenCall]:
    """Return the calls that a text represents in Python's syntax; an empty list for other text."""
    if len(text) > _PYTHON_LONGEST:
        return []
    try:
        lines = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [_python_call(call) for line in lines for call in _calls_of(line)]


def _calls_of(line: ast.stmt) -> list[ast.Call]:
    value = line.value if isinstance(line, ast.Expr) else None
    listed = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    return [each for each in listed if isinstance(each, ast.Call)]


def _python_call(call: ast.Call) -> WrittenCall:
    name = _plain_name(ast.unparse(call.func))
    try:
        given = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
    except (ValueError, RecursionError):
        raise BadReply(f"an argument of {name:.60} is no literal") from None
    if call.args or len(given) != len(call.keywords):
        raise BadReply(f"an argument of {name:.60} has no name")
    return WrittenCall(name, given)
