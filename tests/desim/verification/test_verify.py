"""Entries and records are verified."""

import hashlib
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from desim import play
from desim.cli.main import main
from desim.errors import PolicyFailed, UsageError
from desim.verification import played_again
from desim.verification.offline import offline
from desim.verification.verify import verify
from models.beer_game import BeerGame

GAME = BeerGame(horizon=6)


def record(folder: Path, policy: str = "order_up_to") -> Path:
    """Return the record of a short game."""
    path = folder / f"{policy}.jsonl"
    play(GAME, policy, 3, record=path)
    return path


def test_a_record_of_a_rule_is_accepted(tmp_path: Path) -> None:
    """The rule is asked again; a keyed record too."""
    verdict = verify(record(tmp_path))
    assert (verdict.decision, verdict.actions) == ("accepted", "asked again")
    keyed = tmp_path / "keyed.jsonl.gz"
    play(GAME, "sterman", 3, record=keyed, key=b"k" * 32)
    assert verify(keyed).decision == "accepted"


def relabelled(path: Path, old: bytes, new: bytes) -> Path:
    """Write another label into a record, with a sum that fits."""
    content = path.read_bytes().replace(old, new)
    start = content.partition(b',"record_digest"')[0]
    found = hashlib.sha256(start).hexdigest().encode()
    path.write_bytes(start + b',"record_digest":"' + found + b'"}\n')
    return path


def test_a_record_of_another_policy_is_refused(tmp_path: Path) -> None:
    """The label is another one, and the sum of the record fits."""
    false = relabelled(record(tmp_path, "perfect"), b'"perfect"', b'"order_up_to"')
    done = CliRunner().invoke(main, ["verify", str(false)])
    assert done.exit_code == 1
    assert "refused: line" in done.stdout


def test_a_record_of_other_versions_that_differs_is_not_decidable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both versions are named."""
    false = relabelled(record(tmp_path, "perfect"), b'"perfect"', b'"order_up_to"')
    monkeypatch.setattr(played_again, "versions", lambda: {"python": "3.99.0"})
    done = CliRunner().invoke(main, ["verify", str(false)])
    assert done.exit_code == 2
    assert "it was made with python 3.1" in done.stdout
    assert "here are python 3.99.0: verify it there" in done.stdout


def test_what_a_stranger_names_is_not_imported(tmp_path: Path) -> None:
    """The exit code says that nothing was decided."""
    path = relabelled(record(tmp_path), b'"order_up_to"', b'"no_such_module:Rule"')
    done = CliRunner().invoke(main, ["verify", str(path)])
    assert done.exit_code == 2
    assert "needs the module no_such_module:Rule" in done.stdout


def test_no_connection_is_made() -> None:
    """Not even a name is looked up."""
    with offline(), pytest.raises(PolicyFailed, match="a connection was tried"):
        socket.create_connection(("127.0.0.1", 9))
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", 9))


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A folder without a manifest too."""
    with pytest.raises(UsageError, match="does not exist"):
        verify(tmp_path / "nothing")
    with pytest.raises(UsageError, match=r"has no manifest\.json"):
        verify(tmp_path)


def test_an_entry_that_takes_too_long_is_not_decidable(tmp_path: Path) -> None:
    """A policy that simulates without end stops too; the limit is named."""
    found = verify(record(tmp_path), minutes=1e-6)
    assert (found.decision, "--minutes" in found.text) == ("not decidable", True)


def test_the_others_are_verified_too(tmp_path: Path) -> None:
    """A path that does not exist is one of several verdicts."""
    paths = [str(tmp_path / "none"), str(record(tmp_path))]
    done = CliRunner().invoke(main, ["verify", *paths])
    assert done.exit_code == 2
    assert "accepted: 1 episode" in done.stdout


@pytest.mark.parametrize("look_up", [socket.gethostbyname, socket.gethostbyaddr])
def test_no_name_is_looked_up(look_up: Callable[[str], object]) -> None:
    """Older functions of the system too, which would tell a name's server of the verification."""
    with offline(), pytest.raises(PolicyFailed):
        look_up("localhost")


def test_a_resumed_record_is_accepted(tmp_path: Path) -> None:
    """A run that was killed twice has two lines more."""
    path = record(tmp_path)
    for count in (3, 7):
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:count]))
        assert CliRunner().invoke(main, ["resume", str(path)]).exit_code == 0
    assert path.read_bytes().count(b'"resumed"') == 2
    assert verify(path).decision == "accepted"


@pytest.mark.parametrize("count", [-7, 0, 1])
def test_a_resume_that_was_not_made_is_refused(tmp_path: Path, count: int) -> None:
    """The line of a resume states the decisions before it, and holds nothing else."""
    more = b',"note":"x"' if count == 0 else b""
    line = b'{"line":"resumed","decisions":%d%b}\n{"line":"decision"' % (count, more)
    path = record(tmp_path)
    content = path.read_bytes().replace(b'{"line":"decision"', line, 1)
    path.write_bytes(content)
    found = verify(relabelled(path, b"", b"")).text
    assert "is no resume after 0 decisions" in found
