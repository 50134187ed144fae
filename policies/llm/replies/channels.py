"""Replies in channels: of the messages that a model writes, only the final one is its answer.

Source: reference `wires.md`, section 5. The markers are those of harmony (`<|channel|>final`), of
Muse (`to=user<|message|>`), and what is left of harmony where a server has removed special tokens
(`analysis...assistantfinal...`).
"""

import re
from collections.abc import Iterator

from attrs import frozen

#: Tokens that separate messages.
_SEPARATOR = re.compile(r"<\|(?:start|end|return|call|eom|eot)\|>")

_MESSAGE = "<|message|>"

_TO = re.compile(r"\bto=([\w.\-]+)")

_CHANNEL = re.compile(r"(?:<\|channel\|>\s*|^\s*(?:assistant)?\s*)(analysis|commentary|final)\b")

#: Recipients other than tools. Muse's commentary is part of what the user reads.
_READERS, _SELF = ("user", "commentary", "all"), "self"

#: Harmony without its special tokens: the word of a channel, and the next word right behind it.
_STRIPPED = re.compile(r"\s*(?:assistant)?(analysis|commentary)(?=[\w\"'{(\[<*`])")
_STRIPPED_PART = re.compile(r"assistant(analysis|commentary|final)")
_STRIPPED_CALL = re.compile(r"\s*to=([\w.\-]+?)\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?=\{)")


class NoAnswer(Exception):
    """Channels of reasoning without a final one."""


@frozen
class _Part:
    """One message: its channel, the tool that it calls, its text."""

    channel: str
    tool: str
    text: str


def answer_in_channels(text: str) -> str | None:
    """Return the text of the final channel and of calls; None if the text has no channels.

    Calls of tools are written as `<tool_call>{"name": ..., "arguments": ...}</tool_call>`.

    Raises:
        NoAnswer: The text has channels, but neither a final one nor a call.
    """
    if _MESSAGE in text or "<|channel|>" in text:
        parts = list(_parts(text))
    elif _STRIPPED.match(text) or _STRIPPED_PART.search(text):
        parts = list(_stripped_parts(text))
    else:
        return None
    answers = [_written(each) for each in parts if each.tool or each.channel == "final"]
    if not answers:
        raise NoAnswer
    return "\n".join(answers)


def _parts(text: str) -> Iterator[_Part]:
    for piece in _SEPARATOR.split(text):
        header, marked, content = piece.partition(_MESSAGE)
        if not marked:
            continue
        to, channel = _TO.search(header), _CHANNEL.search(header)
        recipient = to[1] if to else ""
        named = channel[1] if channel else ""
        if recipient in _READERS:
            yield _Part("final" if named in ("", "final") else named, "", content)
        elif recipient == _SELF:
            yield _Part("analysis", "", content)
        else:
            yield _Part(named, recipient if named != "analysis" else "", content)


def _stripped_parts(text: str) -> Iterator[_Part]:
    start = _STRIPPED.match(text)
    pieces = _STRIPPED_PART.split(text[start.end() :] if start else text)
    channels = [start[1] if start else "analysis", *pieces[1::2]]
    for channel, content in zip(channels, pieces[0::2], strict=True):
        call = _STRIPPED_CALL.match(content) if channel == "commentary" else None
        yield _Part(channel, call[1] if call else "", content[call.end() :] if call else content)


def _written(part: _Part) -> str:
    if not part.tool:
        return part.text
    name = part.tool.rpartition(".")[2]
    return f'<tool_call>{{"name": "{name}", "arguments": {part.text.strip() or "{}"}}}</tool_call>'
