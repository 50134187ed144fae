"""Vectors of texts from the server's `/embeddings`.

A request for vectors goes the way of every other: it is counted, limited, priced as tokens read,
and written to the record with its reply, which holds the vectors as JSON.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from desim.errors import BadRecord
from policies.llm.endpoint import Endpoint
from policies.llm.messages import user
from policies.llm.methods.embedding import Vectors
from policies.llm.wire import Complete, Message, ModelReply, NoReply

__all__ = ["EmbeddingEndpoint", "EndpointVectors"]

#: Texts of one request, and characters of each: what a response of the allowed size can hold, and
#: what embedding models read.
_TEXTS, _LONGEST = 64, 8_000

#: Length of a vector.
_DIMENSIONS = 16_384

#: Digits of a number that are kept.
_DIGITS = 6


@frozen(kw_only=True)
class EmbeddingEndpoint(Endpoint):
    """A `send` whose messages are texts and whose reply is a JSON list of vectors."""

    def __call__(
        self,
        messages: Sequence[Message],
        _: Sequence[Mapping[str, Any]] = (),
        __: Mapping[str, Any] | None = None,
        *,
        temperature: float | None = None,  # noqa: ARG002 (there is none)
        timeout: float = 300.0,
    ) -> ModelReply:
        """Send one request and return the vectors, in the order of the texts.

        Raises:
            NoReply: The response has no vector for each text, or there is none in time.
        """
        texts = [message["content"] for message in messages]
        body = json.dumps({"model": self.model, "input": texts}).encode()
        started = time.monotonic()
        response = self.posted("embeddings", body, timeout)
        vectors = _vectors(response.content, len(texts))
        if vectors is None:
            raise NoReply(f"sent no vectors for {len(texts)} texts", final=True)
        return ModelReply(
            json.dumps(vectors, separators=(",", ":")),
            prompt_tokens=sum(-(-len(text) // 4) for text in texts),
            estimated=True,
            seconds=round(time.monotonic() - started, 6),
        )


@define(eq=False)
class EndpointVectors:
    """An `Embed` that asks a server for the texts it has not sent yet.

    Attributes:
        call: The call that brings vectors, metered.
        known: Vectors by text. It is emptied between episodes, so that a resumed episode asks for
            the same texts as the one that was cut.
    """

    call: Complete
    known: dict[str, list[float]] = field(factory=dict)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text."""
        short = [text[:_LONGEST] or " " for text in texts]
        new = [text for text in dict.fromkeys(short) if text not in self.known]
        for start in range(0, len(new), _TEXTS):
            part = new[start : start + _TEXTS]
            reply = self.call([user(text) for text in part], (), None)
            self.known |= zip(part, _recorded(reply, len(part)), strict=True)
        return np.array([self.known[text] for text in short])

    def forget(self) -> None:
        """Forget all vectors."""
        self.known.clear()


def _recorded(reply: ModelReply, count: int) -> list[list[float]]:
    """Return the vectors of a reply, which may come from an altered record."""
    try:
        vectors = _checked(json.loads(reply.text), count)
    except (ValueError, RecursionError):
        vectors = None
    if vectors is None:
        raise BadRecord(f"a reply of the transcript holds no vectors for {count} texts")
    return vectors


def _vectors(content: bytes, count: int) -> list[list[float]] | None:
    """Return the vectors of a response; None where it has others than are wanted."""
    try:
        data = json.loads(content)["data"]
        ordered = sorted(data, key=lambda each: each["index"])
        return _checked([each["embedding"] for each in ordered], count)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _checked(vectors: Any, count: int) -> list[list[float]] | None:
    """Return rounded vectors; None unless there are so many, finite and of one length."""
    try:
        array = np.array(vectors, dtype=np.float64)
    except (ValueError, TypeError):
        return None
    if array.shape[:1] != (count,) or array.ndim != 2 or not 0 < array.shape[1] <= _DIMENSIONS:  # noqa: PLR2004 (rows and columns)
        return None
    if not np.isfinite(array).all():
        return None
    rounded: list[list[float]] = np.round(array, _DIGITS).tolist()
    return rounded
