"""False entries of sealed sessions are refused, each with its sentence."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from support.sealed import host_of, key_of, opened, order, play_all

from desim.cli.main import main
from desim.errors import UsageError
from desim.verification.boards.entry_board import new_board
from desim.verification.enter import enter
from desim.verification.entries.entry_manifest import EntryManifest
from desim.verification.record_content import content_digest
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.sealed.sealed_suite import SealedSuite
from desim.verification.sealed.statements import Closing, SignedSession, signed
from desim.verification.signed.canonical import canonical
from desim.verification.signed.keys import new_key
from desim.verification.submit import Submission, submit
from desim.verification.verify import Verdict, verify


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a server with two closed sessions, a and b, and an abandoned one, c."""
    folder = tmp_path_factory.mktemp("server")
    host = host_of(folder)
    for name in "ab":
        play_all(host, opened(host, name=name)).rename(folder / name)
    ticket = opened(host, name="c")
    host.at(ticket).begin()
    host.at(ticket).answer(0, order(50))
    entry = host.close(ticket)
    assert entry is not None
    entry.rename(folder / "c")
    host.stop()
    return folder


@pytest.fixture
def entry(server: Path, tmp_path: Path) -> Path:
    """Return a copy of the entry of the first session."""
    return Path(shutil.copytree(server / "a", tmp_path / "entry"))


def checked(entry: Path, server: Path) -> Verdict:
    """Verify an entry by the key of the server."""
    return verify(entry, server=ListedServer.read(server / "server.pub"))


def refused(entry: Path, server: Path, why: str) -> None:
    """Check that an entry is refused with a sentence."""
    found = checked(entry, server)
    assert found.decision == "refused", found.text
    assert why in found.text


def statements(entry: Path) -> Any:
    """Return the statements of an entry's session."""
    return json.loads((entry / "session.json").read_bytes())


def write(entry: Path, found: Any) -> None:
    """Write the statements of a session."""
    (entry / "session.json").write_bytes(canonical(found))


def end_again(entry: Path, server: Path, **changes: Any) -> None:
    """Sign another end of a session, as only the server can."""
    found = statements(entry)
    closing = replace(Closing(**found["close"]["says"]), **changes)
    write(entry, {**found, "close": signed(closing, key_of(server))})


def with_manifest(entry: Path, change: Callable[[EntryManifest], EntryManifest]) -> None:
    """Write another manifest."""
    path = entry / "manifest.json"
    path.write_bytes(change(EntryManifest.read(path.read_bytes())).content)


def record(entry: Path, number: int = 0) -> Path:
    """Return the record of an episode."""
    found = statements(entry)["close"]["says"]["records"][number]
    names = EntryManifest.read((entry / "manifest.json").read_bytes()).records
    return entry / next(name for name, digest in names.items() if digest == found)


def test_the_entries_are_accepted(server: Path) -> None:
    """Abandoned episodes too; the command prints the class."""
    for name in "abc":
        assert checked(server / name, server).decision == "accepted"
    public = str(server / "out" / "public")
    done = CliRunner().invoke(main, ["verify", str(server / "c"), "--server", public])
    assert done.exit_code == 0
    assert "sealed seeds" in done.stdout


def test_another_server_is_not_believed(server: Path, entry: Path, tmp_path: Path) -> None:
    """The key of a statement is the one that was given, and not the one that it names."""
    new_key("other", tmp_path)
    found = verify(entry, server=ListedServer.read(tmp_path / "other.pub"))
    assert "does not have the signature of its key" in found.text


def test_another_secret_is_refused(server: Path, entry: Path) -> None:
    """Although the server signs it: he chose a secret with good seeds after the opening."""
    end_again(entry, server, secret="00" * 32)
    refused(entry, server, "the secret is not the one of the offer")


def test_the_end_of_another_session_is_refused(server: Path, entry: Path) -> None:
    """Each statement names the one before it."""
    write(entry, {**statements(entry), "close": statements(server / "b")["close"]})
    refused(entry, server, "the closing is of another session")
    other = statements(server / "b")
    write(entry, {**statements(entry), "open": other["open"], "close": other["close"]})
    refused(entry, server, "the opening is of another session")


