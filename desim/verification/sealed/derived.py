"""The secret of a sealed session, and what is derived of it: digest, seeds, keys of tags.

The server commits itself to the secret before the client draws its number, so that neither can
choose a seed, and the client cannot know one.

Source: reference `verification.md`, section 4.1. The key of a record's tags follows from the
secret too, so that the end of a session reveals one value.
"""

import hashlib
import hmac
import secrets

from attrs import frozen

#: Bytes of a secret, of a client's number, and of a seed.
_BYTES, _SEED_BYTES = 32, 16


@frozen(repr=False)
class Secret:
    """The secret of one session.

    Attributes:
        raw: Its 32 bytes.
        session: The identifier of the session.
    """

    raw: bytes
    session: str

    @classmethod
    def drawn(cls) -> "Secret":
        """Return a new secret for a new session."""
        return cls(secrets.token_bytes(_BYTES), secrets.token_hex(16))

    @property
    def digest(self) -> str:
        """Its digest, which the offer publishes."""
        return hashlib.sha256(b"desim sealed secret 1\n" + self.raw).hexdigest()

    def seed(self, number: str, world: str, place: int) -> int:
        """Return the seed of an episode, a whole number of 128 bits.

        Args:
            number: The client's number, 64 hexadecimal digits.
            world: The name of the world in the suite.
            place: The place of the episode among those of its world, from 0.
        """
        text = f"desim sealed seed 1\n{self.session}\n{number}\n{world}\n{place}"
        return int.from_bytes(self._derived(text)[:_SEED_BYTES], "big")

    def record_key(self, episode: int) -> bytes:
        """Return the key of the tags of an episode's record."""
        return self._derived(f"desim sealed record 1\n{self.session}\n{episode}")

    def _derived(self, text: str) -> bytes:
        return hmac.digest(self.raw, text.encode(), "sha256")
