"""Keys and signatures."""

import json
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from desim.errors import BadRecord, UsageError
from desim.verification.signed.keys import (
    PrivateKey,
    PublicKey,
    encoded,
    new_key,
    password_of,
    read_private,
    read_public,
)


def test_the_key_is_the_standard_one() -> None:
    """RFC 8032, test 1: the public key of a seed."""
    seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    made = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)), "one")
    assert made.public.hex == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


def test_a_signature_is_of_a_kind_of_file(tmp_path: Path) -> None:
    """It is refused for another kind, other bytes, and another key."""
    key, other = new_key("one", tmp_path), new_key("two", tmp_path)
    envelope = key.sign("entry", b"{}")
    key.public.check("entry", b"{}", envelope, "it")
    for public, kind, body in (
        (key.public, "commitment", b"{}"),
        (key.public, "entry", b"{ }"),
        (other.public, "entry", b"{}"),
    ):
        with pytest.raises(BadRecord, match="it does not have the signature of its key"):
            public.check(kind, body, envelope, "it")


@pytest.mark.parametrize(
    "envelope",
    [b"", b"[]", b"{}", b'{"payloadType":1,"signatures":[]}', b"[" * 20_000, b"\xff"],
)
def test_a_file_that_is_no_signature_is_refused(envelope: bytes, tmp_path: Path) -> None:
    """With the same sentence as a false one."""
    with pytest.raises(BadRecord, match="does not have the signature"):
        new_key("one", tmp_path).public.check("entry", b"{}", envelope, "the manifest")


def test_a_key_of_small_order_is_refused() -> None:
    """One signature would be valid for every message."""
    weak = PublicKey(bytes([1]) + bytes(31))
    envelope = {
        "payloadType": "application/vnd.desim.entry+json",
        "signatures": [{"keyid": weak.id, "sig": "AQ" + "A" * 84 + "=="}],
    }
    with pytest.raises(BadRecord, match="for which every signature is valid"):
        weak.check("entry", b"anything", json.dumps(envelope).encode(), "the manifest")


def test_the_bytes_that_are_signed_name_the_type() -> None:
    """As DSSE's own example has them."""
    assert encoded("x", b"hello").startswith(b"DSSEv1 28 application/vnd.desim.x+json 5 hello")


def test_files_of_a_key_are_read_again(tmp_path: Path) -> None:
    """Only the owner may read the private one; nothing is overwritten."""
    made = new_key("me", tmp_path, "secret")
    assert read_private(tmp_path / "me.pem", "secret").public == made.public
    assert read_public(tmp_path / "me.pub") == made.public
    assert stat.S_IMODE((tmp_path / "me.pem").stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="exists and is kept"):
        new_key("me", tmp_path)


def test_faults_of_files_are_named(tmp_path: Path) -> None:
    """A missing password, a wrong one, one too many, another kind of key, and no key."""
    new_key("locked", tmp_path, "secret")
    new_key("plain", tmp_path)
    with pytest.raises(UsageError, match="needs its password"):
        read_private(tmp_path / "locked.pem")
    with pytest.raises(UsageError, match="or the password is another one"):
        read_private(tmp_path / "locked.pem", "other")
    with pytest.raises(UsageError, match="is not encrypted, and a password was given"):
        read_private(tmp_path / "plain.pem", "secret")
    curve = generate_private_key(SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (tmp_path / "curve.pem").write_bytes(curve)
    with pytest.raises(UsageError, match="a key of another kind"):
        read_private(tmp_path / "curve.pem")
    with pytest.raises(UsageError, match="is no public key"):
        read_public(tmp_path / "plain.pem")
    with pytest.raises(UsageError, match="at most 60"):
        new_key("../up", tmp_path)
    with pytest.raises(UsageError, match="DESIM_NO_SUCH is not set"):
        password_of("DESIM_NO_SUCH")
