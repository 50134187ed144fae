"""Only regular files within a limit are read, and a new file is written whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from desim.errors import UsageError
from desim.show.files import read_regular, write_new


def test_a_device_and_a_large_file_are_refused(tmp_path: Path) -> None:
    """The error says which it is."""
    with pytest.raises(OSError, match="pipe or device"):
        read_regular("/dev/zero", 10)
    (tmp_path / "large").write_bytes(bytes(11))
    with pytest.raises(OSError, match="larger than 10 bytes, the limit"):
        read_regular(tmp_path / "large", 10)
    assert read_regular(tmp_path / "large", 11) == bytes(11)


def broken() -> Iterator[bytes]:
    """Yield the start of a file, and fail."""
    yield b"the start"
    raise KeyError("the end")


def test_a_new_file_is_whole_or_missing(tmp_path: Path) -> None:
    """A failure in the middle leaves nothing behind, neither the file nor a part of it."""
    with pytest.raises(KeyError):
        write_new(tmp_path / "folder" / "file", broken())
    assert [*(tmp_path / "folder").iterdir()] == []
    write_new(tmp_path / "folder" / "file", [b"the start", b" and the end"])
    assert (tmp_path / "folder" / "file").read_bytes() == b"the start and the end"
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["file"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    """Of two commands that write one file the second is refused."""
    path = tmp_path / "file"

    def parts() -> Iterator[bytes]:
        path.write_bytes(b"first")
        yield b"second"

    with pytest.raises(UsageError, match="exists and is kept"):
        write_new(path, parts())
    assert path.read_bytes() == b"first"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_system_without_hard_links_takes_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is renamed instead."""

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write_new(tmp_path / "file", [b"whole"])
    assert (tmp_path / "file").read_bytes() == b"whole"
    with pytest.raises(UsageError, match="exists and is kept"):
        write_new(tmp_path / "file", [b"other"])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """With the reason of the system."""
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(UsageError, match=r"cannot write .*taken/file: "):
        write_new(tmp_path / "taken" / "file", [b"whole"])
