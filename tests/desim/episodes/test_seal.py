"""A record that was written with a key proves it; the digest alone proves nothing."""

import hashlib
import hmac
from pathlib import Path

import pytest
from support.recorded import GAME, lines_of, text_of

from desim import play, replay
from desim.episodes.seal import read_key
from desim.errors import BadRecord, UsageError

KEY = b"0123456789abcdef"


def test_the_key_is_proved(file: Path) -> None:
    """The HMAC covers the same bytes as the digest."""
    play(GAME, "typical", record=file, key=KEY)
    before = text_of(file).partition(b',"record_digest"')[0]
    last = lines_of(file)[-1]
    assert last["record_digest"] == hashlib.sha256(before).hexdigest()
    assert last["record_hmac"] == hmac.new(KEY, before, "sha256").hexdigest()
    assert replay(file, key=KEY).result == replay(file).result


def test_another_key_and_no_key_are_found(tmp_path: Path) -> None:
    """Also where the digest was computed anew over altered lines."""
    play(GAME, "typical", record=tmp_path / "signed", key=KEY)
    play(GAME, "typical", record=tmp_path / "plain")
    with pytest.raises(BadRecord, match="signed: the record was not written with this key"):
        replay(tmp_path / "signed", key=KEY[::-1])
    with pytest.raises(BadRecord, match="plain: the record proves nothing: it was written without"):
        replay(tmp_path / "plain", key=KEY)


@pytest.mark.parametrize(("size", "says"), [(15, "15 bytes"), (4097, "more than 4096 bytes")])
def test_a_key_has_a_size(tmp_path: Path, size: int, says: str) -> None:
    """16 to 4,096 bytes; nothing is played."""
    (tmp_path / "key").write_bytes(b"k" * size)
    with pytest.raises(UsageError, match=f"key: a key of {says} was given; it has 16 to 4096"):
        read_key(tmp_path / "key")
    with pytest.raises(UsageError, match="it has 16 to 4096"):
        play(GAME, "typical", record=tmp_path / "run", key=b"k" * size)
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match=r"cannot read the key .*none: No such file"):
        read_key(tmp_path / "none")
