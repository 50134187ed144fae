"""Which of some texts are most similar to another.

A text is its words: counted, weighted by how rare they are among the texts at hand (TF-IDF), and
hashed into a vector of fixed length, with the same numbers everywhere.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float64]

#: Length of a hashed vector. Two of the few hundred words of a note rarely share a place.
DIMENSIONS = 4_096

#: Characters of a text that are read.
_LONGEST = 20_000

_WORD = re.compile(r"[^\W_]+")


def hashed(texts: Sequence[str]) -> Vectors:
    """Return hashed TF-IDF vectors, of shape (texts, `DIMENSIONS`).

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
    return vectors


def similarities(query: str, texts: Sequence[str]) -> Vectors:
    """Return the cosine of a query and each text, 0 for a text without words."""
    vectors = hashed([query, *texts])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return np.asarray(unit[1:] @ unit[0])


def most_similar(query: str, texts: Sequence[str], count: int) -> list[int]:
    """Return the indices of the most similar texts, the most similar first.

    Equally similar texts are ordered as the published code orders them: the later one first.
    """
    if count <= 0:
        return []
    # Rounds to 12 digits: sums of the same numbers in another order count as equal.
    near = np.round(similarities(query, texts), 12)
    return [int(index) for index in np.argsort(near)[-count:][::-1]]


@lru_cache(maxsize=100_000)
def _place(word: str) -> tuple[int, int]:
    digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:4], "big") % DIMENSIONS, 1 if digest[4] % 2 == 0 else -1
