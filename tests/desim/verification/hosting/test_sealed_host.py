"""Sealed sessions are played once, survive kills, and end with default actions."""

import json
from pathlib import Path

import pytest
from support.sealed import NUMBER, SUITE, host_of, opened, order, play, play_all

from desim.errors import BadRecord, UsageError, WrongAction
from desim.verification.hosting.hosted_session import BrokenByServer
from desim.verification.sealed.listed_server import ListedServer
from desim.verification.sealed_checks import check_receipts
from desim.verification.verify import Verdict, verify


def verdict(entry: Path, folder: Path) -> Verdict:
    """Verify an entry with the server's log."""
    return verify(entry, server=ListedServer.read(folder / "out" / "public"))


def test_a_played_session_is_accepted(tmp_path: Path) -> None:
    """With the key of the server alone too; without it nothing is decided."""
    entry = play_all(host := host_of(tmp_path), opened(host, name="me"))
    found = verdict(entry, tmp_path)
    assert (found.decision, found.seeds, found.episodes) == ("accepted", "sealed", 2)
    assert verify(entry).decision == "not decidable"
    assert verify(entry, server=ListedServer.read(tmp_path / "server.pub")).decision == "accepted"


def test_seeds_have_128_bits_and_follow_from_both_numbers(tmp_path: Path) -> None:
    """Another number of the client gives other seeds for the same secret."""
    session = (host := host_of(tmp_path)).at(opened(host))
    seeds = {session.secret.seed(number, "game", 0) for number in (NUMBER, "cd" * 32)}
    assert len(seeds) == 2
    assert 2**100 < max(seeds) < 2**128


def test_abandoned_episodes_are_played_by_default_actions(tmp_path: Path) -> None:
    """They are in the results, with the count of the client's own answers."""
    session = (host := host_of(tmp_path)).at(ticket := opened(host))
    turn = session.begin()
    session.answer(0, order())
    entry = host.close(ticket)
    assert turn.episode == 0
    assert entry is not None
    assert verdict(entry, tmp_path).episodes == 2
    end = json.loads((entry / "session.json").read_bytes())["close"]["says"]
    assert end["abandoned"] == {"0": 1, "1": 0}


def test_an_episode_is_begun_once(tmp_path: Path) -> None:
    """A dropped connection gives the same observation again, and an ended episode is refused."""
    session = (host := host_of(tmp_path)).at(opened(host))
    first = session.begin()
    assert session.begin(0) == first
    play(session, first)
    for number, why in ((0, "has ended"), (5, "cannot be chosen")):
        with pytest.raises(UsageError, match=why):
            session.begin(number)
    assert session.begin().episode == 1


def test_a_decision_is_answered_once(tmp_path: Path) -> None:
    """A second answer, an early one and a wrong one are refused, and change nothing."""
    session = (host := host_of(tmp_path)).at(opened(host))
    session.begin()
    turn = session.answer(0, order(4))
    with pytest.raises(UsageError, match="decision 0 is answered already; the next one is 1"):
        session.answer(0, order(9))
    with pytest.raises(UsageError, match="decision 7 is not open"):
        session.answer(7, order())
    with pytest.raises(WrongAction) as wrong:
        session.answer(1, {"action": "buy"})
    assert "t=" not in str(wrong.value)
    assert session.begin() == turn


def test_a_killed_server_goes_on(tmp_path: Path) -> None:
    """Nothing is answered twice, and an answer without its reply counts."""
    ticket = opened(host := host_of(tmp_path))
    host.at(ticket).begin()
    turn = host.at(ticket).answer(0, order(4))
    host.stop()
    journal = next((tmp_path / "out" / "private").glob("*/journal.jsonl"))
    lines = journal.read_bytes().splitlines(keepends=True)
    assert b'"answered"' in lines[-1]
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:9])  # killed before its reply
    again = host_of(tmp_path)
    now = again.at(ticket).begin()
    assert (now.answered, now.observations) == (1, turn.observations)
    assert verdict(play_all(again, ticket), tmp_path).decision == "accepted"


