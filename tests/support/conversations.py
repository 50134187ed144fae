"""Records with the calls of a language model, written line by line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from desim.records.conversation import text_id

HEAD = {
    "line": "header",
    "format": "desim-episode/4",
    "version": "1",
    "model": "kiosk",
    "preset": "",
    "params": {"days": 3},
    "seed": 0,
    "policies": {"vendor": "llm,model=m"},
}

RULES = {"role": "system", "content": "You run a kiosk."}


def user(text: str) -> dict[str, Any]:
    """Return a message of the world."""
    return {"role": "user", "content": text}


def echo(text: str) -> dict[str, Any]:
    """Return a reply as a message of a later request."""
    return {"role": "assistant", "content": text}


def call(
    messages: Sequence[dict[str, Any]],
    reply: dict[str, Any] | str,
    phase: str = "step",
    tools: Sequence[dict[str, Any]] = (),
    **fields: Any,
) -> list[dict[str, Any]]:
    """Return the entries of a call; a reply as text is that of a whole reply."""
    ids = [text_id(each) for each in messages]
    texts: dict[str, Any] = dict(zip(ids, messages, strict=True))
    request: dict[str, Any] = {"request": 1, "digest": "0" * 64, "messages": ids}
    if tools:
        request["tools"] = text_id(list(tools))
        texts[request["tools"]] = list(tools)
    if phase != "step":
        request["phase"] = phase
    received = {"text": reply, "finish": "stop"} if isinstance(reply, str) else reply
    return [{"texts": texts}, {**request, "fields": {"model": "m", **fields}}, {"reply": received}]


def decided(action: dict[str, Any], t: int = 0, **more: Any) -> dict[str, Any]:
    """Return the line of a decision."""
    line = {"line": "decision", "t": t, "role": "vendor", "observation": {"day": t}}
    return {**line, "action": action, **more}


def write_conversation(file: Path, *lines: Any, **head: Any) -> Path:
    """Write a record that was cut, of entries (or lists of them) and of lines, and return it."""
    flat = [each for one in lines for each in (one if isinstance(one, list) else [one])]
    plain = [
        each if "line" in each else {"line": "transcript", "entry": each, "role": "vendor"}
        for each in flat
    ]
    text = "".join(f"{json.dumps(each)}\n" for each in [HEAD | head, *plain])
    file.write_text(text)
    return file
