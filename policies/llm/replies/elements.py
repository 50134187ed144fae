"""Calls of tools that are written as elements of XML, one for each argument."""

import re
from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from policies.llm.replies import BadReply
from policies.llm.replies.lenient import NoJSON
from policies.llm.replies.objects import decode_value

#: A tag; `[^<>]` keeps the search within it.
_TAG = re.compile(
    r"<(?P<slash>/?)(?:\w+:)?(?P<tag>\w+)(?:=(?P<value>[^<>\s]+)|(?P<more>\s[^<>]*))?>"
)

_NAME = re.compile(r"""\b(?:name|tool|key)\s*=\s*["']?([\w.\-]+)""")

_CALLS = ("function", "invoke", "call")

_ARGUMENTS = ("parameter", "param", "argument")

#: GLM's element around a call, which begins with the tool's name.
_NAMELESS = "tool_call"


@frozen
class WrittenCall:
    """A call of a tool in a text.

    Attributes:
        name: The tool's name as written; it may be unknown.
        arguments: Its arguments by name.
        as_text: Whether the form writes every argument as text, so that numbers are texts too.
    """

    name: str
    arguments: Mapping[str, Any]
    as_text: bool = False


def calls_in_elements(text: str) -> list[WrittenCall]:
    """Return the calls that are written as elements; every argument is a text.

    Raises:
        BadReply: A call does not end, or has no name.
    """
    reader = _Reader(text)
    for tag in _TAG.finditer(text):
        reader.take(tag)
    if reader.name or not reader.calls:
        raise BadReply(f"your call of {reader.name or 'a tool'} is cut or names no tool")
    return reader.calls


@define
class _Reader:
    """Collects calls from tags in their order.

    Attributes:
        text: The whole text.
        calls: The calls that have ended.
        name: The tool of the open call; empty if none is open.
        given: The arguments of the open call.
        key: The open argument; empty if none is open.
        start: Where the open argument, key or nameless call begins.
    """

    text: str
    calls: list[WrittenCall] = field(factory=list)
    name: str = ""
    given: dict[str, str] = field(factory=dict)
    key: str = ""
    start: int = 0

    def take(self, tag: re.Match[str]) -> None:
        """Take the next tag."""
        kind, closes = tag["tag"], bool(tag["slash"])
        if kind in _CALLS:
            self._end_call(tag) if closes else self._begin_call(tag, _name(tag))
        elif kind in _ARGUMENTS:
            self._end_argument(tag)
            if not closes:
                self.key, self.start = _name(tag), tag.end()
        elif kind == _NAMELESS:
            self._end_call(tag)
            self.start = tag.end()
        elif kind in ("arg_key", "arg_value"):
            self._take_pair(kind, tag, closes=closes)

    def _begin_call(self, tag: re.Match[str], name: str) -> None:
        if self.name:
            self._end_call(tag)
        self.name, self.given, self.start = name, {}, tag.end()

    def _end_call(self, tag: re.Match[str]) -> None:
        if not self.name:
            return
        self._end_argument(tag)
        body = self.text[self.start : tag.start()].strip()
        name = re.sub(r"^(?:functions?|tools?)\.", "", self.name)
        if not self.given and body.startswith("{"):
            self.calls.append(WrittenCall(name, _object(body)))
        else:
            self.calls.append(WrittenCall(name, self.given, as_text=True))
        self.name, self.given = "", {}

    def _end_argument(self, tag: re.Match[str]) -> None:
        """End the open argument; one newline at each end belongs to the markup."""
        if self.key and self.name:
            value = self.text[self.start : tag.start()]
            self.given[self.key] = value.removeprefix("\n").removesuffix("\n")
        self.key = ""

    def _take_pair(self, kind: str, tag: re.Match[str], *, closes: bool) -> None:
        if kind == "arg_key" and not closes:
            if not self.name:
                self._begin_call(tag, self.text[self.start : tag.start()].strip())
            self.start = tag.end()
        elif kind == "arg_key":
            self.key = self.text[self.start : tag.start()].strip()
        elif closes:
            self._end_argument(tag)
        else:
            self.start = tag.end()


def _object(body: str) -> Any:
    """Return the arguments of a call whose body is one object, as Llama 3.1 writes it."""
    try:
        return decode_value(body)[0]
    except NoJSON as fault:
        raise BadReply(f"your tool call is no whole JSON: {fault}") from None


def _name(tag: re.Match[str]) -> str:
    if tag["value"]:
        return tag["value"].strip("\"'")
    found = _NAME.search(tag["more"] or "")
    return found[1] if found else ""
