"""Texts as vectors, and which of them are most similar to another.

Without a server, a text is its words: counted, weighted by how rare they are among the texts at
hand (TF-IDF), and hashed into a vector of fixed length, with the same numbers everywhere.

A request for vectors from the server's `/embeddings` is counted, limited, priced as tokens read,
and written to the record with its reply, which holds the vectors as JSON.
"""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from desim.errors import BadRecord
from desim.schema.untrusted import decode_json
from policies.llm.chat.messages import user
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.form import encoded
from policies.llm.wires.wire import Complete, ModelReply, NoReply, Request

Vectors: TypeAlias = NDArray[np.float64]

#: Returns one row for each text.
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]

#: Length of a hashed vector. Two of the few hundred words of a note rarely share a place.
DIMENSIONS = 4_096

#: Characters of a text that are read.
_LONGEST = 20_000

#: Texts of one request, and characters of each: limited by the allowed size of a response, and by
#: the input length of embedding models.
_TEXTS, _LONGEST_SENT = 64, 8_000

#: Length of a server's vector, and the digits of its numbers that are kept.
_LONGEST_VECTOR, _DIGITS = 16_384, 6

_WORD = re.compile(r"[^\W_]+")


def hashed(texts: Sequence[str]) -> Vectors:
    """Return hashed TF-IDF vectors of length 1 (of length 0 for a text without words).

    >>> hashed(["cash is king", "cash is king"]).shape
    (2, 4096)
    """
    counts = [Counter(_WORD.findall(text[:_LONGEST].lower())) for text in texts]
    texts_with = Counter(word for count in counts for word in count)
    vectors = np.zeros((len(texts), DIMENSIONS))
    for row, count in zip(vectors, counts, strict=True):
        for word, times in count.items():
            place, sign = _place(word)
            rarity = np.log((1 + len(texts)) / (1 + texts_with[word])) + 1
            row[place] += sign * (1 + np.log(times)) * rarity
    return _unit(vectors)


def similarities(query: str, texts: Sequence[str], embed: Embed) -> Vectors:
    """Return the cosine of a query and each text, 0 for a text without a direction."""
    if not texts:
        return np.zeros(0)
    vectors = _unit(np.asarray(embed([query, *texts]), dtype=np.float64))
    return np.asarray(vectors[1:] @ vectors[0], dtype=np.float64)


def most_similar(query: str, texts: Sequence[str], count: int, embed: Embed) -> list[int]:
    """Return the indices of the most similar texts, the most similar first.

    Equally similar texts are ordered as the published code orders them: the later one first.
    """
    if count <= 0 or not texts:
        return []
    # Rounds to 12 digits: sums of the same numbers in another order count as equal.
    near = np.round(similarities(query, texts, embed), 12)
    return [int(index) for index in np.argsort(near)[-count:][::-1]]


@lru_cache(maxsize=100_000)
def _place(word: str) -> tuple[int, int]:
    """Return the place of a word in the vector, and its sign."""
    digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:4], "big") % DIMENSIONS, 1 if digest[4] % 2 == 0 else -1


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


@frozen(kw_only=True)
class EmbeddingEndpoint(Endpoint):
    """A `send` whose messages are texts and whose reply is a JSON list of vectors."""

    def __call__(self, request: Request, timeout: float = 300.0) -> ModelReply:
        """Send one request and return the vectors, in the order of the texts."""
        fields = self.fields(request)
        texts = fields["input"]
        started = time.monotonic()
        response = self.posted("embeddings", encoded(fields), timeout)
        vectors = _vectors(response.content, len(texts))
        if vectors is None:
            raise NoReply(f"sent no vectors for {len(texts)} texts", final=True)
        return ModelReply(
            json.dumps(vectors, separators=(",", ":")),
            prompt_tokens=sum(-(-len(text) // 4) for text in texts),
            estimated=True,
            seconds=round(time.monotonic() - started, 6),
        )

    def fields(self, request: Request) -> dict[str, Any]:
        """Return the model and the texts."""
        return {"model": self.model, "input": [each["content"] for each in request.messages]}


@define(eq=False)
class EndpointVectors:
    """An `Embed` that requests the vectors of new texts from a server.

    Attributes:
        call: The call that brings vectors, metered.
        known: Vectors by text. It is emptied between episodes, so that a resumed episode asks for
            the same texts as the one that was cut.
    """

    call: Complete
    known: dict[str, list[float]] = field(factory=dict)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text."""
        short = [text[:_LONGEST_SENT] or " " for text in texts]
        new = [text for text in dict.fromkeys(short) if text not in self.known]
        for start in range(0, len(new), _TEXTS):
            part = new[start : start + _TEXTS]
            reply = self.call(Request([user(text) for text in part], phase="vectors"))
            self.known |= zip(part, _recorded(reply, len(part)), strict=True)
        return np.array([self.known[text] for text in short])

    def forget(self) -> None:
        """Forget all vectors."""
        self.known.clear()


def _recorded(reply: ModelReply, count: int) -> list[list[float]]:
    """Return the vectors of a reply, which may come from an altered record."""
    try:
        vectors = _checked(decode_json(reply.text), count)
    except ValueError:
        vectors = None
    if vectors is None:
        raise BadRecord(f"a reply of the transcript holds no vectors for {count} texts")
    return vectors


def _vectors(content: bytes, count: int) -> list[list[float]] | None:
    """Return the vectors of a response; None if it lacks some, or has others."""
    try:
        data = decode_json(content)["data"]
        ordered = sorted(data, key=lambda each: each["index"])
        return _checked([each["embedding"] for each in ordered], count)
    except (ValueError, KeyError, TypeError):
        return None


def _checked(vectors: Any, count: int) -> list[list[float]] | None:
    """Return rounded vectors; None unless there are so many, finite and of one length."""
    try:
        array = np.array(vectors, dtype=np.float64)
    except (ValueError, TypeError):
        return None
    if array.ndim != 2 or len(array) != count or not 0 < array.shape[1] <= _LONGEST_VECTOR:  # noqa: PLR2004 (rows and columns)
        return None
    if not np.isfinite(array).all():
        return None
    rounded: list[list[float]] = np.round(array, _DIGITS).tolist()
    return rounded
