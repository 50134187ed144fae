"""A record that was written with a key proves it; the digest alone proves nothing."""

import gzip
import hashlib
import hmac
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.recorded import GAME, lines_of, played_lines, text_of

from desim import Episode, play, replay, resume
from desim.episodes.futures.branched_record import play_branch
from desim.errors import BadRecord, UsageError
from desim.records.line_tags import plain_line
from desim.records.recorder import cut as shorten
from desim.records.seal import read_key

KEY = b"0123456789abcdef"


def test_the_key_is_proved(file: Path) -> None:
    """Also of a record of an older desim, whose last line has the HMAC of all bytes before it."""
    play(GAME, "typical", record=file)
    before, _, digest = text_of(file).rpartition(b"}")[0].partition(b',"record_digest"')
    assert digest == b':"%b"' % hashlib.sha256(before).hexdigest().encode()
    mac = hmac.new(KEY, before, "sha256").hexdigest().encode()
    written(file, b'%b,"record_digest"%b,"record_hmac":"%b"}\n' % (before, digest, mac))
    assert replay(file, key=KEY).result == replay(file).result
    with pytest.raises(BadRecord, match="not written with this key"):
        replay(file, key=KEY[::-1])


def test_each_line_has_a_tag_of_all_lines_before_it(file: Path) -> None:
    """With a key alone; an episode is the same with and without."""
    keyed = play(GAME, "typical", record=file, key=KEY)
    tags = [line["tag"] for line in lines_of(file)]
    assert len({*tags}) == len(tags) == len(keyed.steps) + 2
    plain = file.with_name("plain")
    assert play(GAME, "typical", record=plain) == keyed
    header, of_plain = Episode.read(file).header, Episode.read(plain).header
    assert len(header.id) == 32
    assert replace(header, id="") == of_plain == keyed.header
    assert replay(file, key=KEY).result == replay(file).result == keyed.result
    assert not any("tag" in line for line in lines_of(plain))


def test_no_two_records_share_the_key_of_their_tags(tmp_path: Path) -> None:
    """The same line at the same place has another tag, as it depends on the record's id."""
    for name in "ab":
        play(GAME, "typical", record=tmp_path / name, key=KEY)
    first, second = (lines_of(tmp_path / name) for name in "ab")
    assert played_lines(tmp_path / "a") == played_lines(tmp_path / "b")
    assert first[0]["id"] != second[0]["id"]
    assert not {line["tag"] for line in first} & {line["tag"] for line in second}
    mac = hashlib.blake2b(key=hkdf(first[0]["id"]), digest_size=16, person=b"desim-record")
    mac.update(plain_line(text_of(tmp_path / "a").splitlines(keepends=True)[0]))
    assert first[0]["tag"] == mac.hexdigest()


def hkdf(record_id: str) -> bytes:
    """Return the key of the tags, by HKDF-SHA256 as RFC 5869 writes it, for 32 bytes."""
    info = b"desim record line tags 1" + record_id.encode()
    extracted = hmac.new(bytes(32), KEY, "sha256").digest()
    return hmac.new(extracted, info + b"\x01", "sha256").digest()


def cut(file: Path, size: int, change: Callable[[list[bytes]], object] = list) -> bytes:
    """Write a keyed record that was cut and changed; return the bytes of the whole one."""
    play(GAME, "typical", record=file, key=KEY)
    whole = text_of(file)
    lines = whole[:size].splitlines(keepends=True)
    change(lines)
    written(file, b"".join(lines))
    return whole


@pytest.mark.parametrize("size", [1300, 1301, 1600, -1, -200])
def test_a_cut_record_is_proved_and_ends_like_an_uncut_one(file: Path, size: int) -> None:
    """Wherever it was cut."""
    whole = cut(file, size)
    assert Episode.read(file, whole=False, key=KEY).result is None
    resume(file, key=KEY)
    resumed = played_lines(file)
    assert Episode.read(file, key=KEY).resumed == Episode.read(file).resumed != ()
    written(file, whole)
    assert played_lines(file) == resumed


FORGERIES: dict[str, Callable[[list[bytes]], object]] = {
    "header": lambda lines: replaced(lines, 0, b'"seed":0', b'"seed":1'),
    "policy": lambda lines: replaced(lines, 0, b'"typical"', b'"optimal"'),
    "observation": lambda lines: replaced(lines, 1, b'"week":0', b'"week":5'),
    "spaces": lambda lines: replaced(lines, 1, b'"week":0', b'"week": 0'),
    "action": lambda lines: replaced(lines, 2, b'"quantity":', b'"quantity":1'),
    "removed": lambda lines: lines.pop(1),
    "doubled": lambda lines: lines.insert(2, lines[1]),
    "swapped": lambda lines: lines.insert(1, lines.pop(2)),
    "added": lambda lines: lines.append(b'{"line":"transcript","entry":1,"role":"retailer"}\n'),
    "tagged anyhow": lambda lines: replaced(lines, 2, lines[2][-36:], lines[1][-36:]),
    "tags stripped": lambda lines: lines.__setitem__(
        slice(None), [plain_line(line) for line in lines if line.endswith(b"\n")]
    ),
}


def replaced(lines: list[bytes], at: int, old: bytes, new: bytes) -> None:
    """Replace a text in a line, which has it."""
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new)


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("use", [resume, partial(play_branch, decisions=1, record="branch")])
def test_nothing_is_added_to_a_forged_record(
    file: Path,
    forgery: str,
    use: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever was changed: its tags are checked first, and the file stays as it is."""
    monkeypatch.chdir(file.parent)
    cut(file, 2000, FORGERIES[forgery])
    before = file.read_bytes()
    with pytest.raises(BadRecord, match=r"tag|key"):
        use(file, key=KEY)
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_a_record_without_tags_is_not_continued_with_a_key(file: Path) -> None:
    """Nor one with tags without its key; without or with it each goes on."""
    whole = cut(file, 2000, FORGERIES["tags stripped"])
    written(file, text_of(file).replace(b"+tags", b""))
    with pytest.raises(BadRecord, match=r"has no tags, so that nothing proves .* go on without"):
        resume(file, key=KEY)
    assert resume(file).result is not None
    written(file, whole[:1600])
    with pytest.raises(UsageError, match="was written with a key, which is needed to go on"):
        resume(file)
    assert text_of(file) == whole[:1600]


def test_a_copied_prefix_is_proved_too(file: Path) -> None:
    """The first decisions of a whole record, kept without its key."""
    whole = cut(file, -1)
    written(file, whole)
    shorten(file, 2)
    assert whole.startswith(text_of(file))
    assert resume(file, key=KEY).result is not None
    resumed = played_lines(file)
    written(file, whole)
    assert played_lines(file) == resumed


def written(file: Path, text: bytes) -> None:
    """Write the text of a record, gzipped where its name says so."""
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)


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
