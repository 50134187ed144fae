"""What is refused as a record: files of another kind or format, altered, cut, or unreadable."""

import codecs
import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.recorded import GAME, text_of
from support.small_worlds import Walk

from desim import Episode, __version__, play, replay, resume
from desim.cli.main import main
from desim.errors import BadRecord


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty or damaged; a record starts with a header"),
        (b"\x00\xff\x80junk\n\x00", "no episode record: its first line is no header"),
        (b"{}\n", "no episode record"),
        (b'{"format": null}\n', "no episode record"),
        (b'[{"format": "desim-episode/4"}]\n', "no episode record"),
        (b"not json\n", "no episode record"),
        (b'{"format": "desim-episode/99"}\n', "format 'desim-episode/99'; this desim .* reads"),
        (b'{"format": "desim-episode/4"}\n', "line 1 is not readable: .*missing"),
        (b'{"format": "desim-episode/4", "line": "result"}\n', "line 1 is not readable"),
        (b"\x1f\x8b\x08", "the file is empty"),
        (gzip.compress(b"junk\n", mtime=0), "no episode record"),
        (b"[" * 100_000, "no episode record"),
    ],
    ids=lambda value: repr(value)[:40],
)
@pytest.mark.parametrize("whole", [True, False])
def test_what_is_no_record_is_refused(
    tmp_path: Path, content: bytes, says: str, *, whole: bool
) -> None:
    """The error starts with the name of the file and says what is wrong."""
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(BadRecord, match=says) as refused:
        Episode.read(tmp_path / "run", whole=whole)
    assert str(refused.value).startswith(str(tmp_path / "run"))


def test_a_missing_file_and_a_folder_cannot_be_read(tmp_path: Path) -> None:
    """The error ends with the reason that the operating system gives."""
    with pytest.raises(BadRecord, match=r"cannot read .*nothing: No such file"):
        Episode.read(tmp_path / "nothing")
    with pytest.raises(BadRecord, match=r"cannot read .*: Is a directory"):
        Episode.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[:3] + lines[4:], "altered"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "altered"),
        (lambda lines: [*lines[:2], lines[2].replace(b":", b": ", 1), *lines[3:]], "altered"),
        (lambda lines: lines[:-1], "was cut after 6 decisions"),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], "was cut"),
        (lambda lines: [*lines, b"\n"], "line 8 is a result, but the file has further lines"),
        (lambda lines: [*lines[:-1], b'{"record_digest":1}\n'], r"\(line 8\) is not readable"),
        (lambda lines: [*lines[:-1], b'{"line":"result"}\n'], r"\(line 8\) is not readable"),
        (lambda lines: [*lines[:3], lines[0], *lines[3:]], "line 4 is a second header"),
    ],
    ids=range(9),
)
def test_an_altered_record_is_refused(
    file: Path, change: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    """By its digest, or because of a line that cannot be read."""
    play(GAME, "typical", record=file)
    changed = b"".join(change(text_of(file).splitlines(keepends=True)))
    file.write_bytes(gzip.compress(changed) if file.suffix == ".gz" else changed)
    with pytest.raises(BadRecord, match=says):
        Episode.read(file)


def test_a_copy_with_line_ends_of_windows_is_the_same_record(file: Path) -> None:
    """Also behind a byte order mark; a copy that was cut is resumed to the same end."""

    def write(lines: bytes) -> None:
        copy = codecs.BOM_UTF8 + lines.replace(b"\n", b"\r\n")
        file.write_bytes(gzip.compress(copy) if file.suffix == ".gz" else copy)

    play(GAME, "typical", record=file)
    lines, known = text_of(file), Episode.read(file)
    write(lines)
    assert Episode.read(file) == known
    assert replay(file).result == known.result
    assert CliRunner().invoke(main, ["replay", str(file)]).exit_code == 0
    write(b"".join(lines.splitlines(keepends=True)[:4]))
    assert resume(file).result == known.result
    assert b"\r" not in text_of(file)


def test_a_line_that_is_no_decision_is_named(tmp_path: Path) -> None:
    """The error names the decision and the line, in a cut record too."""
    play(GAME, "typical", record=tmp_path / "run")
    lines = (tmp_path / "run").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").write_bytes(
        b"".join([*lines[:2], b'{"line":"decision","t":"x"}\n', *lines[3:5]])
    )
    with pytest.raises(BadRecord, match=r"decision 2 \(line 3\) is not readable: .*`\$.t`"):
        Episode.read(tmp_path / "cut", whole=False)


# -- records of format 1 ---------------------------------------------------------------------------

_STEP = (
    '{"t":0,"role":"walker","observation":{"place":0,"step":0},"action":{"do":"go","places":1}}\n'
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Write a whole record of format 1."""
    header = (
        '{"format":"desim-episode/1","version":"0.1.0","model":"support.small_worlds:Walk",'
        '"preset":"short","params":{"goals":[2,5],"pace":1,"patience":50,"steps":1,"wind":1.0},'
        '"seed":1,"policies":{"walker":"person"}}\n'
    )
    before = header + _STEP
    result = (
        '{"score":1.0,"ended":"walked","metrics":{},"decisions":1,"ledger_digest":null,'
        f'"record_digest":"{hashlib.sha256(before.encode()).hexdigest()}"}}\n'
    )
    (tmp_path / "old.jsonl").write_text(before + result)
    return tmp_path / "old.jsonl"


@pytest.mark.parametrize(
    "use",
    [
        Episode.read,
        lambda old: Episode.read(old, whole=False),
        replay,
        resume,
        lambda old: play(Walk(steps=1), f"replay,file={old}"),
    ],
    ids=["read", "read_cut", "replay", "resume", "policy"],
)
def test_a_record_of_format_1_is_refused(old: Path, use: Callable[[Path], object]) -> None:
    """One sentence names the record's format and those that this version reads."""
    with pytest.raises(BadRecord) as refused:
        use(old)
    assert str(refused.value) == (
        f"{old}: the record has format 'desim-episode/1'; "
        f"this desim {__version__} reads 'desim-episode/4'"
    )