@pytest.mark.parametrize("part", ["number", "time", "name"])
def test_an_edited_opening_is_refused(server: Path, entry: Path, part: str) -> None:
    """The signature is of all of it."""
    found = statements(entry)
    found["open"]["says"][part] = {"number": "cd" * 32, "time": 1, "name": "b"}[part]
    write(entry, found)
    refused(entry, server, "does not have the signature of its key")


def test_hidden_abandoned_episodes_are_refused(server: Path, tmp_path: Path) -> None:
    """By the signature of the end; and defaults that the client has not given are seen."""
    entry = Path(shutil.copytree(server / "c", tmp_path / "c"))
    found = statements(entry)
    found["close"]["says"]["abandoned"] = {}
    write(entry, found)
    refused(entry, server, "does not have the signature of its key")


def test_answers_in_an_abandoned_episode_are_refused(server: Path, tmp_path: Path) -> None:
    """All behind the client's own answers are default actions."""
    entry = Path(shutil.copytree(server / "c", tmp_path / "c"))
    end_again(entry, server, abandoned={"0": 0, "1": 0})
    refused(entry, server, "decision 1 ('retailer'): the policy decides")


def test_a_record_of_another_session_is_refused(server: Path, entry: Path) -> None:
    """The keys of the tags differ, also where the server signs its digest."""
    shutil.copy(record(server / "b"), own := record(entry))
    with_manifest(
        entry,
        lambda one: replace(
            one,
            records={**one.records, f"records/{own.name}": content_digest(own)},
        ),
    )
    ends = statements(entry)["close"]["says"]["records"]
    end_again(entry, server, records=[content_digest(own), *ends[1:]])
    refused(entry, server, "the record was not written with this key")


def test_a_record_with_another_seed_is_refused(server: Path, entry: Path) -> None:
    """Although it has the tags of the session, the server signs it, and it replays."""
    own, session = (
        record(entry),
        SignedSession.read((entry / "session.json").read_bytes(), key_of(server).public),
    )
    suite = SealedSuite.read((entry / "suite.toml").read_bytes())
    plain = entry.parent / "lucky.jsonl"
    how = {"record": plain, "key": session.secret.record_key(0)}
    with suite.episodes[0].session(7, **how) as playing:
        while playing.open:
            playing.answer(playing.open[0], order())
            playing.advance()
    own.write_bytes(gzip.compress(plain.read_bytes()))
    name, found = f"records/{own.name}", content_digest(own)
    with_manifest(entry, lambda one: replace(one, records={**one.records, name: found}))
    ends = statements(entry)["close"]["says"]["records"]
    end_again(entry, server, records=[found, *ends[1:]])
    refused(entry, server, "seed was 7, now")


def test_an_altered_record_is_refused(server: Path, entry: Path) -> None:
    """A tag shows it, before anything is played."""
    own = record(entry)
    lines = gzip.decompress(own.read_bytes())
    own.write_bytes(gzip.compress(lines.replace(b'"quantity":3', b'"quantity":4', 1)))
    refused(entry, server, "altered")


def test_an_episode_that_is_left_out_is_refused(server: Path, entry: Path) -> None:
    """In the folder, in the manifest, and in the end of the session."""
    own = record(entry)
    name = f"records/{own.name}"
    with_manifest(
        entry,
        lambda one: replace(one, records={k: v for k, v in one.records.items() if k != name}),
    )
    refused(entry, server, f"record {name} is missing")
    end_again(entry, server, records=statements(entry)["close"]["says"]["records"][1:])
    refused(entry, server, "the session has 1 records, the offer 2")


def test_a_missing_file_of_a_record_is_refused(server: Path, entry: Path) -> None:
    """Nobody can play it again without the client."""
    record(entry).unlink()
    refused(entry, server, "record")


def test_edited_results_are_refused(server: Path, entry: Path) -> None:
    """The figures come from the records."""

    def better(one: EntryManifest) -> EntryManifest:
        game = one.results["game"]
        return replace(one, results={"game": replace(game, n=game.n + 1)})

    with_manifest(entry, better)
    refused(entry, server, "n of game is 2, the manifest says 3")


def test_another_suite_is_refused(server: Path, entry: Path) -> None:
    """The offer names the bytes of its file."""
    suite = entry / "suite.toml"
    suite.write_bytes(suite.read_bytes() + b"\n")
    refused(entry, server, "the suite's file is not the one that the manifest names")


