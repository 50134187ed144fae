"""The signed statements of a sealed session: offer, opening and closing, and the file of all three.

Each statement names the digest of the one before it, so that none can be exchanged.
"""

import base64
from typing import Annotated, Any, ClassVar, Self, TypeVar

import msgspec
from attrs import frozen

from desim.errors import BadRecord
from desim.verification.sealed.derived import Secret
from desim.verification.signed.canonical import canonical, digest, read_canonical
from desim.verification.signed.keys import PrivateKey, PublicKey, envelope_of

FORMAT = "desim-session/1"

_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Optional = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Identifier = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]


class _Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement that a server signs."""

    kind: ClassVar[str]

    @property
    def content(self) -> bytes:
        """The bytes that are signed."""
        return canonical(msgspec.to_builtins(self))

    @property
    def digest(self) -> str:
        """The digest, which the next statement or the log names."""
        return digest(self.content)


class Offer(_Statement, frozen=True):
    """The offer of a server, made before it knows the client's number.

    Attributes:
        format: `FORMAT`.
        session: The identifier of the session.
        secret: The digest of the secret.
        suite: The SHA-256 of the suite's file.
        worlds: The revision of each world.
        episodes: How many are played.
        seconds: Seconds after the opening at which the server closes the session.
        time: UTC in whole seconds.
        key: The server's public key.
    """

    kind = "session-offer"

    format: str
    session: _Identifier
    secret: _Digest
    suite: _Digest
    worlds: dict[str, str]
    episodes: Annotated[int, msgspec.Meta(ge=1)]
    seconds: Annotated[int, msgspec.Meta(ge=1)]
    time: int
    key: _Digest


class Opening(_Statement, frozen=True):
    """The answer of a client to an offer.

    Attributes:
        offer: The digest of the offer.
        number: The client's 32 random bytes.
        time: UTC in whole seconds.
        commitment: The digest of what the client commits itself to; empty for nothing.
        key: The client's public key; empty without one.
        name: The name of the entry.
    """

    kind = "session-open"

    offer: _Digest
    number: _Digest
    time: int
    commitment: _Optional = ""
    key: _Optional = ""
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=60)] = "client"


class Closing(_Statement, frozen=True):
    """The statement of a server at the end of a session.

    Attributes:
        opening: The digest of the opening.
        secret: The secret, 64 hexadecimal digits.
        records: The content digest of each record, in the order of the episodes.
        abandoned: By the number of each episode that the client has not ended: how many decisions
            it has answered. Default actions are the others.
        answers: Answers of the client.
        refused: Answers that the server has refused.
        resumes: How often the server has gone on after a stop.
        time: UTC in whole seconds.
    """

    kind = "session-close"

    opening: _Digest
    secret: _Digest
    records: list[_Digest]
    abandoned: dict[str, _Count]
    answers: _Count
    refused: _Count
    resumes: _Count
    time: int


_S = TypeVar("_S", bound=_Statement)


def signed(statement: _Statement, key: PrivateKey) -> dict[str, Any]:
    """Return a statement with its signature as plain values."""
    signature = base64.b64encode(key.signature(statement.kind, statement.content)).decode()
    return {"says": msgspec.to_builtins(statement), "sig": signature}


def checked(plain: Any, statement: type[_S], key: PublicKey, what: str) -> _S:
    """Return the statement of plain values.

    Raises:
        BadRecord: They are not valid, or not signed by the key.
    """
    try:
        made = msgspec.convert(plain["says"], statement)
        signature = base64.b64decode(plain["sig"], validate=True)
    except (msgspec.ValidationError, KeyError, TypeError, ValueError):
        raise BadRecord(f"{what} of the session is not valid") from None
    if canonical(plain["says"]) != made.content:
        raise BadRecord(f"{what} of the session is not valid")
    envelope = envelope_of(statement.kind, key, signature)
    key.check(statement.kind, made.content, envelope, f"{what} of the session")
    return made


@frozen
class SignedSession:
    """A closed session.

    Attributes:
        offer: What the server offered.
        opening: What the client answered.
        closing: What the server said at the end.
    """

    offer: Offer
    opening: Opening
    closing: Closing

    @classmethod
    def read(cls, content: bytes, key: PublicKey) -> Self:
        """Return the session of a file, after a check of everything that needs no record.

        Args:
            content: The bytes of the file.
            key: The server's public key.

        Raises:
            BadRecord: A statement is not signed by the key, is of another session, or the secret is
                not the one of the offer.
        """
        plain: Any = read_canonical(content, "the session")
        if not isinstance(plain, dict) or plain.keys() != {"offer", "open", "close"}:
            raise BadRecord("the session has not an offer, an opening and a closing")
        offer = checked(plain["offer"], Offer, key, "the offer")
        opening = checked(plain["open"], Opening, key, "the opening")
        closing = checked(plain["close"], Closing, key, "the closing")
        if offer.format != FORMAT or offer.key != key.hex:
            raise BadRecord(f"the offer is not of the format {FORMAT}, or is of another server")
        if opening.offer != offer.digest:
            raise BadRecord("the opening is of another session than the offer")
        if closing.opening != opening.digest:
            raise BadRecord("the closing is of another session than the opening")
        made = cls(offer, opening, closing)
        if made.secret.digest != offer.secret:
            raise BadRecord("the secret is not the one of the offer")
        if len(closing.records) != offer.episodes:
            raise BadRecord(
                f"the session has {len(closing.records)} records, the offer {offer.episodes}"
            )
        return made

    @property
    def secret(self) -> Secret:
        """The secret, from which seeds and keys follow."""
        return Secret(bytes.fromhex(self.closing.secret), self.offer.session)
