"""Items with predictions, and a model that answers the router's requests by a function."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from policies.llm.router.predictions import Item, Prediction
from policies.llm.wires.wire import ModelReply, Request

METHODS = ("ace", "cot", "gepa")

KINDS = (
    ("Information Extraction", None),
    ("Domain Knowledge", "easy"),
    ("Domain Knowledge", "hard"),
)


@define
class Asked:
    """A `complete` that answers by a function of the request's text and keeps all requests.

    Attributes:
        script: Returns the text of the reply.
        requests: The contents of the messages of each call, joined.
        temperatures: The temperature of each call.
    """

    script: Callable[[str], str]
    requests: list[str] = field(factory=list)
    temperatures: list[float | None] = field(factory=list)

    def __call__(self, request: Request) -> ModelReply:
        """Return the next reply."""
        assert not request.tools
        assert request.schema is None
        self.requests.append("\n".join(each["content"] for each in request.messages))
        self.temperatures.append(request.temperature)
        return ModelReply(self.script(self.requests[-1]))


def item(name: str, right: Sequence[str] = (), **more: Any) -> Item:
    """Return an item which these of the three methods answer correctly."""
    predictions = {each: Prediction(each in right, answer=f"{each} says") for each in METHODS}
    return Item(name, **{"task": "finer", "predictions": predictions} | more)


def items(count: int) -> list[Item]:
    """Return items of two tasks and three kinds; the best method depends on the kind.

    ACE is right where the kind is the third, GEPA at the second, CoT at the first; each is right
    now and then elsewhere.
    """
    best = ("cot", "gepa", "ace")
    made = []
    for n in range(count):
        kind = n % 3
        right = {best[kind]} if n % 5 else {best[(kind + 1) % 3]}
        capability, bucket = KINDS[kind]
        text = f"Question {n}?"
        task = ("finer", "formula")[n % 2]
        labels = {"task": task, "capability": capability, "bucket": bucket, "question": text}
        made.append(item(f"q{n}", sorted(right), **labels, gold=f"gold {n}"))
    return made


def lesson(bullet: str = "Tables suit it", **more: Any) -> str:
    """Return the reply of a model that reflects on an answer."""
    hint = {"prefer": ["ace"], "avoid": [], "when": "hard"}
    return json.dumps({"bullet": bullet, "routing_hint": hint, "confidence": "high"} | more)


def rules(*listed: Mapping[str, Any], default: str = "cot") -> str:
    """Return the reply of a model that writes rules."""
    policy = {"default_agent": default, "rules": list(listed)}
    return json.dumps({"findings": ["ACE knows the labels"], "policy": policy})
