"""Random generators of many seeds and one name, each equal to `streams.generator`.

numpy mixes the words of a seed in `SeedSequence` and begins PCG64 with the result, which takes
longer than a table of draws. Here the words of all seeds are mixed together.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from desim.core.streams import generator, seed_digest
from desim.plain_generator import first_state, seed_words

if TYPE_CHECKING:
    from numpy.random import Generator

#: Words of 32 bits of a derived seed.
_WORDS = 8


def generators(seeds: Sequence[int], *name: str) -> "Iterator[Generator]":
    """Yield the generator of each seed and a name; the next one takes its place.

    Args:
        seeds: Whole numbers of at least 0.
        name: One or more strings.
    """
    shared = generator(0, *name)
    inner: dict[str, int] = {}
    begun = {"bit_generator": "PCG64", "state": inner, "has_uint32": 0, "uinteger": 0}
    digests = [seed_digest(seed, *name) for seed in seeds]
    for digest, (inner["state"], inner["inc"]) in zip(digests, _states(digests), strict=True):
        if any(digest[:4]):
            shared.bit_generator.state = begun
            yield shared
        else:  # numpy mixes fewer words of a smaller number
            yield np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def _states(digests: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield state and increment of PCG64 for each derived seed."""
    words = np.frombuffer(b"".join(digests), dtype=">u4").reshape(len(digests), _WORDS)
    begun = seed_words([*words.astype(np.uint32).T[::-1]])
    drawn = np.stack(begun, axis=1).astype("<u4").tobytes()
    for at in range(0, len(drawn), 32):
        yield first_state(drawn[at : at + 32])