def test_a_server_that_is_killed_while_it_closes_closes_again(tmp_path: Path) -> None:
    """The end that was signed stays, and the log has one."""
    entry = play_all(host := host_of(tmp_path), opened(host))
    host.stop()
    before = (entry / "session.json").read_bytes()
    journal = next((tmp_path / "out" / "private").glob("*/journal.jsonl"))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if b'"event":"closed"' not in line))
    (again := host_of(tmp_path)).close_late()
    assert again.open == []
    assert (entry / "session.json").read_bytes() == before
    assert verdict(entry, tmp_path).decision == "accepted"


def test_a_record_cut_on_the_server_breaks_the_session(tmp_path: Path) -> None:
    """The log shows it, and no entry is made."""
    ticket = opened(host := host_of(tmp_path))
    host.at(ticket).begin()
    host.at(ticket).answer(0, order())
    host.stop()
    record = next((tmp_path / "out" / "private").glob("*/00000.jsonl"))
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:1]))
    again = host_of(tmp_path)
    with pytest.raises(BrokenByServer):
        again.at(ticket).begin()
    assert again.close(ticket) is None
    log = (tmp_path / "out" / "public" / "log.jsonl").read_text()
    assert "broken by the server" in log


def test_a_lost_reply_to_an_opening_is_given_again(tmp_path: Path) -> None:
    """By the same number; another number of the same offer is refused."""
    host = host_of(tmp_path)
    session = host.offer()["says"]["session"]
    assert host.opened(session, NUMBER) == host.opened(session, NUMBER)
    with pytest.raises(UsageError, match="no offer"):
        host.opened(session, "cd" * 32)


def test_a_session_ends_at_its_time(tmp_path: Path) -> None:
    """Further answers are refused."""
    host = host_of(tmp_path, seconds=-1)
    session = host.at(opened(host))
    with pytest.raises(UsageError, match="time of the session is over"):
        session.begin()
    host.close_late()
    assert host.open == []


def test_a_world_without_draws_is_not_sealed(tmp_path: Path) -> None:
    """There is nothing that its seeds would hide."""
    with pytest.raises(UsageError, match="gives the same episode for every seed"):
        host_of(tmp_path, SUITE.replace(b"/poisson", b"/classic"))


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second one is refused."""
    first = host_of(tmp_path)
    with pytest.raises(UsageError, match="log"):
        host_of(tmp_path)
    first.stop()


def test_the_receipts_of_a_client_are_those_of_the_records(tmp_path: Path) -> None:
    """A record that was exchanged against the client has others."""
    ticket = opened(host := host_of(tmp_path))
    kept = [turn.receipt for turn in play(host.at(ticket), host.at(ticket).begin())]
    mine = play_all(host, ticket)
    check_receipts(mine, kept)
    with pytest.raises(BadRecord, match="of no line"):
        check_receipts(play_all(host, opened(host)), kept)


@pytest.mark.parametrize("name", ["=A1", "a\u202eb", "\n"])
def test_a_name_that_cannot_be_shown_opens_no_session(tmp_path: Path, name: str) -> None:
    """Its entry would be refused after it was played."""
    with pytest.raises(UsageError, match="cannot be printed"):
        opened(host_of(tmp_path), name=name)


@pytest.mark.parametrize("line", [b'{"event":"offered"}\n', b""])
def test_an_altered_journal_is_named(tmp_path: Path, line: bytes) -> None:
    """The server does not start over it."""
    host = host_of(tmp_path)
    opened(host)
    host.stop()
    (journal,) = (tmp_path / "out" / "private").glob("*/journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(line + b"".join(lines[1:]))
    with pytest.raises(BadRecord, match="does not begin with an offer"):
        host_of(tmp_path)
