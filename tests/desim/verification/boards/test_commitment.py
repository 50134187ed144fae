"""Seeds that nobody knew: commitment, receipt, beacon."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.own_rules import COVER

from desim.cli.main import main
from desim.errors import BadRecord, UsageError
from desim.suites.fresh_seeds import FreshSeeds
from desim.verification.boards import drand
from desim.verification.boards.board_log import BoardLog
from desim.verification.boards.commitment import files_of, opened
from desim.verification.boards.entry_board import read_board
from desim.verification.signed.keys import read_private, read_public

SUITE = """
title = "One rule"
seeds = "0:2"

[worlds.game]
model = "beer_game/poisson"
set = { horizon = 6 }

[entries.rule]
policy = "order_up_to"
"""

#: Round 1,000 of drand's quicknet: its signature, and the randomness that the network publishes.
ROUND, SIGNATURE = (
    1000,
    (
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
    ),
)
RANDOMNESS = "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"


class Clock:
    """The time of the modules that write logs and commitments."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        """Return the present time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still."""
    clock = Clock()
    monkeypatch.setattr("time.time", clock.time)
    return clock


def run(*arguments: str, code: int = 0) -> str:
    """Run a command and return its output."""
    done = CliRunner().invoke(main, [*arguments])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def season(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Clock:
    """A board with a key, a suite, a commitment that the board received, and the clock."""
    monkeypatch.chdir(tmp_path)
    Path("suite.toml").write_text(SUITE, encoding="utf-8")
    for name in ("me", "owner"):
        run("key", "new", name)
    run("board", "new", "board", "--title", "A board", "--key", "owner.pem")
    run(
        "commit", "new", "suite.toml", "--entry", "rule", "--season", "winter", "--count", "2",
        "--key", "me.pem", "--out", "mine", "--board",
    )  # fmt: skip
    run("board", "receive", "board", "mine", "--key", "owner.pem")
    return clock


def draw(clock: Clock, seconds: float = 4_000.0) -> None:
    """Let time pass, and let the board draw its beacon."""
    clock.now += seconds
    Path("mine/beacon.json").write_text(
        run("board", "beacon", "board", "--key", "owner.pem"), encoding="utf-8"
    )


def played(text: str) -> str:
    """Play the suite with other seeds, submit it, and return the verdict of `verify`."""
    Path("fresh.toml").write_text(SUITE.replace('seeds = "0:2"', text), encoding="utf-8")
    run("bench", "fresh.toml", "--out", "results")
    run(
        "submit", "results", "--out", "entry", "--key", "me.pem", "--commitment", "mine",
    )  # fmt: skip
    return CliRunner().invoke(main, ["verify", "entry", "--board", "board"]).output


def test_an_entry_on_fresh_seeds_is_accepted(season: Clock) -> None:
    """The seeds have 128 bits, and every world has its own."""
    draw(season)
    text = run("commit", "seeds", "mine", "--board", "board").strip()
    assert "accepted: 2 episodes asked again, fresh seeds" in played(text)
    seeds = FreshSeeds.read(text.partition('"')[2].rstrip('"'))
    assert max(seeds.of("game")) > 2**100
    assert not {*seeds.of("game")} & {*seeds.of("other")}
    assert "give its folder (--board)" in run("verify", "entry", code=2)


def test_a_commitment_fixes_the_code_of_ones_own_rule(
    season: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The committed code is accepted, and a board keeps it; code that was edited is refused."""
    shutil.rmtree("mine")
    own = SUITE.replace('"order_up_to"', '"committed_rule:Cover"')
    monkeypatch.setattr(sys.modules[__name__], "SUITE", own)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    Path("suite.toml").write_text(own, encoding="utf-8")
    Path("committed_rule.py").write_text(COVER, encoding="utf-8")
    run(
        "commit", "new", "suite.toml", "--entry", "rule", "--season", "spring", "--count", "2",
        "--key", "me.pem", "--out", "mine", "--board",
    )  # fmt: skip
    run("board", "receive", "board", "mine", "--key", "owner.pem")
    draw(season)
    text = run("commit", "seeds", "mine", "--board", "board").strip()
    assert "accepted: 2 episodes asked again, fresh seeds" in played(text)
    run("board", "add", "board", "entry", "--key", "owner.pem")
    assert len([*Path("board").rglob("code/committed_rule.py")]) == 1
    shutil.rmtree("entry")
    Path("committed_rule.py").write_text(f"{COVER}# edited\n", encoding="utf-8")
    assert "the code is not the one that was committed" in played(text)


