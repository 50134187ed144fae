"""Reading a record of any content is bounded, and ends with one sentence or with the record."""

import contextlib
import gzip
import os
import random
import resource
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from support.paths import PYTHONPATH
from support.recorded import GAME

from desim import Episode, play, replay
from desim.episodes.replay import first_difference
from desim.errors import BadRecord, DesimError
from desim.records import record_file
from desim.records.reader import RecordedSteps

#: How many altered records are read; `DESIM_MUTATIONS` raises it.
MUTATIONS = int(os.environ.get("DESIM_MUTATIONS", "300"))


def test_a_pipe_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    """Nothing waits for a process that might write into them."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(BadRecord, match=f"{path}: it is a pipe or device, and no regular"):
            Episode.read(path)


def test_a_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    """A small gzip file that unfolds to 6 GB takes little memory and little time."""
    bomb = tmp_path / "bomb.jsonl.gz"
    head = gzip.compress(b"", mtime=0)[:10]
    zip_ = zlib.compressobj(9, wbits=-15)
    block = b"0" * (1 << 20)
    once = zip_.compress(block) + zip_.flush(zlib.Z_FULL_FLUSH)
    bomb.write_bytes(head + once * 6_000)
    assert bomb.stat().st_size < 10_000_000
    code = (
        "import sys\n"
        "from desim import Episode\n"
        "from desim.errors import BadRecord\n"
        "from support.memory import peak\n"
        "begun = peak()\n"
        "try: Episode.read(sys.argv[1])\n"
        "except BadRecord as fault: print(fault)\n"
        "print(peak() - begun)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(bomb)],
        env={"PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    says, mib = done.stdout.splitlines()
    assert says == f"{bomb} has a line of more than 32 MiB, the limit"
    assert float(mib) < 200


def test_a_record_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no line is long."""
    play(GAME, "typical", record=tmp_path / "run.gz")
    monkeypatch.setattr(record_file, "MAX_RECORD_BYTES", 2_000)
    with pytest.raises(BadRecord, match=r"run\.gz holds more than 0 MiB, the limit"):
        Episode.read(tmp_path / "run.gz")


def test_bytes_behind_a_gzip_file_are_refused(tmp_path: Path) -> None:
    """What is hidden there would be under no digest."""
    file = tmp_path / "run.gz"
    play(GAME, "typical", record=file)
    whole = file.read_bytes()
    file.write_bytes(whole + b"more")
    with pytest.raises(BadRecord, match=r"cannot read .*run.gz: Not a gzipped file \(b'mo'\)"):
        Episode.read(file)
    file.write_bytes(whole + gzip.compress(b"more"))
    with pytest.raises(BadRecord, match=r"line \d+ is a result, but the file has further lines"):
        Episode.read(file)


