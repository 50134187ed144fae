"""Keys and signatures: Ed25519 over the pre-authentication encoding of DSSE.

A signature is of the bytes of a file as they lie, together with the file's type, so that a
signature of one kind of file is not valid for another. The private key is a PEM file (PKCS#8),
which openssl reads too; the public key one line, `desim-ed25519 HEX NAME`.

Sources: RFC 8032 (Ed25519), DSSE v1 (the encoding and the envelope), RFC 5958 (PKCS#8).
"""

import base64
import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.errors import BadRecord, UsageError
from desim.show.files import read_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: The line of a public key.
_PUBLIC = re.compile(r"desim-ed25519 ([0-9a-f]{64}) ([^\s]{1,60})\n?")

#: Names of keys, which are names of files.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")

#: Most bytes of a file of a key or a signature.
_MAX_BYTES = 10_000

#: Public keys of small order, for which one signature is valid for many messages: the encodings of
#: the eight points of the torsion subgroup, non-canonical ones included.
_SMALL_ORDER = frozenset(
    bytes.fromhex(text)
    for text in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    )
)


@frozen
class PublicKey:
    """A public key.

    Attributes:
        raw: Its 32 bytes.
        name: The name that its owner gives it; not proved by anything.
    """

    raw: bytes
    name: str = ""

    @property
    def hex(self) -> str:
        """Its bytes as 64 hexadecimal digits."""
        return self.raw.hex()

    @property
    def id(self) -> str:
        """SHA-256 of its bytes: the identity of its owner."""
        return hashlib.sha256(self.raw).hexdigest()

    def check(self, kind: str, body: bytes, envelope: bytes, name: str) -> None:
        """Check a signature by this key.

        Args:
            kind: The kind of file: "entry", "commitment", ...
            body: The bytes that were signed.
            envelope: The content of the file of the signature.
            name: The name of the file in errors: "the manifest".

        Raises:
            BadRecord: The signature is not one of this key for this kind of file and these bytes.
        """
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        refused = BadRecord(f"{name} does not have the signature of its key")
        if self.raw in _SMALL_ORDER:
            raise BadRecord(f"the key of {name} is one for which every signature is valid")
        try:
            signature = _signature(envelope, kind, self.id)
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, encoded(kind, body))
        except (InvalidSignature, ValueError, KeyError, TypeError, RecursionError):
            raise refused from None


@frozen
class PrivateKey:
    """A private key.

    Attributes:
        key: The key of the package `cryptography`.
        name: The name of its file, without the ending.
    """

    key: "Ed25519PrivateKey"
    name: str

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey(self.key.public_key().public_bytes_raw(), self.name)

    def sign(self, kind: str, body: bytes) -> bytes:
        """Return the content of the file of a signature: a DSSE envelope without its payload."""
        return envelope_of(kind, self.public, self.signature(kind, body))

    def signature(self, kind: str, body: bytes) -> bytes:
        """Return the 64 bytes of a signature of a kind of file."""
        signature: bytes = self.key.sign(encoded(kind, body))
        return signature


def envelope_of(kind: str, key: PublicKey, signature: bytes) -> bytes:
    """Return the content of the file of a signature by a key."""
    sig = base64.b64encode(signature).decode()
    signatures = [{"keyid": key.id, "sig": sig}]
    envelope = {"payloadType": payload_type(kind), "signatures": signatures}
    return json.dumps(envelope, separators=(",", ":")).encode() + b"\n"


def payload_type(kind: str) -> str:
    """Return the media type of a kind of file."""
    return f"application/vnd.desim.{kind}+json"


def encoded(kind: str, body: bytes) -> bytes:
    """Return the bytes that are signed: DSSE's pre-authentication encoding.

    >>> encoded("entry", b"{}")
    b'DSSEv1 32 application/vnd.desim.entry+json 2 {}'
    """
    media = payload_type(kind).encode()
    return b"DSSEv1 %d %b %d %b" % (len(media), media, len(body), body)


def new_key(name: str, folder: Path, password: str = "") -> PrivateKey:
    """Make a key and write `NAME.pem`, which only its owner may read, and `NAME.pub`.

    Raises:
        UsageError: The name is not one of a file, a file exists, or `cryptography` is missing.
    """
    _require()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not _NAME.fullmatch(name):
        raise UsageError(
            f"the name {name!r} was given; it has letters, digits, '.', '_' and '-', at most 60"
        )
    made = PrivateKey(Ed25519PrivateKey.generate(), name)
    way: Any = serialization.NoEncryption()
    if password:
        way = serialization.BestAvailableEncryption(password.encode())
    pem = made.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, way)
    public = folder / f"{name}.pub"
    if public.exists():
        raise UsageError(f"{public} exists and is kept; choose another name")
    _write_new(folder / f"{name}.pem", pem, 0o600)
    _write_new(public, f"desim-ed25519 {made.public.hex} {name}\n".encode(), 0o644)
    return made


def read_private(path: Path, password: str = "") -> PrivateKey:
    """Return the private key of a PEM file.

    Raises:
        UsageError: The file cannot be read, holds no Ed25519 key, or needs a password.
    """
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _content(path)
    try:
        key = load_pem_private_key(content, password.encode() or None)
    except TypeError:
        why = "is not encrypted, and a password was given" if password else "needs its password"
        raise UsageError(f"{path} {why}") from None
    except (ValueError, UnsupportedAlgorithm):
        why = "or the password is another one" if password else "in PEM (PKCS#8)"
        raise UsageError(f"{path} holds no private key, {why}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} holds a key of another kind; desim key new makes one of Ed25519")
    return PrivateKey(key, path.stem)


def read_public(path: Path) -> PublicKey:
    """Return the public key of a file.

    Raises:
        UsageError: The file cannot be read, or is not the line of a public key.
    """
    found = _PUBLIC.fullmatch(_content(path).decode("utf-8", "replace"))
    if found is None:
        raise UsageError(f"{path} is no public key; it has one line, desim-ed25519 HEX NAME")
    return PublicKey(bytes.fromhex(found[1]), found[2])


def password_of(variable: str) -> str:
    """Return the password that an environment variable holds; empty without a variable.

    Raises:
        UsageError: The variable is not set.
    """
    if variable and not os.environ.get(variable):
        raise UsageError(f"the environment variable {variable} is not set; it holds the password")
    return os.environ.get(variable, "") if variable else ""


def _signature(envelope: bytes, kind: str, key_id: str) -> bytes:
    """Return the signature of a key in an envelope; KeyError or ValueError if it has none."""
    read = json.loads(envelope[:_MAX_BYTES])
    if read["payloadType"] != payload_type(kind):
        raise ValueError("another type")
    found = [each["sig"] for each in read["signatures"] if each["keyid"] == key_id]
    return base64.b64decode(found[0] if len(found) == 1 else "", validate=True)


def _require() -> None:
    """Check that the package is installed.

    Raises:
        UsageError: It is not.
    """
    try:
        import cryptography  # noqa: F401 (looked for)
    except ImportError:
        raise UsageError(
            "keys need the package cryptography; pip install 'desim[verify]'"
        ) from None


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that does not exist yet.

    Raises:
        UsageError: It exists, or cannot be written.
    """
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise UsageError(f"{path} exists and is kept; choose another name") from None
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    with os.fdopen(number, "wb") as file:
        file.write(content)
