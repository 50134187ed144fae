"""Seeds that follow from a beacon and were not known before it: `fresh:N:SCOPE:RANDOMNESS`.

The seed of the i-th episode of a world is the first 16 bytes of HMAC-SHA256 of a text that names
scope, world and i, with the beacon's randomness as the key.

Source: reference `verification.md`, section 4.4.
"""

import hmac
import re
from typing import Self

from attrs import frozen

from desim.errors import UsageError

#: The text of such seeds in a suite's file.
_TEXT = re.compile(r"fresh:(\d{1,6}):([A-Za-z0-9._-]{1,64}):([0-9a-f]{64})")

#: The beginning of the text.
PREFIX = "fresh:"

_SCOPE = re.compile(r"[A-Za-z0-9._-]{1,64}")

_SEED_BYTES = 16


def is_scope(text: str) -> bool:
    """Return whether a text can name a season.

    >>> is_scope("winter-26"), is_scope("a b")
    (True, False)
    """
    return _SCOPE.fullmatch(text) is not None


@frozen
class FreshSeeds:
    """Seeds derived from a beacon.

    Attributes:
        count: Seeds of each world, at least 1.
        scope: The season that shares them, or the digest of the one commitment that they are of.
        randomness: The 32 bytes of the beacon.
    """

    count: int
    scope: str
    randomness: bytes

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the seeds that a text describes.

        Raises:
            UsageError: It has another form.
        """
        found = _TEXT.fullmatch(text)
        if found is None or not int(found[1]):
            raise UsageError(
                f"seeds {text[:80]!r} were given; fresh ones are fresh:N:SCOPE:RANDOMNESS, as "
                "`desim commit seeds` prints them"
            )
        return cls(int(found[1]), found[2], bytes.fromhex(found[3]))

    @property
    def text(self) -> str:
        """The text in a suite's file."""
        return f"{PREFIX}{self.count}:{self.scope}:{self.randomness.hex()}"

    def of(self, world: str) -> list[int]:
        """Return the seeds of a world by its name in the suite, whole numbers of 128 bits."""
        return [self._seed(world, number) for number in range(self.count)]

    def _seed(self, world: str, number: int) -> int:
        text = f"desim fresh seed 1\n{self.scope}\n{world}\n{number}"
        found = hmac.digest(self.randomness, text.encode(), "sha256")
        return int.from_bytes(found[:_SEED_BYTES], "big")