def test_a_session_is_in_the_log_once(server: Path, entry: Path, tmp_path: Path) -> None:
    """One that is missing, or there twice, or closed otherwise, is refused."""
    public = tmp_path / "public"
    for sessions, why in ((0, "not in the log"), (2, "twice in the log")):
        public.mkdir(exist_ok=True)
        shutil.copy(server / "server.pub", public)
        (public / "log.jsonl").unlink(missing_ok=True)
        listed = ListedServer.read(public)
        assert listed.log is not None
        session = SignedSession.read((entry / "session.json").read_bytes(), listed.key)
        for _ in range(sessions):
            listed.log.add("opened", session.opening.digest, key_of(server))
        found = verify(entry, server=listed)
        assert (found.decision, why in found.text) == ("refused", True)


def test_a_sealed_entry_is_not_declared_otherwise(server: Path, entry: Path) -> None:
    """Nor one without a session sealed, or that of another client's key."""
    with_manifest(entry, lambda one: replace(one, seeds="public"))
    assert checked(entry, server).decision == "refused"
    with_manifest(entry, lambda one: replace(one, seeds="sealed", entry="b"))
    refused(entry, server, "the session was opened as 'a', not 'b'")
    (entry / "session.json").unlink()
    refused(entry, server, "session.json is missing")


def test_a_session_comes_on_a_board_once(tmp_path: Path) -> None:
    """Signed by its client; under another name it is refused, and without the server's log too."""
    key, owner = new_key("me", tmp_path), new_key("board", tmp_path)
    board = new_board(tmp_path / "board", "Sealed", owner)
    host = host_of(tmp_path)
    played = play_all(host, opened(host, key=key.public.hex))
    host.stop()
    listed = ListedServer.read(tmp_path / "out" / "public")
    for name in ("mine", "copy"):
        submit(played, tmp_path / name, Submission("", name, "somebody", key=key))
    for unknown in (None, ListedServer.read(tmp_path / "server.pub")):
        with pytest.raises(UsageError, match="give the public folder of its server"):
            enter(board, tmp_path / "mine", owner, server=unknown)
    verdict, line = enter(board, tmp_path / "mine", owner, server=listed)
    assert (verdict.decision, verdict.key) == ("accepted", key.public.id)
    assert line is not None
    with pytest.raises(UsageError, match="was entered as 'mine'"):
        enter(board, tmp_path / "copy", owner, server=listed)


def test_a_session_without_a_key_is_signed_by_nobody(server: Path, tmp_path: Path) -> None:
    """Otherwise anybody could play many such sessions and sign the best one."""
    submit(server / "a", out := tmp_path / "mine", Submission("", key=new_key("me", tmp_path)))
    refused(out, server, "the session was opened without a key")


def test_the_sessions_of_a_key_are_counted(tmp_path: Path) -> None:
    """Also those that their client does not submit."""
    key = new_key("me", tmp_path)
    host = host_of(tmp_path)
    tickets = [opened(host, number, key=key.public.hex) for number in ("ab" * 32, "cd" * 32)]
    submit(play_all(host, tickets[1]), out := tmp_path / "mine", Submission("", key=key))
    host.stop()
    verdict = verify(out, server=ListedServer.read(tmp_path / "out" / "public"))
    assert "It is session 2 of 2 of its key." in verdict.text


def test_a_session_of_a_key_is_entered_with_it(tmp_path: Path) -> None:
    """Somebody else cannot enter it, and its commitment stays."""
    key, other = new_key("me", tmp_path), new_key("other", tmp_path)
    entry = play_all(
        host := host_of(tmp_path), opened(host, key=key.public.hex, commitment="cd" * 32)
    )
    for signer, decision in ((key, "accepted"), (other, "refused")):
        submit(entry, out := tmp_path / signer.name, Submission("", key=signer))
        assert checked(out, tmp_path).decision == decision


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"offer":1,"open":2,"close":3}', b"\xff"])
def test_a_file_that_is_no_session_is_refused(server: Path, entry: Path, content: bytes) -> None:
    """Without a traceback."""
    (entry / "session.json").write_bytes(content)
    assert checked(entry, server).decision == "refused"
