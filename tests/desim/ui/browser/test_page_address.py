"""The address of a game's page is kept beside the record, for its owner alone."""

import os
from pathlib import Path

import pytest

from desim.errors import UsageError
from desim.ui.browser.page_server import PageAddress, address_file, keep_address, kept_address


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return the path of a record."""
    return tmp_path / "game.jsonl"


def test_a_restart_finds_the_address_of_the_first_start(record: Path) -> None:
    """Token and port are kept; another record has another token."""
    first = kept_address(record)
    keep_address(record, first, 8123)
    assert kept_address(record) == PageAddress(first.token, 8123)
    assert kept_address(record.with_name("other.jsonl")).token != first.token


def test_only_the_owner_can_read_the_address(record: Path) -> None:
    """Also when the file is written again, whatever the umask."""
    before = os.umask(0)
    try:
        for port in (8123, 8124):
            keep_address(record, kept_address(record), port)
            assert address_file(record).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1, 2]",
        b'{"token": "short", "port": 1}',
        b'{"token": "../../../../../../../../etc/passwd", "port": 1}',
        b'{"token": "%s", "port": 70000}' % (b"a" * 32),
        b'{"token": "%s", "port": true}' % (b"a" * 32),
        b'{"token": "%s", "port": NaN}' % (b"a" * 32),
        b"\xff\xfe",
    ],
)
def test_a_file_with_something_else_is_refused(record: Path, content: bytes) -> None:
    """With a sentence that names the file."""
    address_file(record).touch(0o600)
    address_file(record).write_bytes(content)
    with pytest.raises(UsageError, match="holds no address of a page"):
        kept_address(record)


def test_a_pipe_is_refused_at_once(record: Path) -> None:
    """Without waiting for somebody to write into it."""
    os.mkfifo(address_file(record), 0o600)
    with pytest.raises(UsageError, match="it is a pipe or device"):
        kept_address(record)