def test_a_flipped_bit_of_a_gzip_file_is_told_from_a_bad_line(tmp_path: Path) -> None:
    """Zipped without compression, so that only the checksum shows it."""
    file = tmp_path / "run.gz"
    play(GAME, "typical", record=tmp_path / "run")
    zipped = gzip.compress((tmp_path / "run").read_bytes(), compresslevel=0)
    file.write_bytes(zipped.replace(b'"line"', b'"lime"'))
    with pytest.raises(BadRecord, match=r"run.gz: the file is damaged, as its gzip checksum shows"):
        Episode.read(file)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"line":"decision","t":0,"t":1,"role":"a","observation":0,"action":0}', "key 't' comes"),
        (
            b'{"line":"decision","t":0,"role":"a","observation":{"x":[{"y":1,"y":2}]},"action":0}',
            "the key 'y' comes twice in one object",
        ),
        (b'{"line":"decision","t":0,"role":"a","observation":"\xff","action":0}', "(?i)utf-8"),
        (b'{"line":"decision","t":0,"role":"\\ud800","observation":0,"action":0}', "not readable"),
        (b"[" * 200_000, "not readable"),
        (
            b'{"line":"decision","t":0,"role":"a","observation":'
            + b"[" * 100_000
            + b"]" * 100_000
            + b',"action":0}',
            "recursion|Stack overflow",  # of Python 3.14
        ),
        (b'{"line":"decision","t":1e999,"role":"a","observation":0,"action":0}', "not readable"),
        (
            b'{"line":"decision","t":' + b"9" * 5_000 + b',"role":"a","observation":0,"action":0}',
            "not readable",
        ),
        (b'{"line":"decision","t":0,"role":"a","observation":NaN,"action":0}', "not readable"),
        (b"\x00", "not readable"),
    ],
    ids=range(10),
)
def test_a_line_that_cannot_be_read_is_one_short_sentence(
    tmp_path: Path, line: bytes, says: str
) -> None:
    """It names the file and the line, whatever the fault is."""
    file = tmp_path / "run"
    play(GAME, "typical", record=file)
    head = file.read_bytes().splitlines(keepends=True)[0]
    file.write_bytes(head + line + b"\n")
    with pytest.raises(BadRecord, match=says) as refused:
        Episode.read(file, whole=False)
    assert str(refused.value).startswith(f"{file}: decision 1 (line 2) is not readable: ")
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        (b'"horizon":25,', b'"horizon":25,"horizon":9,', "horizon"),
        (b'"t":1,', b'"t":1,"t":2,', "t"),
        (b'"quantity":', b'"quantity":9,"quantity":', "quantity"),
    ],
)
def test_a_key_that_comes_twice_in_a_decision_is_refused(
    tmp_path: Path, old: bytes, new: bytes, key: str
) -> None:
    """Also where the record was cut."""
    file = tmp_path / "run"
    play("beer_game", "typical", record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    (at, line), *_ = ((n, line) for n, line in enumerate(lines) if n and old in line)
    for end in (len(lines), len(lines) - 1):
        file.write_bytes(b"".join([*lines[:at], line.replace(old, new, 1), *lines[at + 1 : end]]))
        with pytest.raises(BadRecord, match=rf"\(line {at + 1}\) .* the key '{key}' comes twice"):
            Episode.read(file, whole=False)


def test_a_difference_is_shown_by_its_path_and_two_short_values() -> None:
    """However large the values are."""
    old = {"a": [{"b": "x" * 20_000}, 1]}
    text = first_difference(old, {"a": [{"b": "y" * 20_000}, 1]})
    assert text.startswith("$.a[0].b was 'xxx")
    assert len(text) < 200
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert len(first_difference(deep, 2)) < 200


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_altered_records_raise_no_foreign_exception(tmp_path: Path, name: str) -> None:
    """Flipped bits, removed and repeated pieces: each is found, or the record is as it was."""
    file = tmp_path / name
    whole = play(GAME, "typical", record=file)
    raw, rng = file.read_bytes(), random.Random(1)  # noqa: S311 (no secret)
    for number in range(MUTATIONS):
        file.write_bytes(mutated(raw, rng))
        try:
            assert Episode.read(file).result == whole.result, number
            replay(file)
        except DesimError as fault:
            assert str(file) in str(fault), number  # noqa: PT017 (either outcome is right)
            assert len(str(fault)) < 2_000, number  # noqa: PT017 (as above)
        with contextlib.suppress(DesimError):
            Episode.read(file, whole=False)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Return a file with one fault."""
    at, end = sorted(rng.randrange(len(raw)) for _ in range(2))
    kind = rng.randrange(5)
    if kind == 0:
        return raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :]
    if kind == 1:
        return raw[:at] + raw[end:]
    if kind == 2:
        return raw[:end] + raw[at:]
    if kind == 3:
        return raw[:at] + rng.randbytes(rng.randrange(1, 40)) + raw[at:]
    return raw[:at]


def test_steps_can_stay_on_disk(tmp_path: Path) -> None:
    """They are read when they are used, and equal those in memory."""
    file = tmp_path / "run.gz"
    played = play(GAME, "typical", record=file, keep_steps=False)
    kept = Episode.read(file)
    assert isinstance(played.steps, RecordedSteps)
    assert len(played.steps) == 6
    assert played.steps == kept.steps
    assert kept == Episode.read(file, keep_steps=False)
    assert played.steps[2] == played.steps[-4] == kept.steps[2]
    assert played.steps[1:4] == kept.steps[1:4]
    assert played.steps[::-2] == kept.steps[::-2]
    assert play(GAME, "typical", keep_steps=False).steps == ()