def test_the_commitments_of_a_key_are_counted(season: Clock) -> None:
    """A key that commits itself to many entries and shows the best one is seen to."""
    run(
        "commit", "new", "suite.toml", "--entry", "rule", "--season", "winter", "--count", "2",
        "--key", "me.pem", "--out", "another", "--board",
    )  # fmt: skip
    run("board", "receive", "board", "another", "--key", "owner.pem")
    draw(season)
    found = played(run("commit", "seeds", "mine", "--board", "board").strip())
    assert "It is commitment 1 of 2 of its key." in found


def test_a_commitment_is_entered_once(season: Clock) -> None:
    """Otherwise a model could be played again on seeds that are known by then."""
    draw(season)
    played(run("commit", "seeds", "mine", "--board", "board").strip())
    run("board", "add", "board", "entry", "--key", "owner.pem")
    run(
        "submit", "results", "--out", "again", "--key", "me.pem", "--commitment", "mine",
        "--name", "another try",
    )  # fmt: skip
    said = run("board", "add", "board", "again", "--key", "owner.pem", code=2)
    assert "the commitment was entered as 'rule'" in said


def test_seeds_that_make_no_difference_are_not_fresh(season: Clock) -> None:
    """In a world without draws every episode was known before the beacon."""
    text = SUITE.replace("beer_game/poisson", "beer_game/classic")
    Path("still.toml").write_text(text, encoding="utf-8")
    run(
        "commit", "new", "still.toml", "--entry", "rule", "--season", "winter", "--count", "1",
        "--key", "me.pem", "--out", "still", "--board",
    )  # fmt: skip
    run("board", "receive", "board", "still", "--key", "owner.pem")
    season.now += 4_000
    drawn = run("board", "beacon", "board", "--key", "owner.pem")
    Path("still/beacon.json").write_text(drawn, encoding="utf-8")
    seeds = run("commit", "seeds", "still", "--board", "board").strip()
    Path("fresh.toml").write_text(text.replace('seeds = "0:2"', seeds), encoding="utf-8")
    run("bench", "fresh.toml", "--out", "results")
    run("submit", "results", "--out", "entry", "--key", "me.pem", "--commitment", "still")
    said = run("verify", "entry", "--board", "board", code=1)
    assert "worlds.game gives the same episode for every seed" in said


def test_other_seeds_are_refused(season: Clock) -> None:
    """Those of another beacon, and of one's own choice."""
    draw(season)
    assert "other seeds than the beacon gives" in played(f'seeds = "fresh:2:winter:{"ab" * 32}"')


def test_public_seeds_are_not_declared_fresh(season: Clock) -> None:
    """The suite's own seeds, under a commitment."""
    draw(season)
    assert "other seeds than the beacon gives" in played('seeds = "0:2"')


def test_a_changed_entry_is_refused(season: Clock) -> None:
    """Its parameters were chosen after the beacon."""
    draw(season)
    text = run("commit", "seeds", "mine", "--board", "board").strip()
    changed = 'policy = "base_stock,target=9"'
    Path("fresh.toml").write_text(
        SUITE.replace('seeds = "0:2"', text).replace('policy = "order_up_to"', changed),
        encoding="utf-8",
    )
    run("bench", "fresh.toml", "--out", "results")
    run("submit", "results", "--out", "entry", "--key", "me.pem", "--commitment", "mine")
    assert "its table has changed" in run("verify", "entry", "--board", "board", code=1)


