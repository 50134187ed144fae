"""A reply without its reasoning: what conversations, methods and the router read.

Reasoning is not an answer, whatever it holds. It comes in fields of a message, which `completion`
takes apart, and in the text, from which it is cut here: channels first, then spans.
"""

import re

from attrs import evolve

from policies.llm.replies.channels import NoAnswer, answer_in_channels
from policies.llm.replies.objects import LONGEST
from policies.llm.replies.spans import Unclosed, without_spans
from policies.llm.wires.wire import ModelReply

#: Tags that Kimi K3 writes with special tokens, such as `<|open|>think<|sep|>`.
_SEPARATED = re.compile(r"<\|(open|close)\|>\s*([^<>|]{1,200}?)\s*<\|sep\|>")


def answer_only(reply: ModelReply) -> ModelReply:
    """Return a reply with its reasoning moved from the text to `thinking`.

    A reply whose reasoning does not end, or which has no final channel, is malformed, and its text
    is empty.
    """
    text = _SEPARATED.sub(_as_tag, reply.text)
    try:
        text = _answer(text, called=bool(reply.calls))
    except Unclosed as span:
        return _malformed(reply, f"your reasoning was not closed: {span} has no end")
    except NoAnswer:
        return _malformed(reply, "your reply holds reasoning and no final answer")
    if text == reply.text:
        return reply
    return evolve(reply, text=text.strip(), thinking=reply.thinking or reply.text)


def _answer(text: str, *, called: bool) -> str:
    try:
        within = answer_in_channels(text[:LONGEST])
    except NoAnswer:
        if not called:
            raise
        within = ""
    return without_spans(text if within is None else within)


def _malformed(reply: ModelReply, why: str) -> ModelReply:
    return evolve(
        reply,
        text="",
        thinking=reply.thinking or reply.text,
        malformed=reply.malformed or why,
    )


def _as_tag(found: re.Match[str]) -> str:
    return f"<{'/' if found[1] == 'close' else ''}{found[2]}>"