def test_a_late_commitment_is_refused(season: Clock) -> None:
    """Ten minutes lie between its receipt and its beacon."""
    season.now += 3_500
    run(
        "commit", "new", "suite.toml", "--entry", "rule", "--season", "winter", "--key", "me.pem",
        "--out", "late", "--board", "--minutes", "11",
    )  # fmt: skip
    season.now += 300
    run("board", "receive", "board", "late", "--key", "owner.pem")
    season.now += 1_000
    beacon = run("board", "beacon", "board", "--key", "owner.pem")
    Path("late/beacon.json").write_text(beacon, encoding="utf-8")
    said = run("commit", "seeds", "late", "--board", "board", code=1)
    assert "less than ten minutes before its beacon" in said


def test_a_beacon_before_its_time_does_not_count(season: Clock) -> None:
    """Nor does a second one after it, with which the maintainer could choose."""
    draw(season, 100)
    with pytest.raises(BadRecord, match="not the board's first after the time"):
        opened(files_of(Path("mine")), read_board(Path("board")).log)
    draw(season)
    draw(season, 5)
    with pytest.raises(BadRecord, match="not the board's first after the time"):
        opened(files_of(Path("mine")), read_board(Path("board")).log)


def test_a_receipt_is_of_one_commitment(season: Clock) -> None:
    """One of another commitment, of another board, and one written by oneself are refused."""
    draw(season)
    log = read_board(Path("board")).log
    files = files_of(Path("mine"))
    other = log.add("commitment", "0" * 64, read_private(Path("owner.pem")))
    with pytest.raises(BadRecord, match="the receipt is of another commitment"):
        opened({**files, "receipt.json": other.content}, log)
    own = BoardLog(Path("own.jsonl"), read_public(Path("me.pub")))
    line = own.add("commitment", log.lines[0].line.subject, read_private(Path("me.pem")))
    with pytest.raises(BadRecord, match="the receipt does not have the signature of its key"):
        opened({**files, "receipt.json": line.content}, log)


def test_a_rewritten_past_shows(season: Clock) -> None:
    """A line that is removed, changed or exchanged."""
    draw(season)
    log = Path("board/log.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    Path("copy.jsonl").write_bytes(log.read_bytes())
    assert "2 lines, signed and in order" in run("board", "check", "board", "--since", "copy.jsonl")
    for content in (lines[1], lines[1] + lines[0], lines[0].replace(b"commitment", b"entry", 1)):
        log.write_bytes(content)
        assert "of the log" in run("board", "check", "board", code=1)
    log.unlink()
    run("board", "beacon", "board", "--key", "owner.pem")
    said = run("board", "check", "board", "--since", "copy.jsonl", code=1)
    assert "line 1 of the log differs from an older copy" in said


def test_a_round_of_drand_is_checked_without_a_connection() -> None:
    """Round 1,000 of the live network; another round, and another signature, are refused."""
    signature, limit = bytes.fromhex(SIGNATURE), sys.getrecursionlimit()
    assert drand.checked_randomness(ROUND, signature).hex() == RANDOMNESS
    for number, given in ((ROUND + 1, signature), (ROUND, b"\xc0" + bytes(47)), (ROUND, b"")):
        with pytest.raises(BadRecord):
            drand.checked_randomness(number, given)
    assert sys.getrecursionlimit() == limit


def test_the_round_after_a_time_is_the_first() -> None:
    """It appears after it, and the one before it does not."""
    for time in range(drand.GENESIS - 1, drand.GENESIS + 10):
        number = drand.round_after(time)
        assert drand.time_of(number) > time
        assert number == 1 or drand.time_of(number - 1) <= time


@pytest.mark.parametrize("text", ["fresh:", "fresh:0:a:" + "0" * 64, "fresh:2:a b:" + "0" * 64])
def test_a_text_that_is_no_fresh_seeds_is_refused(text: str) -> None:
    """The error shows the form."""
    with pytest.raises(UsageError, match="fresh:N:SCOPE:RANDOMNESS"):
        FreshSeeds.read(text)


def test_keys_of_others_cannot_write_the_log(season: Clock, tmp_path: Path) -> None:
    """The board's own key is needed."""
    assert "me is not the key of this board" in run(
        "board", "beacon", "board", "--key", "me.pem", code=2
    )
    plain: dict[str, Any] = json.loads((tmp_path / "mine/commitment.json").read_bytes())
    assert plain["count"] == 2
    assert season.now == 1_800_000_000.0
